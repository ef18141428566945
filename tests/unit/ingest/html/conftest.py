"""Real pages, unpacked once a session."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with one folder of pages for each generator."""
    archive = shared / "html" / "real.tar.xz"
    if not archive.is_file():
        pytest.skip(f"REAL PAGES ARE MISSING: there is no {archive}")
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return next(folder.rglob("SOURCES.md")).parent
