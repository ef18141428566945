"""Tokens sealed before a store sees them: Fernet (AES-128-CBC and HMAC-SHA256, https://github.com/fernet/spec).

Keys are 32 random bytes in URL-safe base64. The first one seals; what any of them sealed can be opened, so that a new
key is put in front of the old one, and the old one goes when every workspace has been installed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.errors import KeyMissing, KeyWrong

SETTING = "bot.keys"


class Seal(Protocol):
    def close(self, text: str) -> str:
        """The text so that nobody without the key can read it."""
        ...

    def open(self, sealed: str) -> str:
        """What was closed."""
        ...


class KeySeal:
    """Without keys nothing can be sealed or opened: KeyMissing then. Raises KeyWrong for what is no key."""

    def __init__(self, keys: Sequence[str]) -> None:
        try:
            self._keys = [Fernet(key) for key in keys]
        except ValueError as error:
            raise KeyWrong(f"{SETTING}: what is set is no key: a key is 32 bytes in URL-safe base64") from error

    def close(self, text: str) -> str:
        return self._all().encrypt(text.encode("utf-8", "replace")).decode()

    def open(self, sealed: str) -> str:
        """Raises KeyWrong where none of the keys fits."""
        try:
            return self._all().decrypt(sealed.encode()).decode()
        except InvalidToken as error:
            raise KeyWrong(
                f"Slack tokens were sealed with another key than those in {SETTING}: set the key that was in use when the"
                " workspace was installed, or install the app there again"
            ) from error

    def _all(self) -> MultiFernet:
        if not self._keys:
            raise KeyMissing(f"Slack tokens are kept under a key only, and there is none: set {SETTING}")
        return MultiFernet(self._keys)


class LeftSealed:
    """Takes and gives tokens as the store holds them: for copies of a store, which need no key."""

    def close(self, text: str) -> str:
        return text

    def open(self, sealed: str) -> str:
        return sealed
