"""What writers are told of a gap, and what is left out of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.gaps.gap import AskedAgain, Gap, Place
from bot.gaps.report import WEEKS, GapOwner, GapReport, state_line, week_line, without_people
from tests.fakes.exchanges import NOON

WEEK = timedelta(weeks=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why does <@U0123ABC> get 403?", "Why does someone get 403?"),
        ("ask <@W12|Eva Smith> or\n <@U9>", "ask someone or someone"),
        ("mail eva.smith+docs@mail.example.co.uk, please", "mail someone, please"),
        ("(eva@example.org)", "(someone)"),
        ("What is @angular/core, a@b, or git@host:repo?", "What is @angular/core, a@b, or git@host:repo?"),
        ("a <@> b <@u1> c", "a <@> b <@u1> c"),
        ("  two \t lines\n\n here ", "two lines here"),
    ],
)
def test_people_whom_slack_or_an_address_names_are_someone(text: str, expected: str) -> None:
    assert without_people(text) == expected


@pytest.mark.parametrize(
    ("pattern", "owns"),
    [
        ("/keys\\.html", True),
        ("Guide › Keys", True),
        ("^Pump", True),
        ("keys$", False),
        ("#expiry", True),
        ("Backup", False),
    ],
)
def test_an_owner_is_found_by_the_address_or_the_path_of_a_place(pattern: str, owns: bool) -> None:
    place = Place("n", ("Pump", "Guide", "Keys"), "https://docs.example.test/keys.html#expiry")
    assert GapOwner(pattern, "Someone").owns(Gap("g", NOON, pin=place)) is owns
    assert not GapOwner(pattern, "Someone").owns(Gap("g", NOON))


def test_the_trend_counts_whole_weeks_back_from_now() -> None:
    ago = [timedelta(0), WEEK - timedelta(seconds=1), WEEK, 2 * WEEK, (WEEKS - 1) * WEEK, WEEKS * WEEK]
    report = GapReport(Gap("g", NOON), tuple(sorted(NOON - each for each in ago)))
    assert report.trend(NOON) == (1, 0, 0, 0, 0, 1, 1, 2)
    assert report.bars(NOON) == "▅▁▁▁▁▅▅█"
    assert week_line(report, NOON) == "2 this week, 1 the week before"
    assert report.asked_since(NOON - WEEK) == 3
    assert GapReport(Gap("g", NOON), ()).bars(NOON) == "▁" * WEEKS


@pytest.mark.parametrize(
    ("gap", "line"),
    [
        (Gap("g", NOON), "open"),
        (Gap("g", NOON, state="taken", asked_again=AskedAgain(NOON, 3, 0)), "taken · asked again on 2026-05-01: still not answered"),
        (Gap("g", NOON, asked_again=AskedAgain(NOON, 3, 2)), "open · asked again on 2026-05-01: 2 of 3 answered"),
        (Gap("g", NOON).put("fixed", NOON, "docs#7"), "fixed by docs#7"),
        (Gap("g", NOON).put("fixed", NOON, "docs#7").put("open", NOON), "open"),
        (Gap("g", NOON).put("ignored", NOON), "ignored"),
    ],
)  # fmt: skip
def test_a_state_is_said_with_what_closed_it_and_what_asking_again_gave(gap: Gap, line: str) -> None:
    assert state_line(gap) == line
