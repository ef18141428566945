"""What the page of a section says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Part, Standing
from bot.permalinks.state_lines import day
from bot.web.pages import section_page
from bot.web.section_view import SectionView, section_view
from tests.fakes.editions import NODE, edition, section, texts
from tests.fakes.exchanges import NOON

LATER = NOON + timedelta(days=3)
OLD = edition(texts("One.", "Two.", "Three.", "The port is 7070.", "Five.", "Six."))
NEW = section(texts("One.", "Two.", "Three.", "The port is 8080.", "Five.", "Six."), checked_at=LATER)
NAMED = Permalink(NODE, OLD.section.node_hash)
HOSTILE = '<script>alert(1)</script>" onload="x'


def view(standing: Standing) -> SectionView:
    return section_view(standing, now=LATER + timedelta(minutes=5), base="https://r.example", root="../")


def said(standing: Standing) -> list[str]:
    return [f"{state.label}: {state.sentence}" for state in view(standing).states]


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (Standing(Permalink(NODE), NEW), ["Current: The section is there. Checked 5 minutes ago."]),
        (
            Standing(Permalink(NODE, NEW.node_hash), NEW),
            ["Current: It says what it said when the link was made. Checked 5 minutes ago."],
        ),
        (Standing(NAMED, NEW, OLD), ["Changed since 1 May 2026: What changed stands below."]),
        (
            Standing(NAMED, NEW, None, lost=True),
            ["Changed: It says something else now. The text that the link names was not kept."],
        ),
        (
            Standing(NAMED, None, OLD, gone_by=LATER),
            ["Removed: It was read last on 1 May 2026, and was gone by 4 May 2026. Below is what it said last."],
        ),
        (
            Standing(NAMED, None, OLD, gone_by=LATER, gone_for="its page was removed (404)"),
            [
                "Removed: It was read last on 1 May 2026; its page was removed (404) on 4 May 2026. "
                "Below is what it said last."
            ],
        ),
        (
            Standing(NAMED, None, OLD, gone_for="its site is no longer indexed"),
            ["Removed: It was read last on 1 May 2026; its site is no longer indexed. Below is what it said last."],
        ),
    ],
)
def test_it_says_in_a_sentence_how_it_stands(standing: Standing, told: list[str]) -> None:
    assert said(standing) == told


def test_a_change_is_shown_with_what_stands_around_it() -> None:
    shown = view(Standing(NAMED, NEW, OLD))
    rows = [row.same or "".join(f"{span.kind[0]}{span.text}" for span in row.block.spans) for row in shown.diff if row]  # type: ignore[union-attr]
    assert rows == ["2 paragraphs unchanged", "sThree.", "sThe port is r7070a8080s.", "sFive.", "1 paragraph unchanged"]


def test_the_link_names_what_is_shown_and_leads_back_to_it() -> None:
    assert view(Standing(NAMED, NEW, OLD)).permalink == f"https://r.example{Permalink(NODE, NEW.node_hash).path}"
    assert view(Standing(NAMED, None, OLD)).permalink == f"https://r.example{NAMED.path}"


@pytest.mark.parametrize("link", ["file:///srv/docs/a.html", "javascript:alert(1)", "data:text/html,x"])
def test_an_address_that_is_none_of_the_web_is_no_link(link: str) -> None:
    from dataclasses import replace

    assert view(Standing(Permalink(NODE), replace(NEW, link=link))).live == ""
    assert view(Standing(Permalink(NODE), NEW)).live == NEW.link


def test_every_text_of_a_page_is_escaped() -> None:
    path, blocks = (HOSTILE, HOSTILE), texts(HOSTILE, "The port is 7070.")
    then = edition(texts(HOSTILE + " and more", "The port is 7070."), path=(HOSTILE, HOSTILE + " before"))
    now = section(blocks, path=path)
    part = Part(section(blocks, node="p", path=path), 0.5)
    link = Permalink(NODE, then.section.node_hash)
    for standing in (
        Standing(link, now, then, parts=(part,), earlier=(then,)),
        Standing(link, None, then, nearest=(part.section,), gone_for=HOSTILE),
    ):
        html = section_page(view(standing), root="../")
        assert "<script>alert" not in html
        assert '" onload="' not in html
        assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("moment", "shown"),
    [(datetime(2026, 5, 1, tzinfo=UTC), "1 May 2026"), (datetime(2027, 12, 31, tzinfo=UTC), "31 December 2027")],
)
def test_days_are_said_in_words(moment: datetime, shown: str) -> None:
    assert day(moment) == shown
