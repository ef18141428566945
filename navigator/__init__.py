"""From a question to an answer that cites: retrieval, strategies, models, and how well all of it does.
Imports ingest's model and ports; bot and deploy import it, never the other way round."""
