"""A lab: projects of many people, with accounts, roles and a server of their own."""
