"""After an upgrade of the parser or the analyser: the pages that another version made are fetched and read again. So are
pages that are not split as the notes say.

An Indexer writes such a page whatever its hash says, keeps the ids, and does not take it for a change of content. What
is left is read from the records, so that a run which was cut short is begun again and goes on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from ingest.concurrency import for_each
from ingest.errors import FetchFailed, IngestError
from ingest.events.announce import Announcer, next_event
from ingest.indexing.indexer import Indexer, Outcome
from ingest.model import PARSER_VERSION, Page, plain
from ingest.notes import Notes, outlines_of
from ingest.ports import Clock, PageState, TreeStore
from ingest.text.likeness import brief
from ingest.tree.induced_headings import divisible, same_tree, split

log = structlog.get_logger()


async def outdated(trees: TreeStore, made_by: str, site: str | None = None) -> list[PageState]:
    """The live pages that are not of today's make."""
    return [state async for state in trees.scan(site) if is_outdated(state, made_by)]


def is_outdated(state: PageState, made_by: str) -> bool:
    """Whether another parser, or another projection than `made_by` (Projection.made_by), has made the live page."""
    return state.state == "live" and (state.parser_version, state.analyser_version) != (PARSER_VERSION, made_by)


async def live_pages(trees: TreeStore, site: str | None = None) -> AsyncIterator[tuple[PageState, Page]]:
    """The live pages of a site, or of all."""
    async for state in trees.scan(site):
        stored = await trees.get(state.key) if state.state == "live" else None
        if stored and stored.record.page:
            yield state, stored.record.page


async def as_noted(page: Page, notes: Notes) -> Page:
    """The page with its long sections split as the notes say, whether it is split by now or not."""
    whole = replace(page, nodes=tuple(plain(page.nodes)))
    long = divisible(whole.nodes)
    return split(whole, await outlines_of(notes, {node.own_hash for node in long})) if long else whole


async def undivided(trees: TreeStore, notes: Notes, site: str | None = None) -> list[PageState]:
    """The live pages whose long sections are not split as the notes say."""
    pages = live_pages(trees, site)
    return [state async for state, page in pages if not same_tree(page, await as_noted(page, notes))]


async def announce(pages: Sequence[PageState], announcer: Announcer, trees: TreeStore) -> None:
    """Leave it to the indexers, at their pace."""
    for page in pages:
        await announcer.changed(page.site, page.key, seen=await _as_indexed(trees, page.key))


async def _as_indexed(trees: TreeStore, key: str) -> str | None:
    """What is indexed of the page, in brief: as that, or an edit of it, it is to be read again."""
    stored = await trees.get(key)
    return brief(stored.record.page.likeness) if stored and stored.record.page else None


@dataclass(slots=True)
class ReindexSummary:
    """`done` of `pages` were looked at, `embedded` texts embedded; `left`: pages that stay as they are, and why."""

    pages: int
    done: int = 0
    embedded: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


async def reread(
    pages: Sequence[PageState],
    indexer: Indexer,
    trees: TreeStore,
    clock: Clock,
    *,
    workers: int = 16,
    show: Callable[[ReindexSummary], None] = lambda summary: None,
) -> ReindexSummary:
    """Read pages of one site again, in this process. A page that is not there, is empty now or moved stays: `ritbot
    index`, or the watcher, weighs what goes. Raises store errors."""
    summary = ReindexSummary(len(pages))

    async def work(page: PageState) -> None:
        try:
            seen = await _as_indexed(trees, page.key)
            outcome = await indexer.handle(await next_event(trees, clock, page.site, page.key, seen=seen))
            summary.embedded += outcome.embedded
            why = _left(outcome)
        except FetchFailed as error:
            why = str(error)
        except IngestError:
            raise
        except Exception as error:  # one page that breaks the code must not keep the others out
            why = f"internal error, please report: {type(error).__name__}: {error}"
            log.exception("page_not_handled", url=page.key)
        if why is not None:
            summary.left.append((page.key, why))
        summary.done += 1
        show(summary)

    await for_each(pages, work, workers)
    return summary


def _left(outcome: Outcome) -> str | None:
    if outcome.kind == "doubtful":
        return outcome.reason
    if outcome.kind in ("missing", "emptied"):
        return f"nothing to index there any more: {outcome.reason or outcome.kind}"
    return f"moved to {outcome.goes_to}" if outcome.hands_over else None
