"""Folders that `embedding.model` may name, and what is said of those that hold no model for ritbot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder, packaged_minilm
from ingest.errors import ModelMissing


def nothing(folder: Path) -> Path:
    return folder


def something_else(folder: Path) -> Path:
    (folder / "model.txt").write_text("no model")
    return folder


def static(folder: Path) -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(packaged_minilm() / "tokenizer.json"))
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)], device="cpu").save(str(folder))
    return folder


@pytest.mark.parametrize(
    ("made", "reason"),
    [(nothing, "cannot be loaded"), (something_else, "cannot be loaded"), (static, "is static")],
)
async def test_a_folder_without_a_model_for_ritbot_is_refused(
    made: Callable[[Path], Path], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelMissing, match=reason):
        async with SentenceTransformerEmbedder(str(made(tmp_path))):
            pass


async def test_a_name_that_is_no_folder_is_refused_with_what_to_do() -> None:
    with pytest.raises(ModelMissing, match=r"no such folder.*allow_download"):
        async with SentenceTransformerEmbedder("none/such"):
            pass
