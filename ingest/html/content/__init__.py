"""Where a page's content is, and what in there is furniture.

The whole page comes in; its content area, pruned, goes out. Other rooms may ask here what an element is."""
