"""Answers without a model: the units of reading that answer a question, quoted word for word.
Pure but for the model that chooses them, which takes an embedder; no vendor enters."""
