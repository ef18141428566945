"""Stores on servers: OpenSearch (pages, words, notes) and Qdrant (vectors).
opensearch.py also serves the bot's store."""
