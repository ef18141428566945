"""Commands that run until they are stopped, one role each or all in one process.

Each opens what it needs through deploy.wiring and runs it by deploy.serving."""
