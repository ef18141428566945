"""Trees of pages: ids that sections keep through edits and moves, the pages of a site under each other, induced headings.
Pure: pages in, pages out; indexing/ and stores/ come in, and navigator for the headings that a model finds."""
