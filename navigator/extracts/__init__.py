"""Answers without a model: the units of reading that answer a question, quoted word for word."""
