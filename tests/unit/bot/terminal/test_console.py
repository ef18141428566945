"""What is printed: no page, model or person commands a terminal, whatever it wrote."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from bot.terminal.answer_view import print_answer, print_trace
from bot.terminal.console import SafeConsole, print_json, safe_text
from navigator.answer import Usage
from tests.fakes.exchanges import NOON
from tests.unit.bot.slack.made import answer, passage

HOSTILE = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.test\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m",
    "a\rb",
    "a\b\bb",
    "\x7f",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\x85",
]
OWN_CODES = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\")
"""Rich's colours and links."""
COMMAND = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def opened(*, terminal: bool) -> tuple[SafeConsole, io.StringIO]:
    out = io.StringIO()
    return SafeConsole(file=out, force_terminal=terminal, color_system="truecolor" if terminal else None), out


def printed(*shown: object, terminal: bool = False) -> str:
    console, out = opened(terminal=terminal)
    for one in shown:
        console.print(one, soft_wrap=True)
    return out.getvalue()


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("terminal", [False, True])
def test_no_command_reaches_a_terminal_or_a_pipe(hostile: str, terminal: bool) -> None:
    table = Table(hostile, title=hostile)
    table.add_row(hostile)
    out = printed(
        hostile, Text(hostile), Padding(Text(hostile), 1), table, Text("x", Style(link=hostile)), terminal=terminal
    )
    assert COMMAND.search(OWN_CODES.sub("", out)) is None
    assert "evil.test" not in "".join(OWN_CODES.findall(out))


@given(st.text())
def test_everything_else_is_shown_as_it_is(text: str) -> None:
    assert safe_text(text) == "".join("\ufffd" if COMMAND.match(char) else char for char in text)
    assert "\n\t" in safe_text(f"{text}\n\t")


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "[/]", "[link=https://evil.test]x[/link]", ":smile:", "[red"])
def test_markup_from_outside_is_text(text: str) -> None:
    table = Table(text)
    assert text in printed(f"Site {text}")
    assert text in printed(table)
    assert text in printed(Text(text))


def test_json_means_the_same_and_holds_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"title": "".join(HOSTILE), "word": "größer 日本"}
    print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert COMMAND.search(out) is None
    assert "größer 日本" in out


def test_an_answer_is_shown_without_commands_and_leads_only_where_was_read() -> None:
    hostile = "".join(HOSTILE)
    text = f"Do it {hostile} [1]. [x](https://made-up.test) and https&#58;//made-up.test"
    read = replace(passage(1), path=(hostile, "[bold]Title[/bold]"))
    made = replace(answer(text), nearest=(read,), note=hostile, understood=hostile)
    console, shown = opened(terminal=True)
    print_answer(console, made, NOON)
    print_trace(console, made)
    out = shown.getvalue()
    assert COMMAND.search(OWN_CODES.sub("", out)) is None
    targets = set(re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b", out))
    links = {source.first.link for source in made.sources} | {read.link}
    assert targets == links
    assert "made-up" not in OWN_CODES.sub("", out)
    assert "[bold]Title[/bold]" in OWN_CODES.sub("", out)


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(900, 50), "900 tokens in, 50 out"),
        (Usage(100, 50, 700, 0), "800 tokens in (700 read from the cache), 50 out"),
        (Usage(100, 50, 700, 200), "1000 tokens in (700 read from the cache, 200 written to it), 50 out"),
    ],
)
def test_the_trace_says_what_the_prompt_cache_gave(usage: Usage, said: str) -> None:
    made = answer("Yes.")
    console, shown = opened(terminal=False)
    print_trace(console, replace(made, trace=replace(made.trace, usage=usage)))
    assert said in " ".join(shown.getvalue().split())
