"""An answer's Markdown as rich shows it, but that code can be copied and is seen as code without colours too.

Code in blocks keeps its lines, however narrow the terminal is; code in a sentence stands in ticks where there are no
colours to tell it by; headings stand at the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.console import Console, ConsoleOptions
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.style import Style
from rich.text import Text

INDENT = "    "


class Verbatim(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        nested = options.max_width < console.width  # what stands in a list or a quote is cut at its width: fold it
        for line in str(self.text).rstrip().split("\n"):
            style = Style(color="cyan")
            yield Text(f"{INDENT}{line}", style, no_wrap=not nested, overflow="fold" if nested else "ignore")


class LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class AnswerMarkdown(Markdown):
    """To be printed with crop=False."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": Verbatim,
        "code_block": Verbatim,
    }

    def __init__(self, text: str, *, colours: bool) -> None:
        super().__init__(text)
        if not colours:
            for token in (child for parent in self.parsed for child in parent.children or ()):
                if token.type == "code_inline":
                    token.content = f"`{token.content}`"
