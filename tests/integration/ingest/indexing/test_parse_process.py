"""Pages are parsed apart: within limits of time and memory, whatever they hold."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from ingest.errors import PageTooCostly
from ingest.html.dom import MAX_ELEMENTS
from ingest.html.parse import parse
from ingest.indexing.parse_process import ParseProcess
from tests.fakes.hostile_pages import KINDS

URL = "https://docs.example.test/page.html"
PAGE = b"<title>T</title><h1>T</h1><p>Words \xff.<h2 id=a>A</h2><pre>x\n  y</pre>"
SLOW = KINDS["articles around all"](2_000_000).encode()
"""A page that is read in time only where there is much of it."""
COMMAND = """
import asyncio
from ingest.indexing.parse_process import ParseProcess
async def main():
    async with ParseProcess() as pages:
        print((await pages.parse(b"<title>T</title><p>Words.", "https://docs.example.test/")).page.title, flush=True)
        input()
asyncio.run(main())
"""


@pytest.fixture
async def hasty() -> AsyncIterator[ParseProcess]:
    async with ParseProcess(seconds=1) as process:
        yield process


async def test_a_page_is_what_it_is_when_parsed_here(hasty: ParseProcess) -> None:
    found = await hasty.parse(PAGE, URL, content_type="text/html", site_hosts=frozenset({"x.test"}))
    assert found == parse(PAGE, URL, content_type="text/html", site_hosts=frozenset({"x.test"}))
    assert found.page is not None


async def test_a_page_that_takes_longer_than_one_may_is_given_up_and_others_are_read(hasty: ParseProcess) -> None:
    slow, *read = await asyncio.gather(
        hasty.parse(SLOW, URL), *(hasty.parse(PAGE, URL) for _ in range(3)), return_exceptions=True
    )
    assert isinstance(slow, PageTooCostly)
    assert str(slow) == f"{URL} takes more than 1 seconds to read; exclude the page"
    assert read == [parse(PAGE, URL)] * 3


async def test_a_page_that_takes_more_memory_than_one_may_is_given_up_and_others_are_read() -> None:
    async with ParseProcess(megabytes=150) as process:
        with pytest.raises(PageTooCostly, match=r"more than 150 MB|ended the process"):
            await process.parse(b"<p class=x>y</p>" * 200_000, URL, content_type="text/html")
        assert await process.parse(PAGE, URL) == parse(PAGE, URL)


async def test_a_read_that_is_cancelled_ends_at_once() -> None:
    async with ParseProcess() as process:
        await process.parse(PAGE, URL)
        reading = asyncio.create_task(process.parse(SLOW, URL))
        await asyncio.sleep(0.1)
        start = time.monotonic()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await process.parse(PAGE, URL) == parse(PAGE, URL)
    assert time.monotonic() - start < 10  # the page alone takes twenty


async def test_leaving_it_ends_the_child_whatever_it_reads_and_whoever_waits() -> None:
    others = set(children(os.getpid()))
    start = time.monotonic()
    async with ParseProcess() as process:
        reading = [asyncio.create_task(process.parse(SLOW, URL)) for _ in range(3)]
        while set(children(os.getpid())) <= others:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert time.monotonic() - start < 10  # the page alone takes twenty
    assert set(children(os.getpid())) <= others
    found = await asyncio.gather(*reading, return_exceptions=True)
    assert all(isinstance(each, BaseException) for each in found)


async def test_one_child_reads_page_after_page_however_large_its_parent_is(hasty: ParseProcess) -> None:
    ballast = bytearray(b"x") * 300_000_000
    others = set(children(os.getpid()))
    await hasty.parse(PAGE, URL)
    [child] = set(children(os.getpid())) - others
    await hasty.parse(PAGE, URL)
    assert set(children(os.getpid())) - others == {child}
    assert len(ballast) == 300_000_000


async def test_what_parsing_raises_is_raised_here(hasty: ParseProcess) -> None:
    with pytest.raises(ValueError, match="not an absolute"):
        await hasty.parse(PAGE, "mailto:x")


def test_the_child_knows_no_secret_and_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"T\n"
        [child] = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split() or children(parent.pid)
        assert Path(f"/proc/{child}/environ").read_bytes() == b""
        parent.kill()
        parent.wait()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the child outlives its parent")


def children(pid: int) -> list[str]:
    """Processes that any of its threads started; a thread may end meanwhile."""
    found: list[str] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            found += (task / "children").read_text().split()
    return found


@pytest.mark.timeout(400)  # on a busy machine its seconds of the processor take as many minutes
@pytest.mark.parametrize("piece", ["x<br>", "<p class=a#>x"])
async def test_pages_of_many_elements_stay_within_the_memory_of_one(piece: str) -> None:
    body = "".join(piece.replace("#", str(i)) for i in range(MAX_ELEMENTS - 100)).encode()
    async with ParseProcess(seconds=120) as process:  # it is about memory
        found = await process.parse(body, URL, content_type="text/html")
    assert found.page is not None
