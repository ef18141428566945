"""The Model port's adapters: extracts without a key, and any endpoint that speaks Anthropic's Messages API.
Only this room knows the SDK; the others see navigator.ports and navigator.errors."""
