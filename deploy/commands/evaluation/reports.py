"""What an evaluation leaves behind: report.md, report.json and, with the extra `eval`, report.html in its folder; and a
short table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deploy.settings.messages import SettingsError
from deploy.wiring.evaluation import IndexFacts
from ingest.counted import counted, verb
from navigator.evaluation.judging.blind import Verdicts, VerdictsError, blind_form, is_filled, read_verdicts
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.formats import interval, money, named, percent, seconds
from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.summary import RunSummary, summarise
from navigator.evaluation.report.text_report import to_json, to_markdown
from navigator.evaluation.results import Result
from navigator.evaluation.runner import EvalRun

COLUMNS = ("Contender", "Right", "P", "R", "F1", "Cost", "Time")
PAGE = "report.html"
EVAL_EXTRA = frozenset({"matplotlib"})
NO_PAGE = (
    "There is no report.html: its packages are not installed. `pip install '.[eval]'` in ritbot's checkout adds them; "
    "then run the same command again."
)

BLIND, KEY = Path("blind"), "blind-key.json"
BLIND_TOLD = (
    "For people to judge: give them {folder}/blind, and keep {folder}/blind-key.json. They read answers.md and fill in "
    "verdicts.csv, which --verdicts reads back."
)

PageWriter = Callable[[RunSummary, Sequence[EvalQuestion], Sequence[Result], str], str]


def page_writer() -> PageWriter | None:
    """None without the extra `eval`. Imported here and not above: matplotlib takes a second, and only this needs it."""
    try:
        from navigator.evaluation.report.page import to_html
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in EVAL_EXTRA:
            raise
        return None
    return to_html


def write_reports(
    folder: Path, run: EvalRun, known: IndexFacts, title: str, notes: Sequence[str], page: PageWriter | None
) -> RunSummary:
    """`notes` stand before those that follow from the figures. Each file is replaced in one piece; a page that cannot
    be written anew does not stay from an earlier run. Raises OSError."""
    results = run.results()
    summary = summarise(
        run.questions,
        run.contenders,
        results,
        ranked=known.ranked,
        outlines=known.outlines,
        aliases=known.aliases,
        preprocessing=known.preprocessing,
        language=known.language,
    )
    summary = replace(summary, notes=(*notes, *unfinished(run), *summary.notes))
    heading = f"Evaluation: {title}" if run.complete else f"Evaluation: {title} (incomplete)"
    texts = {"report.md": to_markdown(summary, heading), "report.json": to_json(summary)}
    if page:
        texts[PAGE] = page(summary, run.questions, results, heading)
    else:
        (folder / PAGE).unlink(missing_ok=True)
    for name, text in texts.items():
        _write(folder / name, text)
    return summary


def write_blind_form(folder: Path, run: EvalRun) -> None:
    """A folder to hand to whoever judges, and the key beside it. Raises OSError, and SettingsError where a form that is
    filled in would be written over."""
    form = blind_form(run.questions, run.results())
    (folder / BLIND).mkdir(exist_ok=True)
    verdicts = folder / BLIND / "verdicts.csv"
    if verdicts.exists() and (folder / KEY).exists() and (folder / KEY).read_text(encoding="utf-8") == form.key:
        return
    if verdicts.exists() and is_filled(verdicts.read_text(encoding="utf-8")):
        raise SettingsError(f"{verdicts} is filled in, for other answers: move it away, then run --blind again")
    for path, text in (
        (BLIND / Path("answers.md"), form.answers),
        (BLIND / Path("verdicts.csv"), form.verdicts),
        (KEY, form.key),
    ):
        _write(folder / path, text)


def people_said(folder: Path, filled: str, run: EvalRun) -> Verdicts:
    """Raises SettingsError for a form that cannot be read."""
    try:
        return read_verdicts(filled, (folder / KEY).read_text(encoding="utf-8"), run.results())
    except FileNotFoundError:
        raise SettingsError(
            f"{folder / KEY} is not there: a form is filled in for the folder that --blind wrote it to"
        ) from None
    except VerdictsError as error:
        raise SettingsError(*str(error).split("\n")) from error


def _write(path: Path, text: str) -> None:
    """In one piece."""
    half = path.with_name(f"{path.name}.half")
    half.write_text(text, encoding="utf-8", newline="\n")
    os.replace(half, path)


def unfinished(run: EvalRun) -> list[str]:
    """What is left, and why; nothing where the run is complete."""
    progress, left, unjudged = run.progress, len(run.unanswered()), len(run.unjudged())
    told = []
    if progress.ended:
        told.append(f"Stopped: {progress.ended}.".replace("..", "."))
    if left:
        failed = f" {counted(progress.failed, 'call')} failed, the last: {progress.failure}" if progress.failed else ""
        told.append(
            f"Incomplete: {left} of {counted(progress.total or 0, 'answer')} {verb(left, 'is', 'are')} missing.{failed}"
        )
    if unjudged:
        why = f" The judge failed: {run.judge_failed}" if run.judge_failed else ""
        told.append(
            f"{counted(unjudged, 'answer')} {verb(unjudged, 'is', 'are')} not judged, or not in full.{why or ' The replies of the judge were of no use.'}"
        )
    return told


def print_summary(console: Console, summary: RunSummary, run: EvalRun, folder: Path) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for at, name in enumerate(COLUMNS):
        table.add_column(name, justify="right" if at else "left", no_wrap=bool(at), overflow="fold")
    for row in summary.rows:
        table.add_row(
            named(row.contender),
            interval(row.accuracy),
            *map(percent, (row.precision, row.recall, row.reading_f1)),
            money(row.cost),
            seconds(row.seconds_p50),
        )
    console.print(table)
    _print_search(console, "forest", {each.n: each.forest for each in summary.retrieval})
    _print_search(console, "page", {each.n: each.page for each in summary.retrieval})
    console.print(Text(" ".join(headline(summary))), soft_wrap=True)
    for sentence in unfinished(run):
        console.print(Text(sentence, style="yellow"), soft_wrap=True)
    if not run.complete:
        console.print("Nothing is lost: run the same command again and it goes on.", style="yellow", soft_wrap=True)
    page = folder / PAGE
    console.print(Text(f"Everything, with pictures: {page}" if page.exists() else NO_PAGE), soft_wrap=True)


def _print_search(console: Console, name: str, figures: Mapping[int, float | None]) -> None:
    known = [f"@{n} {percent(figure)}" for n, figure in figures.items() if figure is not None]
    if known:
        console.print(f"The search alone, {name}: {', '.join(known)}")
