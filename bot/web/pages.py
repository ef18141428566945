"""The pages of ritbot as HTML: templates/ says what stands where, and Jinja2 escapes all that it is given."""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from bot.web.section_view import SectionView


@dataclass(frozen=True, slots=True)
class Message:
    """A page that says one thing, and what to do."""

    title: str
    text: str


def section_page(view: SectionView, *, root: str) -> str:
    return _ENVIRONMENT.get_template("section.html").render(view=view, root=root)


def message_page(message: Message, *, root: str) -> str:
    return _ENVIRONMENT.get_template("message.html").render(message=message, root=root)


_ENVIRONMENT = Environment(
    loader=PackageLoader("bot.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
