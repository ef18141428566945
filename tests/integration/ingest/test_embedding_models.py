"""Folders that `embedding.model` may name, and what is said of those that hold no model for ritbot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from operator import mul
from pathlib import Path

import pytest

from ingest.embedding.minilm import MiniLMEmbedder
from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder
from ingest.embedding.weights import packaged_minilm
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


TEXTS = [
    "",
    "gc.auto",
    "How do I undo the last commit but keep my changes?",
    "Der Zeitüberschreitungswert gilt für jede Verbindung.",
    "設定ファイルを再読み込みします。🚀",
    "\x00\u202e \ufffd",
    "word " * 40,
    "A paragraph that is longer than the window of the model. " * 60,
]


async def test_the_default_model_gives_the_vectors_of_torch() -> None:
    """An index that one of the two made serves the other."""
    texts = [" ".join((text, *[f"number {number}"] * (number % 7))) for number in range(12) for text in TEXTS] + TEXTS
    async with MiniLMEmbedder(threads=1) as ours, SentenceTransformerEmbedder(threads=1) as theirs:
        assert (ours.name, ours.dimensions, ours.window) == (theirs.name, theirs.dimensions, theirs.window)
        assert [ours.count(text) for text in texts] == [theirs.count(text) for text in texts]
        pairs = zip(await ours.embed(texts), await theirs.embed(texts), strict=True)
        assert min(sum(map(mul, one, other)) for one, other in pairs) > 0.9999
        one, other = await ours.embed_query(TEXTS[2]), await theirs.embed_query(TEXTS[2])
        assert sum(map(mul, one, other)) > 0.9999


async def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelMissing, match=r"embedding\.device is 'nonesuch'"):
        async with SentenceTransformerEmbedder(device="nonesuch"):
            pass


def test_the_default_model_tells_nobody_that_it_is_used() -> None:
    code = (
        "import os, sys\n"
        "from ingest.embedding.minilm import MiniLMEmbedder\n"
        "MiniLMEmbedder(threads=1).load()\n"
        "print(sys.modules['openvino_telemetry'], [name for name in sys.modules if 'backend_ga' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "[]"]
