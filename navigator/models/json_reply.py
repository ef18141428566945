"""JSON that a model was asked to write, out of what it wrote. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST = 100_000
"""Characters of a reply that are looked at."""
_MOST = 50
"""Braces that are tried."""


def object_in(reply: str) -> Mapping[str, Any]:
    """The first JSON object of a reply, be it fenced, or with prose around it. Raises ValueError where there is none."""
    text, start = reply[:LONGEST], -1
    for _ in range(_MOST):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise ValueError("the reply holds no JSON object")
