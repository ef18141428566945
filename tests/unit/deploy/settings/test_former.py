"""Settings of earlier versions are still taken, and what became of them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.answering.lease import LeaseTimings
from deploy.commands.evaluation.batch import DEFAULT_WORKERS
from deploy.settings.bot import MAX_EVENT_DAYS
from deploy.settings.former import FIXED, RENAMED
from deploy.settings.messages import SettingsError, fields
from deploy.settings.root import Settings, load
from deploy.settings.sources import variable
from ingest.events.kafka.client import Connection
from ingest.events.kafka.group import GroupTiming
from ingest.retry import STORE_RETRIES
from ingest.text.chunks import PATH_TOKENS
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from navigator.agent.prompts import RitBounds
from navigator.enrichment.note_prompts import LONG_SECTION_TOKENS, MAX_SUMMARY_WORDS
from navigator.retrieval.retriever import Recipe
from navigator.strategies.strategy import StrategyBounds

HOME = {"HOME": "/home/ann"}


def loaded(folder: Path, toml: str, **environ: str) -> Settings:
    path = folder / "ritbot.toml"
    path.write_text(toml, encoding="utf-8")
    return load(path, HOME | environ)


def told(settings: Settings, folder: Path) -> list[str]:
    return [notice.replace(str(folder / "ritbot.toml"), "FILE") for notice in settings.notices]


def test_a_setting_that_became_a_constant_is_taken_and_told(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[watch]\nfirst = 10\nevery = 20\n", RITBOT_EVENTS__SESSION="5")
    assert settings.watch.every == 20
    assert told(settings, tmp_path) == [
        "events.session (RITBOT_EVENTS__SESSION) is no longer a setting: it is fixed at 30.0",
        "watch.first (FILE) is no longer a setting: it is fixed at 3600.0",
    ]


def test_a_setting_that_was_renamed_counts_and_is_told_what_it_is_called_now(tmp_path: Path) -> None:
    toml = '[evaluation]\njudge = "grader"\n[evaluation.judge_prices]\ninput = 1.5\n'
    settings = loaded(tmp_path, toml, RITBOT_EVALUATION__JUDGE_API_KEY="k")
    assert (settings.judge.name, settings.judge.prices.input) == ("grader", 1.5)
    assert settings.judge.api_key
    assert told(settings, tmp_path) == [
        "evaluation.judge_api_key (RITBOT_EVALUATION__JUDGE_API_KEY) is called judge.api_key now",
        "evaluation.judge (FILE) is called judge.name now",
        "evaluation.judge_prices.input (FILE) is called judge.prices.input now",
    ]


def test_the_new_name_beats_the_old_one_in_the_same_place(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '[judge]\nname = "new"\n[evaluation]\njudge = "old"\n')
    assert settings.judge.name == "new"


def test_a_wrong_value_under_an_old_name_is_told_with_the_new_one(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"judge\.base_url \(RITBOT_EVALUATION__JUDGE_BASE_URL\): got \"x\"; it takes"
    ):
        loaded(tmp_path, "", RITBOT_EVALUATION__JUDGE_BASE_URL="x")


@pytest.mark.parametrize("toml", ["judge = 7\n[evaluation]\njudge = 'a'\n", "watch = 7\n"])
def test_what_is_no_table_is_still_told(toml: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it takes a table"):
        loaded(tmp_path, toml)


def test_without_such_a_setting_nothing_is_told(tmp_path: Path) -> None:
    assert loaded(tmp_path, "[watch]\nevery = 20\n").notices == ()


@pytest.mark.parametrize("path", [*FIXED, *RENAMED], ids=".".join)
def test_every_old_variable_is_taken(path: tuple[str, ...], tmp_path: Path) -> None:
    (notice,) = loaded(
        tmp_path, "", **{variable(path): "1"} if path[-1] != "judge_base_url" else {variable(path): "http://a"}
    ).notices
    assert notice.startswith(".".join(path))


def test_no_old_name_is_a_setting_and_every_new_one_is() -> None:
    today = {path for path, _ in fields(Settings)}
    assert not today & {*FIXED, *RENAMED}
    assert set(RENAMED.values()) <= today


def test_what_is_told_of_a_constant_is_true() -> None:
    pace, rit, others = Pace(), RitBounds(), StrategyBounds()
    true: dict[tuple[str, ...], object] = {
        ("index", "path_tokens"): PATH_TOKENS,
        ("index", "guard_pages"): Guard().pages,
        ("stores", "patience"): STORE_RETRIES.within,
        ("events", "timeout"): Connection(()).timeout,
        ("events", "session"): GroupTiming().session,
        **{
            ("watch", name): getattr(pace, name)
            for name in ("first", "soonest", "slowest", "full", "misses", "missing_for")
        },
        ("retrieval", "k_per_node"): Recipe().chunks_per_node,
        ("navigator", "toc_budget"): rit.toc_budget,
        ("navigator", "read_limit"): rit.read_limit,
        ("navigator", "context_warning"): rit.context_share,
        **{
            ("strategies", name): getattr(others, name)
            for name in ("budget", "search_chunks", "document_chunks", "expansions")
        },
        ("enrichment", "concurrency"): DEFAULT_WORKERS,
        ("bot", "event_days"): MAX_EVENT_DAYS,
        ("enrichment", "summary_words"): MAX_SUMMARY_WORDS,
        ("enrichment", "long_section"): LONG_SECTION_TOKENS,
        ("answers", "lease"): LeaseTimings().lease,
    }
    assert {path: FIXED[path] for path in true} == true
