"""What a running process serves beside its work: health, the webhook, the socket of its data folder.

starlette, uvicorn and httpx enter here; commands and wiring import from it."""
