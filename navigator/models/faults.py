"""What goes wrong between us and a Messages API endpoint, as ModelErrors in plain words: the one place.

No message holds a key, a request or what the endpoint wrote: some endpoints quote the request in their
errors. `RequestRefused.detail` keeps it for `probe`, whose requests hold nothing of anyone's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2

from ingest.retry import retry_after
from navigator.errors import ModelError, ModelLimited, ModelRejected, ModelUnreachable

VENDOR = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    json.JSONDecodeError,
    UnicodeError,
    TimeoutError,
)
"""Everything that the SDK raises, and the stream under it."""

_MALFORMED = (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeError)

_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""An error inside a stream has a type in place of a status."""

_TOO_LONG = ("too long", "too large", "context window", "context length", "context limit", "maximum context")


class RequestRefused(ModelRejected):
    """The endpoint will not take this request. `status` as in HTTP, 0 where it does not speak the Messages API."""

    def __init__(self, message: str, status: int, detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail

    @property
    def by_shape(self) -> bool:
        """Whether a simpler form of the same request may be taken."""
        return self.status in (400, 422) and not any(words in self.detail.lower() for words in _TOO_LONG)


@dataclass(frozen=True, slots=True)
class Faults:
    """Makes the errors of one endpoint. `host` as messages name it: without user name and password."""

    host: str
    model: str

    def by_exception(self, error: BaseException) -> ModelError:
        """Any of VENDOR."""
        if isinstance(error, anthropic.APIStatusError):
            detail = str(error.api_message or error.body or "")
            return self.by_status(error.status_code, detail, retry_after(error.response.headers))
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
            return ModelUnreachable(f"The model at {self.host} did not answer in time.")
        cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
        if isinstance(cause, json.JSONDecodeError | UnicodeDecodeError):
            return self.not_the_api()
        if isinstance(cause, _MALFORMED):
            return RequestRefused(f"The address of the model ({self.host}) or its key is malformed.", 0, str(cause))
        if "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return RequestRefused(f"The certificate of {self.host} is not trusted: its CA must be named.", 0)
        if isinstance(error, anthropic.APIConnectionError):
            return ModelUnreachable(f"The model at {self.host} cannot be reached.")
        return self.broke_off()

    def by_event(self, event: Mapping[str, Any]) -> ModelError:
        """An event (or whole answer) of type `error`."""
        found = event.get("error")
        fields: Mapping[str, Any] = found if isinstance(found, dict) else {}
        return self.by_status(_STATUS_OF.get(str(fields.get("type")), 500), str(fields.get("message") or ""), None)

    def by_status(self, status: int, detail: str, wait: float | None) -> ModelError:
        if status == 429:
            return ModelLimited(f"The model at {self.host} is asked too much at the moment.", wait)
        if status == 529:
            return ModelUnreachable(f"The model at {self.host} is overloaded at the moment.")
        if status in (408, 409) or status >= 500:
            return ModelUnreachable(f"The model at {self.host} has a fault (HTTP {status}).")
        return RequestRefused(self._refusal(status, detail.lower()), status, detail)

    def _refusal(self, status: int, detail: str) -> str:
        if status == 401:
            return f"The model at {self.host} does not accept the API key."
        if status == 402 or "credit balance" in detail:
            return f"The account at {self.host} has no credit left."
        if status == 403:
            return f"The API key may not use the model {self.model} at {self.host}."
        if status in (404, 405):
            return f"There is no model {self.model} at {self.host}, or the address is not that of a Messages API."
        if status == 413 or any(words in detail for words in _TOO_LONG):
            return f"The conversation has grown too long for the model {self.model}."
        return f"The model at {self.host} refused the request (HTTP {status})."

    def not_the_api(self) -> RequestRefused:
        return RequestRefused(
            f"What answers at {self.host} does not speak the Messages API: check the model's address.", 0
        )

    def broke_off(self) -> ModelUnreachable:
        return ModelUnreachable(f"The answer of the model at {self.host} broke off.")
