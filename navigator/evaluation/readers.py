"""Scripted readers: models without a model, that play a strategy's game by a fixed rule. They show how far retrieval and
a strategy's own way carry; they understand nothing, and their answers are no answers.

- Top reader: takes what the search scored best. Of a forest the m best sections; of a table of contents the m whose
  titles share most terms with the question; as a router all text that is unfolded, unfolding nothing further.
- Oracle reader: knows which sections are gold and reads just those, where the way offers them: what it does not read
  could not be reached. It searches once, with the question as it stands. Where a search gives text (vanilla, agentic,
  Interact-RAG) there is nothing to choose: it differs from the top reader in not answering where no gold was given.

What they are given is counted at four characters a token, as if a model were: an estimate of what such a way costs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

from ingest.ports import Outline, TreeStore
from ingest.text.words import terms
from navigator.agent.prompts import GET_TOC_TOOL, NOT_FOUND, READ_TOOL, question_of
from navigator.agent.run import ReadingSession
from navigator.answer import Passage, Usage
from navigator.models.tokens import CHARACTERS_PER_TOKEN, texts_given
from navigator.ports import (
    CitationDelta,
    ModelEvent,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    ToolTurn,
    Turn,
    TurnEnd,
    UserTurn,
)
from navigator.retrieval.forest import Forest
from navigator.strategies.rdr2.actions import first_words
from navigator.strategies.rdr2.tree import MAX_TITLE_CHARACTERS, DocumentTree, lines_shown, one_line

TOP_SECTIONS = 5
"""m of the top reader."""
SEARCH = "search"
"""What every strategy calls its plain search for chunks."""


class RoutedPages:
    """The pages that RDR2's router is shown as lines, found again as trees: which lines are headings, and of which sections. A
    model reads the lines; a scripted reader needs what stands behind their ids. `outlines`: the pages that there are, by
    key."""

    def __init__(self, outlines: Mapping[str, Outline], trees: TreeStore) -> None:
        self._trees = trees
        self._by_title: defaultdict[str, list[Outline]] = defaultdict(list)
        self._page_of: dict[str, Outline] = {}
        for page in outlines.values():
            self._by_title[one_line(page.headings[0].title, MAX_TITLE_CHARACTERS)].append(page)
            self._page_of.update((heading.id, page) for heading in page.headings)

    async def tree(self, shown: Mapping[int, str], nodes: Iterable[str] = ()) -> DocumentTree | None:
        """The tree of the page that is shown; None where it is none of these. A router that sees no headings sees no title:
        then only pages that hold one of the `nodes` are looked at. Raises IngestError."""
        titled = shown.get(0)
        holding = {page.key: page for node in nodes if (page := self._page_of.get(node))}
        for page in holding.values() if titled is None else self._by_title[titled]:
            found = await self._trees.nodes([heading.id for heading in page.headings])
            tree = DocumentTree.of(page.headings, {node_id: located.node.blocks for node_id, located in found.items()})
            if all(_is(tree, number, text) for number, text in shown.items()):
                return tree
        return None


def _is(tree: DocumentTree, number: int, text: str) -> bool:
    return number < len(tree.nodes) and tree.nodes[number].text.startswith(text.removesuffix(" …"))


class ScriptedReader(ABC):
    """Implements navigator.ports.Model for one question on one way; `follow` is told of that way first."""

    cites = True
    context_window = 1_000_000

    def __init__(self, pages: RoutedPages) -> None:
        self._pages = pages
        self._reading = ReadingSession()

    @property
    @abstractmethod
    def name(self) -> str: ...

    def follow(self, reading: ReadingSession) -> None:
        """What this question was shown: the sections behind the numbers that a model would read."""
        self._reading = reading

    @abstractmethod
    def _sections(self, question: str, forests: Sequence[Forest]) -> list[int]:
        """The numbers to read next, of what was shown and not read."""

    @abstractmethod
    def _worth_an_answer(self, passages: Sequence[Passage]) -> bool: ...

    @abstractmethod
    async def _route(self, shown: Mapping[int, str], *, may_expand: bool) -> tuple[list[int], int | None]:
        """Blocks to select, and a heading to unfold."""

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        first = next(turn for turn in turns if isinstance(turn, UserTurn))
        given = Usage(sum(map(len, texts_given(system, turns, tools))) // CHARACTERS_PER_TOKEN)
        shown = None if tools or first.passages else lines_shown(first.text)
        if shown is not None:
            yield TextDelta(await self._routed(system, shown))
            yield TurnEnd("end", given)
            return
        call = None if must_answer else self._call(question_of(first.text), turns, {tool.name for tool in tools})
        if call is not None:
            yield ToolCallEvent(call)
        elif self._worth_an_answer(self._reading.passages):
            yield TextDelta("Read.")
            yield CitationDelta(0, 0, 0, "")
        else:
            yield TextDelta(NOT_FOUND)
        yield TurnEnd("end" if call is None else "calls", given)

    def _call(self, question: str, turns: Sequence[Turn], tools: Collection[str]) -> ToolCall | None:
        results = [result for turn in turns if isinstance(turn, ToolTurn) for result in turn.results]
        told = [turn for turn in turns if isinstance(turn, UserTurn)]
        forests = [forest for forest in (*(t.forest for t in told), *(r.forest for r in results)) if forest is not None]
        name = f"call-{len(turns)}"
        if GET_TOC_TOOL.name in tools and not results and not forests:
            return ToolCall(name, GET_TOC_TOOL.name, {"query": question})
        if READ_TOOL.name in tools and (wanted := self._sections(question, forests)):
            return ToolCall(name, READ_TOOL.name, {"sections": wanted})
        return ToolCall(name, SEARCH, {"query": question}) if SEARCH in tools and not results else None

    async def _routed(self, system: str, shown: Mapping[int, str]) -> str:
        blocks, heading = await self._route(shown, may_expand="[EXP]" in system)
        actions = [f"[ANS] {block}: {first_words(shown[block])}" for block in blocks]
        actions += [] if heading is None else [f"[EXP] {heading}: {first_words(shown[heading])}"]
        return "\n".join(actions) or "[REF]"


class TopReader(ScriptedReader):
    name = "top reader"

    def _sections(self, question: str, forests: Sequence[Forest]) -> list[int]:
        if self._reading.passages:
            return []
        if forests:
            scored = [(node.score, node.number) for _, node, _ in forests[-1].walk() if node.number and node.score]
            return [number for _, number in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:TOP_SECTIONS]]
        wanted = set(terms(question))
        alike = [(len(wanted.intersection(terms(path[-1]))), number) for number, _, path in self._reading.shown]
        return sorted(number for _, number in sorted(alike, key=lambda pair: (-pair[0], pair[1]))[:TOP_SECTIONS])

    def _worth_an_answer(self, passages: Sequence[Passage]) -> bool:
        return bool(passages)

    async def _route(self, shown: Mapping[int, str], *, may_expand: bool) -> tuple[list[int], int | None]:
        tree = await self._pages.tree(shown)
        return [number for number in shown if tree is None or tree.nodes[number].is_content], None


class OracleReader(ScriptedReader):
    """`gold`: ids of the gold nodes."""

    name = "oracle reader"

    def __init__(self, pages: RoutedPages, gold: Iterable[str]) -> None:
        super().__init__(pages)
        self._gold = frozenset(gold)
        self._asked: set[int] = set()
        self._offered: list[int] = []
        self._seen: set[tuple[str, int]] = set()

    def _sections(self, question: str, forests: Sequence[Forest]) -> list[int]:
        """What the search offered, each asked for twice at most: what a Read leaves out for its length comes with the next.
        What a Read lists under a section is not followed: something of that gold is read by then."""
        if not self._asked:
            self._offered = [number for number, node_id, _ in self._reading.shown if node_id in self._gold]
        offered = [number for number in self._offered if not self._reading.has(number)]
        fresh = [number for number in offered if number not in self._asked]
        self._asked.update(fresh)
        return fresh or offered

    def _worth_an_answer(self, passages: Sequence[Passage]) -> bool:
        return any(passage.node_id in self._gold for passage in passages)

    async def _route(self, shown: Mapping[int, str], *, may_expand: bool) -> tuple[list[int], int | None]:
        tree = await self._pages.tree(shown, self._gold)
        if tree is None:
            return [], None
        page = tree.nodes[0].node_id
        visible = [number for number in shown if tree.nodes[number].is_content]
        self._seen.update((page, block) for block in visible)
        blocks = [block for block in visible if tree.nodes[block].node_id in self._gold]
        folded = [
            node.id
            for node in tree.nodes
            if not node.is_content
            and node.node_id in self._gold
            and any((page, block) not in self._seen for block in tree.content_of(node.id))
        ]
        return blocks, folded[0] if folded and may_expand else None
