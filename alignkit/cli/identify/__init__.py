"""Commands that find candidate pairs and judge pairs."""
