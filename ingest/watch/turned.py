"""A site's bad day: pages that answer 200 with something else than their content (a maintenance page, a form to sign in, a
check of the browser, the home page at every address, an empty shell), told from pages that were edited.

Pages have turned if they say nearly what the site answers for addresses that do not exist, or if several say nearly one text
that did not before: pages that are much alike by nature (of an API, of an index) were so before, and those of a new design stay
different from each other. Nothing is believed of a page that has turned; where they are more than the guard's share of
the site, nothing of the whole round is.

One page alone has turned if it looks like something else (ingest/html/interstitial.py) and nothing of what it was is left, its
title neither. It may be a page of its own all the same: when it has stayed so for as long as a page is missed, it is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.indexing.page_reader import Destination, PageReader, PageReading
from ingest.model import Site
from ingest.ports import WatchState
from ingest.sites.scope import in_scope
from ingest.text.likeness import Likeness, alike, brief, is_edit, is_known, replaces
from ingest.urls import equivalent
from ingest.watch import schedule
from ingest.watch.classify import Classification
from ingest.watch.moves import MoveMatcher, New
from ingest.watch.removal_guard import Guard, Removals
from ingest.watch.schedule import Pace
from ingest.watch.watch_states import WatchStates

MIN_ALIKE = 3
"""So many pages that come to say one text are no coincidence: two may have become one page."""
MAX_WITNESSES = 20
"""Other pages that are looked at because one seems to have turned: if a tenth of a site has, one of them tells with a chance
of 88 %."""
MAX_COMPARED = 100
"""With so many, evenly spread, each is compared: a tenth of a site is among them."""
PATIENCE = Pace()
"""However a cycle is run, a page that has turned is missed so often, and so long, before it counts as gone."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A page that is live and answered with other text: `says` (None: nothing that can be read), `before`: what is indexed
    of it. `lacking`: why there is nothing to index. `copy`: it is the text of a live page that is as ever. `start`: it is the
    site's start, which many servers give for any address. `stands_in`: what it looks like, if that is something else than a
    page. `leads_to`: the key of the page that it redirects to. `believe` takes the answer for the page's."""

    state: WatchState
    before: Likeness
    says: Likeness | None
    believe: Callable[[], Awaitable[None]]
    lacking: str | None = None
    copy: bool = False
    start: bool = False
    stands_in: str | None = None
    leads_to: str | None = None

    @property
    def key(self) -> str:
        return self.state.key

    @property
    def still(self) -> bool:
        """It had turned before, and says that still: it may be the last one."""
        kept = self.state.turned
        return kept is not None and bool(self.lacking or (self.says and is_known(self.says, kept)))

    @property
    def replaced(self) -> bool:
        """It looks like something else, and nothing of the page is left."""
        return bool(self.stands_in and self.says and replaces(self.says, self.before))

    def marked(self) -> WatchState:
        return replace(self.state, turned=brief(self.says) if self.says else "")


def is_doubtful(
    site: Site,
    verdict: Classification,
    reading: PageReading,
    found: Destination | None,
    before: Likeness,
    copy: bool,
) -> bool:
    """Whether the answer of a live page may be something else than the page; an edit of it is none. `found`: the page that it
    leads to."""
    if verdict.kind == "changed":
        return copy or not (reading.likeness and is_edit(reading.likeness, before))
    if verdict.kind == "moved":
        return reading.passing or not in_scope(site, reading.target or "") or bool(found and found[1].stands_in)
    return verdict.kind == "turned" or (verdict.kind == "gone" and reading.kind == "skipped")


