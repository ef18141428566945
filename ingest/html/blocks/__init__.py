"""What a section's text is made of: paragraphs, lists, listings, tables, formulas.

Elements and text of the content come in, in document order; blocks of the model go out."""
