"""Examples to train RDR2's router with, and how well a router does on those that were held out.
Questions and examples come in; only `ritbot curate` and `ritbot eval --router` come here.
"""
