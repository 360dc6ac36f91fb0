"""The commands on phrase pairs and rules."""
