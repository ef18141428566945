"""What a model is told: each rule where it applies."""

import pytest

from navigator.agent.prompts import RitBounds, evidence, rit_system_prompt
from navigator.strategies.agentic import search_system_prompt
from navigator.strategies.single_call import passages_system_prompt


@pytest.mark.parametrize("model_cites", [True, False])
def test_every_strategy_answers_half_a_question_and_cites_code(model_cites: bool) -> None:
    prompts = [
        rit_system_prompt(RitBounds(), model_cites=model_cites),
        search_system_prompt("- Search.", 5, model_cites=model_cites),
        passages_system_prompt(model_cites=model_cites),
    ]
    for prompt in prompts:
        assert "answer that part" in prompt
        assert "code block" in prompt
        assert ("[12]" in prompt) is not model_cites


def test_only_who_reads_is_told_to_read_first() -> None:
    assert "before you have read" in evidence("it returned", model_cites=True)
    assert "before you have read" not in passages_system_prompt(model_cites=True)


def test_only_who_is_shown_summaries_is_told_that_they_are_no_evidence() -> None:
    assert "summaries and" in rit_system_prompt(RitBounds(), model_cites=True)
    assert "summaries" not in search_system_prompt("- Search.", 5, model_cites=True)
