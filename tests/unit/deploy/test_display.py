"""Progress where nobody sees a bar."""

import io
import re

from bot.terminal.console import SafeConsole
from deploy.commands.display import Bar, page_bar


def lines(seconds: float, *, terminal: bool) -> list[str]:
    """What 400 pages in so many seconds print, the bar itself left out."""
    out, now = io.StringIO(), 0.0
    bar = Bar(console=SafeConsole(file=out, force_terminal=terminal, width=80), get_time=lambda: now)
    task = bar.add_task("docs", total=400, detail="")
    for page in range(401):
        now = seconds * page / 400
        bar.update(task, completed=page, detail=f"{page * 3} chunks")
    return out.getvalue().splitlines()


def test_a_pipe_gets_a_line_a_minute_with_the_time_left() -> None:
    told = lines(400.0, terminal=False)
    assert told == [
        "docs: 60/400 · 180 chunks · 6 min left",
        "docs: 120/400 · 360 chunks · 5 min left",
        "docs: 180/400 · 540 chunks · 4 min left",
        "docs: 240/400 · 720 chunks · 3 min left",
        "docs: 300/400 · 900 chunks · 2 min left",
        "docs: 360/400 · 1080 chunks · 1 min left",
    ]


def test_a_short_run_and_a_terminal_get_none() -> None:
    assert lines(50.0, terminal=False) == []
    assert lines(400.0, terminal=True) == []


def test_a_narrow_terminal_cuts_nothing() -> None:
    name, detail = "a-site-with-quite-a-long-name", "1,200 nodes · 3,400 chunks · 11.5 pages/s"
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=60)
    bar = page_bar(console)
    bar.add_task(name, total=400, completed=120, detail=detail)
    with console.capture() as shown:
        console.print(bar.get_renderable())
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.get())
    assert "…" not in text
    assert all(word in text for word in ("120/400", *detail.split()))
    assert "".join(line[2:23] for line in text.splitlines()).replace(" ", "") == name
