"""What a page says about its place among the others: trails, sidebars, lists of pages.

The page before pruning comes in; claims go out, which ingest.tree.site_tree weighs."""
