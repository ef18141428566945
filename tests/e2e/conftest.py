"""What the tests of whole commands share: one fork server, which ends with them, and one index of three pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.commands import lay_out, ritbot
from tests.e2e.forked import FORKS


@pytest.fixture(autouse=True, scope="session")
def _forks() -> Iterator[None]:
    yield
    FORKS.stop()


@pytest.fixture(scope="session")
def _pumpkin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("pumpkin"))
    done = ritbot(folder, "index", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "3 new" in done.stdout
    return folder


@pytest.fixture(scope="module")
def pumpkin(_pumpkin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory of the module's own: three pages, their settings, their index."""
    return Path(shutil.copytree(_pumpkin, tmp_path_factory.mktemp("work") / "pumpkin"))
