"""What a Qdrant server holds against a request, in its own words; each rule raises Refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge

Json = dict[str, Any]


class Refused(Exception):
    """What the server answers instead of a result."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Collection:
    """A shard and what the server knows of it beyond."""

    shard: edge.EdgeShard
    folder: Path
    size: int
    strict: bool
    indexed: set[str] = field(default_factory=set)

    def filter(self, asked: Json | None) -> edge.Filter | None:
        if asked is None:
            return None
        only(asked, "must")
        for condition in asked["must"]:
            only(condition, "key", "match")
            only(condition["match"], "any")
            if self.strict and condition["key"] not in self.indexed:
                raise Refused(
                    400, f'Bad request: Index required but not found for "{condition["key"]}" of one of: [keyword]'
                )
        return edge.Filter(
            must=[edge.FieldCondition(each["key"], match=edge.MatchAny(each["match"]["any"])) for each in asked["must"]]
        )

    def vector(self, given: list[float]) -> list[float]:
        if len(given) != self.size:
            raise Refused(400, f"Wrong input: Vector dimension error: expected dim: {self.size}, got {len(given)}")
        return given


def only(body: Mapping[str, Any], *known: str) -> None:
    """Fields that say nothing may be there."""
    if unknown := {name for name, value in body.items() if value is not None} - {*known}:
        raise Refused(400, f"Format error in JSON body: this server does not know {sorted(unknown)}")


def uuid(point: Any) -> str:
    try:
        return str(UUID(point))
    except (ValueError, AttributeError, TypeError):
        raise Refused(
            400, f"Format error in JSON body: value {point} is not a valid point ID, valid values are a UUID"
        ) from None


def limit(body: Json) -> int:
    if body["limit"] < 1:
        raise Refused(
            422, f"Validation error in JSON body: [limit: value {body['limit']} invalid, must be 1 or larger]"
        )
    return int(body["limit"])
