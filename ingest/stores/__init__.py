"""The adapters of TreeStore, ChunkIndex and Notes: embedded (one process, one folder) and cluster (servers).
Entered by the composition root alone; all others know the ports."""
