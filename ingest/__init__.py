"""Documents in: events, fetching, HTML to trees to chunks, and the stores that keep them. No model, no Slack.
Every layer above may import it; it imports nothing of them."""
