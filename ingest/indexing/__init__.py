"""Keeping the stores in step: the four-step Indexer of one event, the service around it, and what mends or renews an index.
Events come in from the log or from a Crawl; watch/ reads pages by the same PageReader, deploy opens the rest."""
