"""A forked command is what one in a Python of its own is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import environment, ritbot
from tests.e2e.fork_server import LIBRARIES
from tests.e2e.forked import FORKS, ForkServer


@pytest.mark.parametrize("arguments", [("settings",), ("--help",), ("nonsense",), ("ask", "x", "--folder", "nowhere")])
def test_it_says_and_ends_as_one_of_its_own_does(arguments: tuple[str, ...], tmp_path: Path) -> None:
    env = {"RITBOT_RETRIEVAL__N": "7", "COLUMNS": "70"}
    forked, fresh = (ritbot(tmp_path, *arguments, env=env, fresh=fresh) for fresh in (False, True))
    assert (forked.stdout, forked.stderr, forked.returncode) == (fresh.stdout, fresh.stderr, fresh.returncode)
    assert forked.stdout + forked.stderr


def test_it_reads_its_own_settings_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "ritbot.toml").write_text("[retrieval]\nn = 'many'\n", encoding="utf-8")
    assert "retrieval.n" in ritbot(tmp_path, "sites").stderr
    assert "RETRIEVAL__N" in ritbot(tmp_path.parent, "sites", env={"RITBOT_RETRIEVAL__N": "many"}).stderr


def test_it_forks_from_one_thread_that_knows_nothing_of_ritbot(tmp_path: Path) -> None:
    command = FORKS.start(tmp_path, "settings", env=environment())
    command.communicate(60)
    assert FORKS.threads() == 1
    ours = {"bot", "deploy", "ingest", "navigator", "tests"}
    assert ours.isdisjoint(name.partition(".")[0] for name in LIBRARIES)


def test_what_libraries_read_when_they_are_loaded_cannot_be_changed_for_one_command(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="another OMP_NUM_THREADS needs a Python of its own"):
        FORKS.start(tmp_path, "settings", env=environment(OMP_NUM_THREADS="7"))


def test_a_server_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise ImportError('no torch here')", encoding="utf-8")
    server = ForkServer(tmp_path / "broken.py")
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match="no torch here"):
            server.start(tmp_path, "settings", env=environment())
    server.stop()
