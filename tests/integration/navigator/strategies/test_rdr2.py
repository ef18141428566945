"""RDR2 from question to answer, behind the real SDK and a scripted Messages API."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.model import Scope
from navigator.agent.prompts import RitBounds
from navigator.answer import Answer, Step
from navigator.strategies.rdr2.rdr2 import TRACE_REPLY_CHARACTERS
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Answer as Replied
from tests.fakes.messages_api import Failure, MessagesApi, cited, text
from tests.fakes.site import IndexedSite, indexed_site
from tests.integration.navigator.strategies.rdr2_scripts import (
    PAGES,
    PUMPS,
    QUESTION,
    Reply,
    Script,
    ans,
    exp,
    is_router,
    model_at,
    navigator,
    said_by,
)

ONE = StrategyBounds(chunks=1)
"""Only the page about pumps is retrieved, by its section about priming."""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    """No test changes it."""
    async with indexed_site(tmp_path_factory.mktemp("site"), PAGES) as open_site:
        yield open_site


async def ask(
    site: IndexedSite, script: Script, bounds: StrategyBounds | None = None, question: str = QUESTION
) -> Answer:
    async with MessagesApi() as api, model_at(api) as model:
        api.always(script)
        return await navigator(site, model, bounds).ask(question)


def routes(answer: Answer) -> list[Step]:
    return [step for step in answer.trace.steps if step.tool == "route"]


async def test_selected_blocks_are_read_and_cited_exactly(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the"), ans("pump --prime")]]}, Replied((cited("Run it.", (0, 1, 1)),)))
    answer = await ask(site, script)
    assert (answer.outcome, answer.text, answer.strategy) == ("answered", "Run it. [1]", "rdr2")
    citation = answer.sources[0].first
    assert (citation.quote, citation.block, citation.node_link) == ("pump --prime", 2, f"{PUMPS}#prime")
    (passage,) = answer.trace.passages
    assert (passage.path, passage.at) == (("Pumps", "Priming"), 1)
    assert [block.text for block in passage.blocks] == ["Fill the casing.", "pump --prime"]


async def test_every_page_is_looked_at_once_and_each_look_is_a_step(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the")]]})
    answer = await ask(site, script)
    assert len(script.looks) == 3
    assert [step.tool for step in answer.trace.steps] == ["route", "route", "route", "read"]
    assert sorted((step.shown or "").split("\n")[0] for step in routes(answer)) == ["# Pumps", "# Tanks", "# Valves"]
    step = next(step for step in routes(answer) if "# Pumps" in (step.shown or ""))
    assert (step.query, step.error) == (QUESTION, None)
    assert step.reasoning.startswith("[ANS]")
    assert "Fill the casing." in (step.shown or "")
    read = answer.trace.steps[-1]
    assert read.numbers == step.numbers == tuple(p.number for p in answer.trace.passages)
    offered = {number: path for number, _, path in answer.trace.shown}
    assert offered[step.numbers[0]] == ("Pumps", "Priming")
    assert answer.trace.turns == 4
    assert answer.trace.usage.input_tokens > 0


async def test_blocks_that_do_not_touch_are_passages_of_their_own(site: IndexedSite) -> None:
    reply = Replied((cited("a", (0, 0, 0)), text(" "), cited("b", (1, 0, 0))))
    answer = await ask(site, Script({"Pumps": [[ans("pump --prime"), ans("To prime")]]}, reply), ONE)
    assert [(p.at, len(p.blocks)) for p in answer.trace.passages] == [(0, 1), (2, 1)]
    assert len({p.number for p in answer.trace.passages}) == 2
    assert [citation.block for citation in answer.sources[0].citations] == [0, 2]


async def test_the_answer_is_found_in_a_section_that_was_folded(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("To prime"), exp("Winter")], [ans("Warm the")]]})
    answer = await ask(site, script, ONE)
    first, second = (said_by(request) for request in script.looks)
    assert "Warm the" not in first
    assert "Winter" in first
    assert "Warm the" in second
    assert "To prime" not in second
    assert "Priming" in second
    assert [p.path[-1] for p in answer.trace.passages] == ["Priming", "Winter"]
    assert answer.outcome == "answered"


async def test_passages_stand_in_document_order_whenever_they_were_selected(site: IndexedSite) -> None:
    script = Script({"Pumps": [[exp("Seals")], [ans("Grease"), exp("Winter")], [ans("Wait an")]]})
    answer = await ask(site, script, ONE)
    assert [p.path[-1] for p in answer.trace.passages] == ["Winter", "Seals"]


async def test_a_router_that_refuses_every_page_ends_as_not_found(site: IndexedSite) -> None:
    script = Script({})
    answer = await ask(site, script)
    assert (answer.outcome, len(script.looks), len(script.readings)) == ("not_found", 3, 0)
    assert answer.nearest[0].path == ("Pumps", "Priming")
    assert answer.trace.passages == ()


async def test_nothing_retrieved_ends_as_not_found_without_a_call(site: IndexedSite) -> None:
    async with MessagesApi() as api, model_at(api) as model:
        answer = await navigator(site, model).ask(QUESTION, Scope(frozenset({"elsewhere"})))
    assert (answer.outcome, api.requests, answer.nearest) == ("not_found", [], ())


@pytest.mark.parametrize("expansions", [1, 3])
async def test_a_router_that_unfolds_without_end_is_stopped(tmp_path: Path, expansions: int) -> None:
    sections = "".join(f"<h2>Part {n}</h2><p>Text {n}.</p>" for n in range(1, 9))
    script = Script({"Long": [[exp(f"Part {n}")] for n in range(2, 9)]})
    async with indexed_site(tmp_path, {PUMPS: f"<title>Long</title><main><h1>Long</h1>{sections}</main>"}) as site:
        answer = await ask(site, script, StrategyBounds(chunks=1, expansions=expansions), "Text 1.")
    assert (len(script.looks), answer.outcome) == (1 + expansions, "not_found")
    assert {step.error for step in routes(answer)} == {None}


WRONG: list[tuple[str, Reply, str]] = [
    (
        "a heading, an id that is not there, other words",
        ["[ANS] 0: Pumps", "[ANS] 99: Fill the", "[ANS] 3: Nonsense"],
        "3 of 3 lines are invalid. ANS 0: a heading; ANS 99: not shown; ANS 3: other words than those of this id",
    ),
    ("a heading whose text is there", [exp("Priming")], "1 of 1 lines are invalid. EXP 2: nothing is folded under it"),
    (
        "a text that is not",
        ["[ANS] 8: Warm the casing"],
        "1 of 1 lines are invalid. ANS 8: other words than those of this id",
    ),
    (
        "prose",
        ["You fill the casing and run the command."],
        "1 of 1 lines are invalid. no action: You fill the casing and run the command.",
    ),
    ("nothing", Replied(()), "The router wrote nothing."),
    ("a refusal", Replied((text("No."),), stop="refusal"), "1 of 1 lines are invalid. no action: No."),
    (
        "very much",
        ["x" * 20_000, *["[ANS] 99: y"] * 700],
        f"500 of 500 lines are invalid. no action: {'x' * 60}{'; ANS 99: not shown' * 500}"[:TRACE_REPLY_CHARACTERS],
    ),
]


@pytest.mark.parametrize(("reply", "told"), [wrong[1:] for wrong in WRONG], ids=[wrong[0] for wrong in WRONG])
async def test_what_cannot_be_used_is_counted_and_survived(site: IndexedSite, reply: Reply, told: str) -> None:
    script = Script({"Pumps": [reply], "Tanks": [[ans("A tank")]]})
    answer = await ask(site, script)
    assert answer.outcome == "answered"
    assert [p.path for p in answer.trace.passages] == [("Tanks",)]
    step = next(step for step in routes(answer) if "# Pumps" in (step.shown or ""))
    assert step.error == told
    assert len(step.reasoning) <= TRACE_REPLY_CHARACTERS


async def test_legal_lines_count_beside_illegal_ones(site: IndexedSite) -> None:
    script = Script({"Pumps": [["Here you are:", "[ANS] 99: x", ans("Fill the"), "[REF]"]]})
    answer = await ask(site, script, ONE)
    assert [b.text for p in answer.trace.passages for b in p.blocks] == ["Fill the casing."]
    assert (routes(answer)[0].error or "").startswith("3 of 4 lines are invalid.")


async def test_the_router_may_be_another_model_at_another_endpoint(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the")]]})
    async with MessagesApi() as api, MessagesApi(models=["router-8b"]) as other:
        api.always(script)
        other.always(script)
        async with model_at(api) as model, model_at(other, "router-8b") as router:
            answer = await navigator(site, model, router=router).ask(QUESTION)
    assert answer.outcome == "answered"
    assert ([is_router(request) for request in other.requests], len(api.requests)) == ([True] * 3, 1)
    spent = script.looks + script.readings
    assert (answer.trace.turns, len(spent)) == (4, 4)


async def test_a_page_whose_router_fails_gives_what_was_retrieved_of_it(site: IndexedSite) -> None:
    script = Script({"Tanks": [Failure(500)], "Pumps": [[ans("Fill the")]]})
    answer = await ask(site, script)
    assert answer.outcome == "answered"
    assert {p.path for p in answer.trace.passages} == {("Pumps", "Priming"), ("Tanks",)}
    failed = next(step for step in routes(answer) if step.shown == "# Tanks")
    assert failed.error


async def test_a_router_that_fails_later_keeps_what_it_had_selected(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the"), exp("Winter")], Failure(500)]})
    answer = await ask(site, script, ONE)
    assert (answer.outcome, len(script.looks)) == ("answered", 2)
    assert [b.text for p in answer.trace.passages for b in p.blocks] == ["Fill the casing."]
    assert [bool(step.error) for step in routes(answer)] == [False, True]


async def test_a_router_that_fails_on_every_page_fails_the_question(site: IndexedSite) -> None:
    script = Script({title: [Failure(500)] for title in ("Pumps", "Tanks", "Valves")})
    answer = await ask(site, script)
    assert (answer.outcome, len(script.readings)) == ("failed", 0)
    assert answer.text
    assert len(routes(answer)) == 3


async def test_without_expansions_there_is_no_way_to_unfold(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the"), exp("Winter")]]})
    answer = await ask(site, script, StrategyBounds(chunks=1, expansions=0))
    (look,) = script.looks
    assert "[EXP]" not in str(look.body["system"])
    assert "Winter" in said_by(look)
    assert "nothing can be unfolded" in (routes(answer)[0].error or "")
    assert answer.outcome == "answered"


async def test_without_structure_the_router_sees_only_what_was_retrieved(site: IndexedSite) -> None:
    script = Script({"": [[ans("To prime")]]})
    answer = await ask(site, script, StrategyBounds(chunks=1, structure=False))
    (look,) = script.looks
    assert "[EXP]" not in str(look.body["system"])
    shown = said_by(look).partition("<page>\n")[2]
    assert "Winter" not in shown
    assert "Priming" not in shown
    assert all(not line.startswith(" ") for line in shown.split("\n"))
    assert answer.outcome == "answered"
    assert answer.trace.passages[0].path == ("Pumps", "Priming")


@pytest.mark.parametrize(("room", "read"), [(50, 2), (10, 1), (1_000, 3)])
async def test_what_is_too_long_to_read_is_left_out_but_for_the_first(site: IndexedSite, room: int, read: int) -> None:
    lines = [ans("To prime"), ans("pump --prime"), ans("Pumps move")]
    async with MessagesApi() as api, model_at(api) as model:
        api.always(Script({"Pumps": [lines]}))
        rules = RitBounds(read_characters=room)
        answer = await navigator(site, model, StrategyBounds(chunks=5), rules=rules).ask(QUESTION)
    assert len(answer.trace.passages) == read
    assert answer.trace.passages[0].path == ("Pumps",)
    assert bool(answer.trace.steps[-1].error) == (read < 3)


async def test_of_a_long_section_the_siblings_of_what_was_retrieved_are_shown(tmp_path: Path) -> None:
    words = ("Oil", "Fill", "Turn", "Close", "Clean", "Drain")
    steps = "".join(f"<p>{word} the valve {f'and {word.lower()} it again ' * 12}.</p>" for word in words)
    page = {PUMPS: f"<title>Long</title><main><h1>Long</h1><h2>Steps</h2>{steps}</main>"}
    async with indexed_site(tmp_path, page) as site:
        shown = {}
        for structure in (True, False):
            script = Script({})
            await ask(site, script, StrategyBounds(chunks=1, structure=structure), "drain the valve, drain it again")
            shown[structure] = [word for word in words if f": {word} the valve" in said_by(script.looks[0])]
    assert shown == {True: list(words), False: ["Drain"]}


async def test_the_reader_may_find_that_nothing_answers(site: IndexedSite) -> None:
    script = Script({"Pumps": [[ans("Fill the")]]}, Replied((text("NOT_FOUND I looked for a date."),)))
    answer = await ask(site, script)
    assert (answer.outcome, len(script.readings)) == ("not_found", 1)
    assert "a date" in answer.text
