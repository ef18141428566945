"""The whole of `ritbot eval` in one process: settings, stores, models, folder, reports."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from rich.console import Console

from deploy.commands.documents.index import index_sites
from deploy.commands.evaluation.eval import evaluate
from deploy.settings.index import EmbeddingSettings, IndexSettings
from deploy.settings.messages import SettingsError
from deploy.settings.model import EndpointSettings, ModelSettings, PriceSettings
from deploy.settings.root import Settings
from deploy.settings.site import SiteSettings
from deploy.wiring.evaluation import EvalOptions
from ingest.model import Scope
from tests.fakes.messages_api import MessagesApi, Request, Scripted
from tests.fakes.site import html
from tests.fakes.tiny_model import tiny_model
from tests.integration.navigator.evaluation.setting import JUDGE, Endpoint

pytestmark = pytest.mark.asyncio(loop_scope="module")

SITE = "https://pumpkin.example/docs/"
PAGES = {
    "install": html(
        "Installing Pumpkin",
        "<p>It runs on Linux.</p><span id='old-port'></span><h2 id='port'>Changing the port</h2><p>Set it.</p>",
    ),
    "keys": html("Signing keys", "<p>Signed.</p><h2 id='rotate'>Rotating keys</h2><p>Rotate keys once a year.</p>"),
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "port", "question": "How do I change the port?", "answer": "Set it.", "sections": ["install.html#port"]},
    {"id": "keys", "question": "How often are keys rotated?", "answer": "Once a year.", "page": "keys.html"},
]
PRICES = PriceSettings(input=1.0, output=1.0, cache_read=1.0, cache_write=1.0)


@dataclass
class Place:
    """A folder with an index and questions."""

    folder: Path
    settings: Settings

    def with_model(self, url: str, prices: PriceSettings = PRICES, judge: PriceSettings = PRICES) -> Settings:
        model = ModelSettings.model_validate(
            {
                "api_key": "k",
                "base_url": url,
                "name": "answerer",
                "citations": True,
                "prices": prices,
                "retries": 0,
                "max_tokens": 100,
            }
        )
        judging = EndpointSettings(name=JUDGE, prices=judge)
        return self.settings.model_copy(update={"model": model, "judge": judging})

    async def evaluated(self, out: Path, settings: Settings | None = None, **wanted: Any) -> tuple[int, str]:
        told = StringIO()
        questions = wanted.pop("questions", self.folder / "questions.jsonl")
        status = await evaluate(
            settings or self.settings,
            EvalOptions(questions, out=out, concurrency=1, **wanted),
            Scope(),
            ("en",),
            Console(file=told, width=160),
        )
        return status, told.getvalue()

    async def answered(
        self,
        out: Path,
        endpoint: Callable[[Request], Scripted],
        prices: Any = PRICES,
        judge: Any = PRICES,
        **wanted: Any,
    ) -> tuple[int, str, int]:
        """With a model; and how many requests it took."""
        async with MessagesApi() as api:
            api.always(endpoint)
            status, told = await self.evaluated(out, self.with_model(api.url, prices, judge), **wanted)
            return status, told, len(api.requests)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("place")
    (folder / "html").mkdir()
    for name, page in PAGES.items():
        (folder / "html" / f"{name}.html").write_text(page, encoding="utf-8")
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    site = SiteSettings(name="pumpkin", start=str(folder / "html"), base_url=SITE)
    settings = Settings(
        index=IndexSettings(folder=folder / "data"),
        embedding=EmbeddingSettings(model=str(tiny_model(folder / "tiny"))),
        sites=(site,),
    )
    await index_sites(settings, [settings.site("pumpkin")], Console(file=StringIO()))
    return Place(folder, settings)


async def test_strategies_are_compared_judged_and_reported(place: Place, tmp_path: Path) -> None:
    endpoint = Endpoint(right=lambda said: "keys" not in said)
    status, told, asked = await place.answered(tmp_path, endpoint, strategies=("vanilla", "rit"))
    assert status == 0
    assert f"2 questions, 2 contenders: 4 answers. Into {tmp_path}." in told
    assert "The model will be asked 6 to 28 times, the judge 4 times, for at least about $" in told
    assert str(tmp_path / "report.html") in told
    figures = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [(row["accuracy"]["hits"], row["accuracy"]["of"]) for row in figures["rows"]] == [(1, 2), (1, 2)]
    assert [row["cost_known"] for row in figures["rows"]] == [2, 2]
    assert {found["n"] for found in figures["retrieval"]} >= {1, 3}
    assert figures["notes"][:2] == [
        "Answers by answerer, judged by judge.",
        "Seconds are measured with 1 question under way side by side.",
    ]
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Evaluation: questions\n")
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert asked

    status, told, asked = await place.answered(tmp_path, endpoint, strategies=("vanilla", "rit"))
    assert (status, asked) == (0, 0)
    assert "4 answers, 4 of them there already." in told


async def test_gold_may_be_named_by_any_anchor_of_its_section(place: Place, tmp_path: Path) -> None:
    asked = {"question": "How do I change the port?", "sections": ["install.html#old-port"]}
    (tmp_path / "aliases.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    await place.evaluated(tmp_path / "out", questions=tmp_path / "aliases.jsonl", strategies=("rit",))
    rows = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["contender"]["reader"], row["recall"]) for row in rows] == [("top", 1.0), ("oracle", 1.0)]


async def test_people_judge_blind_and_what_they_said_is_in_the_report(place: Place, tmp_path: Path) -> None:
    endpoint, asked = Endpoint(), dict[str, Any](strategies=("vanilla", "rit"))
    status, told, _ = await place.answered(tmp_path, endpoint, blind=True, **asked)
    assert status == 0
    assert f"give them {tmp_path}/blind" in told
    form = tmp_path / "blind" / "verdicts.csv"
    head, *rows = form.read_text(encoding="utf-8").splitlines()
    assert len(rows) == 4
    key = json.loads((tmp_path / "blind-key.json").read_text(encoding="utf-8"))
    said = [f"{','.join(row.split(',')[:2])},{'yes' if 'port' in row else 'no'},seen" for row in rows]
    form.write_text("\n".join([head, *said]), encoding="utf-8")
    status, told, calls = await place.answered(tmp_path, endpoint, blind=True, verdicts=form, **asked)
    assert (status, calls) == (0, 0)
    figures = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [(row["accuracy"]["hits"], row["accuracy"]["of"]) for row in figures["rows"]] == [(1, 2), (1, 2)]
    assert "judged by people who did not know whose they were" in figures["notes"][0]
    assert "seen" in form.read_text(encoding="utf-8"), "what is filled in stays"
    assert sorted(entry["contender"] for entry in key["port"].values()) == ["rit", "vanilla"]
    (tmp_path / "blind-key.json").unlink()
    with pytest.raises(SettingsError, match=r"blind-key\.json is not there"):
        await place.answered(tmp_path, endpoint, verdicts=form, **asked)
    with pytest.raises(SettingsError, match="scripted readers give no answers to judge"):
        await place.evaluated(tmp_path / "other", readers=("top",), blind=True)


async def test_a_changed_number_asks_again_only_whom_it_concerns(place: Place, tmp_path: Path) -> None:
    await place.evaluated(tmp_path, strategies=("vanilla", "rit"), readers=("top",))
    sweep = {"n": (1,)}
    status, told = await place.evaluated(tmp_path, strategies=("vanilla", "rit"), readers=("top",), sweeps=sweep)
    assert status == 0
    assert "6 answers, 4 of them there already." in told
    page = place.folder / "html" / "keys.html"
    before = page.read_text(encoding="utf-8")
    try:
        page.write_text(before.replace("once a year", "twice a year"), encoding="utf-8")
        await index_sites(place.settings, [place.settings.site("pumpkin")], Console(file=StringIO()))
        status, told = await place.evaluated(tmp_path, strategies=("vanilla",), readers=("top",))
    finally:
        page.write_text(before, encoding="utf-8")
    assert "2 answers of other pages, settings, words or models: asked for again." in told


async def test_other_gold_asks_only_the_reader_that_knows_it(place: Place, tmp_path: Path) -> None:
    moved = tmp_path / "questions.jsonl"
    moved.write_text(json.dumps({**QUESTIONS[1], "page": "install.html"}), encoding="utf-8")
    wanted: dict[str, Any] = {"strategies": ("rit",), "readers": ("top", "oracle")}
    await place.evaluated(tmp_path / "out", **wanted)
    _, told = await place.evaluated(tmp_path / "out", questions=moved, **wanted)
    assert "2 answers, 1 of them there already." in told


async def test_the_ceiling_leaves_a_report_that_says_it_is_incomplete(place: Place, tmp_path: Path) -> None:
    wanted = {"strategies": ("vanilla",), "max_cost": 0.0021}
    status, told, asked = await place.answered(tmp_path, Endpoint(), **wanted)
    assert status == 1
    assert asked == 2, "one answer and its verdict"
    assert "Stopped: the ceiling is reached." in told
    assert "Incomplete: 1 of 2 answers is missing." in told
    assert "run the same command again and it goes on" in told
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Evaluation: questions (incomplete)\n")
    status, told, asked = await place.answered(tmp_path, Endpoint(), strategies=("vanilla",))
    assert (status, asked) == (0, 2)
    assert "incomplete" not in (tmp_path / "report.md").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("prices", "judge"),
    [
        (PriceSettings(), PRICES),
        (PRICES, PriceSettings()),
        (PriceSettings(input=1.0, cache_read=1.0, cache_write=1.0), PRICES),
    ],
)
async def test_dollars_are_no_ceiling_where_a_price_is_unknown(
    place: Place, tmp_path: Path, prices: PriceSettings, judge: PriceSettings
) -> None:
    with pytest.raises(SettingsError, match="--max-tokens"):
        await place.answered(tmp_path / "out", Endpoint(), prices, judge, strategies=("vanilla",), max_cost=1.0)
    assert not (tmp_path / "out").exists(), "nothing was begun"
    wanted: dict[str, Any] = {"strategies": ("vanilla",), "max_tokens": 10}
    status, told, _ = await place.answered(tmp_path / "out", Endpoint(), prices, judge, **wanted)
    assert status == 1
    assert "Stopped: the ceiling is reached." in told


async def test_the_model_judges_itself_where_no_judge_is_set(place: Place, tmp_path: Path) -> None:
    async with MessagesApi() as api:
        settings = place.with_model(api.url).model_copy(update={"judge": EndpointSettings()})
        api.always(Endpoint())
        await place.evaluated(tmp_path, settings, strategies=("vanilla",), limit=1)
        assert {request.body["model"] for request in api.requests} == {"answerer"}
    notes = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["notes"]
    assert "Answers by answerer, judged by answerer." in notes


async def test_grades_are_asked_for_one_by_one(place: Place, tmp_path: Path) -> None:
    status, _, asked = await place.answered(tmp_path, Endpoint(), strategies=("vanilla",), limit=1, grades=True)
    assert status == 0
    assert asked == 1 + 1 + 7
    (row,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["rows"]
    assert set(row["grades"].values()) == {0.7}


async def test_without_a_judge_nothing_is_judged(place: Place, tmp_path: Path) -> None:
    status, _, asked = await place.answered(tmp_path, Endpoint(), strategies=("vanilla",), judge=PRICES, limit=1)
    assert (status, asked) == (0, 2)
    async with MessagesApi() as api:
        api.always(Endpoint())
        settings = place.with_model(api.url)
        await place.evaluated(tmp_path / "bare", settings, strategies=("none",), judge=False, limit=1)
        assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"strategies": ("ritt",)}, "there is no strategy ritt; did you mean rit?"),
        ({"strategies": ("none",)}, "none is a model alone"),
        ({"readers": ("best",)}, "there is no scripted reader best; there are top, oracle"),
        ({"judge": True}, "a model must be set"),
        ({"grades": True}, "a model must be set"),
        ({"strategies": ("vanilla",), "sweeps": {"n": (5,)}}, "--sweep n needs one of"),
    ],
)
async def test_what_cannot_be_done_is_said_before_anything_is_done(
    place: Place, tmp_path: Path, wanted: dict[str, Any], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        await place.evaluated(tmp_path / "out", **wanted)


async def test_mistakes_in_the_questions_are_told_all_at_once_with_their_lines(place: Place, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"question": "Why?"}\n{"quesiton": "How?"}\nno\n', encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        await place.evaluated(tmp_path / "out", questions=wrong)
    assert f"{wrong}:2: 'quesiton' is not known: did you mean 'question'?" in str(caught.value)
    assert f"{wrong}:3: this is not JSON" in str(caught.value)
    wrong.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="no text in UTF-8"):
        await place.evaluated(tmp_path / "out", questions=wrong)


async def test_a_longer_file_goes_on_and_one_with_other_questions_is_refused(place: Place, tmp_path: Path) -> None:
    wanted: dict[str, Any] = {"strategies": ("vanilla",), "readers": ("top",)}
    await place.evaluated(tmp_path / "out", **wanted)
    longer, other = tmp_path / "longer.jsonl", tmp_path / "other.jsonl"
    other.write_text('{"question": "Why?"}\n', encoding="utf-8")
    longer.write_text("\n".join([*map(json.dumps, QUESTIONS), '{"question": "Why?"}']), encoding="utf-8")
    _, told = await place.evaluated(tmp_path / "out", questions=longer, **wanted)
    assert "3 answers, 2 of them there already." in told
    await place.evaluated(tmp_path / "other", **wanted)
    with pytest.raises(SettingsError, match="holds answers to other questions: name another folder with --out"):
        await place.evaluated(tmp_path / "other", questions=other, **wanted)
