"""Text to vectors: the Embedder on sentence-transformers, in a thread of its own.
Entered by the composition root alone."""
