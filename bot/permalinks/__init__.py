"""What became of a section that somebody kept a link to: its texts then and now, where its words went.
Imports the ports of ingest and what navigator makes of a node; knows neither Slack nor the web."""
