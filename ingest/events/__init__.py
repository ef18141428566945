"""The event log: topics, consumers and workers over them, on SQLite (sqlite.py) or Kafka (kafka/).
Watching, indexing and the bot enter by ports, topics, codec and workers; the adapters are the composition root's."""
