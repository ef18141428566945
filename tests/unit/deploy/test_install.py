"""The set-up: the lock fits pyproject.toml and every build of torch; a failure is told in plain words."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from deploy.install import PYTORCH, locked_torch, reachable, reason, without_pytorch

ROOT = Path(__file__).resolve().parents[3]


def locked() -> dict[str, Version]:
    lines = (ROOT / "deploy/requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all(len(pin.specifier) == 1 and str(pin.specifier).startswith("==") for pin in pins)
    return {canonicalize_name(pin.name): Version(str(pin.specifier)[2:]) for pin in pins}


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = [line for lines in project["project"]["optional-dependencies"].values() for line in lines]
    lines = [*project["project"]["dependencies"], *extras, *project["build-system"]["requires"]]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("requirement", wanted(), ids=lambda requirement: requirement.name)
def test_the_lock_has_a_fitting_version_of_every_dependency(requirement: Requirement) -> None:
    assert locked()[canonicalize_name(requirement.name)] in requirement.specifier


def test_make_sets_up_with_a_python_that_has_nothing_installed() -> None:
    """As a module: run as a script, Python would take deploy/serving/http.py for its own http."""
    assert '"$(PYTHON)" -m deploy.install' in (ROOT / "Makefile").read_text(encoding="utf-8")
    bare = [sys.executable, "-S", "-c", "import deploy.install"]
    done = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_lock_leaves_the_choice_between_the_builds_of_torch() -> None:
    assert [name for name in locked() if name.startswith(("nvidia-", "cuda-", "triton"))] == []
    assert locked()["torch"].local is None
    assert Version(f"{locked()['torch']}+cpu") in Requirement(locked_torch()).specifier


def needed(without: frozenset[str] = frozenset()) -> set[str]:
    """The names of what ritbot needs, and what that needs …, with all extras, but not by way of `without`."""
    found: set[str] = set()
    todo = [requirement for requirement in wanted() if canonicalize_name(requirement.name) not in without]
    while todo:
        parent = todo.pop()
        found.add(canonicalize_name(parent.name))
        with suppress(PackageNotFoundError):
            for requirement in map(Requirement, distribution(parent.name).requires or ()):
                marker = requirement.marker
                wanted_here = marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *parent.extras})
                if wanted_here and canonicalize_name(requirement.name) not in found | without:
                    todo.append(requirement)
    return found


def test_what_is_left_out_with_pytorch_is_what_nothing_else_needs() -> None:
    named = {line for line in PYTORCH.read_text().splitlines() if not line.startswith("#")}
    only = needed() - needed(frozenset({"sentence-transformers"}))
    assert named == only & set(locked())
    assert {Requirement(pin).name for pin in without_pytorch()}.isdisjoint(named)
    assert len(without_pytorch()) == len(locked()) - len(named)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "is full"),
        ("WARNING: Retrying … NewConnectionError('…: Connection refused')", "cannot be reached"),
        ("ERROR: Could not find a version that satisfies the requirement x (from versions: none)", "cannot be reached"),
        ("SSLError … CERTIFICATE_VERIFY_FAILED … NewConnectionError", "certificate is not trusted"),
        ("ritbot 0.1.0 requires structlog, which is not installed.", "does not fit pyproject.toml"),
        ("ensurepip is not available. Install the python3-venv package.", "Install the python3-venv package."),
    ],
)
def test_a_failure_is_told_in_plain_words(log: str, told: str) -> None:
    assert told in reason(log)


def test_an_index_that_does_not_answer_is_not_reachable() -> None:
    assert not reachable("http://127.0.0.1:9/")
    assert not reachable("no address")
