"""The sections that a question was offered, as the tree in which they stand: which were read, which the answer cites. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from navigator.answer import Answer

Use = Literal["", "offered", "read", "cited"]
"""What became of a section; "": it stands above others, and was not offered itself."""


@dataclass(slots=True)
class Branch:
    """A section with those under it, in the order in which they were offered. `node` "": it stands above others alone."""

    title: str
    node: str = ""
    use: Use = ""
    under: list[Branch] = field(default_factory=list)

    @property
    def offered(self) -> int:
        """Sections from here down that were offered."""
        return (self.use != "") + sum(branch.offered for branch in self.under)

    @property
    def was_read(self) -> bool:
        """Whether this section, or one under it, was read."""
        return self.use in ("read", "cited") or any(branch.was_read for branch in self.under)


def forest_tree(answer: Answer) -> Sequence[Branch]:
    """From the roots down. What was read and not offered (it was at hand from before) is there too."""
    trace = answer.trace
    cited = {source.first.node_id for source in answer.sources}
    read = {passage.node_id for passage in trace.passages}
    paths = {node: path for _, node, path in trace.shown} | {p.node_id: p.path for p in trace.passages}
    top = Branch("")
    for node, path in paths.items():
        use: Use = "cited" if node in cited else "read" if node in read else "offered"
        above = top
        for title in path[:-1]:
            above = next(_called(above, title), None) or _added(above, Branch(title))
        if path:
            free = next((branch for branch in _called(above, path[-1]) if not branch.node), None)
            branch = free or _added(above, Branch(path[-1]))
            branch.node, branch.use = node, use
    return top.under


def _called(above: Branch, title: str) -> Iterator[Branch]:
    """Those of this title, the last first: what is offered after a section stands under it."""
    return (branch for branch in reversed(above.under) if branch.title == title)


def _added(above: Branch, branch: Branch) -> Branch:
    above.under.append(branch)
    return branch
