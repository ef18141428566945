"""A settings file of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HOME = {"HOME": "/home/ann"}

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "ritbot.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
