"""People: Slack, the terminal's views, the answer workers and the bot's store.
Imports navigator and ingest; only deploy and tests import it."""
