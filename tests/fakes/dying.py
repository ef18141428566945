"""A process that dies over its stores."""

from __future__ import annotations

from typing import Any

STORES = ("put", "upsert", "delete")


class Killed(BaseException):
    """The process ends here."""


class Dies:
    """Wraps stores: the process ends in front of the `write`-th call of one of `writes` to any of them."""

    def __init__(self, write: int, writes: tuple[str, ...] = STORES) -> None:
        self._left = write
        self.writes = writes

    def __call__(self, store: Any) -> Any:
        return _Dying(store, self)

    def write(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise Killed


class _Dying:
    def __init__(self, store: Any, dies: Dies) -> None:
        self._store = store
        self._dies = dies

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in self._dies.writes:
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._dies.write()
            return await method(*args, **kwargs)

        return call
