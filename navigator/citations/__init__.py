"""From a model's words to text, marks and links that rest on what was read. Pure.
Words and the passages read come in; no mark and no address goes out that no passage holds."""
