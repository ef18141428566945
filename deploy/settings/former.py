"""Settings of earlier versions: those that are called otherwise now, and those that became constants. Pure.

A file or a variable that names one is still taken. One that was renamed counts under its new name, unless that is set in
the same place; one that became a constant counts no more. Either is told in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Path = tuple[str, ...]

RENAMED: Mapping[Path, Path] = {
    ("evaluation", "judge"): ("judge", "name"),
    ("evaluation", "judge_api_key"): ("judge", "api_key"),
    ("evaluation", "judge_base_url"): ("judge", "base_url"),
    **{
        ("evaluation", "judge_prices", kind): ("judge", "prices", kind)
        for kind in ("input", "output", "cache_read", "cache_write")
    },
}
FIXED: Mapping[Path, object] = {
    ("index", "path_tokens"): 64,
    ("index", "guard_pages"): 5,
    ("stores", "patience"): 60.0,
    ("events", "timeout"): 30.0,
    ("events", "session"): 30.0,
    ("watch", "first"): 3_600.0,
    ("watch", "soonest"): 300.0,
    ("watch", "slowest"): 86_400.0,
    ("watch", "full"): 604_800.0,
    ("watch", "misses"): 3,
    ("watch", "missing_for"): 86_400.0,
    ("embedding", "batch_size"): 32,
    ("retrieval", "k_per_node"): 4,
    ("retrieval", "rrf_kappa"): '30, and 60 with retrieval.recipe = "plain"',
    ("navigator", "toc_budget"): 3,
    ("navigator", "read_limit"): 10,
    ("navigator", "context_warning"): 0.8,
    ("strategies", "budget"): 10,
    ("strategies", "search_chunks"): 5,
    ("strategies", "document_chunks"): 50,
    ("strategies", "expansions"): 3,
    ("strategies", "structure"): "true",
    ("enrichment", "summary_words"): 25,
    ("enrichment", "long_section"): 1_500,
    ("enrichment", "max_cost"): "5.0, and what --max-cost says",
    ("enrichment", "max_tokens"): "any number, and what --max-tokens says",
    ("enrichment", "concurrency"): 4,
    ("evaluation", "concurrency"): "4, and what --concurrency says",
    ("bot", "event_days"): 14,
    ("slack", "ping"): 10.0,
    ("answers", "lease"): 30.0,
}
"""What each is fixed at: the constant stands in the module that uses it, and a test compares."""


def take_out(values: dict[str, Any], path: Path) -> Any:
    """The value at `path` of nested tables, which is not there any more then; None where there is none. A table that is
    empty then goes too, for it may be none of today's."""
    tables = [values]
    for step in path[:-1]:
        inner = tables[-1].get(step)
        if not isinstance(inner, dict):
            return None
        tables.append(inner)
    value = tables[-1].pop(path[-1], None)
    if value is not None:
        for table, step in zip(reversed(tables[:-1]), reversed(path[:-1]), strict=True):
            if not table[step]:
                del table[step]
    return value


def told_of(path: Path, origin: str) -> str:
    """What is told of a former setting that was found at `origin`."""
    name = f"{'.'.join(path)} ({origin})"
    if path in RENAMED:
        return f"{name} is called {'.'.join(RENAMED[path])} now"
    return f"{name} is no longer a setting: it is fixed at {FIXED[path]}"
