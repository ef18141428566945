"""Headings and definition terms to nested sections with their addresses.

The pruned content comes in, with what blocks knows of tables and formulas; sections in document order go out."""
