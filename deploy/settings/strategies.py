"""The bounds of the strategies that are not RIT."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deploy.settings.site import SettingsTable


class StrategiesSettings(SettingsTable):
    chunks: int = Field(
        default=5, ge=1, le=200, description="vanilla, rdr2: chunks that a question is answered or routed from (k)."
    )
    budget: int = Field(
        default=10, ge=1, le=100, description="agentic, interact, pageindex: tool calls for one question (B)."
    )
    search_chunks: int = Field(default=5, ge=1, le=50, description="agentic, interact: chunks that one search gives.")
    document_chunks: int = Field(default=50, ge=1, le=1000, description="pageindex: chunks that choose the document.")
    document: Literal["page", "subtree"] = Field(
        default="page", description="pageindex: what a document is: a page, or the pages under one parent."
    )
    expansions: int = Field(default=3, ge=0, le=20, description="rdr2: headings that may be unfolded on a page (E).")
    structure: bool = Field(default=True, description="rdr2: whether the router sees headings.")
