"""Embedder on sentence-transformers: any model it can load, on the device that is asked for.

The weights come from a folder (or from the installed package of all-MiniLM-L6-v2); no model hub is asked unless
`allow_download`. torch is imported on entering, and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ingest.embedding.batching import BATCH, BatchingEmbedder
from ingest.embedding.weights import MINILM, check_folder, embedder_name, packaged_minilm
from ingest.errors import ModelMissing
from ingest.ports import Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class SentenceTransformerEmbedder(BatchingEmbedder):
    """`model` is a folder, a name with packaged weights (all-MiniLM-L6-v2), or, with `allow_download`,
    a name on the hub; `device` a name that torch knows. Raises ModelMissing on entering."""

    def __init__(
        self, model: str = MINILM, *, device: str = "cpu", threads: int | None = None, allow_download: bool = False
    ) -> None:
        super().__init__()
        self._wanted = model
        self._device = device
        self._threads = threads
        self._allow_download = allow_download
        self._model: SentenceTransformer

    @property
    def name(self) -> str:
        return embedder_name(self._wanted)

    @property
    def dimensions(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    @property
    def window(self) -> int:
        special = int(self._model.tokenizer.num_special_tokens_to_add())
        return int(self._model.max_seq_length or 512) - special

    def encode(self, texts: list[str]) -> list[Vector]:
        encoded = self._model.encode_document(
            texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return [vector.tolist() for vector in encoded]

    def encode_query(self, text: str) -> Vector:
        encoded = self._model.encode_query(text, normalize_embeddings=True, show_progress_bar=False)
        return list(map(float, encoded))

    def load(self) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging as transformers_logging
        except ImportError as error:
            raise ModelMissing(
                f"This installation is without PyTorch and embeds with {MINILM} on the CPU only: "
                f"for embedding.model = {self._wanted!r} run pip install sentence-transformers."
            ) from error

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
            model = SentenceTransformer(path, device=self._device, local_files_only=not self._allow_download)
        except (OSError, ValueError) as error:
            raise ModelMissing(f"The embedding model at {path} cannot be loaded: {error}") from error
        except (AssertionError, RuntimeError) as error:  # what torch raises for a device that is not there
            raise ModelMissing(
                f"embedding.device is {self._device!r}, which PyTorch cannot use here: {error}"
            ) from error
        self.counts_with(model.tokenizer.backend_tokenizer.to_str())
        self._model = model
