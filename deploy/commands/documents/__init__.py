"""Commands about what is indexed: bring it in, list it, bring it up to date, compare and mend it.

They open stores through deploy.wiring and leave the work to ingest."""
