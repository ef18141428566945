"""S(F): a forest as the model sees it. Pure.

Three forms, by setting. The outline: one line a node, indented by depth, with the length of its own text and how much
under it is not shown. Titles: the same with numbers, titles, summaries and keywords alone. The
JSON of the paper (RIT-RAG appendix N.1): id, title, is_readable, metadata, nodes.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from navigator.retrieval.forest import Forest, ForestNode, ForestTree

OutlineForm = Literal["outline", "titles", "json"]


def render_toc(forest: Forest, form: OutlineForm = "outline") -> str:
    """The forest as text; an empty forest is an empty string (outline) or an empty list (JSON)."""
    return _json(forest) if form == "json" else _outline(forest, described=form == "outline")


def _outline(forest: Forest, *, described: bool) -> str:
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for tree in forest.trees:
        if tree.ancestors and tree.ancestors != above:
            lines.append(f"# {_place(tree.ancestors, above if described else ())}")
        elif not tree.ancestors and above:
            lines.append("#")
        above = tree.ancestors
        stack = [(tree.root, 0)]
        while stack:
            node, depth = stack.pop()
            lines.append(" " * depth + (_described(node) if described else _titled(node)))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


def _place(ancestors: tuple[str, ...], before: tuple[str, ...]) -> str:
    """The titles above a page; what they begin with like those of the page before is an ellipsis."""
    alike = next((at for at, (a, b) in enumerate(zip(ancestors, before, strict=False)) if a != b), len(before))
    begin = min(alike, len(ancestors) - 1)
    return " › ".join(["…"] * bool(begin) + [*ancestors[begin:]])


def _titled(node: ForestNode) -> str:
    return _with_summary(f"{node.number}: {node.title}" if node.readable else f"- {node.title}", node)


def _described(node: ForestNode) -> str:
    head = f"{node.number}: {node.title}" if node.number is not None else node.title
    head = head if node.readable else f"- {head}"
    if node.about.words is not None and node.readable:
        head += f" [{node.about.words}w]"
    line = _with_summary(head, node)
    return f"{line} +{node.hidden} more" if node.hidden else line


def _with_summary(head: str, node: ForestNode) -> str:
    about = "; ".join(part for part in (node.about.summary, ", ".join(node.about.keywords)) if part)
    return f"{head} ({about})" if about else head


def _json(forest: Forest) -> str:
    return json.dumps([_json_tree(tree) for tree in forest.trees], ensure_ascii=False)


def _json_tree(tree: ForestTree) -> dict[str, Any]:
    node = _json_node(tree.root)
    for title in reversed(tree.ancestors):
        node = {"id": None, "title": title, "is_readable": False, "metadata": {}, "nodes": [node]}
    return node


def _json_node(root: ForestNode) -> dict[str, Any]:
    """Without recursion: a page may nest deeper than Python likes to call."""
    made: dict[str, dict[str, Any]] = {}
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children)
            continue
        metadata: dict[str, Any] = {}
        if node.about.summary:
            metadata["summary"] = node.about.summary
        if node.about.keywords:
            metadata["keywords"] = list(node.about.keywords)
        made[node.node_id] = {
            "id": node.number if node.readable else None,
            "title": node.title,
            "is_readable": node.readable,
            "metadata": metadata,
            "nodes": [made[child.node_id] for child in node.children],
        }
    return made[root.node_id]
