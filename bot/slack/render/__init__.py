"""Answers as Slack's Markdown, blocks and modals, and the gate that nothing live passes.
Pure: text and answers come in, dictionaries go out. Inbound and outbound import it."""
