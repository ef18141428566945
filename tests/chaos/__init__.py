"""`make chaos`: processes are killed, frozen and stopped while pages change, and the stores end as an index from scratch.
A program of its own; test_chaos.py runs a minute of it."""
