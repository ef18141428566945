"""A documentation site that changes in every way that sites do, driven by one random generator.

    site = ChangingSite(docs, random.Random(7))
    site.change()                   # one step; what it was, in words
    site.recover()                  # no page fails any more: what is there now is the final site

Every page carries WORD in its title, so that a search for it finds every chunk.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ingest.urls import page_key
from tests.fakes import hostile_pages
from tests.fakes.docsite import Behaviour, DocSite, fails_first, page, redirect, slow, status
from tests.fakes.site import html

WORD = "handbook"
ATTACK_CHARACTERS = 40_000
"""Of a hostile page: more than enough to stop a process for minutes in which something grows with its square."""
_FEW, _MANY = 18, 36
_WORDS = (
    "anchor broker cluster delta engine format gateway header index journal kernel ledger module node offset".split()
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A page as its writer sees it: `sections` are (anchor, heading, text)."""

    title: str
    sections: tuple[tuple[str, str, str], ...]
    hidden: bool = False


@dataclass(slots=True)
class Answers:
    """What each path gives: a page, where it moved to, or the status of one that is gone."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)


class ChangingSite:
    """The site is served by `docs` and lists itself in /sitemap.xml: pages, and the old addresses of those that moved."""

    def __init__(self, docs: DocSite, chance: random.Random) -> None:
        self._docs = docs
        self._chance = chance
        self._made = 0
        self._bar = 0
        self._failing: dict[str, Behaviour] = {}
        self.answers = Answers()
        for _ in range(_FEW):
            self.answers.drafts[self._path()] = self._draft()
        self._publish()

    def change(self) -> str:
        """One change, published at once."""
        count = len(self.answers.drafts)
        wanted = 1 + (count < _FEW) - (count > _MANY)
        kinds: list[tuple[Callable[[str], str], int]] = [
            (self._edit, 6),
            (self._rename, 4),
            (self._grow, 2),
            (self._shrink, 3),
            (self._split, 2 * wanted),
            (self._move, 4),
            (self._copy, 2 * wanted),
            (self._vanish, 3 * (2 - wanted)),
            (self._come_back, 2 * wanted),
            (self._hide, 1),
            (self._new_bar, 1),
            (self._fail, 2),
            (self._slow_down, 5),
            (self._attack, 2),
        ]
        [kind] = self._chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        said = kind(self._chance.choice(sorted(self.answers.drafts)))
        self._publish()
        return said

    def recover(self) -> None:
        self._failing.clear()
        self._publish()

    @property
    def left(self) -> set[str]:
        """Keys of the addresses that redirect."""
        return {page_key(self._docs.url(path)) for path in self.answers.moved}

    # --- kinds of change

    def _edit(self, path: str) -> str:
        at = self._chance.randrange(len(self.answers.drafts[path].sections))
        self._rewrite(path, at, text=self._text())
        return f"edit {path}"

    def _rename(self, path: str) -> str:
        at = self._chance.randrange(len(self.answers.drafts[path].sections))
        self._rewrite(path, at, heading=self._heading())
        return f"rename a heading of {path}"

    def _grow(self, path: str) -> str:
        draft = self.answers.drafts[path]
        at = self._chance.randrange(len(draft.sections) + 1)
        sections = (*draft.sections[:at], self._section(), *draft.sections[at:])
        self.answers.drafts[path] = replace(draft, sections=sections)
        return f"add a section to {path}"

    def _shrink(self, path: str) -> str:
        draft = self.answers.drafts[path]
        kept = self._chance.randint(1, len(draft.sections))
        self.answers.drafts[path] = replace(draft, sections=draft.sections[:kept])
        return f"leave {kept} sections of {path}"

    def _split(self, path: str) -> str:
        draft = self.answers.drafts[path]
        half = len(draft.sections) // 2
        if not half:
            return self._grow(path)
        other = self._path()
        self.answers.drafts[path] = replace(draft, sections=draft.sections[:half])
        self.answers.drafts[other] = replace(self._draft(), sections=draft.sections[half:])
        return f"split {path} into {other}"

    def _move(self, path: str) -> str:
        """To a new address, or back to one that was left or is gone."""
        left = sorted({*self.answers.moved, *self.answers.gone})
        to = self._chance.choice(left) if left and self._chance.random() < 0.3 else self._path()
        self._take(to, self.answers.drafts.pop(path))
        self.answers.moved[path] = to
        return f"move {path} to {to}"

    def _copy(self, path: str) -> str:
        to = self._path()
        self.answers.drafts[to] = self.answers.drafts[path]
        return f"copy {path} to {to}"

    def _vanish(self, path: str) -> str:
        code = self._chance.choice((404, 410))
        del self.answers.drafts[path]
        self.answers.gone[path] = code
        return f"{code} for {path}"

    def _come_back(self, path: str) -> str:
        left = sorted(self.answers.gone)
        if not left:
            return self._copy(path)
        back = self._chance.choice(left)
        self._take(back, self._draft())
        return f"{back} comes back"

    def _hide(self, path: str) -> str:
        draft = self.answers.drafts[path]
        self.answers.drafts[path] = replace(draft, hidden=not draft.hidden)
        return f"{'show' if draft.hidden else 'hide'} {path}"

    def _new_bar(self, _: str) -> str:
        self._bar += 1
        return "a new navigation bar on every page"

    def _fail(self, path: str) -> str:
        """For some requests; in the end it must be as it should."""
        times, code = self._chance.randint(1, 6), self._chance.choice((500, 503))
        self._failing[path] = fails_first(times, status(code), self._page(self.answers.drafts[path]))
        return f"{code} for {path}, {times} times"

    def _slow_down(self, path: str) -> str:
        """So slow that whoever reads it can be killed over it."""
        self._edit(path)
        self._failing[path] = slow(self._chance.uniform(0.2, 1.0), self._html(self.answers.drafts[path]))
        return f"{path} changes and gets slow"

    def _attack(self, path: str) -> str:
        """A page made to cost more than its size stands there, until the site is well again."""
        kind = self._chance.choice(sorted(hostile_pages.KINDS))
        self._failing[path] = page(hostile_pages.KINDS[kind](ATTACK_CHARACTERS))
        return f"{kind} at {path}"

    # --- writing

    def _take(self, path: str, draft: Draft) -> None:
        self.answers.moved.pop(path, None)
        self.answers.gone.pop(path, None)
        self.answers.drafts[path] = draft

    def _rewrite(self, path: str, at: int, heading: str | None = None, text: str | None = None) -> None:
        draft = self.answers.drafts[path]
        anchor, old_heading, old_text = draft.sections[at]
        changed = (anchor, heading or old_heading, text or old_text)
        sections = (*draft.sections[:at], changed, *draft.sections[at + 1 :])
        self.answers.drafts[path] = replace(draft, sections=sections)

    def _path(self) -> str:
        self._made += 1
        return f"/p{self._made}"

    def _draft(self) -> Draft:
        return Draft(f"{self._heading()} {WORD}", tuple(self._section() for _ in range(self._chance.randint(1, 6))))

    def _section(self) -> tuple[str, str, str]:
        return f"s{self._chance.randrange(10**6)}", self._heading(), self._text()

    def _heading(self) -> str:
        return " ".join(self._chance.choices(_WORDS, k=2)).capitalize()

    def _text(self) -> str:
        return " ".join(self._chance.choices(_WORDS, k=self._chance.randint(5, 90))).capitalize() + "."

    # --- publishing

    def _publish(self) -> None:
        answers = self.answers
        served: dict[str, str | Behaviour] = {path: self._page(draft) for path, draft in answers.drafts.items()}
        served |= {path: redirect(to, 301) for path, to in answers.moved.items()}
        served |= {path: status(code) for path, code in answers.gone.items()}
        self._failing = {path: failing for path, failing in self._failing.items() if path in answers.drafts}
        listed = "".join(f"<url><loc>{self._docs.url(path)}</loc></url>" for path in (*answers.drafts, *answers.moved))
        served["/sitemap.xml"] = page(f"<urlset>{listed}</urlset>", content_type="text/xml")
        self._docs.pages = {**served, **self._failing}

    def _page(self, draft: Draft) -> Behaviour:
        text = self._html(draft)
        return page(text, etag=f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"')

    def _html(self, draft: Draft) -> str:
        parts = "".join(f"<h2 id='{anchor}'>{heading}</h2><p>{text}</p>" for anchor, heading, text in draft.sections)
        head = "<meta name='robots' content='noindex'>" if draft.hidden else ""
        bar = f"<nav>Bar number {self._bar}: <a href='/'>home</a></nav>"
        return html(draft.title, parts, head).replace("<body>", f"<body>{bar}")
