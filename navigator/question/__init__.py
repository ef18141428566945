"""What a question means before anything is searched: in its conversation, and in which version.
Questions as people ask them come in, questions that stand alone go out; knows no strategy, and of
retrieval only which words the index holds."""

JOINT = " – "
"""Between a question and the one that leans on it."""
