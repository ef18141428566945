"""The DOM against an oracle: on every real page html5lib (through BeautifulSoup) sees the same headings in the same order.

The oracle needs a minute for all 25 MB. What it saw on the large pages is kept as digests beside the page's own, in
tests/data/html/oracle.tsv: it is asked anew for pages that are not there as they are now, and for all of them where
RITBOT_TEST_ORACLE=all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from ingest.html.decode import decode
from ingest.html.dom import read

pytestmark = pytest.mark.filterwarnings("ignore::bs4.XMLParsedAsHTMLWarning")  # XHTML is read as HTML on purpose
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
KEPT = Path(__file__).resolve().parents[3] / "data" / "html" / "oracle.tsv"
SMALL_BYTES = 40_000

Headings = list[tuple[str, str]]


def by_oracle(html: str) -> Headings:
    soup = BeautifulSoup(html, "html5lib")
    return [(str(tag.name), "".join(tag.get_text().split())) for tag in soup.find_all(HEADINGS) if isinstance(tag, Tag)]


def by_us(html: str) -> Headings:
    return [(e.tag, "".join("".join(e.strings()).split())) for e in read(html).tagged(*HEADINGS)]


def line(body: bytes, headings: Headings) -> str:
    """What is kept of a page: a digest of its bytes, and one of its headings."""
    return f"{sha256(body).hexdigest()[:16]}\t{sha256(repr(headings).encode()).hexdigest()[:16]}"


def pages(real: Path, *, small: bool) -> Iterator[tuple[str, bytes]]:
    for file in sorted(real.rglob("*.html")):
        body = file.read_bytes()
        if (len(body) <= SMALL_BYTES) is small:
            yield file.relative_to(real).as_posix(), body


def test_small_pages_have_the_headings_that_the_oracle_sees(real: Path) -> None:
    compared = 0
    for name, body in pages(real, small=True):
        assert by_us(decode(body)) == by_oracle(decode(body)), name
        compared += 1
    assert compared > 30


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_large_pages_have_the_headings_that_the_oracle_sees(real: Path) -> None:
    kept = dict(one.split("\t", 1) for one in KEPT.read_text(encoding="utf-8").splitlines())
    ask_all = os.environ.get("RITBOT_TEST_ORACLE") == "all"
    compared = 0
    for name, body in pages(real, small=False):
        ours = by_us(decode(body))
        if ask_all or line(body, ours) != kept.get(name):
            assert ours == by_oracle(decode(body)), name
            assert line(body, ours) == kept.get(name), f"{KEPT.name} should say: {name}\t{line(body, ours)}"
        compared += 1
    assert compared == len(kept)
