"""Speed of HTML -> tree beside lexbor's bare parse of the same bytes, in one run.

    python -m tests.bench.bench_parse [FOLDER]

FOLDER (or HTML=FOLDER) holds .html files, at any depth; without it the real pages of shared/ are used. Times are
processor time, the best of three rounds, so that a busy machine counts little. As in the process that parses, the garbage
collector is off while a page is read; what it takes between pages is not counted.
"""

from __future__ import annotations

import gc
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from ingest.html.parse import parse

ROUNDS = 3


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("HTML")
    if folder:
        report(read(Path(folder)))
        return
    shared = Path(os.environ.get("RITBOT_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    with tempfile.TemporaryDirectory() as unpacked, tarfile.open(shared / "html" / "real.tar.xz") as tar:
        tar.extractall(unpacked, filter="data")
        report(read(Path(unpacked)))


def read(folder: Path) -> list[bytes]:
    pages = [file.read_bytes() for file in sorted(folder.rglob("*.html"))]
    if not pages:
        sys.exit(f"no .html files in {folder}")
    return pages


def report(pages: Sequence[bytes]) -> None:
    size = sum(map(len, pages)) / 1e6
    print(f"{len(pages)} pages, {size:.1f} MB")
    bare = best(pages, LexborHTMLParser)
    ours = best(pages, lambda body: parse(body, "https://docs.example.test/page.html"))
    for name, seconds in (("lexbor, bare parse", bare), ("ingest.html.parse", ours)):
        print(f"{name:20} {len(pages) / seconds:8.0f} pages/s {size / seconds:8.1f} MB/s")
    print(f"ratio {ours / bare:.1f}")


def best(pages: Sequence[bytes], read_page: Callable[[bytes], object]) -> float:
    """Seconds of processor time for all pages."""

    def once() -> float:
        seconds = 0.0
        for body in pages:
            start = time.process_time()
            read_page(body)
            seconds += time.process_time() - start
            gc.collect()
        return seconds

    gc.disable()
    gc.freeze()
    return min(once() for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
