"""The DOM against an oracle: on every real page html5lib (through BeautifulSoup) sees the same headings in
the same order. It needs about a minute for all 25 MB, so the large pages are marked slow."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from ingest.html.decode import decode
from ingest.html.dom import read

pytestmark = pytest.mark.filterwarnings("ignore::bs4.XMLParsedAsHTMLWarning")  # XHTML is read as HTML on purpose
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SMALL = 40_000
KNOWN_DIFFERENCES: dict[str, str] = {}
"""Page -> reason. There is none: both follow the HTML standard's tree construction."""


def by_oracle(html: str) -> list[tuple[str, str]]:
    soup = BeautifulSoup(html, "html5lib")
    return [(str(tag.name), "".join(tag.get_text().split())) for tag in soup.find_all(HEADINGS) if isinstance(tag, Tag)]


def by_us(html: str) -> list[tuple[str, str]]:
    return [(e.tag, "".join("".join(e.strings()).split())) for e in read(html).tagged(*HEADINGS)]


def compare(real: Path, wanted: bool) -> None:
    compared = 0
    for file in sorted(real.rglob("*.html")):
        body = file.read_bytes()
        if (len(body) <= SMALL) is wanted and file.parent.name not in KNOWN_DIFFERENCES:
            html = decode(body)
            assert by_us(html) == by_oracle(html), file.name
            compared += 1
    assert compared > 30


def test_small_pages_have_the_headings_that_the_oracle_sees(real: Path) -> None:
    compare(real, wanted=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_large_pages_have_the_headings_that_the_oracle_sees(real: Path) -> None:
    compare(real, wanted=False)
