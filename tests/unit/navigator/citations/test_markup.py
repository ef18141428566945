"""What a model writes for machines: reasoning and tags are not shown, code that looks like them is."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.citations.marks import AnswerDraft, written
from navigator.citations.markup import code_spans, unwrapped, with_plain_marks, without_reasoning
from tests.fakes.turns import passage

READ = (passage(4, "Fill the pump with water first.", "It holds two litres."), passage(7, "Valves."))


@pytest.mark.parametrize(
    "text",
    [
        "<think>Let me see. `Odd tick.</think>\n\nFill it [4].",
        "Let me see.\n\n</think>\n\nFill it [4].",
        "<thinking>\nLet me see.\n\nAnd so on [7].\n</thinking>Fill it [4].",
        '<reasoning effort="high">```\nLet me see.</reasoning> Fill it [4].',
        "<thinking>Let me see.</thinking>Fill it [4].",
        "[THINK]Let me see.[/THINK]Fill it [4].",
        "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>Fill it [4].",
        "<think>One.</think><think>Two.</think>Fill it [4].",
        "Fill it [4].\n\n<think>And was it right?",
        "Fill it [4].</think>",
        "<THINK>Let me see.</THINK>Fill it [4].",
        "<|begin_of_thought|>Let me see.<|end_of_thought|>Fill it [4].",
        "<|START_THINKING|>Let me see.<|END_THINKING|>Fill it [4].",
        "<unused94>thought\nLet me see.<unused95>Fill it [4].",
        "<seed:think>Let me see.</seed:think>Fill it [4].",
        "<thought_process>Let me see.</thought_process>Fill it [4].",
        "< think >Let me see.</ think >Fill it [4].",
    ],
)
def test_reasoning_in_the_text_is_not_shown(text: str) -> None:
    draft = AnswerDraft(text)
    assert written(draft, READ).text == "Fill it [1]."


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` and `</think>` around it.",
        "So:\n\n```\n<think>\nplan\n</think>\n```\n\nDone.",
        "So:\n\n~~~xml\n<cite>a</cite>\n~~~\n\nDone.",
        "Use `<cite>` for titles, and `<answer>` never.",
        "The list [a] is `<|im_end|>`.",
    ],
)
def test_what_is_code_stays(text: str) -> None:
    assert written(AnswerDraft(text), READ).text == text


def test_reasoning_that_never_ends_is_all_there_is() -> None:
    assert without_reasoning("<think>I wonder") == ""
    assert without_reasoning("A model that says <think> in a sentence") == "A model that says  in a sentence"


def test_reasoning_between_citations_of_the_endpoint_takes_no_mark_with_it() -> None:
    draft = AnswerDraft()
    draft.say("<think>Valves?")
    draft.cite(READ[1].cite(0))
    draft.say("</think>Fill it.")
    draft.cite(READ[0].cite(0))
    made = written(draft, READ)
    assert made.text == "Fill it. [1]"
    assert [source.first.node_id for source in made.sources] == ["node-4"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ('<cite index="0-1">Fill it.</cite>', "Fill it. [4]"),
        ('<cite index="0-0:1,1-0">Fill it.</cite>', "Fill it. [4] [7]"),
        ('<citation id="7">Fill it.</citation>', "Fill it. [7]"),
        ("<cite>Fill it.</cite>", "Fill it."),
        ('Fill it.<cite index="4"/>', "Fill it. [4]"),
        ('Fill it. <cite index="1-0">Valv', "Fill it. Valv [7]"),
        ('<cite index="99-1">Fill it.</cite>', "Fill it."),
        ("<answer>Fill it.</answer><|im_end|>", "Fill it."),
        ("Fill it.<｜end▁of▁sentence｜>", "Fill it."),
        ("</cite>Fill it.", "Fill it."),
        ("Fill it.<end_of_turn>", "Fill it."),
        ("[/INST]Fill it.</s>", "Fill it."),
        ("Fill <s>it</s> now.", "Fill <s>it</s> now."),
    ],
)
def test_tags_become_marks_or_nothing(text: str, marks: str) -> None:
    assert with_plain_marks(text, READ) == marks


def test_leaked_tags_and_citations_of_the_endpoint_stand_side_by_side() -> None:
    draft = AnswerDraft()
    draft.say("It holds two litres.")
    draft.cite(READ[0].cite(1))
    draft.say('\n\n<cite index="1-0">Valves open.</cite>')
    made = written(draft, READ)
    assert made.text == "It holds two litres. [1]\n\nValves open. [2]"
    assert [source.first.quote for source in made.sources] == ["It holds two litres.", "Valves."]


def test_a_mark_of_the_endpoint_never_falls_between_ticks() -> None:
    draft = AnswerDraft()
    draft.say("Run `fill")
    draft.cite(READ[0].cite(0))
    draft.say(" it` now.")
    assert written(draft, READ).text == "Run `fill it` [1] now."


@pytest.mark.parametrize("name", ["markdown", "md", "Markdown"])
def test_an_answer_that_is_one_fence_of_markdown_is_taken_out(name: str) -> None:
    text = f"```{name}\nFill it [4].\n\n```sh\nfill\n```\n```"
    assert written(AnswerDraft(text), READ).text == "Fill it [1].\n\n```sh\nfill\n```"


@pytest.mark.parametrize(
    "text", ["```sh\na\nb\n```", "```md\na\n```\nthen\n```\nb\n```", "```md\na\nb", "", "```md\n```"]
)
def test_any_other_fence_stays(text: str) -> None:
    assert unwrapped(text) == text


@given(st.text(alphabet="ab `~\n<>/", max_size=80))
def test_code_stands_in_order_and_apart(text: str) -> None:
    spans = code_spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "`", "```\n", "words ", "\n", "[4]", "<cite index='0-1'>", "</cite>"])
    )
)
def test_whatever_is_written_reads_without_a_fault(parts: list[str]) -> None:
    made = written(AnswerDraft("".join(parts)), READ)
    assert {source.first.node_id for source in made.sources} <= {"node-4", "node-7"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Based on the passages I read, fill it.", "Based on the pages of the documentation, fill it."),
        ("The provided text does not say.", "The documentation does not say."),
        ("The text that I read does not say.", "The documentation does not say."),
        ("In the search results provided, none.", "In the pages of the documentation, none."),
        ("The sections I have read name two.", "The pages of the documentation name two."),
        ("Print `the provided text` of the passages.", "Print `the provided text` of the passages."),
    ],
)
def test_people_read_of_the_documentation(said: str, shown: str) -> None:
    assert written(AnswerDraft(said), READ).text == shown
