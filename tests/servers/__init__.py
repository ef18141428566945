"""Kafka and OpenSearch on free loopback ports, fetched once by Maven into .cache/servers; `make cluster` runs both.
Nothing here knows of tests."""