class Doubts:
    """What a watch cycle heard of live pages that is no edit of them, and of pages that are new; and what of it is believed.
    `accept`: all of it. After `weigh`: suspects that are `believed`, those that count as `missed` and those `held`, each with
    the reason."""

    def __init__(
        self,
        site: Site,
        states: WatchStates,
        reader: PageReader,
        moves: MoveMatcher,
        removals: Removals,
        guard: Guard,
        live: Collection[str],
        *,
        accept: bool,
    ) -> None:
        self._site = site
        self._states = states
        self._reader = reader
        self._moves = moves
        self._removals = removals
        self._guard = guard
        self._live = frozenset(live)
        self._accept = accept
        self._new: list[New] = []
        self._one_text = True
        self._leads_on = False
        self.suspects: list[Suspect] = []
        self.believed: list[Suspect] = []
        self.missed: list[tuple[str, str]] = []
        self.held: list[tuple[str, str]] = []

    def came(self, new: New, links: Iterable[str]) -> list[New]:
        """A new page, which leads to `links`; those that can be announced. Where pages are live, that is when it is known
        what else there is; in a site of which nothing is indexed yet, as soon as two pages differ."""
        if not self._live and (new.says is None or not self._one_text):
            return [new]
        self._new.append(new)
        key, first = new.state.key, self._new[0]
        self._leads_on |= any(in_scope(self._site, to) and equivalent(to) != equivalent(key) for to in links)
        one_text = first.says and new.says and alike(first.says, new.says) and first.title == new.title
        if self._live or one_text:
            return []
        self._one_text = False
        ready, self._new = self._new, []
        return ready

    async def weigh(self, looked: Collection[str], *, trapped: bool) -> str | None:
        """Why nothing of the site is believed, if so. `trapped`: addresses without end give one page, which is no outage. Pages that have turned, few as they are, count as misses."""
        if self.suspects or self._new:
            await self._reader.probe()
        if not self._accept:
            found = turned(self.suspects, len(self._live), self._reader.is_nowhere)
            unseen = {s.key: s for s in self._states if s.turned is not None and s.key in self._live.difference(looked)}
            earlier = {key: state.going or "not looked at since" for key, state in unseen.items()}
            if self._guard.stops(len(found | earlier), len(self._live)) and not self._is_lone(found, earlier):
                return await self._stop(found, earlier)
            if not self._live and not trapped and self._is_one_text():
                return (
                    f"Site {self._site.name} answers with nearly one page at every address; nothing was indexed. Try again"
                    f" when it is well. If it is right as it is, run: ritbot index {self._site.name} --accept-removals"
                )
            self.believed = [suspect for suspect in self.suspects if suspect.key not in found]
            for suspect in self.suspects:
                if reason := found.get(suspect.key):
                    await self._miss(suspect, reason)
            texts = {s.says for s in self.suspects if s.key in found and s.says}
        else:
            texts, self.believed = set(), self.suspects
        for new in self._new:
            if new.says and any(alike(new.says, text) for text in texts):
                await self._states.rested(new.state)
            else:
                self._moves.came(new)
        return None

    def _is_lone(self, found: Mapping[str, str], earlier: Mapping[str, str]) -> bool:
        """One page that is alone in what it says, and was not held back: of a small site, too, it may be the page's own."""
        keys = {*found, *earlier}
        held = any(self._states.of(key).going for key in keys)
        return len(keys) == 1 and not held and not any(self._is_nowhere(s) for s in self.suspects if s.key in keys)

    def _is_nowhere(self, suspect: Suspect) -> bool:
        return suspect.says is not None and self._reader.is_nowhere(suspect.says)

    def _is_one_text(self) -> bool:
        """It gives one page, and that at any address."""
        pages = {equivalent(new.state.key) for new in self._new}
        nowhere = any(new.says and self._reader.is_nowhere(new.says) for new in self._new)
        return self._one_text and (len(pages) >= MIN_ALIKE or (nowhere and not self._leads_on))

    async def _miss(self, suspect: Suspect, reason: str) -> None:
        if suspect.lacking == "soft_404" and not self._is_nowhere(suspect):  # by its own word
            self._removals.lose(suspect.state, reason)
            return
        state = await self._states.missed(suspect.marked())
        stayed = schedule.is_gone(state, self._states.now(), PATIENCE)
        if stayed and reason == suspect.stands_in:
            self.believed.append(suspect)
            return
        self.missed.append((suspect.key, reason))
        if stayed:
            self._removals.lose(state, reason)
        else:
            self._removals.miss(state)

    async def _stop(self, found: Mapping[str, str], earlier: Mapping[str, str]) -> str:
        site, all_turned = self._site.name, {**earlier, **found}
        for suspect in self.suspects:
            if reason := found.get(suspect.key):
                to = None if suspect.lacking else suspect.leads_to or suspect.key
                await self._states.turned(suspect.marked(), reason, to)
        self.held = sorted(all_turned.items())
        common = Counter(all_turned.values()).most_common(1)[0][0]
        return (
            f"{len(all_turned)} of {len(self._live)} pages of site {site} answer with something else than their content"
            f" ({common}); nothing is changed until they are back. If it is right as it is, run:"
            f" ritbot index {site} --accept-removals"
        )


def turned(suspects: Sequence[Suspect], live: int, is_nowhere: Callable[[Likeness], bool]) -> dict[str, str]:
    """Which of the suspects have turned, by key, and why. `live`: pages of the site."""
    found = {s.key: s.lacking for s in suspects if s.lacking}
    one_text = _one_text(suspects, live) | {s.key for s in suspects if s.still and not s.replaced}
    found |= dict.fromkeys(one_text - found.keys(), "the same text as on other pages")
    found |= {s.key: s.stands_in for s in suspects if s.key not in found and s.stands_in and s.replaced}
    nowhere = [s for s in suspects if s.key not in found and s.says and is_nowhere(s.says)]
    if len(nowhere) == 1 and nowhere[0].start and not found and live > 1:
        return found  # a new home page, which the site gives for any address
    return found | dict.fromkeys((s.key for s in nowhere), "the same text as for an address that does not exist")


def _one_text(suspects: Sequence[Suspect], live: int) -> set[str]:
    """Those that say nearly one text and did not before."""
    found: set[str] = set()
    readable = sorted((s for s in suspects if s.says), key=lambda s: s.key)
    for one in readable[:: len(readable) // MAX_COMPARED + 1]:
        if one.key in found:
            continue
        same = [one, *(s for s in readable if s is not one and _became_alike(one, s))]
        copied = any(s.copy for s in same)
        if len(same) + copied >= MIN_ALIKE or len(same) == live > 1:
            found |= {s.key for s in same}
    return found


def _became_alike(one: Suspect, other: Suspect) -> bool:
    return bool(one.says and other.says and alike(one.says, other.says)) and not alike(one.before, other.before)
