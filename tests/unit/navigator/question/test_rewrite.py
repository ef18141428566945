"""A question that leans on what was said is made to stand alone; one that does not is left as it is."""

import pytest

from navigator.errors import ModelUnreachable
from navigator.ports import TextDelta, UserTurn
from navigator.question.rewrite import Earlier, Understood, by_model, by_rule
from tests.fakes.model import ScriptedModel

SCALING = Earlier("How do I scale a Serve deployment?", "Set num_replicas [1].", ("n1",))
OFFER = Earlier("How do I call it from the shell?", "Use curl [1].\n\nDo you want the Python version?", ("n2",))


@pytest.mark.parametrize(
    "question",
    [
        "How are worker nodes added to a cluster by hand?",
        "Which ports must a firewall let through?",
        "Wie installiere ich den Operator auf einem Cluster?",
        "Is there a limit on the number of actors?",
        "What happens to a task that fails?",
        "How is this setting called in YAML?",
        "book a flight",
        "Redis timeout",
        "How to install",
        "",
    ],
)
async def test_a_question_that_stands_alone_is_left_as_it_is(question: str) -> None:
    assert await by_rule(question, ()) == Understood(question)
    if question:
        assert await by_rule(question, (SCALING,)) == Understood(question)


@pytest.mark.parametrize(
    "question",
    [
        "and in v2?",
        "What about autoscaling of all the replicas?",
        "How do I turn it off?",
        "in Java?",
        "Und in v2?",
        "why?",
        "with what?",
        "How do I use that?",
    ],
)
async def test_a_question_that_leans_on_the_last_one_is_joined_with_it(question: str) -> None:
    understood = await by_rule(question, (OFFER, SCALING))
    assert understood.question == f"{SCALING.question} – {question}"


@pytest.mark.parametrize("assent", ["yes", "Yes, please!", "ok", "ja bitte", "はい"])
async def test_yes_takes_up_what_was_offered(assent: str) -> None:
    understood = await by_rule(assent, (SCALING, OFFER))
    assert understood.question == f"Do you want the Python version? ({OFFER.question})"


async def test_yes_to_an_answer_that_offers_nothing_asks_the_same_again() -> None:
    assert (await by_rule("yes", (SCALING,))).question == SCALING.question


async def test_without_anything_said_before_no_model_is_asked() -> None:
    model = ScriptedModel([TextDelta("Never.")])
    assert await by_model(model)("and in v2?", ()) == Understood("and in v2?")
    assert model.asked == []


async def test_a_model_writes_the_question_anew_from_head_and_end_of_what_was_said() -> None:
    model = ScriptedModel([TextDelta('"How do I scale Serve\nin v2?"')])
    long = Earlier("How do I scale?", f"It begins so. {'x' * 9_000} Do you want it for v2?")
    understood = await by_model(model)("yes", (long,))
    assert understood.question == "How do I scale Serve in v2?"
    turn = model.asked[0][1][0]
    assert isinstance(turn, UserTurn)
    assert "It begins so." in turn.text
    assert "Do you want it for v2?" in turn.text
    assert "<latest>\nyes\n</latest>" in turn.text
    assert len(turn.text) < 3_000


@pytest.mark.parametrize("reply", [[TextDelta("")], [TextDelta("word " * 1_000)], ModelUnreachable("down")])
async def test_a_model_that_gives_no_question_is_no_obstacle(reply: object) -> None:
    model = ScriptedModel(reply)  # type: ignore[arg-type]
    understood = await by_model(model)("and in v2?", (SCALING,))
    assert understood.question == f"{SCALING.question} – and in v2?"
