"""The Model port's adapters: any endpoint that speaks Anthropic's Messages API.
Only this room knows the SDK; the others see navigator.ports and navigator.errors."""
