"""Markdown that models write: parsed into pieces, cut where nobody minds, and written again.
Pure; markdown-it enters here. The gate of links (navigator.citations.links) and what shows answers (bot) use it."""
