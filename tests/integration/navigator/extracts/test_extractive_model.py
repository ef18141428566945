"""Questions answered without a model, over a small index: spelling, names, languages, scopes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingest.model import EVERYWHERE, Scope
from navigator.agent.prompts import RitBounds
from navigator.extracts.choice import Bounds
from navigator.extracts.model import OTHER_LANGUAGE, ExtractiveModel
from navigator.navigator import Navigator
from navigator.question.rewrite import Earlier, by_rule
from navigator.question.spelling import one_slip_from, with_spelling
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import IndexedSite, indexed_site

PAGES = {
    "https://docs.example.test/priming": "<title>Priming</title><h1>Priming</h1><p>To prime the pump, fill it with water and turn the "
    "valve.</p><h2 id=default>default_pressure</h2><p>Pressure that the pump keeps. The default is 4 bar.</p>",
    "https://docs.example.test/filters": "<title>Filters</title><h1>Filters</h1><p>A filter keeps sand out of the pump. Replace it every "
    "year.</p>",
}


class Words(HashingEmbedder):
    """Knows the words of a small dictionary as tokens of their own; any other word is two."""

    known = frozenset("how do i prime the pump what is filter of replace water knob default a".split())

    def count(self, text: str) -> int:
        return super().count(text) if text in self.known or " " in text else 2


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path, PAGES) as made:
        yield made


def navigator(site: IndexedSite) -> Navigator:
    lexicon, words = Lexicon(site.index, site.trees), Words()
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    model = ExtractiveModel(words, lexicon, Bounds(found=0.3))
    understand = with_spelling(by_rule, lexicon, words.count)
    return Navigator({"rit": Rit(retriever, site.trees, RitBounds())}, model, lambda _: "rit", understand)


async def test_the_section_that_is_asked_for_is_quoted_and_cited(site: IndexedSite) -> None:
    answer = await navigator(site).ask("How do I prime the pump?")
    assert answer.outcome == "answered"
    assert "fill it with water" in answer.text
    assert answer.sources[0].first.quote.startswith("To prime the pump")
    assert answer.understood == ""


@pytest.mark.parametrize("slip", ["filtre", "fillter", "fliter", "filtar"])
async def test_a_slip_is_put_right_with_a_word_of_the_index_and_said(site: IndexedSite, slip: str) -> None:
    answer = await navigator(site).ask(f"what is a {slip}?")
    assert answer.understood == "what is a filter?"
    assert "keeps sand out" in answer.text


@pytest.mark.parametrize("word", ["knob", "Fiter", "pmp", "filter"])
async def test_a_word_of_the_language_a_name_or_a_short_word_is_left_alone(site: IndexedSite, word: str) -> None:
    assert (await navigator(site).ask(f"what is a {word}?")).understood == ""


async def test_a_name_that_no_page_holds_is_turned_away(site: IndexedSite) -> None:
    answer = await navigator(site).ask("How do I prime the Grundfos Alpha?")
    assert answer.outcome == "not_found"
    assert answer.nearest


async def test_another_language_gets_that_sentence_and_the_nearest_sections(site: IndexedSite) -> None:
    answer = await navigator(site).ask("Wie entlüfte ich die pump richtig?")
    assert (answer.outcome, answer.text) == ("not_found", OTHER_LANGUAGE)
    assert answer.nearest


async def test_a_follow_up_says_how_it_was_understood(site: IndexedSite) -> None:
    answer = await navigator(site).ask(
        "and what is the default?", earlier=[Earlier("What is default_pressure?", "It is kept.")]
    )
    assert answer.understood == "What is default_pressure? – and what is the default?"
    assert "4 bar" in answer.text


async def test_a_vector_is_kept_and_not_computed_twice(site: IndexedSite) -> None:
    embedder = Words()
    model = ExtractiveModel(embedder, Lexicon(site.index, site.trees), Bounds(found=0.3))
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    asked = Navigator({"rit": Rit(retriever, site.trees, RitBounds())}, model, lambda _: "rit")
    await asked.ask("How do I prime the pump?")
    once = len(embedder.embedded)
    await asked.ask("How do I prime the pump?")
    assert 0 < once == len(embedder.embedded)


async def test_words_are_counted_in_scope(site: IndexedSite) -> None:
    lexicon = Lexicon(site.index, site.trees)
    assert await lexicon.counts(
        ["pump", "sand", "grundfos", "default_pressure", "pump_default", "grundfos_pump", "the"], EVERYWHERE
    ) == {
        "pump": 3,
        "sand": 1,
        "grundfos": 0,
        "default_pressure": 1,
        "pump_default": 1,
        "grundfos_pump": 0,
        "the": 300,
    }
    assert await lexicon.counts(["pump"], Scope(sites=frozenset({"other"}))) == {"pump": 0}


def test_neighbours_are_one_slip_away_and_keep_the_first_letter() -> None:
    near = one_slip_from("pump")
    assert {"pum", "pupm", "pimp", "pumps"} <= near
    assert all(word.startswith("p") for word in near)
    assert "pump" not in near
