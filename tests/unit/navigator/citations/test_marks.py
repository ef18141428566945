"""Citation marks: a mark stands only where a passage stands behind it."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.answer import Passage
from navigator.citations.marks import AnswerDraft, from_marks, settled_length


def passage(number: int, *texts: str) -> Passage:
    blocks = tuple(Block("text", text) for text in texts)
    return Passage(
        number,
        f"node-{number}",
        "hash",
        "key",
        "https://d.test/p",
        f"https://d.test/p#s{number}",
        ("P",),
        blocks,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_marks_follow_what_was_said_and_number_sources_by_first_citation() -> None:
    draft = AnswerDraft()
    draft.say("Use B. ")
    draft.cite(passage(7, "b text").cite(0))
    draft.say("Then A.")
    draft.cite(passage(3, "a text").cite(0))
    draft.cite(passage(7, "b text").cite(0))
    assert draft.text == "Use B. [1] Then A. [2][1]"
    assert [(s.number, s.first.node_id) for s in draft.sources] == [(1, "node-7"), (2, "node-3")]


def test_a_mark_never_falls_inside_a_code_block() -> None:
    draft = AnswerDraft()
    draft.say("Run:\n```\npip install")
    draft.cite(passage(1, "x").cite(0))
    draft.say(" x\n```\nDone.")
    assert draft.text == "Run:\n```\npip install x\n```\n[1]\nDone."


def test_own_marks_are_renumbered_and_unread_numbers_vanish() -> None:
    text, sources, unsupported = from_marks(
        "Set it to 5 [12]. Or not [99].\n\nSee also [12, 4].", {12: passage(12, "five"), 4: passage(4, "x")}
    )
    assert text == "Set it to 5 [1]. Or not.\n\nSee also [1][2]."
    assert [s.first.node_id for s in sources] == ["node-12", "node-4"]
    assert unsupported == ()


def test_the_mark_points_at_the_block_that_shares_most_words_with_the_claim() -> None:
    _, sources, _ = from_marks(
        "The timeout is thirty seconds [1].", {1: passage(1, "Intro.", "The timeout is 30 seconds.", "Other.")}
    )
    assert sources[0].first.block == 1


def test_a_paragraph_without_a_mark_is_unsupported_but_headings_code_and_leads_are_not() -> None:
    text = "# Title\n\nDo this:\n\n```\ncode [1]\n```\n\nIt is blue.\n\nIt is red [1].\n"
    marked, _, unsupported = from_marks(text, {1: passage(1, "red")})
    assert unsupported == ("It is blue.",)
    assert "code [1]" in marked


@given(st.text(alphabet="ab [],`\n0123456789", max_size=200))
def test_only_read_numbers_can_become_sources(text: str) -> None:
    read = {n: passage(n, "some text") for n in (1, 12)}
    _, sources, _ = from_marks(text, read)
    assert {s.first.node_id for s in sources} <= {"node-1", "node-12"}
    assert [s.number for s in sources] == list(range(1, len(sources) + 1))


def test_brackets_in_code_are_no_marks() -> None:
    text = "Take `items[1]` or items[0] [1]."
    assert from_marks(text, {1: passage(1, "items")})[0] == "Take `items[1]` or items[0] [1]."


WORDS = st.sampled_from(["Use it.", "\n\n", "```\ncode\n", "```\n", "- item\n", "More words ", "\n", " "])
SAID = st.lists(st.one_of(WORDS, st.integers(0, 4)), max_size=30)


@given(SAID)
def test_what_is_settled_is_how_the_finished_answer_begins(script: list[str | int]) -> None:
    """Whatever is said and cited later: the text of what was settled only grows."""
    draft, shown = AnswerDraft(), [""]
    passages = [passage(number, f"text {number}") for number in range(5)]
    for event in script:
        if isinstance(event, int):
            draft.cite(passages[event].cite(0))
        else:
            draft.say(event)
            shown.append(draft.until(settled_length(draft.said)).text)
    assert all(draft.text.startswith(text) for text in shown)


def test_a_paragraph_is_settled_when_the_next_one_has_begun() -> None:
    assert settled_length("One.\n\n") == 0
    assert settled_length("One.\n\nT") == len("One.\n\n")
    assert settled_length("One.\n\n```\na\n\nb\n") == len("One.\n\n")


def test_an_index_in_code_is_no_mark_and_supports_nothing() -> None:
    _, _, unsupported = from_marks("Take `items[0]` first.\n\nThen items[1].", {0: passage(0, "x"), 1: passage(1, "y")})
    assert unsupported == ("Take `items[0]` first.",)
