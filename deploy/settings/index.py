"""[index], [watch] and [embedding]: where the index is, how pages are cut, looked at and turned into vectors."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from deploy.settings.site import SettingsTable, Share, Text


class IndexSettings(SettingsTable):
    folder: Path = Field(description="Where the index is kept. One process at a time holds it.")
    concurrency: int = Field(default=16, ge=1, le=256, description="Pages handled side by side.")
    chunk_tokens: int = Field(
        default=160,
        ge=16,
        le=512,
        description="Tokens of text in a chunk, at most what the embedding model reads. The paper takes 512; "
        "all-MiniLM-L6-v2 reads 256 and drops the rest in silence, and 160 was measured best with it.",
    )
    max_page_bytes: int = Field(default=10_000_000, ge=1, description="Pages larger than this are skipped.")
    guard_share: Share = Field(
        default=0.10, description="Nothing goes if a larger share of a site's pages would go, and more than 5."
    )


class WatchSettings(SettingsTable):
    every: float = Field(default=300.0, ge=1, description="Seconds between two rounds of looks at a site.")


class EmbeddingSettings(SettingsTable):
    model: Text = Field(
        default="all-MiniLM-L6-v2",
        description="The sentence-transformers model: a folder (begins with /, . or ~), a name whose weights are "
        "installed, or, with allow_download, a name on the model hub. After a change, run ritbot reembed.",
    )
    threads: int | None = Field(default=None, ge=1, description="CPU threads for embedding; not set: one a core.")
    device: Text = Field(
        default="cpu",
        description="Where the model computes, as PyTorch names it: cpu, cuda, mps. All but cpu needs PyTorch.",
    )
    allow_download: bool = Field(default=False, description="Whether weights may be fetched from the model hub.")
