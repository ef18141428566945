"""What an evaluation leaves behind with and without the extra `eval` (deploy/commands/evaluation/reports.py)."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

from deploy.commands.evaluation.reports import NO_PAGE, PageWriter, page_writer, print_summary, write_reports
from deploy.wiring.evaluation import IndexFacts
from navigator.evaluation.folder import RunFolder
from navigator.evaluation.report.page import to_html
from navigator.evaluation.runner import EvalRun

NOTHING_INDEXED = IndexFacts({}, (), (), (), "en")


def written(folder: Path, page: PageWriter | None) -> tuple[set[str], str]:
    """The reports that are there afterwards, and what the terminal says."""
    told = StringIO()
    with RunFolder(folder) as opened:
        run = EvalRun([], [], opened)
        summary = write_reports(folder, run, NOTHING_INDEXED, "docs", (), page)
        print_summary(Console(file=told, width=200), summary, run, folder)
    return {path.name for path in folder.glob("report.*")}, told.getvalue()


def test_with_the_extra_there_is_a_page(tmp_path: Path) -> None:
    assert page_writer() is to_html
    names, told = written(tmp_path, to_html)
    assert names == {"report.md", "report.json", "report.html"}
    assert f"Everything, with pictures: {tmp_path / 'report.html'}" in told


def test_without_it_the_tables_are_written_and_one_sentence_says_how_to_get_the_page(tmp_path: Path) -> None:
    written(tmp_path, to_html)
    names, told = written(tmp_path, None)
    assert names == {"report.md", "report.json"}, "a page of an earlier run would be taken for this one's"
    assert NO_PAGE in told


def test_a_missing_package_is_no_page_and_only_a_page_imports_it() -> None:
    script = """
import sys
from deploy.commands.evaluation import eval, reports
assert not {"jinja2", "matplotlib", "scipy.stats"} & set(sys.modules)
sys.modules["matplotlib"] = None
assert reports.page_writer() is None
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
