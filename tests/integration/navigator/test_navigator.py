"""The navigator's loop on a real (small) index, with a scripted model: whatever the model does, every
question ends in a sensible answer, and nothing unread is ever cited."""

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from ingest.model import Chunk, Scope
from ingest.urls import page_key
from navigator.agent.prompts import CALL_AS_CALL, READ_FIRST, RitBounds, budget_note, question_of
from navigator.answer import Answer, Passage, Step
from navigator.errors import ModelUnreachable
from navigator.navigator import Navigator
from navigator.ports import CitationDelta, ModelEvent, TextDelta, ToolCall, ToolCallEvent, ToolTurn, TurnEnd, UserTurn
from navigator.question.rewrite import Earlier
from navigator.question.versions import Versions
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.fakes.model import ScriptedModel, read, toc
from tests.fakes.site import IndexedSite, html, indexed_site

PUMPS = "https://docs.example.test/pumps.html"
PAGES = {
    PUMPS: html(
        "Pumps",
        "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>Fill the pump with water first.</p><pre>pump --prime</pre>"
        "<h2 id='seal'>Seals</h2><p>Grease the seal twice a year.</p>",
    ),
    "https://docs.example.test/valves.html": html("Valves", "<p>Valves open and shut.</p>"),
}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path, PAGES) as open_site:
        yield open_site


def navigator(site: IndexedSite, model: ScriptedModel, rules: RitBounds | None = None) -> Navigator:
    bounds = rules or RitBounds()

    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    return Navigator({"rit": Rit(retriever, site.trees, bounds)}, model, lambda _: "rit", trees=site.trees)


def last_results(model: ScriptedModel) -> ToolTurn:
    turn = model.asked[-1][1][-1]
    assert isinstance(turn, ToolTurn)
    return turn


async def number_of(site: IndexedSite, question: str, title: str) -> int:
    """The number that a section gets when this question is asked."""
    model = ScriptedModel(toc(question), [TextDelta("…")])
    answer = await navigator(site, model).ask(question)
    return next(number for number, _, path in answer.trace.shown if path[-1] == title)


async def ask(
    site: IndexedSite, *script: list[ModelEvent] | Exception, question: str = "How do I prime a pump?"
) -> Answer:
    return await navigator(site, ScriptedModel(*script)).ask(question)


