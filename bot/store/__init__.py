"""The bot's store in SQLite and in OpenSearch, what both agree on, and how tokens are sealed.
Adapters of bot.ports.BotStore, opened by deploy; no other room imports them."""
