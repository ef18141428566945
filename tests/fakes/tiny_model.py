"""A second embedding model for commands to change to: two small layers with random weights, the tokenizer of the first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ingest.embedding.weights import packaged_minilm

DIMENSIONS = 32
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_PARTS = ("1_Pooling/config.json", "modules.json", "config_sentence_transformers.json")


def tiny_model(folder: Path, window: int = 48) -> Path:
    """A sentence-transformers model in `folder`, the same each time; it reads `window` tokens."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(1)
    shape = {"hidden_size": DIMENSIONS, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(**shape)).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    for name in (*_TOKENIZER, *_PARTS):
        shutil.copy(packaged_minilm() / name, folder / name)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": window, "do_lower_case": False}))
    pooling = json.loads((folder / _PARTS[0]).read_text())
    (folder / _PARTS[0]).write_text(json.dumps({**pooling, "word_embedding_dimension": DIMENSIONS}))
    return folder
