"""What makes an answer one to this question, by this contender, from this index."""

from dataclasses import replace

from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.results import Contender
from navigator.evaluation.runner import Candidate
from navigator.strategies.single_call import NoRetrieval
from tests.fakes.model import ScriptedModel

QUESTION = EvalQuestion("q", "Why?", ("So.",), ("so",), (Gold(node="n1"),))
ENTRANT = Candidate(Contender("none", "none"), NoRetrieval(), lambda question: ScriptedModel(), "index 1, model 1")


def test_words_contender_and_what_it_is_made_from_count() -> None:
    mine = ENTRANT.fingerprint(QUESTION)
    others = [
        ENTRANT.fingerprint(replace(QUESTION, question="Why not?")),
        replace(ENTRANT, made_from="index 2, model 1").fingerprint(QUESTION),
        replace(ENTRANT, contender=Contender("none", "none", k=5)).fingerprint(QUESTION),
        replace(ENTRANT, contender=Contender("other", "none")).fingerprint(QUESTION),
    ]
    assert len({mine, *others}) == 5


def test_what_a_right_answer_is_does_not_count() -> None:
    other = replace(QUESTION, answers=("No.",), nuggets=(), gold=(), checked=True)
    assert ENTRANT.fingerprint(other) == ENTRANT.fingerprint(QUESTION)


def test_gold_counts_for_who_is_told_it() -> None:
    told = replace(ENTRANT, told_gold=True)
    assert told.fingerprint(QUESTION) != told.fingerprint(replace(QUESTION, gold=(Gold(node="n2"),)))
    assert told.fingerprint(QUESTION) == told.fingerprint(replace(QUESTION, answers=()))
