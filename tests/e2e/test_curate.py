"""`ritbot curate` and `ritbot eval --router` as typed: refused, killed and begun again, and the file of one read by the
other."""

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from deploy.commands.evaluation.batch import DEFAULT_WORKERS
from tests.e2e.commands import environment, indexed, keyed, lay_out, ritbot, site
from tests.e2e.forked import FORKS
from tests.e2e.roles import until
from tests.fakes.messages_api import Answer, MessagesApi, Request, Scripted, text
from tests.fakes.site import html

PAGES = {
    name: html(
        name.title(),
        f"<p>About {name}.</p><h2>Care</h2><p>Clean the {name}.</p><h2>ChunkPassages</h2><p>Order them.</p>",
    )
    for name in ("pumps", "valves", "tanks")
}
PRICES = {f"RITBOT_MODEL__PRICES__{kind}": "1" for kind in ("INPUT", "OUTPUT", "CACHE_READ", "CACHE_WRITE")}
QUESTIONS = 6


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("curate"), PAGES, site("plant"))
    lines = [json.dumps({"question": f"How do I clean pump {n}?"}) for n in range(QUESTIONS)]
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return indexed(folder)


class Teacher:
    """Takes the first text that it is shown."""

    def __init__(self, pace: float = 0.0) -> None:
        self.asked: list[str] = []
        self._pace = pace

    def __call__(self, request: Request) -> Scripted:
        prompt = request.body["messages"][0]["content"][0]["text"]
        self.asked.append(prompt)
        found = re.search(r"^ *([0-9]+): ((?:About|Clean|Order) .*)$", prompt, re.MULTILINE)
        assert found
        return Answer((text(f"[ANS] {found[1]}: {found[2]}"),), delay=self._pace)


def test_what_cannot_be_done_is_refused_with_what_to_do(place: Path) -> None:
    refused = ritbot(place, "curate", "questions.jsonl", "--out", "out")
    assert (refused.returncode, "set ANTHROPIC_API_KEY or model.api_key" in refused.stderr) == (2, True)
    assert not (place / "out").exists()
    unpriced = ritbot(place, "curate", "questions.jsonl", "--out", "out", env=keyed("http://127.0.0.1:1"))
    assert (unpriced.returncode, "with --max-tokens alone" in unpriced.stderr) == (2, True)
    missing = ritbot(place, "curate", "nowhere.jsonl", "--out", "out")
    assert (missing.returncode, "nowhere.jsonl" in missing.stderr) == (3, True)
    assert ritbot(place, "curate", "questions.jsonl", "--out", "out", "--max-cost", "0").returncode == 2
    (place / "wrong.jsonl").write_text("{}")
    scored = ritbot(place, "eval", "--router", "wrong.jsonl", env=keyed("http://127.0.0.1:1"))
    assert (scored.returncode, "give a file that ritbot curate wrote" in scored.stderr) == (2, True)
    assert ritbot(place, "eval").returncode == 2
    assert ritbot(place, "eval", "--router", "wrong.jsonl", "--strategy", "rit").returncode == 2


async def test_killed_half_way_it_goes_on_and_the_router_is_scored_on_what_was_held_out(place: Path) -> None:
    command = ("curate", "questions.jsonl", "--out", "out", "--held-out", "0.5")
    async with MessagesApi() as api, MessagesApi(models=["router-8b"]) as other:
        teacher, router = Teacher(pace=0.1), Teacher()
        api.always(teacher)
        other.always(router)
        env = keyed(api.url, **PRICES)
        killed = FORKS.start(place, *command, env=environment(**env))
        await until(lambda: len(teacher.asked) >= 4, "four questions are asked")
        killed.send_signal(signal.SIGKILL)
        await asyncio.to_thread(killed.communicate, 60)
        stopped = await asyncio.to_thread(ritbot, place, *command, "--max-tokens", "1", env=env)
        assert stopped.returncode == 1
        assert "Stopped: the ceiling is reached. Run the same command again and it goes on." in stopped.stdout
        done = await asyncio.to_thread(ritbot, place, *command, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        asked = teacher.asked
        assert len(asked) - len(set(asked)) <= DEFAULT_WORKERS, (
            "what was under way may be asked again, and nothing else"
        )
        assert f"{len(set(asked))} ANS, 0 EXP, 0 REF. 0 lines did not count." in done.stdout
        files = [(place / "out" / name).read_text().splitlines() for name in ("train.jsonl", "held_out.jsonl")]
        assert len(files[0]) + len(files[1]) == len(set(asked))
        assert all(files), "with this seed there are questions on both sides"

        routed = {**env, "RITBOT_ROUTER__NAME": "router-8b", "RITBOT_ROUTER__BASE_URL": other.url}
        scoring = ("eval", "--router", "out/held_out.jsonl")
        told = await asyncio.to_thread(ritbot, place, *scoring, env=routed)
        assert told.returncode == 0, told.stdout + told.stderr
        assert f"router-8b: {len(files[1])} of {len(files[1])} examples" in told.stdout
        assert re.search(r"ANS-F1\s+100.0%", told.stdout)
        assert re.search(r"EXP-PRE\s+–", told.stdout)
        assert len(router.asked) == len(files[1])
        found = json.loads((await asyncio.to_thread(ritbot, place, *scoring, "--json", env=routed)).stdout)
        assert found["figures"] == {
            "ans_f1": 1.0, "exp_precision": None, "ref_accuracy": 1.0, "expelled": 0.0, "collapsed": 0.0
        }  # fmt: skip
