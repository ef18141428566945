"""Citation marks: a mark stands only where a passage stands behind it."""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.answer import Passage
from navigator.citations.marks import AnswerDraft, from_marks, read_sections_as_sources, settled_length, written


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
    made = from_marks(
        "Set it to 5 [12]. Or not [99].\n\nSee also [12, 4].", {12: passage(12, "five"), 4: passage(4, "x")}
    )
    assert made.text == "Set it to 5 [1]. Or not.\n\nSee also [1][2]."
    assert [s.first.node_id for s in made.sources] == ["node-12", "node-4"]
    assert made.unsupported == ()


def test_the_mark_points_at_the_block_that_shares_most_words_with_the_claim() -> None:
    sources = from_marks(
        "The timeout is thirty seconds [1].", {1: passage(1, "Intro.", "The timeout is 30 seconds.", "Other.")}
    ).sources
    assert sources[0].first.block == 1


def test_a_paragraph_without_a_mark_is_unsupported_but_headings_code_and_leads_are_not() -> None:
    text = "# Title\n\nDo this:\n\n```\ncode [1]\n```\n\nIt is blue.\n\nIt is red [1].\n"
    made = from_marks(text, {1: passage(1, "red")})
    assert made.unsupported == ("It is blue.",)
    assert "code [1]" in made.text


@given(st.text(alphabet="ab [],`\n0123456789", max_size=200))
def test_only_read_numbers_can_become_sources(text: str) -> None:
    read = {n: passage(n, "some text") for n in (1, 12)}
    sources = from_marks(text, read).sources
    assert {s.first.node_id for s in sources} <= {"node-1", "node-12"}
    assert [s.number for s in sources] == list(range(1, len(sources) + 1))


def test_brackets_in_code_are_no_marks() -> None:
    text = "Take `items[1]` or items[0] [1]."
    assert from_marks(text, {1: passage(1, "items")}).text == "Take `items[1]` or items[0] [1]."


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
    made = from_marks("Take `items[0]` first.\n\nThen items[1].", {0: passage(0, "x"), 1: passage(1, "y")})
    assert made.unsupported == ("Take `items[0]` first.",)


READ = {3: passage(3, "Fill the pump."), 4: passage(4, "Valves."), 12: passage(12, "Hoses.")}


@pytest.mark.parametrize(
    ("mark", "sources"),
    [
        ("[3]", [3]),
        ("【3】", [3]),
        ("【3†source】", [3]),
        ("【3†L1-L4】", [3]),
        ("[^3]", [3]),
        ("[3†L2]", [3]),
        ("[3†L2, 4†L1]", [3, 4]),
        ("［3］", [3]),
        ("[#3]", [3]),
        ("\\[3\\]", [3]),
        ("[[3]]", [3]),
        ("[source 3]", [3]),
        ("[Sources: 3, 4]", [3, 4]),
        ("[Section 3]", [3]),
        ("[ref. 3]", [3]),
        ("[3; 4]", [3, 4]),
        ("[3, 4 and 12]", [3, 4, 12]),
        ("[3-4]", [3, 4]),
        ("[3–12]", [3, 4, 12]),
        ("[3][4]", [3, 4]),
        ("`[3]`", [3]),
        ("**[3]**", [3]),
        ("([3])", [3]),
        ("<sup>[3]</sup>", [3]),
        ("<sup>3</sup>", [3]),
        ("[3](#3)", [3]),
        ("[3](https://elsewhere.test/3)", [3]),
        ("[3: Priming the pump, quickly]", [3]),
        ("[3 - Priming the pump]", [3]),
        ("【3:0†source】", [3]),
        ("【3:12】", [3]),
        ("[^3^]", [3]),
        ("[3, lines 1-4]", [3]),
        ("[3, p. 4]", [3]),
        ("[No. 3]", [3]),
        ("[doc_3]", [3]),
        ("[src:3]", [3]),
        ("[@3]", [3]),
        ("[cite: 3, 4]", [3, 4]),
        ("[来源3]", [3]),
        ("[fuente 3]", [3]),
        ("〔3〕", [3]),
        ("[[3](https://d.test/p#s3)]", [3]),
        ("(source: 3)", [3]),
        ("(Sources 3 and 4)", [3, 4]),
        ("(3)", [3]),
        ("(3, 4)", [3, 4]),
        ("_[3]_", [3]),
        ("^[3]", [3]),
    ],
)
def test_marks_in_other_forms_are_read(mark: str, sources: list[int]) -> None:
    made = from_marks(f"Fill the pump {mark}.", READ)
    assert made.text == f"Fill the pump {''.join(f'[{n}]' for n in range(1, len(sources) + 1))}."
    assert [source.first.node_id for source in made.sources] == [f"node-{number}" for number in sources]
    assert made.unsupported == ()


