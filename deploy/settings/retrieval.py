"""[retrieval], [navigator] and [strategies]: how sections are found, and what one question may take."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deploy.settings.site import SettingsTable, StrategyName


class RetrievalSettings(SettingsTable):
    n: int = Field(default=50, ge=1, le=1000, description="The best nodes, which make the forest (the paper's n).")
    recipe: Literal["ritbot", "plain"] = Field(
        default="ritbot",
        description="How the best nodes are chosen. plain: as in the paper. ritbot: kappa 30, a page speaks for its "
        "sections, a section above another found one takes none of the n places, and an unsupported tail is left out.",
    )
    outline: Literal["outline", "titles", "json"] = Field(
        default="outline",
        description="How the model sees the forest: an indented outline that says how long sections are and what it does "
        "not show; titles alone, in the same form; or the paper's JSON, many times as long.",
    )
    summaries: bool = Field(
        default=True, description="Whether the forest shows the summaries and keywords that ritbot enrich has made."
    )


class NavigatorSettings(SettingsTable):
    strategy: StrategyName = Field(
        default="rit",
        description="How questions are answered where neither the site nor the channel says. All but rit and vanilla "
        "need a model.",
    )
    budget: int = Field(
        default=10,
        ge=2,
        le=100,
        description="rit: tool calls for one question (the paper's B), of which at most 3 are GetToC (B_s).",
    )
    max_cost: float | None = Field(
        default=None,
        gt=0,
        description="US dollars that one answer may cost at most; near it, the answer is given from what was read. Not set: "
        "any; needs the model's prices.",
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="The same in tokens of all kinds, read and written together, in all turns."
    )
    read_characters: int = Field(
        default=60_000, ge=1000, description="The most text that one Read gives, in characters."
    )


class StrategiesSettings(SettingsTable):
    chunks: int = Field(
        default=5, ge=1, le=200, description="vanilla, rdr2: chunks that a question is answered or routed from (k)."
    )
    read_on: bool = Field(
        default=True, description="agentic: whether it may also read around a passage; the paper's only searches."
    )
    document: Literal["page", "subtree"] = Field(
        default="page", description="pageindex: what a document is: a page, or the pages under one parent."
    )
