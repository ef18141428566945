"""`ritbot enrich`, `questions`, `curate` and `eval`: each module one command, its options, its work and what it says.
What they have alike (a model, a ceiling, a bar, the end of a run) is `batch`; the work itself is navigator's.
"""
