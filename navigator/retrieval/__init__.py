"""From a question to the sections worth looking at, and from sections to passages that can be read and cited.
Knows ingest's stores by their ports; strategies and models import it, it imports no strategy and no model."""
