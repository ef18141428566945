"""S(F): a forest as the model sees it. Pure.

Two forms. The outline: one line a node, indented by depth, only readable nodes with a number; about a
fifth of the tokens. The JSON of the paper (RIT-RAG appendix N.1): id, title, is_readable, metadata,
nodes. Which one is a setting.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from navigator.retrieval.forest import Forest, ForestNode, ForestTree

OutlineForm = Literal["outline", "json"]


def render_toc(forest: Forest, form: OutlineForm = "outline") -> str:
    """The forest as text; an empty forest is an empty string (outline) or an empty list (JSON)."""
    return _json(forest) if form == "json" else _outline(forest)


def _outline(forest: Forest) -> str:
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for tree in forest.trees:
        if tree.ancestors and tree.ancestors != above:
            lines.append(f"# {' › '.join(tree.ancestors)}")
        elif not tree.ancestors and above:
            lines.append("#")
        above = tree.ancestors
        stack = [(tree.root, 0)]
        while stack:
            node, depth = stack.pop()
            lines.append(" " * depth + _line(node))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


def _line(node: ForestNode) -> str:
    head = f"{node.number}: {node.title}" if node.readable else f"- {node.title}"
    about = "; ".join(part for part in (node.summary, ", ".join(node.keywords)) if part)
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
        if node.summary:
            metadata["summary"] = node.summary
        if node.keywords:
            metadata["keywords"] = list(node.keywords)
        made[node.node_id] = {
            "id": node.number,
            "title": node.title,
            "is_readable": node.readable,
            "metadata": metadata,
            "nodes": [made[child.node_id] for child in node.children],
        }
    return made[root.node_id]
