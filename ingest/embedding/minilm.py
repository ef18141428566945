"""Embedder of all-MiniLM-L6-v2 on OpenVINO: the vectors of sentence-transformers without torch.

Loaded in half a second of processor time and 300 MB, where torch takes six seconds and 1.2 GB; a cosine of 0.9999 and
more to torch's vectors, so that one index serves both (tests/bench/README.md has the figures). The weights are the
published ones, read as they are: the encoder is described layer by layer (`encoder`), so that there is no exported
copy to make, keep or check.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ingest.embedding.batching import BATCH, BatchingEmbedder
from ingest.embedding.weights import MINILM, packaged_minilm
from ingest.ports import Vector

if TYPE_CHECKING:
    from openvino import InferRequest, Model
    from tokenizers import Tokenizer

Weights: TypeAlias = Mapping[str, np.ndarray[Any, np.dtype[np.float32]]]

DIMENSIONS = 384
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
"""Of the layer norms (config.json: layer_norm_eps)."""
WINDOW = 256
"""Tokens that the model reads, two of them special (sentence_bert_config.json: max_seq_length)."""
MASKED = np.float32(-1e4)
"""Added to the attention of padding: e to the power of it is nothing, in bfloat16 as well."""


class MiniLMEmbedder(BatchingEmbedder):
    """`threads` of the processor, as many as it has cores where not said. Raises ModelMissing on entering."""

    def __init__(self, *, threads: int | None = None) -> None:
        super().__init__()
        self._threads = threads
        self._tokenizer: Tokenizer
        self._model: InferRequest

    @property
    def name(self) -> str:
        return MINILM

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def window(self) -> int:
        return WINDOW - 2

    def encode(self, texts: list[str]) -> list[Vector]:
        """Texts of as many tokens share a batch: attention over padding is what costs most."""
        read = self._tokenizer.encode_batch(texts)
        order = sorted(range(len(texts)), key=lambda number: len(read[number].ids))
        vectors: list[Vector] = [()] * len(texts)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            ids = np.zeros((len(batch), len(read[batch[-1]].ids)), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, number in enumerate(batch):
                ids[row, : len(read[number].ids)] = read[number].ids
                mask[row, : len(read[number].ids)] = 1
            result = self._model.infer({"ids": ids, "mask": mask}, share_inputs=True)
            for number, vector in zip(batch, next(iter(result.values())).tolist(), strict=True):
                vectors[number] = vector
        return vectors

    def encode_query(self, text: str) -> Vector:
        return self.encode([text])[0]

    def load(self) -> None:
        # openvino tells its vendor by network that it was imported; where this package is not there it tells nobody.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = packaged_minilm()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.counts_with(self._tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WINDOW)
        core = openvino.Core()
        options: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "bf16" if quicker_in_bfloat16(core) else "f32",
        }
        if self._threads:
            options["INFERENCE_NUM_THREADS"] = self._threads
        model = core.compile_model(encoder(load_file(folder / "model.safetensors")), "CPU", options)
        self._model = model.create_infer_request()


def quicker_in_bfloat16(core: Any) -> bool:
    """Measured: AMD's avx512_bf16 halves the time; Intel's without AMX doubles it."""
    able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return "AMX_BF16" in able or ("BF16" in able and "AMD" in core.get_property("CPU", "FULL_DEVICE_NAME"))


def encoder(weights: Weights) -> Model:
    """ids and mask, [texts, tokens] each -> unit vectors, [texts, DIMENSIONS]: BERT's encoder (Devlin et al. 2019), its
    last layer averaged over the tokens that are no padding, as sentence-transformers' modules.json says."""
    import openvino.opset13 as ops
    from openvino import Model

    def held(name: str) -> Any:
        return ops.constant(weights[name], shared_memory=True)

    def dense(values: Any, name: str) -> Any:
        return ops.add(ops.matmul(values, held(f"{name}.weight"), False, True), held(f"{name}.bias"))

    def norm(values: Any, name: str) -> Any:
        values = ops.mvn(values, np.array([-1]), True, EPSILON, "inside_sqrt")
        return ops.add(ops.multiply(values, held(f"{name}.weight")), held(f"{name}.bias"))

    def heads(values: Any) -> Any:
        values = ops.reshape(values, np.array([0, 0, HEADS, DIMENSIONS // HEADS]), True)
        return ops.transpose(values, np.array([0, 2, 1, 3]))

    ids, mask = (ops.parameter([-1, -1], np.int64, name=name) for name in ("ids", "mask"))
    zero, one = np.array([0]), np.array([1])
    length = ops.gather(ops.shape_of(ids), one, np.array(0))
    places = ops.slice(held("embeddings.position_embeddings.weight"), zero, length, one, zero)
    words = ops.gather(held("embeddings.word_embeddings.weight"), ids, np.array(0))
    first = ops.constant(weights["embeddings.token_type_embeddings.weight"][0])
    state = norm(ops.add(ops.add(words, first), places), "embeddings.LayerNorm")

    counted = ops.convert(mask, "f32")
    masked = ops.unsqueeze(ops.multiply(ops.subtract(np.float32(1), counted), MASKED), np.array([1, 2]))
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            heads(dense(state, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        seen = ops.transpose(ops.scaled_dot_product_attention(query, key, value, masked), np.array([0, 2, 1, 3]))
        seen = ops.reshape(seen, np.array([0, 0, DIMENSIONS]), True)
        state = norm(
            ops.add(dense(seen, f"{layer}.attention.output.dense"), state), f"{layer}.attention.output.LayerNorm"
        )
        inner = ops.gelu(dense(state, f"{layer}.intermediate.dense"), "erf")
        state = norm(ops.add(dense(inner, f"{layer}.output.dense"), state), f"{layer}.output.LayerNorm")

    counted = ops.unsqueeze(counted, np.array(2))
    mean = ops.divide(ops.reduce_sum(ops.multiply(state, counted), one), ops.reduce_sum(counted, one))
    return Model([ops.normalize_l2(mean, one, EPSILON, "max")], [ids, mask], MINILM)
