"""Running text as terms, sentences and chunks. Pure.
Indexing, retrieval and evaluation enter; nothing here knows a store or a page's HTML."""
