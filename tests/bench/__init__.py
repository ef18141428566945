"""`make bench-retrieval`, `bench-parse` and `bench-events`: figures, how they are measured, and what they were (README.md).
Programs, not tests; tests/integration takes the corpus from here."""
