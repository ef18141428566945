"""RDR2 (route, read, recurse): a router unfolds pages step by step and picks the texts that answer.
Only `rdr2` is a strategy; evaluation/routing takes the tree, the actions and the examples to train and score routers."""
