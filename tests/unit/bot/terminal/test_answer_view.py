"""An answer as it stands in a terminal and in a pipe."""

from __future__ import annotations

import io

import pytest

from bot.terminal.answer_view import print_answer
from bot.terminal.console import SafeConsole
from tests.fakes.exchanges import NOON
from tests.unit.bot.slack.made import answer

LONG = "git commit --message 'a line that is longer than sixty columns of a terminal' --author me"
TEXT = f"""Use `--keep` [1].

# Undo

```sh
{LONG}
    indented
```

- in a list
  ```
  {LONG}
  ```

| Option | Default |
|---|---|
| `--soft` | {"a long cell " * 6}|
"""


def shown(text: str, width: int, *, colours: bool = False, brief: bool = False) -> list[str]:
    out = io.StringIO()
    colour = "standard" if colours else None
    console = SafeConsole(file=out, width=width, force_terminal=colours, color_system=colour)
    print_answer(console, answer(text, passages=1), NOON, brief=brief)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_code_keeps_its_lines_and_headings_their_place(width: int) -> None:
    lines = shown(TEXT, width)
    assert f"    {LONG}" in lines
    assert "        indented" in lines
    assert "Undo" in lines


def test_code_in_a_list_is_folded_and_not_cut() -> None:
    joined = "".join(line.strip() for line in shown(TEXT, 40))
    assert joined.replace(" ", "").count(LONG.replace(" ", "")) == 2


def test_code_in_a_sentence_is_seen_as_code() -> None:
    assert "Use `--keep` [1]." in shown(TEXT, 60)
    (coloured,) = (line for line in shown(TEXT, 60, colours=True) if "--keep" in line)
    assert "`" not in coloured
    assert "\x1b[" in coloured


def test_no_word_of_a_table_is_cut() -> None:
    assert "".join(shown(TEXT, 40)).count("cell") == 6


def test_a_pipe_gets_the_link_to_the_very_words_and_a_terminal_the_section() -> None:
    first = answer("", passages=1).sources[0].first
    assert first.link != first.node_link
    assert f"    {first.link}" in shown("x", 40)
    assert any(line.endswith(first.node_link + "\x1b[0m\x1b]8;;\x1b\\") for line in shown("x", 40, colours=True))


def test_brief_is_the_text_and_a_line_a_source() -> None:
    first = answer("", passages=1).sources[0].first
    assert shown("Do it [1].", 60, brief=True) == ["Do it [1].", f"[1] {first.link}"]
