"""Checks of JSON values that say what is wrong where, worded and addressed as Slack does. Pure.

A check yields sentences such as "must be less than 76 characters [json-pointer:/blocks/0/text/text]".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[Any, str], Iterator[str]]
"""What is wrong with a value that stands at a JSON pointer."""


def fault(words: str, where: str) -> str:
    return f"{words} [json-pointer:{where}]"


def string(most: int, least: int = 1) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield fault("must be a string", where)
        elif len(value) > most:
            yield fault(f"must be less than {most + 1} characters", where)
        elif len(value) < least:
            yield fault(f"must be more than {least - 1} characters", where)

    return check


def url(most: int = 3000) -> Check:
    sized = string(most)

    def check(value: Any, where: str) -> Iterator[str]:
        yield from sized(value, where)
        if isinstance(value, str) and not value.startswith(("http://", "https://", "mailto:", "slack://")):
            yield fault("must be a valid URL", where)

    return check


def one_of(*values: Any) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if value not in values:
            yield fault(f"must be one of: {', '.join(map(str, values))}", where)

    return check


def kind(python: type) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, python) or (python is int and isinstance(value, bool)):
            yield fault(f"must be a valid {python.__name__}", where)

    return check


def array(item: Check, most: int, least: int = 1) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield fault("must be an array", where)
            return
        if len(value) > most:
            yield fault(f"no more than {most} items allowed", where)
        if len(value) < least:
            yield fault(f"must be at least {least} item{'s' * (least != 1)}", where)
        for index, one in enumerate(value):
            yield from item(one, f"{where}/{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with exactly these fields. `type` was looked at by `typed`."""
    fields = {"type": kind(str), **required, **(optional or {})}

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield fault("must be an object", where)
            return
        for name in required:
            if value.get(name) is None:
                yield fault(f"missing required field: {name}", where)
        for name, one in value.items():
            if name not in fields:
                yield fault(f"invalid additional property: {name}", where)
            elif one is not None:
                yield from fields[name](one, f"{where}/{name}")

    return check


def typed(shapes: Mapping[str, Check]) -> Check:
    """An object whose `type` says which shape it has."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield fault("must be an object", where)
        elif "type" not in value:
            yield fault("missing required field: type", where)
        elif value["type"] not in shapes:
            yield fault(f"unsupported type: {value['type']}", f"{where}/type")
        else:
            yield from shapes[value["type"]](value, where)

    return check