async def test_search_read_answer_with_a_citation_of_what_was_read(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    answer = await ask(
        site, toc("prime pump"), read(number), [TextDelta("Fill it with water."), CitationDelta(0, 0, 0, "")]
    )
    assert answer.outcome == "answered"
    assert answer.text == "Fill it with water. [1]"
    source = answer.sources[0].first
    assert source.path == ("Pumps", "Priming")
    assert source.node_link == f"{PUMPS}#prime"
    assert source.link.startswith(f"{PUMPS}#prime:~:text=")
    assert source.quote == "Fill the pump with water first."
    assert [step.tool for step in answer.trace.steps] == ["get_toc", "get_toc", "read"], (
        "the first with the question's own words"
    )


async def test_what_the_questions_own_words_find_comes_with_it_and_can_be_read_at_once(site: IndexedSite) -> None:
    model = ScriptedModel(read(2), [TextDelta("Fill it."), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    opening = model.asked[0][1][0]
    assert isinstance(opening, UserTurn)
    assert "2: Priming" in opening.text
    first = answer.trace.steps[0]
    assert (first.tool, first.query) == ("get_toc", "How do I prime a pump?")
    assert (answer.text, answer.trace.turns) == ("Fill it. [1]", 2)


async def test_a_link_lands_on_the_cited_section_where_its_words_stand_earlier_on_the_page(site: IndexedSite) -> None:
    same = "<p>Ask whoever runs it before you go on.</p>"
    await site.update(
        {"https://docs.example.test/stop.html": html("Stopping", f"<h2 id=a>Fans</h2>{same}<h2 id=b>Mills</h2>{same}")}
    )
    number = await number_of(site, "stopping mills", "Mills")
    answer = await ask(
        site, toc("stopping mills"), read(number), [TextDelta("Ask."), CitationDelta(0, 0, 0, "")], question="Stop?"
    )
    link = answer.sources[0].first.link
    assert link.partition("#")[2] == "b:~:text=mills-,Ask%20whoever%20runs%20it%20before%20you%20go%20on."


async def test_a_citation_of_something_unread_is_dropped(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    answer = await ask(
        site,
        toc("prime pump"),
        read(number),
        [TextDelta("a"), CitationDelta(5, 0, 0, ""), CitationDelta(0, 9, 9, ""), CitationDelta(0, 1, 1, "")],
    )
    assert [source.first.quote for source in answer.sources] == ["pump --prime"]


async def test_an_answer_without_any_citation_is_shown_as_not_supported(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    answer = await ask(site, toc("prime pump"), read(number), [TextDelta("Fill it with water first.")])
    assert (answer.outcome, answer.text) == ("answered", "Fill it with water first.")
    assert answer.unsupported == ("Fill it with water first.",)
    assert [source.first.quote for source in answer.sources] == ["Fill the pump with water first."]
    assert "does not say which section" in answer.note


@pytest.mark.parametrize(
    "said",
    [
        "Fill it first [{number}].",
        '<cite index="0-0">Fill it first.</cite>',
        "<think>Which [9]?</think>\n\n```markdown\nFill it first【{number}†L1】.\n```",
    ],
)
async def test_a_citation_in_a_form_of_the_models_own_is_read(site: IndexedSite, said: str) -> None:
    number = await number_of(site, "prime pump", "Priming")
    answer = await ask(site, toc("prime pump"), read(number), [TextDelta(said.format(number=number))])
    assert re.sub(r"[ .]", "", answer.text) == "Fillitfirst[1]"
    assert answer.sources[0].first.path == ("Pumps", "Priming")
    assert (answer.unsupported, answer.note) == ((), "")


async def test_the_model_is_sent_back_when_it_answers_before_reading(site: IndexedSite) -> None:
    model = ScriptedModel(
        [TextDelta("Water, I guess.")], toc("prime pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")]
    )
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert answer.outcome == "answered"
    assert UserTurn(READ_FIRST) in model.asked[1][1]


async def test_a_model_that_never_reads_has_failed_and_its_words_are_not_shown(site: IndexedSite) -> None:
    model = ScriptedModel([TextDelta("I know this by heart.")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert (answer.outcome, len(model.asked)) == ("failed", 3)
    assert "heart" not in answer.text
    assert "called no tool" in answer.text


async def test_a_model_that_says_that_it_found_nothing_is_believed(site: IndexedSite) -> None:
    answer = await ask(site, [TextDelta("NOT_FOUND I looked for <think>.")])
    assert answer.outcome == "not_found"


@pytest.mark.parametrize(
    ("said", "asked"), [([], 1), ([TextDelta("<think>Let me see")], 1), ([TextDelta("Fill it with")], 3)]
)
async def test_a_reply_that_is_used_up_before_anything_was_read_says_so(
    site: IndexedSite, said: list[ModelEvent], asked: int
) -> None:
    model = ScriptedModel([*said, TurnEnd("max_tokens")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert (answer.outcome, len(model.asked)) == ("failed", asked)
    assert "model.max_tokens" in answer.text
    assert "Fill it" not in answer.text


async def test_a_call_written_as_text_is_taken_as_a_call(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    model = ScriptedModel(
        [TextDelta('<think>Hm.</think>Looking.<tool_call>{"name": "get_toc", "arguments": {"query": "prime pump"}}')],
        [TextDelta(f'{{"name": "Read", "arguments": {{"sections": "{number}: Priming"}}}}')],
        [TextDelta("Fill it."), CitationDelta(0, 0, 0, "")],
    )
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert (answer.outcome, answer.text) == ("answered", "Fill it. [1]")
    assert [(step.tool, step.reasoning) for step in answer.trace.steps] == [
        ("get_toc", ""),
        ("get_toc", "Looking."),
        ("read", ""),
    ]


async def test_a_call_in_text_that_cannot_be_read_is_asked_for_once_more(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    model = ScriptedModel(
        [TextDelta("<tool_call>get_toc prime pump</tool_call>")],
        toc("prime pump"),
        read(number, 99),
        [TextDelta("Fill it."), CitationDelta(0, 0, 0, "")],
    )
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert answer.outcome == "answered"
    assert UserTurn(CALL_AS_CALL) in model.asked[1][1]
    assert "No section 99 was shown" in last_results(model).results[0].text


async def test_a_model_that_only_searches_stops_at_the_budget(site: IndexedSite) -> None:
    model = ScriptedModel(toc("pump"))
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert answer.outcome == "not_found"
    assert answer.trace.calls == 10
    assert sum(step.error is None for step in answer.trace.steps) == 3


async def test_both_tools_in_one_turn_are_refused(site: IndexedSite) -> None:
    both: list[ModelEvent] = [
        ToolCallEvent(ToolCall("a", "get_toc", {"query": "pump"})),
        ToolCallEvent(ToolCall("b", "read", {"sections": [1]})),
    ]
    model = ScriptedModel(both, read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert [bool(step.error) for step in answer.trace.steps] == [False, True, True, False]
    assert answer.outcome == "answered"


@pytest.mark.parametrize("sections", [[99], ["abc"], [], [None], [1.5e99], [{}]])
async def test_numbers_that_were_never_shown_come_back_as_tool_errors(
    site: IndexedSite, sections: list[object]
) -> None:
    model = ScriptedModel(read(*sections), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert answer.trace.steps[1].error
    assert answer.outcome == "answered"


async def test_chunks_that_no_page_lists_take_no_place_among_the_best(site: IndexedSite) -> None:
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    before = await retriever.hybrid("prime pump", Scope(), 2)
    orphans = [
        Chunk(str(uuid4()), str(uuid4()), page_key(PUMPS), "docs", "", "prime pump", "prime pump", "prime pump")
        for _ in range(3)
    ]
    await site.index.upsert(orphans, await site.embedder.embed([orphan.embedded for orphan in orphans]))
    after = await retriever.hybrid("prime pump", Scope(), 2)
    assert [hit.chunk_id for hit in after.hits] == [hit.chunk_id for hit in before.hits]
    assert len(after.hits) == 2


async def test_an_answer_about_something_called_not_found_is_an_answer(site: IndexedSite) -> None:
    said: list[ModelEvent] = [TextDelta("The status NOT_FOUND is number 5."), CitationDelta(0, 0, 0, "")]
    answer = await ask(site, toc("prime pump"), read(1), said)
    assert (answer.outcome, answer.text) == ("answered", "The status NOT_FOUND is number 5. [1]")


def test_more_calls_than_were_left_leave_none() -> None:
    assert "[Left: 0 tool calls, 0 of them get_toc." in budget_note(-2, 0.1, 0.8, 1)


async def test_reading_before_any_table_was_shown_is_refused(site: IndexedSite) -> None:
    model = ScriptedModel(read(1), toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model, RitBounds(outline="titles")).ask("How do I prime a pump?")
    assert answer.trace.steps[0].error
    assert answer.outcome == "answered"


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": 7}, {"_invalid": "{"}])
async def test_a_search_without_a_query_comes_back_as_a_tool_error(
    site: IndexedSite, arguments: dict[str, object]
) -> None:
    wrong: list[ModelEvent] = [ToolCallEvent(ToolCall("a", "get_toc", arguments))]
    answer = await ask(site, wrong, toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    assert answer.trace.steps[1].error
    assert answer.outcome == "answered"


async def test_an_unknown_tool_comes_back_as_a_tool_error(site: IndexedSite) -> None:
    wrong: list[ModelEvent] = [ToolCallEvent(ToolCall("a", "browse", {"url": "https://evil.test"}))]
    answer = await ask(site, wrong, toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    assert "no tool" in (answer.trace.steps[1].error or "")


async def test_a_section_is_given_once_and_a_second_read_says_so(site: IndexedSite) -> None:
    model = ScriptedModel(toc("pump"), read(1), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert len(answer.trace.passages) == 1
    assert "already" in last_results(model).results[0].text


async def test_when_the_budget_is_used_the_model_must_answer_from_what_it_read(site: IndexedSite) -> None:
    rules = RitBounds(budget=3, toc_budget=2)
    model = ScriptedModel(toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model, rules).ask("How do I prime a pump?")
    assert [asked[2] for asked in model.asked] == [False, False, True]
    assert "No calls are left" in last_results(model).note
    assert answer.outcome == "answered"


async def test_a_nearly_full_context_ends_the_reading(site: IndexedSite) -> None:
    full = [*toc("pump"), TurnEnd("calls", context_tokens=85)]
    model = ScriptedModel(
        full,
        [*read(1), TurnEnd("calls", context_tokens=85)],
        [TextDelta("x"), CitationDelta(0, 0, 0, "")],
        context_window=100,
    )
    answer = await navigator(site, model).ask("How do I prime a pump?")
    assert [asked[2] for asked in model.asked] == [False, False, True]
    assert "nearly full" in last_results(model).note
    assert answer.outcome == "answered"


async def test_not_found_says_what_was_looked_for_and_offers_the_nearest_sections(site: IndexedSite) -> None:
    answer = await ask(site, toc("pump"), read(1), [TextDelta("NOT_FOUND I looked for the price of pumps.")])
    assert answer.outcome == "not_found"
    assert answer.text.endswith("I looked for the price of pumps.")
    assert answer.sources == ()
    assert 1 <= len(answer.nearest) <= 3


async def test_a_model_that_fails_gives_a_plain_reason_and_keeps_the_way(site: IndexedSite) -> None:
    answer = await ask(site, toc("pump"), ModelUnreachable("The model does not answer."))
    assert (answer.outcome, answer.text) == ("failed", "The model does not answer.")
    assert answer.trace.calls == 2
    assert answer.trace_id


async def test_a_refusal_is_told_plainly(site: IndexedSite) -> None:
    answer = await ask(site, toc("pump"), [TextDelta("no"), TurnEnd("refusal")])
    assert answer.outcome == "failed"
    assert "declined" in answer.text


async def test_an_answer_that_was_cut_short_says_so(site: IndexedSite) -> None:
    answer = await ask(site, toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, ""), TurnEnd("max_tokens")])
    assert answer.outcome == "answered"
    assert "cut short" in answer.note


@pytest.mark.parametrize("question", ["", "  \n", "hello", "???"])
async def test_greetings_and_empty_questions_cost_no_model_call(site: IndexedSite, question: str) -> None:
    model = ScriptedModel([TextDelta("never")])
    answer = await navigator(site, model).ask(question)
    assert (answer.outcome, model.asked, answer.sources) == ("greeting", [], ())


async def test_a_very_long_question_is_asked_by_its_beginning(site: IndexedSite) -> None:
    model = ScriptedModel(toc("pump"), read(1), [TextDelta("x"), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("pump " * 4_000)
    opening = model.asked[0][1][0]
    assert isinstance(opening, UserTurn)
    assert len(opening.text) < 9_000
    assert "first 8,000 characters" in answer.note


async def test_without_citations_of_the_endpoint_marks_are_checked(site: IndexedSite) -> None:
    model = ScriptedModel(
        toc("pump"), read(1), [TextDelta("It moves water [1]. It flies [77].\n\nIt sings.")], cites=False
    )
    answer = await navigator(site, model).ask("What does a pump do?")
    assert answer.text == "It moves water [1]. It flies.\n\nIt sings."
    assert len(answer.sources) == 1
    assert answer.unsupported == ("It sings.",)


async def test_a_node_that_vanished_between_search_and_read_is_reported(site: IndexedSite) -> None:
    number = await number_of(site, "valves", "Valves")

    class Vanishing(ScriptedModel):
        async def turn(self, *args: object, **kwargs: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
            if len(self.asked) == 1:
                await site.remove("https://docs.example.test/valves.html")
            async for event in super().turn(*args, **kwargs):  # type: ignore[arg-type]
                yield event

    model = Vanishing(toc("valves"), read(number), [TextDelta("NOT_FOUND gone")])
    answer = await navigator(site, model).ask("What do valves do?")
    assert answer.outcome == "not_found"
    assert "no longer there" in last_results(model).results[0].text


async def test_a_question_stays_in_its_scope(site: IndexedSite) -> None:
    model = ScriptedModel(toc("pump"), [TextDelta("NOT_FOUND")])
    answer = await navigator(site, model).ask("pumps?", Scope(sites=frozenset({"another"})))
    assert answer.outcome == "not_found"
    assert answer.trace.shown == ()


class Told:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int]] = []
        self.texts: list[str] = []

    def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        self.steps.append((step.tool, len(passages)))

    def wrote(self, text: str) -> None:
        self.texts.append(text)


ANSWER: list[ModelEvent] = [
    TextDelta("Fill it with"),
    TextDelta(" water."),
    CitationDelta(0, 0, 0, ""),
    TextDelta("\n\nThen run [this](https://evil.test):\n\n"),
    TextDelta("```\npump --prime\n```\n\n"),
    CitationDelta(0, 1, 1, ""),
    TextDelta("Done."),
]


async def test_a_listener_sees_steps_and_whole_paragraphs_that_only_grow(site: IndexedSite) -> None:
    number, told = await number_of(site, "prime pump", "Priming"), Told()
    model = ScriptedModel(toc("prime pump"), read(number), ANSWER)
    answer = await navigator(site, model).ask("How do I prime a pump?", listener=told)
    assert told.steps == [("get_toc", 0), ("get_toc", 0), ("read", 1)]
    assert told.texts == [
        "Fill it with water. [1]",
        "Fill it with water. [1]\n\nThen run this:",
        "Fill it with water. [1]\n\nThen run this:\n\n```\npump --prime\n```\n[1]",
    ]
    assert answer.text.startswith(told.texts[-1])


async def test_a_model_that_marks_by_itself_is_heard_alike(site: IndexedSite) -> None:
    number, told = await number_of(site, "prime pump", "Priming"), Told()
    said: list[ModelEvent] = [
        TextDelta(f"Fill it [{number}].\n\n"),
        TextDelta("Then run it."),
        TextDelta(f" It is quick [{number}]."),
    ]
    model = ScriptedModel(toc("prime pump"), read(number), said, cites=False)
    answer = await navigator(site, model).ask("How do I prime a pump?", listener=told)
    assert told.texts == ["Fill it [1]."]
    assert answer.text.startswith(told.texts[0])


async def test_reasoning_before_a_tool_call_is_not_taken_for_the_answer(site: IndexedSite) -> None:
    number, told = await number_of(site, "prime pump", "Priming"), Told()
    thinking: list[ModelEvent] = [TextDelta("That is not it.\n\nI look further.\n\n"), *toc("seal", "t2")]
    model = ScriptedModel(toc("prime pump"), read(number), thinking, ANSWER)
    await navigator(site, model).ask("How do I prime a pump?", listener=told)
    assert told.texts[0] == "Fill it with water. [1]"


async def test_a_follow_up_is_asked_as_it_is_understood_and_what_was_cited_is_at_hand(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    first = await ask(site, toc("prime pump"), read(number), [TextDelta("Fill it."), CitationDelta(0, 0, 0, "")])
    earlier = Earlier("How do I prime a pump?", first.text, (first.sources[0].first.node_id, "gone"))
    model = ScriptedModel(read(1), [TextDelta("Water."), CitationDelta(0, 0, 0, "")])
    answer = await navigator(site, model).ask("with what?", earlier=[earlier])
    assert (answer.question, answer.understood) == ("with what?", "How do I prime a pump? – with what?")
    assert (answer.outcome, answer.sources[0].first.path) == ("answered", ("Pumps", "Priming"))
    opened = model.asked[0][1][0]
    assert isinstance(opened, UserTurn)
    assert question_of(opened.text) == "How do I prime a pump? – with what?"
    assert "1: Pumps › Priming" in opened.text
    assert "gone" not in opened.text


async def test_what_is_out_of_scope_is_not_at_hand(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    first = await ask(site, toc("prime pump"), read(number), [TextDelta("Fill it."), CitationDelta(0, 0, 0, "")])
    earlier = Earlier("How do I prime a pump?", first.text, (first.sources[0].first.node_id,))
    model = ScriptedModel(read(1))
    answer = await navigator(site, model).ask("with what?", Scope(frozenset({"another"})), earlier=[earlier])
    assert answer.outcome == "not_found"
    assert not answer.trace.passages


async def test_the_language_to_answer_in_is_told(site: IndexedSite) -> None:
    model = ScriptedModel(toc("pump"))
    await navigator(site, model).ask("How do I prime a pump?", language="German")
    opened = model.asked[0][1][0]
    assert isinstance(opened, UserTurn)
    assert "Answer in German." in opened.text


async def test_a_follow_up_that_names_a_version_is_answered_from_it(tmp_path: Path) -> None:
    pages = {
        f"https://docs.example.test/v{n}/port.html": html("Port", f"<p>Pump listens on port {n}000.</p>")
        for n in (1, 2)
    }
    async with indexed_site(tmp_path, pages, versions="/(v[0-9]+)/", default_version="v1") as site:
        model = ScriptedModel(toc("port"), read(1), [TextDelta("It listens there."), CitationDelta(0, 0, 0, "")])
        rit = Rit(Retriever(site.trees, site.index, site.embedder, Recipe()), site.trees, RitBounds())
        asking = Navigator({"rit": rit}, model, lambda _: "rit", versions=Versions(site.trees))
        default = Scope(versions=frozenset({"v1", ""}))
        earlier = [Earlier("Which port does Pump listen on?", "On 1000 [1].")]
        answer = await asking.ask("and in v2?", default, earlier=earlier)
    assert answer.version == "v2"
    assert "2000" in answer.sources[0].first.quote


async def test_reasoning_is_not_streamed_however_its_tags_are_cut(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    said = f"<think>Is it [{number}]?\n\nSurely [{number}].\n\nYes.</think>\n\nFill it [{number}].\n\nThen run it [{number}]."
    heard = Told()
    model = ScriptedModel(
        toc("prime pump"), read(number), [TextDelta(said[at : at + 3]) for at in range(0, len(said), 3)]
    )
    answer = await navigator(site, model).ask("How do I prime a pump?", listener=heard)
    assert heard.texts == ["Fill it [1]."]
    assert answer.text == "Fill it [1].\n\nThen run it [1]."


async def test_reasoning_that_only_a_closing_tag_gives_away_is_not_streamed_on(site: IndexedSite) -> None:
    number = await number_of(site, "prime pump", "Priming")
    said = f"Fill it [{number}].\n\nWait.</think>\n\nRun it [{number}].\n\nThen stop [{number}]."
    heard = Told()
    model = ScriptedModel(toc("prime pump"), read(number), [TextDelta(each) for each in said])
    answer = await navigator(site, model).ask("How do I prime a pump?", listener=heard)
    assert heard.texts == ["Fill it [1].", "Fill it [1].\n\nWait."], "what does not go on from there waits for the end"
    assert answer.text == "Run it [1].\n\nThen stop [1]."
