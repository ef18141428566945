"""What can go wrong between question and answer.

NavigatorError
└── ModelError           the model gave no usable turn; the message is plain and fit for a user
    ├── ModelUnreachable network, timeout, dropped stream, 5xx, 529 (after retries)
    ├── ModelLimited     429 after retries; `retry_after` in seconds where known
    └── ModelRejected    wrong key, unknown model, request too large: trying again will not help
"""


class NavigatorError(Exception):
    """Base of all errors of this layer."""


class ModelError(NavigatorError):
    """The model gave no usable turn."""


class ModelUnreachable(ModelError):
    """The endpoint does not answer, or stopped in the middle."""


class ModelLimited(ModelError):
    """The endpoint asks to slow down."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The endpoint will not take this request."""
