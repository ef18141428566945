"""Questions from the event log, each answered once: leases, quota, history, progress, retention.
Knows the store and the delivery by their ports only; no Slack enters."""
