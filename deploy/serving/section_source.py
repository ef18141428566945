"""Who finds sections for a command: the process that holds the data folder, through its socket, else this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from bot.permalinks.permalink import Permalink
from bot.slack.render.section_message import MAX_FIRST_LINES_CHARACTERS, first_lines
from deploy.serving.local_socket import Fields, NotAnswered, listens, request
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from ingest.model import Scope

if TYPE_CHECKING:
    from deploy.wiring.stores import Stores

CITE = "cite"
"""What the request is called at the socket."""
MAX_SECTIONS = 5


@dataclass(frozen=True, slots=True)
class CitedSection:
    """`link` leads into the documentation; `permalink` stays, "" where it is not set where people reach ritbot."""

    id: str
    hash: str
    path: tuple[str, ...]
    link: str
    permalink: str
    text: str

    def row(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CiteRequest:
    words: str
    scope: Scope


_ASKED = TypeAdapter(CiteRequest)
_FOUND = TypeAdapter(tuple[CitedSection, ...])


async def find_sections(settings: Settings, words: str, scope: Scope) -> Sequence[CitedSection]:
    """Best first. Raises FolderBusy where the holder of the folder takes no requests, and all that opening the stores
    raises."""
    asked = CiteRequest(words, scope)
    if settings.stores.kind == "embedded" and await listens(settings.index.folder):
        reply = await request(settings.index.folder, CITE, _ASKED.dump_python(asked, mode="json"))
        return _FOUND.validate_python(reply["sections"])
    from deploy.wiring.stores import open_stores

    async with open_stores(settings, "ritbot cite") as stores:
        return await _found(stores, asked)


async def cited(stores: Stores, fields: Fields) -> Fields:
    """What the socket does with such a request. Raises NotAnswered."""
    try:
        asked = _ASKED.validate_python(fields)
    except ValidationError:
        raise NotAnswered("the request is not understood") from None
    return {"sections": _FOUND.dump_python(tuple(await _found(stores, asked)), mode="json")}


async def _found(stores: Stores, asked: CiteRequest) -> Sequence[CitedSection]:
    """The texts that links are made of here are kept."""
    from deploy.wiring.permalinks import finder, open_permalinks

    settings = stores.settings
    public_url = settings.web.public_url or ""
    find = finder(stores.index.words, known_sites(settings, settings.index.folder).languages())
    async with open_permalinks(settings, stores.trees, find) as permalinks:
        found: list[CitedSection] = []
        for section in await permalinks.found(asked.words, asked.scope, MAX_SECTIONS):
            if public_url:
                await permalinks.keep_linked(section)
            text = first_lines(section, MAX_FIRST_LINES_CHARACTERS)
            stays = Permalink(section.node_id, section.node_hash).address(public_url)
            link = await permalinks.landing(section)
            found.append(CitedSection(section.node_id, section.node_hash, section.path, link, stays, text))
    return found
