"""Page events, node events and dead letters as small JSON, and back. Pure.

Every value carries "v", the version of its form. Fields that this version does not know are passed over; a higher
version is not guessed at. What is no such value raises Undecodable, which says what is wrong with it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ingest.errors import Undecodable
from ingest.model import NodesEvent, PageEvent
from ingest.ports import Record

FORMAT_VERSION = 1

_T = TypeVar("_T")
_EVENT = TypeAdapter(PageEvent)
_NODES = TypeAdapter(NodesEvent)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be handled, and why: its key in `<topic>.dead` is the record's own."""

    record: Record
    reason: str


def dump_event(event: PageEvent) -> bytes:
    return dumped(_EVENT.dump_python(event, mode="json", exclude_none=True))


def load_event(value: bytes | None) -> PageEvent:
    """Raises Undecodable."""
    return loaded(value, "page event", _event)


def dump_nodes(event: NodesEvent) -> bytes:
    return dumped(_NODES.dump_python(event, mode="json", exclude_defaults=True))


def load_nodes(value: bytes | None) -> NodesEvent:
    """Raises Undecodable."""
    return loaded(value, "node event", _nodes)


def dump_dead(letter: DeadLetter) -> bytes:
    record = letter.record
    return dumped(
        {
            "reason": letter.reason,
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "key": record.key,
            "value": None if record.value is None else base64.b64encode(record.value).decode(),
            "timestamp": record.timestamp.isoformat(),
        }
    )


def load_dead(value: bytes | None) -> DeadLetter:
    """Raises Undecodable."""
    return loaded(value, "dead letter", _letter)


def _event(fields: Mapping[str, Any]) -> PageEvent:
    event = _EVENT.validate_python(fields)
    if event.observed_at.tzinfo is None:
        raise ValueError("observed_at has no time zone")
    return event


def _nodes(fields: Mapping[str, Any]) -> NodesEvent:
    event = _NODES.validate_python(fields)
    if event.at.tzinfo is None:
        raise ValueError("at has no time zone")
    return event


def _letter(fields: Mapping[str, Any]) -> DeadLetter:
    value = fields["value"]
    record = Record(
        topic=str(fields["topic"]),
        partition=int(fields["partition"]),
        offset=int(fields["offset"]),
        key=str(fields["key"]),
        value=None if value is None else base64.b64decode(value, validate=True),
        timestamp=datetime.fromisoformat(fields["timestamp"]),
    )
    return DeadLetter(record, str(fields["reason"]))


def dumped(fields: Mapping[str, Any]) -> bytes:
    """The value of a record, with its version."""
    # ASCII only: a key that is no Unicode (a lone surrogate) survives as an escape.
    return json.dumps({"v": FORMAT_VERSION, **fields}, separators=(",", ":")).encode("ascii")


def loaded(value: bytes | None, name: str, build: Callable[[Mapping[str, Any]], _T]) -> _T:
    """What `build` makes of the fields of a record that is called `name`. Raises Undecodable."""
    if value is None:
        raise Undecodable(f"not a {name}: a tombstone without value")
    try:
        fields = json.loads(value)
        if not isinstance(fields, dict):
            raise TypeError(f"JSON of type {type(fields).__name__} instead of an object")
        version = fields.get("v")
        if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
            raise ValueError(f"version {version!r}, but this ritbot knows versions up to {FORMAT_VERSION}: upgrade it")
        return build(fields)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False))
        raise Undecodable(f"not a {name}: {wrong}") from error
    except KeyError as error:
        raise Undecodable(f"not a {name}: {error} is missing") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise Undecodable(f"not a {name}: {error}") from error
