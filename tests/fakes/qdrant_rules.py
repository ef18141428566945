"""What a Qdrant server holds against a request, in its own words; each rule raises Refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge

Json = dict[str, Any]

MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_NAME_CHARACTERS = 255


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
    strict: Json
    indexed: set[str] = field(default_factory=set)

    def filter(self, asked: Json | None) -> edge.Filter | None:
        if asked is None:
            return None
        for condition in asked["must"]:
            if self._forbids("unindexed_filtering_retrieve") and condition["key"] not in self.indexed:
                raise Refused(
                    400, f'Bad request: Index required but not found for "{condition["key"]}" of one of: [keyword]'
                )
        return edge.Filter(
            must=[edge.FieldCondition(each["key"], match=edge.MatchAny(each["match"]["any"])) for each in asked["must"]]
        )

    def exact(self, asked: bool) -> bool:
        if asked and self._forbids("search_allow_exact"):
            raise Refused(400, "Bad request: Exact search disabled!. Help: Set exact=false.")
        return asked

    def _forbids(self, what: str) -> bool:
        return self.strict.get("enabled") is True and self.strict.get(what) is False

    def vector(self, given: Any) -> list[float]:
        if not isinstance(given, list) or not all(isinstance(number, int | float) for number in given):
            raise Refused(400, "Format error in JSON body: data did not match any variant of untagged enum Vector")
        if len(given) != self.size:
            raise Refused(400, f"Wrong input: Vector dimension error: expected dim: {self.size}, got {len(given)}")
        return given


def json_body(raw: bytes) -> Json:
    """Fields that nobody knows are left alone."""
    if len(raw) > MAX_BODY_BYTES:
        raise Refused(
            400, f"Payload error: JSON payload ({len(raw)} bytes) is larger than allowed (limit: {MAX_BODY_BYTES})"
        )
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Refused(400, f"Format error in JSON body: {error}") from None
    if not isinstance(body, dict):
        raise Refused(400, "Format error in JSON body: invalid type, expected a map")
    return body


def point_id(point: Any) -> str | int:
    """A UUID, or a whole number that is not negative."""
    if isinstance(point, int) and not isinstance(point, bool) and point >= 0:
        return point
    try:
        return str(UUID(point))
    except (ValueError, AttributeError, TypeError):
        raise Refused(
            400,
            f"Format error in JSON body: value {point} is not a valid point ID, valid values are either an unsigned"
            " integer or a UUID",
        ) from None


def plain_id(point: Any) -> str | int:
    """As JSON has it."""
    return point if isinstance(point, int) else str(point)


def point_ids(points: Any) -> list[str | int]:
    if not points:
        raise Refused(400, "Wrong input: Empty update request")
    return [point_id(point) for point in points]


def collection_name(name: str) -> str:
    if len(name) > MAX_NAME_CHARACTERS:
        raise Refused(
            422, f"Validation error in path parameters: [name: value {name!r} invalid, must be at most 255 characters]"
        )
    return name


def vector_size(vectors: Any) -> int:
    size = vectors.get("size") if isinstance(vectors, dict) else None
    if not isinstance(size, int) or size < 1:
        raise Refused(400, f"Format error in JSON body: vectors.size: value {size} invalid, must be from 1 to 65536")
    if vectors.get("distance") != "Cosine":
        raise Refused(400, "this server knows Cosine only")
    return size


def limit(body: Json) -> int:
    if not isinstance(body["limit"], int) or body["limit"] < 0:
        raise Refused(400, f"Format error in JSON body: limit: invalid value: {body['limit']}, expected usize")
    if body["limit"] < 1:
        raise Refused(
            422, f"Validation error in JSON body: [limit: value {body['limit']} invalid, must be 1 or larger]"
        )
    return int(body["limit"])
