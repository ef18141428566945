"""The pages of ritbot as HTML: templates/ says what stands where, and Jinja2 escapes all that it is given."""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from bot.freshness import ago
from bot.web.section_view import SectionView
from ingest.counted import counted
from ingest.watch.site_tally import not_found

NAVIGATION = {"answers": "Answers", "stale": "Stale answers", "gaps": "Gaps", "sites": "Sites", "events": "Events"}
"""Pages for whoever runs ritbot, by the name of their template and address."""


@dataclass(frozen=True, slots=True)
class Message:
    """A page that says one thing, and what to do. `href`: where a link on it leads, `label` what it says."""

    title: str
    text: str
    href: str = ""
    label: str = ""


def section_page(view: SectionView, *, root: str, signed_in: str = "") -> str:
    """`signed_in`: the name of who reads it, where they can sign out."""
    return _ENVIRONMENT.get_template("section.html").render(view=view, root=root, signed_in=signed_in)


def message_page(message: Message, *, root: str) -> str:
    return _ENVIRONMENT.get_template("message.html").render(message=message, root=root)


def operating_page(name: str, *, root: str, signed_in: str = "", **given: object) -> str:
    """A page for whoever runs ritbot: the template of that name."""
    return _ENVIRONMENT.get_template(f"{name}.html").render(
        page=name, pages=NAVIGATION, root=root, signed_in=signed_in, **given
    )


_ENVIRONMENT = Environment(
    loader=PackageLoader("bot.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals |= {"ago": ago, "counted": counted, "not_found": not_found}
