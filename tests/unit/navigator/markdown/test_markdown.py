"""Markdown as pieces: written back they read the same, and split they are within limits and whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.render.message_split import grouped
from navigator.markdown.blocks import (
    MIN_PART_CHARACTERS,
    Code,
    MarkdownHeading,
    MarkdownList,
    MarkdownTable,
    Paragraph,
    markdown_of,
)
from navigator.markdown.parse import parse_markdown, settled_end
from navigator.markdown.spans import Span, cut_spans, text_of, write_markdown
from tests.unit.bot.slack.made import COMMONMARK, DOCUMENT, NOISE, fences_closed, links, read

LONG_CODE = "```python\n" + "\n".join(f"line_{n} = compute({n})  # step {n}" for n in range(260)) + "\n```"


@given(DOCUMENT)
@example("**bold.**next a*b* 2*3 a*b*")
@example("- - |\n  - ---")
def test_what_is_written_back_reads_the_same(text: str) -> None:
    assert read(markdown_of(parse_markdown(text))) == read(text)


@given(NOISE)
@example("a\n[x](javascript:alert(1))")
@example("&#10;&#10;# no heading")
def test_noise_reads_the_same_too(text: str) -> None:
    assert read(markdown_of(parse_markdown(text))) == read(text)


@given(DOCUMENT)
@example("scale\n\\* scale\n-")
@example("- a\n\n~~~\n~~~\n\n- b")
def test_what_is_written_back_is_made_of_the_same_pieces(text: str) -> None:
    pieces = parse_markdown(text)
    again = parse_markdown(markdown_of(pieces))
    assert [type(piece) for piece in again] == [
        Code if isinstance(p, MarkdownTable) and not p.native else type(p) for p in pieces
    ]


@given(DOCUMENT | NOISE, st.integers(MIN_PART_CHARACTERS, 2_000))
def test_split_pieces_fit_are_whole_and_lose_no_word(text: str, limit: int) -> None:
    text = "\n\n".join([text] * 5)
    made = [markdown_of(group) for group in grouped(parse_markdown(text), limit)]
    assert all(0 < len(part) <= limit for part in made)
    assert all(fences_closed(part) for part in made)
    if "| h |" not in text:  # a table's header is repeated, and its rows may be spelled out
        assert "".join(map(read, made)) == read(text)


@pytest.mark.parametrize(
    "text",
    [
        "snake_case and x_1.py", "2 * 3 * 4", "C++ costs < 5 & more > 3", "items[0] and a[i]", "~/.config --all",
        "Use `a|b` and ``a`b``.", "**Bold** text, *thin*, ~~gone~~.", "1.5 GB, 3) no list", "key: value; #5 (note)!",
        "- a\n- b\n  - c\n\n1. one\n2. two", "> said\n>\n> twice", "| a | b |\n| --- | :-: |\n| 1 | 2 |", "## Head\n\ntext",
        "- [ ] open\n- [x] done", "one  \ntwo", "10) ten\n11) eleven", "--dry-run shows what it would do",
    ],
)  # fmt: skip
def test_plain_writing_comes_back_without_a_backslash(text: str) -> None:
    assert markdown_of(parse_markdown(text)) == text


@pytest.mark.parametrize("text", ["<x-b>x</x-b>", "a <script>alert(1)</script>", "<video src=x>", "<!DOCTYPE html>"])
def test_html_is_text(text: str) -> None:
    written = markdown_of(parse_markdown(text))
    assert "".join(piece.plain for piece in parse_markdown(text)) == text
    assert read(written) == read(text) == text.replace(" ", "")


def test_images_become_their_words() -> None:
    assert (
        markdown_of(parse_markdown("See ![the *whole* plan](https://x.test/a.png) here."))
        == "See the *whole* plan here."
    )


def test_definitions_of_links_do_not_swallow_marks() -> None:
    assert links("Scale [1].\n\n[1]: https://evil.test") == []
    assert (
        "".join(piece.plain for piece in parse_markdown("Scale [1].\n\n[1]: https://evil.test"))
        == "Scale [1].[1]: https://evil.test"
    )


def test_a_long_code_block_is_split_between_lines_and_its_fence_reopened() -> None:
    parts = parse_markdown(LONG_CODE)[0].split(3_000)
    assert len(parts) == 4
    assert all(part.markdown.startswith("```python\n") and part.markdown.endswith("\n```") for part in parts)
    assert "\n".join(part.plain for part in parts) == parse_markdown(LONG_CODE)[0].plain


def test_runs_of_backticks_inside_code_end_no_fence() -> None:
    """Situation 12."""
    (code,) = parse_markdown("~~~md\n```python\nx\n```\n`````\n~~~")
    assert code.markdown.count("```") == 2
    assert code.markdown.replace("\u200b", "") == "```md\n```python\nx\n```\n`````\n```"


def test_a_numbered_list_goes_on_with_its_numbers() -> None:
    (steps,) = parse_markdown("\n".join(f"{n}. step number {n} of the long procedure" for n in range(1, 41)))
    parts = steps.split(400)
    assert len(parts) == 5
    assert [line.partition(".")[0] for part in parts for line in part.markdown.split("\n")] == [
        str(n) for n in range(1, 41)
    ]


def test_an_item_too_long_by_itself_goes_on_without_its_bullet_and_the_next_keeps_its_number() -> None:
    text = "1. Run this:\n\n   ```sh\n" + "\n".join(f"   echo {n}" for n in range(100)) + "\n   ```\n\n2. Look."
    parts = parse_markdown(text)[0].split(400)
    assert parts[0].markdown.startswith("1. Run this:\n\n   ```sh\n   echo 0\n")
    assert isinstance(parts[1], Code)
    assert parts[1].language == "sh"
    assert parts[-1].markdown == "2. Look."


def test_a_long_table_is_split_at_rows_under_its_header() -> None:
    rows = [f"| key {n} | value of key {n} |" for n in range(60)]
    (table,) = parse_markdown("| Key | Value |\n|---|---|\n" + "\n".join(rows))
    parts = table.split(600)
    assert len(parts) == 4
    assert all(part.markdown.startswith("| Key | Value |\n| --- | --- |\n") for part in parts)
    assert [line for part in parts for line in part.markdown.split("\n")[2:]] == rows


def _table(columns: int, rows: int, cell: str = "x") -> str:
    head = "|" + "h|" * columns + "\n|" + "-|" * columns + "\n"
    return head + "\n".join("|" + f"{cell}|" * columns for _ in range(rows))


@pytest.mark.parametrize(
    ("text", "native"),
    [
        (_table(20, 99), True), (_table(21, 3), False), (_table(2, 100), False), ("|a|b|\n|-|-|\n|1||", False),
        (_table(2, 50, "y" * 99), True), (_table(2, 50, "y" * 100), False), ("> " + _table(2, 1).replace("\n", "\n> "), False),
    ],
)  # fmt: skip
def test_a_table_that_slack_cannot_show_is_aligned_text(text: str, native: bool) -> None:
    """Situation 11."""
    written = markdown_of(parse_markdown(text))
    assert ("```" not in written) is native
    assert any(token.type == "table_open" for token in COMMONMARK.parse(written)) is native


def test_aligned_text_lines_up_with_wide_letters() -> None:
    (table,) = parse_markdown("| Name | 値 |\n|--|--|\n| 日本 | 1 |\n| plain | |")
    assert table.markdown == "```\nName   値\n─────  ──\n日本   1\nplain\n```"


def test_long_cells_of_a_wide_table_take_several_lines() -> None:
    (table,) = parse_markdown(f"| a | b |\n|--|--|\n| one | {'word ' * 40} |\n| two | |")
    lines = table.markdown.split("\n")
    assert max(map(len, lines)) <= 45
    assert sum("word" in line for line in lines) > 4


def test_a_row_too_long_for_a_table_is_spelled_out() -> None:
    (table,) = parse_markdown(f"| Key | Value |\n|--|--|\n| k | {'word ' * 200} |")
    parts = table.split(400)
    assert parts[0].markdown == "Key: k"
    assert parts[1].markdown.startswith("Value: word word")
    assert sum(part.plain.count("word") for part in parts) == 200


def test_the_second_table_of_a_message_is_aligned_text_and_of_another_message_a_table() -> None:
    table = _table(2, 2)
    (group,) = grouped(parse_markdown(f"{table}\n\ntext\n\n{table}"), 4_000)
    assert [isinstance(piece, MarkdownTable) and piece.native for piece in group] == [True, False, False]
    first, second = grouped(parse_markdown(f"{table}\n\n{'word ' * 90}\n\n{table}"), 500)
    assert isinstance(first[0], MarkdownTable)
    assert first[0].native
    assert isinstance(second[-1], MarkdownTable)
    assert second[-1].native


def test_a_heading_goes_with_what_stands_under_it() -> None:
    first, second = grouped(parse_markdown(f"{'word ' * 60}\n\n## Head\n\n{'more ' * 60}"), 500)
    assert [type(piece) for piece in first] == [Paragraph]
    assert [type(piece) for piece in second] == [MarkdownHeading, Paragraph]


def test_text_is_cut_after_a_sentence_and_marks_stay_with_theirs() -> None:
    (paragraph,) = parse_markdown(" ".join(f"Sentence number {n} says something. [1]" for n in range(40)))
    parts = paragraph.split(400)
    assert all(part.markdown.endswith("[1]") and part.markdown.startswith("Sentence") for part in parts)


def test_text_is_never_cut_in_a_link_or_code() -> None:
    spans = (
        Span("word " * 59),
        Span("the label of the link", "link", target="https://docs.acme.test/" + "x" * 100),
        Span(" and then "),
        Span("kubectl get pods --all-namespaces", "code", ("**",)),
        Span(" more" * 100),
    )
    for limit in range(400, 460):
        parts = [write_markdown(part) for part in cut_spans(spans, limit)]
        assert all(len(part) <= limit for part in parts)
        assert sum(part.count("[the label of the link](https://docs.acme.test/") for part in parts) == 1
        assert sum("**`kubectl get pods --all-namespaces`**" in part for part in parts) == 1


def test_styles_are_closed_and_opened_again_at_a_cut() -> None:
    parts = cut_spans((Span("bold words " * 80, styles=("**", "_")),), 400)
    assert len(parts) == 5
    assert all(
        write_markdown(part).startswith("**_bold") and write_markdown(part).endswith("words_**") for part in parts
    )


def test_a_word_longer_than_a_message_is_cut_anywhere() -> None:
    parts = parse_markdown("x" * 5_000)[0].split(1_000)
    assert "".join(part.plain for part in parts) == "x" * 5_000


def test_what_is_nested_too_deeply_is_shown_as_its_source() -> None:
    text = "> " * 200 + "deep"
    assert parse_markdown(text) == (Code(text),)


def test_a_list_keeps_its_bullets_so_that_two_stay_two() -> None:
    first, second = parse_markdown("- a\n- b\n\n* c")
    assert isinstance(first, MarkdownList)
    assert isinstance(second, MarkdownList)
    assert [type(piece) for piece in parse_markdown(markdown_of((first, second)))] == [MarkdownList, MarkdownList]


@given(DOCUMENT | NOISE, st.integers(0, 400))
def test_what_is_settled_stays_as_it_is_whatever_follows(text: str, at: int) -> None:
    end = settled_end(text[:at])
    assert parse_markdown(text[:end]) + parse_markdown(text[end:]) == parse_markdown(text)
    assert end <= at


def test_a_finished_block_is_settled_when_the_next_begins() -> None:
    assert settled_end("One.\n\n") == 0
    assert settled_end("One.\n\nTw") == 0
    assert settled_end("One.\n\nTwo\n") == len("One.\n\n")
    assert text_of(parse_markdown("One.\r\n\r\nTwo\r\n"[settled_end("One.\r\n\r\nTwo\r\n") :])[0].spans) == "Two"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Fill it<br>with water", "Fill it  \nwith water"),
        ("Fill it <br/> now", "Fill it  \nnow"),
        ("Fill the <b>pump</b> with H<sub>2</sub>O", "Fill the **pump** with H2O"),
        ("<b>Note:</b>fill <em>it</em>, <s>not</s> <u>now</u>", "**Note**:fill *it*, ~~not~~ now"),
        ('A <span style="color:red">red</span> <font color=red>one</font>', "A red one"),
        ("Run <code>pump --on</code>, press <kbd>Ctrl</kbd>", "Run `pump --on`, press `Ctrl`"),
        ('See <a href="https://d.test/p">the page</a>, <a>not</a>', "See [the page](https://d.test/p), not"),
        ('<img src="x.png" alt="A pump"> <!-- not shown --> at work', "A pump  at work"),
        ("<p>One</p><p>Two</p>", "One  \nTwo"),
        ("<h2>Pumps</h2>They move water.", "**Pumps**  \nThey move water."),
        ("<ul><li>one</li><li>two</li></ul>", "• one  \n• two"),
        ("<ol>\n<li>one</li>\n<li>two</li>\n</ol>", "1\\. one  \n2\\. two"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "**a** | **b**  \n1 | 2"),
        ("<details>\n<summary>More</summary>\n\nIt is red.\n\n</details>", "**More**\n\nIt is red."),
        ("<pre><code>a = 1\nb</code></pre>", "`a = 1`  \n`b`"),
        ("<i>Nobody closed it", "Nobody closed it"),
        ("<b>" * 3000 + "deep" + "</b>" * 3000, "**deep**"),
        ("List<String>, <name>, a < b > c", "List\\<String>, \\<name>, a < b > c"),
        ("Use <table> here, or <h2>", "Use \\<table> here, or \\<h2>"),
        ("`<b>` and \\<b> stay, <div> too", "`<b>` and \\<b> stay, \\<div> too"),
        ("| a |\n| - |\n| Fill<br>it |", "| a |\n| --- |\n| Fill it |"),
    ],
)
def test_tags_that_only_style_words_give_way_to_them(written: str, shown: str) -> None:
    assert markdown_of(parse_markdown(written)) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("**「給水」**を先に行い、**注意：**空運転はしないでください。", "「**給水**」を先に行い、**注意**：空運転はしないでください。"),
        ("給水**ポンプ**を", "給水**ポンプ**を"),
        ("**复现：**10 轮", "**复现**：10 轮"),
        ("含**“重点”**内容", "含“**重点**”内容"),
        ("**重要提示（Important Notice）：**请注意。", "**重要提示（Important Notice**）：请注意。"),
        ("*「給水」*を、~~（古い）~~は、_「弁」_を", "「*給水*」を、（~~古い~~）は、「_弁_」を"),
        ("**한국어(괄호)**을, **`npm publish`**를", "**한국어(괄호**)을, `npm publish`를"),
        ("***注意：***空、**_給水_**を", "***注意***：空、**給水**を"),
        ("| 注 |\n| - |\n| **注：**空 |", "| 注 |\n| --- |\n| **注**：空 |"),
        ("変数_名前_一覧 と 2 * 3 * 4", "変数_名前_一覧 と 2 * 3 * 4"),
        ("**（古い）** と **注意：** 空", "**（古い）** と **注意：** 空"),
    ],
)  # fmt: skip
def test_emphasis_beside_letters_that_know_no_spaces_is_emphasis(written: str, shown: str) -> None:
    """commonmark/commonmark-spec#650, and its neighbours."""
    assert markdown_of(parse_markdown(written)) == shown
    assert "*" not in read(shown.replace("2 * 3 * 4", ""))


STYLES = st.sampled_from([("**",), ("*",), ("~~",), ("*", "**"), ("**", "_")])
EDGY = st.text("給水a1「」（）：。.()“” ", min_size=1, max_size=6).filter(str.strip)


@given(st.lists(st.tuples(EDGY, STYLES, EDGY), min_size=1, max_size=4))
def test_no_delimiter_is_ever_shown(parts: list[tuple[str, tuple[str, ...], str]]) -> None:
    spans = [span for plain, styles, bold in parts for span in (Span(plain), Span(bold, styles=styles))]
    assert read(write_markdown([*spans, Span("を")])) == "".join(text_of([*spans, Span("を")]).split())
