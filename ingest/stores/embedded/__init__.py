"""Stores in the data folder: SQLite files, a Qdrant Edge shard, and the folder with its lock.
database.py also serves the embedded event log and the bot's store."""
