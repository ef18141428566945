"""What stores hold of a site, so that two of them can be compared: ids, numbers and times aside."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from ingest.model import Page, PageRecord
from tests.chaos.changing_site import WORD
from tests.chaos.columns import Stores

_ALL = 10_000
"""More chunks than any test site has, and as many as OpenSearch gives for one search."""
_SAID = 200


@dataclass(frozen=True, slots=True)
class Held:
    """One page. `inputs`: hashes of what was embedded of it."""

    state: str
    target: str | None
    reason: str | None
    page: Page | None
    inputs: tuple[str, ...]


async def contents(stores: Stores, site: str, left: Collection[str]) -> dict[str, Held]:
    """By page key. Left out is what a newcomer cannot know: pages that are gone, and where pages went that left no
    redirect. `left`: keys that redirect."""
    records = [await _record(stores, state.key) async for state in stores.trees.scan(site)]
    held = {record.key: await _held(stores, record) for record in records}
    return {key: page for key, page in held.items() if page.inputs or _is_there(key, page, held, left)}


async def strays(stores: Stores, site: str) -> list[str]:
    """Sentences on chunks that only one side knows: the records, a page's own chunks, or either of the searches."""
    listed: set[str] = set()
    kept: set[str] = set()
    async for state in stores.trees.scan(site):
        listed |= set((await _record(stores, state.key)).chunk_ids)
        kept |= set(await stores.index.ids_of(state.key))
    dense = await stores.index.dense(await stores.embedder.embed_query(WORD), _ALL)
    words = await stores.index.words([WORD], _ALL)
    found = {"pages": kept, "vectors": {hit.chunk_id for hit in dense}, "words": {hit.chunk_id for hit in words}}
    said = [
        f"{len(ids - listed)} chunks that no record lists are in {place}"
        for place, ids in found.items()
        if ids - listed
    ]
    return said + [
        f"{len(listed - ids)} chunks that a record lists are not in {place}"
        for place, ids in found.items()
        if listed - ids
    ]


def differences(found: Mapping[str, Held], expected: Mapping[str, Held]) -> list[str]:
    """Sentences on what differs, page by page."""
    return [
        said for key in sorted({*found, *expected}) for said in _differences(key, found.get(key), expected.get(key))
    ]


def _differences(key: str, found: Held | None, expected: Held | None) -> Iterator[str]:
    if found is None or expected is None:
        there = found or expected
        yield f"{key} is {'missing' if found is None else 'there'}: {there.state if there else ''}"
        return
    for each in fields(Held):
        one, other = getattr(found, each.name), getattr(expected, each.name)
        if one != other:
            yield f"{key} has {each.name} {_short(one)} instead of {_short(other)}"


def _short(value: object) -> str:
    if isinstance(value, Page):
        value = [(node.title, node.text[:30]) for node in value.nodes]
    return str(value)[:_SAID]


def _is_there(key: str, page: Held, held: Mapping[str, Held], left: Collection[str]) -> bool:
    """An address that leads to a page, or says why it is none."""
    if page.state != "moved":
        return page.state in ("live", "alias", "skipped")
    target = held.get(page.target or "")
    return key in left and target is not None and target.state in ("live", "alias")


async def _record(stores: Stores, key: str) -> PageRecord:
    stored = await stores.trees.get(key)
    assert stored is not None, f"{key} is in the scan, and cannot be got"
    return stored.record


async def _held(stores: Stores, record: PageRecord) -> Held:
    inputs = tuple(sorted((await stores.index.ids_of(record.key)).values()))
    return Held(record.state, record.target, record.reason, record.page and _without_ids(record.page), inputs)


def _without_ids(page: Page) -> Page:
    order = {node.id: str(number) for number, node in enumerate(page.nodes)}
    nodes = (replace(node, id=order[node.id], parent=node.parent and order[node.parent]) for node in page.nodes)
    return replace(page, nodes=tuple(nodes))
