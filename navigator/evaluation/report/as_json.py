"""A summary as JSON: every figure of the report, of each contender and of each question. Pure.

Names are those of RunSummary and what it is made of; null is what has no ground. Shares are 0 to 1, costs US
dollars.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.summary import RunSummary


def to_json(summary: RunSummary) -> str:
    figures = {"headline": headline(summary), **asdict(summary)}
    return json.dumps(figures, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
