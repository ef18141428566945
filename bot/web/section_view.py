"""What the page of a section says, before it is HTML. Pure.

All addresses in it are complete, or lead from the page (`root`) to another of ritbot's own. A live address that is none of
the web (documentation in files) is no link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from bot.freshness import ago
from bot.model import Edition
from bot.permalinks.cited_in import CitingAnswer
from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Standing
from bot.permalinks.state_lines import StateLine, day, state_lines
from bot.permalinks.word_diff import DiffBlock, DiffSpan, block_diff, word_diff
from ingest.counted import counted
from ingest.model import Block
from navigator.answer import Passage

MAX_EARLIER = 20
"""Earlier texts that are listed, the newest."""


@dataclass(frozen=True, slots=True)
class SectionLink:
    """Another section: its whole path, where it is shown, and what is to be said of it."""

    path: tuple[str, ...]
    href: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A block with its changes, or `same` blocks that are left out between two."""

    block: DiffBlock | None = None
    same: str = ""


@dataclass(frozen=True, slots=True)
class SectionView:
    """`permalink` names the text that is shown; `live` is "" where no browser can go there."""

    title: str
    above: tuple[str, ...]
    states: tuple[StateLine, ...]
    permalink: str
    live: str
    blocks: tuple[Block, ...]
    text_heading: str
    read: str
    version: str = ""
    diff_heading: str = ""
    title_diff: tuple[DiffSpan, ...] = ()
    diff: tuple[DiffRow, ...] = ()
    parts: tuple[SectionLink, ...] = ()
    nearest: tuple[SectionLink, ...] = ()
    earlier: tuple[SectionLink, ...] = ()
    answers: tuple[SectionLink, ...] = ()


def section_view(
    standing: Standing, *, now: datetime, base: str, root: str, answers: Sequence[CitingAnswer] = ()
) -> SectionView:
    """`answers`: those that cited it, for whoever may know of them. `base`: the address that links are made of; `root`: the
    way from the page to it. Raises ValueError for a section of which nothing is known."""
    shown = standing.shown
    compared = standing.then if standing.now and standing.changed else None
    return SectionView(
        title=shown.path[-1],
        above=shown.path[:-1],
        states=tuple(state_lines(standing, now)),
        permalink=f"{base}{Permalink(shown.node_id, shown.node_hash).path}",
        live=shown.link if standing.now and is_web(shown.link) else "",
        blocks=shown.blocks,
        text_heading="What it says today" if standing.now else "What it said last",
        read=f"Read {ago(shown.checked_at, now)}",
        version=shown.version,
        diff_heading=f"What changed since {day(compared.section.checked_at)}" if compared else "",
        title_diff=word_diff(compared.title, shown.path[-1]) if compared and compared.title != shown.path[-1] else (),
        diff=tuple(_rows(block_diff(compared.section.blocks, shown.blocks))) if compared else (),
        parts=tuple(
            SectionLink(part.section.path, _href(root, part.section), f"{part.share:.0%} of the words")
            for part in standing.parts
        ),
        nearest=tuple(SectionLink(near.path, _href(root, near)) for near in standing.nearest),
        earlier=tuple(_earlier(edition, root) for edition in standing.earlier if edition.section is not shown)[
            :MAX_EARLIER
        ],
        answers=tuple(map(_answer, answers)),
    )


def is_web(url: str) -> bool:
    """Whether a browser can go there from a page: documentation may be in files."""
    return urlsplit(url).scheme in ("http", "https")


def _href(root: str, section: Passage) -> str:
    return f"{root}{Permalink(section.node_id).path.lstrip('/')}?show"


def _answer(answer: CitingAnswer) -> SectionLink:
    return SectionLink((day(answer.asked_at),), answer.href, "" if answer.href else "in private")


def _earlier(edition: Edition, root: str) -> SectionLink:
    section = edition.section
    path = Permalink(section.node_id, section.node_hash).path.lstrip("/")
    return SectionLink((f"As read on {day(section.checked_at)}",), f"{root}{path}?show")


def _rows(blocks: Sequence[DiffBlock]) -> Iterator[DiffRow]:
    """All that changed, with a block around; what is the same and farther away is counted."""
    near = {at + step for at, block in enumerate(blocks) if block.changed for step in (-1, 0, 1)}
    left_out = 0
    for at, block in enumerate(blocks):
        if at not in near:
            left_out += 1
            continue
        if left_out:
            yield DiffRow(same=f"{counted(left_out, 'paragraph')} unchanged")
        left_out = 0
        yield DiffRow(block)
    if left_out and near:
        yield DiffRow(same=f"{counted(left_out, 'paragraph')} unchanged")
