"""An installation without PyTorch, as --build-arg PYTORCH=no makes it: the default model does all, others are refused."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from deploy.install import PYTORCH, ROOT
from tests.e2e.commands import lay_out

pytestmark = pytest.mark.timeout(400)  # the end-to-end tests of the embedded column run inside


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has every package of this one but those that pytorch.txt names."""
    venv = tmp_path_factory.mktemp("light") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    names = [line for line in PYTORCH.read_text().splitlines() if not line.startswith("#")]
    files = (file for name in names for file in importlib.metadata.files(name) or ())
    left_out = {file.parts[0] for file in files}
    (site,) = venv.glob("lib/python*/site-packages")
    for there in Path(sysconfig.get_path("purelib")).iterdir():
        if there.name not in left_out:
            (site / there.name).symlink_to(there)
    return venv / "bin/python"


def run(python: Path, *arguments: str, folder: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments], cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False
    )


def test_there_is_no_pytorch(python: Path) -> None:
    for library in ("torch", "transformers", "sentence_transformers"):
        assert run(python, "-c", f"import {library}").returncode == 1


@pytest.mark.parametrize("file", ["test_ask_options.py", "test_command.py", "test_serve.py"])
def test_the_embedded_column_works_end_to_end(python: Path, file: str, tmp_path: Path) -> None:
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/t", f"tests/e2e/{file}")
    assert done.returncode == 0, done.stdout


def test_another_model_is_refused_with_what_to_do(python: Path, tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    command = ("-c", "from deploy.commands.cli import main; main()", "index")
    for env in ({"RITBOT_EMBEDDING__MODEL": str(tmp_path)}, {"RITBOT_EMBEDDING__DEVICE": "cuda"}):
        done = run(python, *command, folder=folder, **env)
        assert done.returncode == 3
        assert "without PyTorch" in done.stderr
        assert "pip install sentence-transformers" in done.stderr
        assert "Traceback" not in done.stderr
