"""`ritbot reembed` and `ritbot reindex` as typed, with files and with servers: another model, another parser."""

import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.commands import indexed, lay_out, ritbot, site, start
from tests.fakes.tiny_model import DIMENSIONS, tiny_model
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import own_name

QUESTION = "How often should I rotate the signing keys?"
TINY = {"RITBOT_EMBEDDING__MODEL": "./tiny", "RITBOT_MODEL__EXTRACT_THRESHOLD": "0"}


pytestmark = pytest.mark.timeout(400)  # each command loads an embedding model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def place(pumpkin: Path, model: Path, tmp_path: Path) -> Path:
    """A working directory of the test's own with an index by the model that comes with ritbot, and another model."""
    shutil.copytree(pumpkin, tmp_path / "work")
    (tmp_path / "work" / "tiny").symlink_to(model)
    return tmp_path / "work"


def first_link(folder: Path, **env: str) -> str:
    done = ritbot(folder, "ask", QUESTION, "--json", env=env)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["sources"][0]["citations"][0]["node_link"])


def test_another_embedding_model_takes_over_the_data_folder(place: Path) -> None:
    folder = place
    refused = ritbot(folder, "ask", QUESTION, env=TINY)
    assert refused.returncode == 3
    assert "now tiny (32) is set: run `ritbot reembed`" in refused.stderr
    (folder / "html").rename(folder / "elsewhere")  # nothing is fetched
    done = ritbot(folder, "reembed", env=TINY, fresh=True)
    assert done.returncode == 0, done.stderr
    assert "filled beside the live index" in done.stdout
    assert "Done: 3 pages" in done.stdout
    assert "The index before: removed." in done.stdout
    assert [path.name.rpartition("-")[0] for path in (folder / "data/chunks").iterdir()] == [f"tiny-{DIMENSIONS}"]
    assert first_link(folder, **TINY).startswith("https://pumpkin.example/docs/")
    (folder / "elsewhere").rename(folder / "html")
    assert ritbot(folder, "doctor", env=TINY).returncode == 0


def test_reembed_before_there_is_an_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "ritbot.toml").write_text('[index]\nfolder = "data"\n', encoding="utf-8")
    for command in ("reembed", "reindex"):
        done = ritbot(tmp_path, command)
        assert done.returncode == 3
        assert "There is no index at" in done.stderr


def test_an_interrupted_reembed_leaves_the_index_before_in_order(place: Path) -> None:
    folder = place
    run = start(folder, "reembed", env=TINY)
    give_up = time.monotonic() + 60
    while len(list((folder / "data/chunks").iterdir())) < 2 and run.poll() is None and time.monotonic() < give_up:
        time.sleep(0.002)
    run.kill()
    run.communicate()
    stamp = json.loads((folder / "data/meta.json").read_text())
    if stamp["embedder"] != "tiny":
        assert first_link(folder) == "https://pumpkin.example/docs/keys.html#rotate"
    assert ritbot(folder, "reembed", env=TINY).returncode == 0
    assert len(list((folder / "data/chunks").iterdir())) == 1


def test_on_a_cluster_the_new_model_takes_over_and_the_old_one_is_refused(
    tmp_path: Path, model: Path, opensearch: OpenSearch, qdrant: str
) -> None:
    stores = f'[stores]\nkind = "cluster"\nname = "{own_name()}"\nopensearch_url = "{opensearch.url}"\nqdrant_url = "{qdrant}"\n'
    folder = indexed(lay_out(tmp_path / "work", settings=site() + stores))
    (folder / "tiny").symlink_to(model)
    refused = ritbot(folder, "ask", QUESTION, env=TINY)
    assert refused.returncode == 3
    assert "Run `ritbot reembed` with the new model" in refused.stderr
    kept = ritbot(folder, "reembed", "--keep", env=TINY)
    assert kept.returncode == 0, kept.stderr
    assert "The index before: kept." in kept.stdout
    assert first_link(folder, **TINY).startswith("https://pumpkin.example/docs/")


def test_pages_of_an_older_parser_are_found_and_read_again(place: Path) -> None:
    folder = place
    with closing(sqlite3.connect(folder / "data/trees.sqlite")) as db:
        older = """UPDATE records SET page = CAST(json_set(CAST(page AS TEXT), '$.parser_version', '0') AS BLOB)
            WHERE key LIKE '%keys.html'"""
        assert db.execute(older).rowcount == 1
        db.commit()
    assert "Run: ritbot reindex" in ritbot(folder, "doctor").stdout
    unknown = ritbot(folder, "reindex", "pumpkins")
    assert unknown.returncode == 2
    assert "did you mean pumpkin?" in unknown.stderr
    (folder / "html/keys.html").rename(folder / "keys.html")
    left = ritbot(folder, "reindex", "pumpkin")
    assert left.returncode == 1
    assert "1 page is left." in left.stdout
    (folder / "keys.html").rename(folder / "html/keys.html")
    done = ritbot(folder, "reindex", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "pumpkin: 1 page read again, 0 texts embedded." in done.stdout
    assert "Every page is of this version now." in done.stdout
    assert "Every page was made by this version" in ritbot(folder, "reindex").stdout
