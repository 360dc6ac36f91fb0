"""From the votes of annotators to the gold standard: what is compared, decided and told of it."""
