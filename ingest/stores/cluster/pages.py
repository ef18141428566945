"""The document that stands for a page record in OpenSearch, and back. No I/O.

The record lies in it whole, as `record`, kept but not indexed; beside it stands what is searched for.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from ingest import codec
from ingest.errors import StoreUnavailable
from ingest.model import PageRecord, sha256
from ingest.ports import Outline, OutlineHeading, PageState
from ingest.stores.cluster.opensearch import KEPT, NUMBER, ONE_SHARD, WORD, Json

PAGES: Json = {
    "settings": ONE_SHARD,
    "mappings": {
        "dynamic": "strict",
        "_meta": {"schema": 1},
        "properties": {
            **dict.fromkeys(("key", "site", "version", "state", "target", "content_hash", "node_ids"), WORD),
            **dict.fromkeys(("print", "nodes", "chunks"), NUMBER),
            "mark": KEPT,
            "record": {"type": "object", "enabled": False},
        },
    },
}
PAGE = "record.page"
NODES = f"{PAGE}.nodes"
TEXTS = [f"{NODES}.blocks.{field}" for field in ("text", "language", "marks")]
"""Paths into the document; what `TEXTS` name is all that an outline does not need."""


def document_id(key: str) -> str:
    return sha256(key)


def source_of(record: PageRecord, mark: str) -> Json:
    """A page's document; `mark` is the writer's own."""
    page = record.page if record.state == "live" else None
    return {
        "key": record.key,
        "site": record.site,
        "version": record.version,
        "state": record.state,
        "target": record.target,
        "content_hash": page.content_hash if page else None,
        "node_ids": [node.id for node in page.nodes] if page else [],
        "print": place_print(record),
        "nodes": len(record.page.nodes) if record.page else 0,
        "chunks": len(record.chunk_ids),
        "mark": mark,
        "record": json.loads(codec.dump_record(record)),
    }


def place_print(record: PageRecord) -> int:
    """32 bits of all that may move a page in its site's tree, so that the sum over two million pages is exact."""
    if record.state not in ("live", "alias", "moved"):
        return 0
    page = codec.dump_page(replace(record.page, nodes=())).decode() if record.page else ""
    return int(sha256(record.key, record.site, record.state, record.target or "", page)[:8], 16)


def record_of(source: Json) -> PageRecord:
    """What the document holds of the record: parts that were not asked for are empty."""
    record = dict(source["record"])
    if record.get("page") and "nodes" not in record["page"]:
        record["page"] = {**record["page"], "nodes": []}
    try:
        return codec.load_record(json.dumps(record).encode())
    except ValueError as error:
        message = f"what is stored of {record.get('key')} cannot be read: put a backup in its place, or index again"
        raise StoreUnavailable(message) from error


def is_live(source: Json) -> bool:
    return source["record"]["state"] == "live" and bool(source["record"].get("page"))


def outline_of(source: Json) -> Outline:
    record, page = source["record"], source["record"]["page"]
    return Outline(
        key=record["key"],
        site=record["site"],
        version=record["version"],
        title=page["title"],
        canonical=page["canonical"],
        headings=tuple(_heading(node) for node in page["nodes"]),
        chunk_ids=frozenset(record["chunk_ids"]),
        checked_at=datetime.fromisoformat(record["checked_at"]),
    )


def _heading(node: Json) -> OutlineHeading:
    fields: dict[str, Any] = {name: node[name] for name in ("id", "parent", "level", "title", "anchor", "kind")}
    return OutlineHeading(**fields, readable=bool(node.get("blocks")))


def state_of(source: Json) -> PageState:
    record = record_of(source)
    return PageState(
        key=record.key,
        site=record.site,
        version=record.version,
        state=record.state,
        seq=record.seq,
        target=record.target,
        reason=record.reason,
        nodes=source["nodes"],
        chunks=source["chunks"],
        checked_at=record.checked_at,
        changed_at=record.changed_at,
        parser_version=record.page.parser_version if record.page else "",
        analyser_version=record.analyser_version,
    )