@pytest.mark.parametrize("tag", ["ref", "cite", "source", "document_index"])
def test_a_tag_of_numbers_alone_is_a_mark(tag: str) -> None:
    made = written(AnswerDraft(f"Fill the pump <{tag}>3, 4</{tag}>. Not `<{tag}>3</{tag}>`."), list(READ.values()))
    assert made.text == f"Fill the pump [1][2]. Not `<{tag}>3</{tag}>`."


@pytest.mark.parametrize("mark", ["\ue200cite\ue202turn0search3\ue201", ":contentReference[oaicite:3]{index=3}"])
def test_marks_that_count_what_we_do_not_know_are_not_shown(mark: str) -> None:
    assert written(AnswerDraft(f"Fill the pump {mark}."), list(READ.values())).text == "Fill the pump."


def test_a_title_or_a_path_in_brackets_is_a_mark_where_one_section_has_it() -> None:
    named = [replace(READ[3], path=("Pumps", "Priming")), replace(READ[4], path=("Pumps", "Priming", "By hand"))]
    for mark in ("[Priming]", "[Source: Pumps > Priming]", "[pumps > priming]"):
        assert written(AnswerDraft(f"Fill it {mark}."), named).text == "Fill it [1].", mark
    for mark in ("[Priming](https://d.test/p)", "[Pumps]", "`[Priming]`"):
        assert written(AnswerDraft(f"Fill it {mark}."), named).sources == (), mark
    assert written(AnswerDraft("Fill it [P]."), list(READ.values())).sources == ()


@pytest.mark.parametrize(
    "listed",
    [
        "Sources: [3]",
        "**Sources:**\n\n- [3] Priming",
        "## References\n1. [3] Priming: https://d.test/p",
        "[^3]: Priming",
        "Source: 3",
    ],
)
def test_a_list_of_sources_at_the_end_is_not_said_twice(listed: str) -> None:
    alone = written(AnswerDraft(f"Fill the pump.\n\n{listed}"), list(READ.values()))
    assert (alone.text, alone.unsupported) == ("Fill the pump. [1]", ())
    marked = written(AnswerDraft(f"Fill the pump [3].\n\n{listed}\n"), list(READ.values()))
    assert marked.text == "Fill the pump [1]."


@pytest.mark.parametrize(
    "said", ["- [3] Fill it.\n- [4] Turn it.", "Reference: fill it [3].", "Sources: where water comes from [3]."]
)
def test_a_list_of_claims_is_no_list_of_sources(said: str) -> None:
    made = written(AnswerDraft(f"Do this:\n\n{said}"), list(READ.values()))
    assert re.sub(r"[\[\]\d ]", "", made.text) == re.sub(r"[\[\]\d ]", "", f"Do this:\n\n{said}")


@pytest.mark.parametrize("mark", ["[99]", "【99】", "[^99]", "[source 99]", "[99†L1]"])
def test_marks_of_what_was_not_read_are_taken_out_in_any_form(mark: str) -> None:
    made = from_marks(f"Fill the pump {mark}.", READ)
    assert (made.text, made.sources) == ("Fill the pump.", ())
    assert made.unsupported == ("Fill the pump.",)


@pytest.mark.parametrize(
    "text",
    [
        "Match it with [0-9] or [a-z].",
        "Between [100-200] ms.",
        "Take `[99]` as it is.",
        "Take items[0], then self.rows[3] and get()[4].",
        "Then rows[3].name and cells[4] = 5.",
        "- [ ] to do\n- [x] done",
        "Write [text](https://d.test/p) or [12:30].",
        "Up to [1-1000000].",
        "The third step (3) follows, and that at 3:12 [3:12].",
        "Put files in [S3], or rows in {3}.",
        "1) fill (4 l), 2) prime",
    ],
)
def test_what_is_an_index_an_interval_or_a_value_stays(text: str) -> None:
    made = from_marks(text, READ)
    assert (made.text, made.sources) == (text, ())


def test_beside_citations_of_the_endpoint_a_value_in_brackets_is_a_value() -> None:
    draft = AnswerDraft("Set `ports` to [8080].")
    draft.cite(READ[3].cite(0))
    draft.say(" See also valves [4].")
    made = written(draft, list(READ.values()))
    assert made.text == "Set `ports` to [8080]. [1] See also valves [2]."


def test_what_was_read_stands_behind_a_text_that_names_nothing() -> None:
    sources = read_sections_as_sources("Open the valves.", [*READ.values(), passage(5)])
    assert [(source.number, source.first.node_id) for source in sources] == [
        (1, "node-3"),
        (2, "node-4"),
        (3, "node-12"),
    ]


@pytest.mark.parametrize(
    "piece", ["[", "`", "[1", "``` ", "<think>", "<cite ", "[^", "  ", "\\[", "([", "<sup>", "[1-", "[3, "]
)
def test_reading_grows_with_the_length_alone(piece: str) -> None:
    """What was quadratic would take minutes here."""
    started = time.monotonic()
    written(AnswerDraft(piece * (200_000 // len(piece))), list(READ.values()))
    assert time.monotonic() - started < 10
