"""What a Messages API endpoint can do, found out by two tiny conversations. Pure: the adapter holds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ingest.model import Block
from navigator.answer import Passage
from navigator.models.faults import RequestRefused
from navigator.models.messages import Conversation
from navigator.ports import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn, UserTurn

_LOOK = Tool(
    "look",
    "Looks something up in the handbook.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
_TRY_SYSTEM = (
    "You answer from a handbook, which the tool `look` reads for you. Be brief, and support what you say with it."
)
_TRY_QUESTION = UserTurn("What does the handbook say the colour of the lamp is? Call `look` before you answer.")
_SECTION = Passage(
    number=1,
    node_id="lamp",
    node_hash="",
    page_key="handbook",
    page_url="https://handbook.invalid/lamp",
    link="https://handbook.invalid/lamp",
    path=("Handbook", "Lamp"),
    blocks=(Block("text", "The colour of the lamp is heliotrope."),),
    checked_at=datetime(2000, 1, 1, tzinfo=UTC),
)

TRY_TOOLS = Conversation(_TRY_SYSTEM, (_TRY_QUESTION,), (_LOOK,))
"""Any endpoint that knows tools answers with a call of `look`."""

TRY_CITATIONS = Conversation(
    _TRY_SYSTEM,
    (
        _TRY_QUESTION,
        ModelTurn("Looking it up.", (ToolCall("toolu_lamp", "look", {"query": "colour of the lamp"}),)),
        ToolTurn((ToolResult("toolu_lamp", passages=(_SECTION,)),)),
    ),
    (_LOOK,),
    must_answer=True,
)
"""Any endpoint that knows citations answers with one."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """None: not known, because something before it failed. `notes` are sentences for the operator: what is
    wrong or missing, and what that means."""

    reachable: bool
    key_accepted: bool | None = None
    model_known: bool | None = None
    streaming: bool | None = None
    tools: bool | None = None
    citations: bool | None = None
    caching: bool | None = None
    notes: tuple[str, ...] = ()


NO_STREAMING = "The endpoint does not stream: an answer appears in one piece when it is finished."
NO_TOOLS = "The model called no tool when asked to. Without tools it cannot search or read: choose another model."
NO_CITATIONS = (
    "No citations of the endpoint's own: the model is asked to write section numbers, which are checked against what "
    "it read."
)
CITATIONS_EXPECTED = (
    "The settings say that the endpoint gives citations, and it gives none: no answer can be cited. Leave it to be "
    "found out."
)
NO_CACHING = "Prompt caching is off, or the endpoint does not report it: every turn is computed and paid in full."


def missing(
    streaming: bool, tools: bool, citations: bool, caching: bool, *, citations_expected: bool
) -> tuple[str, ...]:
    """A note for each thing that the endpoint cannot do."""
    no_citations = CITATIONS_EXPECTED if citations_expected else NO_CITATIONS
    notes = ((streaming, NO_STREAMING), (tools, NO_TOOLS), (citations, no_citations), (caching, NO_CACHING))
    return tuple(note for able, note in notes if not able)


def refused_by(error: RequestRefused) -> Capabilities:
    """What is known where the first tiny request was refused. What the endpoint says is shown: it can quote
    nothing but that request."""
    known: dict[int, tuple[bool | None, bool | None]] = {0: (None, None), 401: (False, None), 403: (False, None)}
    key, model = known.get(error.status, (True, False if error.status == 404 else None))
    said = f"It says: {error.detail[:300]}" if error.detail else ""
    return Capabilities(error.status != 0, key, model, notes=tuple(note for note in (str(error), said) if note))
