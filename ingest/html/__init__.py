"""A page's bytes to its tree: `parse` is the way in, each room answers one question about the page.

Pure, and written for pages of strangers: bytes, headers and addresses come in, nothing is fetched and no clock is read."""
