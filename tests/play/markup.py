"""Slack's two markups to HTML that a page can show as it is. Pure.

`markdown` is what markdown blocks and streams hold (CommonMark and tables), `mrkdwn` is Slack's own. Neither lets HTML
through, and links carry only http, https and mailto.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

SAFE = ("http://", "https://", "mailto:")
TOKENS = re.compile(r"```\n?(?P<fence>.*?)\n?```|`(?P<code>[^`\n]+)`|<(?P<angle>[^<>\n]+)>", re.DOTALL)
WIDE = "\u3000-\u303f\uff00-\uffef"
"""Full-width punctuation, which is no border of emphasis for mrkdwn (yc-software/qm#651, seratch/ChatGPT-in-Slack#61)."""
EMPHASIS = tuple(
    (re.compile(rf"(?<![\w{mark}{WIDE}]){mark_}(?=\S)([^{mark}\n]+?)(?<=\S){mark_}(?![\w{mark}{WIDE}])"), tag)
    for mark, mark_, tag in (("*", r"\*", "strong"), ("_", "_", "em"), ("~", "~", "s"))
)
HIDDEN = re.compile("\ue000(\\d+)\ue001")
Names = Mapping[str, str]
"""What ids are called: people, channels, user groups."""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("image", _image)
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _cell_open)
    return parser


def _link_open(renderer: Any, tokens: list[Token], index: int, options: Any, environment: Any) -> str:
    target = str(tokens[index].attrGet("href") or "")
    return _opened(target) if target.startswith(SAFE) else "<a>"


def _image(renderer: Any, tokens: list[Token], index: int, options: Any, environment: Any) -> str:
    """Slack shows a link where Markdown has a picture."""
    source = str(tokens[index].attrGet("src") or "")
    return link(source, tokens[index].content or source)


def _cell_open(renderer: Any, tokens: list[Token], index: int, options: Any, environment: Any) -> str:
    """A class where the parser writes a style: the page allows no styles in its markup."""
    side = str(tokens[index].attrGet("style") or "").removeprefix("text-align:")
    return f'<{tokens[index].tag} class="{escape(side)}">' if side else f"<{tokens[index].tag}>"


def _opened(target: str) -> str:
    return f'<a href="{escape(target)}" target="_blank" rel="noopener">'


MARKDOWN = _parser()


def link(target: str, label: str) -> str:
    words = escape(label or target)
    return f"{_opened(target)}{words}</a>" if target.startswith(SAFE) else words


def markdown(text: str) -> str:
    return str(MARKDOWN.render(text))


def mrkdwn(text: str, names: Names) -> str:
    """What is literal (code, links, mentions) is put aside while emphasis is found around it."""
    aside: list[str] = []

    def keep(html: str) -> str:
        aside.append(html)
        return f"\ue000{len(aside) - 1}\ue001"

    def token(match: re.Match[str]) -> str:
        if (fence := match["fence"]) is not None:
            return keep(f"<pre><code>{escape(unescape(fence))}</code></pre>")
        if (code := match["code"]) is not None:
            return keep(f"<code>{escape(unescape(code))}</code>")
        return keep(_angle(match["angle"], names))

    html = escape(unescape(TOKENS.sub(token, text)), quote=False)
    for pattern, tag in EMPHASIS:
        html = pattern.sub(rf"<{tag}>\1</{tag}>", html)
    return HIDDEN.sub(lambda match: aside[int(match[1])], _lines(html))


def _lines(html: str) -> str:
    """Quotes stand by themselves; elsewhere a new line is a new line."""
    shown: list[str] = []
    for line in html.split("\n"):
        if line.startswith("&gt;"):
            shown.append(f"<blockquote>{line.removeprefix('&gt;').strip()}</blockquote>")
        else:
            shown.append(line + "<br>")
    return "".join(shown).removesuffix("<br>").replace("</blockquote><blockquote>", "<br>")


def _angle(inside: str, names: Names) -> str:
    """<@U1>, <#C1>, <!here>, <!subteam^S1>, <!date^…|words>, <https://…|words>."""
    target, _, label = inside.partition("|")
    if target.startswith("!date^"):
        return escape(unescape(label))
    readers: Mapping[str, Callable[[str], str]] = {
        "@": lambda name: "@" + names.get(name, label or name),
        "#": lambda name: "#" + names.get(name, label or name),
        "!": lambda name: "@" + names.get(name.removeprefix("subteam^"), label or name.partition("^")[0]),
    }
    if target[0] in readers:
        return f'<span class="mention">{escape(readers[target[0]](target[1:]))}</span>'
    return link(unescape(target), unescape(label))
