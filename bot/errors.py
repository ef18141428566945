"""What can go wrong between people and the navigator. Vendor errors are translated once, in each adapter.

BotError
├── KeyMissing    tokens are to be sealed or read, and no key is set
├── KeyWrong      a key is no key, or none of the keys opens what is sealed
├── LeaseLost     another worker has taken over the question
├── DeliveryFailed  an answer could not be shown to people
└── SlackClosed   Slack does not take a token, or is not connected
"""


class BotError(Exception):
    """Base of all errors of this layer; the message is fit for a user and says what to do."""


class KeyMissing(BotError):
    """No key for encryption is set."""


class KeyWrong(BotError):
    """A key that is none, or that is not the one with which a token was sealed."""


class LeaseLost(BotError):
    """Another worker has taken over the question: leave it alone."""


class DeliveryFailed(BotError):
    """An answer could not be shown. `passing`: it may go well later."""

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


class SlackClosed(BotError):
    """Slack does not take a token, lacks a scope, or is not connected."""
