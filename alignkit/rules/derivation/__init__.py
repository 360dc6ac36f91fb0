"""The rules of aligned trees: matched nodes, cuts, fragments."""
