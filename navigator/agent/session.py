"""What one question was shown and what it has read: the memory that its trace is made of. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Set

from navigator.answer import Passage, Step
from navigator.retrieval.forest import Numbering


class ReadingSession:
    """Whatever may be read or was read has a number, given once a question. `steps` is the way so far; `nearest` are
    the sections to offer where nothing is found."""

    def __init__(self) -> None:
        self.numbering = Numbering()
        self.steps: list[Step] = []
        self.nearest: tuple[Passage, ...] = ()
        self._offered: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._read: dict[int, Passage] = {}

    def offer(self, number: int, node_id: str, path: tuple[str, ...]) -> None:
        """The number now stands for this node, or for a part of it."""
        self._offered.setdefault(number, (node_id, path))

    def offered(self, number: int) -> tuple[str, tuple[str, ...]] | None:
        """Node id and path behind a number; None for a number that was not shown."""
        return self._offered.get(number)

    def read(self, passages: Iterable[Passage]) -> None:
        """These have been read. What was read was shown."""
        for passage in passages:
            self.offer(passage.number, passage.node_id, passage.path)
            self._read[passage.number] = passage

    def has(self, number: int) -> bool:
        return number in self._read

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Everything read, each once, in the order of reading."""
        return tuple(self._read.values())

    @property
    def shown(self) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        """Everything that was offered for reading: number, node id, path."""
        return tuple((number, node_id, path) for number, (node_id, path) in self._offered.items())

    def version_of(self, node_ids: Set[str]) -> str:
        """The version that the passages of these nodes are of; "" where they are of none, or of several."""
        versions = {passage.version for passage in self._read.values() if passage.node_id in node_ids}
        return versions.pop() if len(versions) == 1 else ""
