"""The default embedding model on OpenVINO beside PyTorch: the same chunks in turn, each adapter in a process of its own.

    python -m tests.bench.bench_embed

Processor time counts, the best of ROUNDS rounds; a busy machine makes both slower alike. THREADS=1 bounds both.
"""

from __future__ import annotations

import asyncio
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from operator import mul

import tests.bench.corpus as corpus
from ingest.html.parse import parse
from ingest.ports import Vector

CHUNKS = 128
WORDS = 110
"""Of a chunk: about 150 tokens."""
ROUNDS = 3
THREADS = int(os.environ["THREADS"]) if "THREADS" in os.environ else None

Figures = tuple[dict[str, float], list[Vector]]


def chunks() -> list[str]:
    words: list[str] = []
    for file in sorted(corpus.html_folder().rglob("*.html")):
        page = parse(file.read_bytes(), f"https://docs.example.test/{file.name}").page
        words += (word for node in (page.nodes if page else ()) for word in node.text.split())
        if len(words) > CHUNKS * WORDS:
            break
    return [" ".join(words[number * WORDS :][:WORDS]) for number in range(CHUNKS)]


def measure(adapter: str, texts: list[str]) -> Figures:
    started = time.process_time()
    if adapter == "OpenVINO":
        from ingest.embedding.minilm import MiniLMEmbedder as Adapter
    else:
        from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder as Adapter  # type: ignore[assignment]
    return asyncio.run(rounds(Adapter(threads=THREADS), texts, started))


async def rounds(opened: object, texts: list[str], started: float) -> Figures:
    async with opened as embedder:  # type: ignore[attr-defined]
        await embedder.embed_query("How do I undo the last commit?")
        first = time.process_time() - started
        best, wall = float("inf"), float("inf")
        for _ in range(ROUNDS):
            cpu, clock = time.process_time(), time.perf_counter()
            vectors = await embedder.embed(texts)
            best, wall = min(best, time.process_time() - cpu), min(wall, time.perf_counter() - clock)
    figures = {
        "first query, CPU s": first,
        "CPU ms a chunk": best / len(texts) * 1e3,
        "chunks/s": len(texts) / wall,
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    return figures, vectors


def main() -> None:
    texts = chunks()
    found: dict[str, Figures] = {}
    for adapter in ("PyTorch", "OpenVINO"):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            found[adapter] = alone.submit(measure, adapter, texts).result()
    (theirs, their_vectors), (ours, our_vectors) = found["PyTorch"], found["OpenVINO"]
    print(f"{CHUNKS} chunks of {WORDS} words; {'':10} PyTorch  OpenVINO  ratio")
    for what, figure in theirs.items():
        print(f"{what:40} {figure:8.1f} {ours[what]:9.1f} {figure / ours[what]:6.2f}")
    cosines = [sum(map(mul, one, other)) for one, other in zip(their_vectors, our_vectors, strict=True)]
    print(f"cosine of the two vectors of a chunk: least {min(cosines):.6f}")
    print(f"their ten nearest chunks, in common: {overlap(their_vectors, our_vectors):.3f}")


def overlap(one: list[Vector], other: list[Vector]) -> float:
    def nearest(vectors: list[Vector], number: int) -> set[int]:
        scores = [sum(map(mul, vectors[number], vector)) for vector in vectors]
        return set(sorted(range(len(vectors)), key=scores.__getitem__)[-10:])

    return sum(len(nearest(one, n) & nearest(other, n)) for n in range(len(one))) / (10 * len(one))


if __name__ == "__main__":
    main()
