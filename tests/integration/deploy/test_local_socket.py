"""The socket of a data folder (deploy/serving/local_socket.py, local_answers.py), over real sockets."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest

from deploy.serving.local_answers import LocalServer
from deploy.serving.local_socket import (
    MAX_MESSAGE_BYTES,
    NAME,
    OTHER_VERSION,
    PROTOCOL,
    NotAnswered,
    listens,
    request,
)
from ingest.errors import SiteUnusable
from tests.waiting import eventually

Json = dict[str, Any]


@dataclass
class Desk:
    """Does what is asked of it, and remembers."""

    begun: list[Json] = field(default_factory=list)
    cancelled: list[Json] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def echo(self, fields: Json) -> Json:
        return {"you said": fields}

    async def at_length(self, _: Json) -> Json:
        return {"text": "x" * MAX_MESSAGE_BYTES}

    async def wait(self, fields: Json) -> Json:
        self.begun.append(fields)
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled.append(fields)
            raise
        return fields

    async def refuse(self, _: Json) -> Json:
        raise SiteUnusable("Nothing is indexed yet.")

    async def break_down(self, _: Json) -> Json:
        raise KeyError("a defect")

    @asynccontextmanager
    async def open(self, folder: Path, grace: float = 5.0) -> AsyncIterator[LocalServer]:
        work = {"echo": self.echo, "at length": self.at_length, "wait": self.wait}
        async with LocalServer(
            folder, {**work, "refuse": self.refuse, "break": self.break_down}, grace=grace
        ) as server:
            yield server


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def raw(folder: Path, do: str, body: bytes, **headers: str) -> Json:
    """The reply to a request that no client of ours would send."""
    transport = httpx.AsyncHTTPTransport(uds=str(folder / NAME))
    async with httpx.AsyncClient(transport=transport) as client:
        reply: Json = (await client.post(f"http://ritbot/{do}", content=body, headers=PROTOCOL | headers)).json()
    return reply


async def speaking(folder: Path, reply: bytes) -> asyncio.Server:
    """A process that answers whatever comes with these bytes, and hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(reply)
        writer.close()

    return await asyncio.start_unix_server(answer, folder / NAME)


async def test_a_request_comes_back_done(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path) as server:
        assert server.path == tmp_path / NAME
        assert await listens(tmp_path)
        said = {"text": "Zwölf\nZeilen 日本 \ud83d", "list": [1, None]}
        assert await request(tmp_path, "echo", said) == {"you said": said}


async def test_nobody_listens_before_and_after(desk: Desk, tmp_path: Path) -> None:
    assert not await listens(tmp_path)
    async with desk.open(tmp_path):
        pass
    assert not await listens(tmp_path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(NotAnswered, match="try again"):
        await request(tmp_path, "echo", {})


async def test_many_requests_are_in_hand_at_once(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        asked = [asyncio.create_task(request(tmp_path, "wait", {"n": n})) for n in range(40)]
        await eventually(lambda: len(desk.begun) == 40)
        desk.go_on.set()
        assert [done["n"] for done in await asyncio.gather(*asked)] == list(range(40))


async def test_a_client_that_goes_away_ends_its_work_and_no_other(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        leaves = asyncio.create_task(request(tmp_path, "wait", {"n": 1}))
        stays = asyncio.create_task(request(tmp_path, "wait", {"n": 2}))
        await eventually(lambda: len(desk.begun) == 2)
        leaves.cancel()
        await eventually(lambda: desk.cancelled == [{"n": 1}])
        desk.go_on.set()
        assert await stays == {"n": 2}


async def test_a_server_that_stops_lets_the_work_in_hand_finish_and_takes_no_more(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path, grace=20.0):
        asked = asyncio.create_task(request(tmp_path, "wait", {"n": 1}))
        await eventually(lambda: bool(desk.begun))
        asyncio.get_running_loop().call_later(0.1, desk.go_on.set)
    assert await asked == {"n": 1}
    assert not await listens(tmp_path)


async def test_work_that_outlasts_the_grace_is_cancelled_and_its_client_is_told(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path, grace=0.05):
        asked = asyncio.create_task(request(tmp_path, "wait", {"n": 1}))
        await eventually(lambda: bool(desk.begun))
    assert desk.cancelled == [{"n": 1}]
    with pytest.raises(NotAnswered, match="ended before it had answered"):
        await asked


async def test_what_the_work_raises_reaches_the_user_in_its_own_words(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        with pytest.raises(NotAnswered, match=r"^Nothing is indexed yet\.$"):
            await request(tmp_path, "refuse", {})


async def test_a_defect_names_a_trace_id_and_the_server_goes_on(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        with pytest.raises(NotAnswered, match=r"failed \(trace id [0-9a-f]{12} in its log\)"):
            await request(tmp_path, "break", {})
        assert await request(tmp_path, "echo", {}) == {"you said": {}}


@pytest.mark.parametrize(
    ("do", "body", "headers", "said"),
    [
        ("echo", b"", {}, "not understood"),
        ("echo", b"what?", {}, "not understood"),
        ("echo", b"\xff\xfe", {}, "not understood"),
        ("echo", b"[" * 100_000, {}, "not understood"),
        ("echo", b"[1, 2]", {}, "no such request: 'echo'"),
        ("echo", b'"all"', {}, "no such request"),
        ("dance", b"{}", {}, "no such request: 'dance'"),
        ("echo", b"{}", {"ritbot-protocol": "3"}, OTHER_VERSION),
        ("echo", b"{}", {"ritbot-protocol": ""}, OTHER_VERSION),
    ],
)
async def test_a_request_that_is_none_is_refused(
    do: str, body: bytes, headers: dict[str, str], said: str, desk: Desk, tmp_path: Path
) -> None:
    async with desk.open(tmp_path):
        reply = await raw(tmp_path, do, body, **headers)
    assert reply.keys() == {"refused"}
    assert said in reply["refused"]


async def test_what_is_no_http_is_refused_and_the_server_goes_on(desk: Desk, tmp_path: Path) -> None:
    """As an earlier ritbot asked: the line that it reads then is no reply to it."""
    async with desk.open(tmp_path):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b'{"ritbot": 1, "do": "echo", "with": {}}\n')
        assert b"ritbot" not in await reader.read()
        writer.close()
        assert await request(tmp_path, "echo", {}) == {"you said": {}}


def http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize("reply", [http(b"{}"), http(b"[]"), http(b"hello")])
async def test_a_reply_of_another_version_is_not_taken(reply: bytes, tmp_path: Path) -> None:
    async with await speaking(tmp_path, reply):
        with pytest.raises(NotAnswered) as refused:
            await request(tmp_path, "echo", {})
    assert str(refused.value) == OTHER_VERSION


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 200 OK\r\n", http(b'{"done": {}}')[:-1]])
async def test_half_a_reply_is_no_reply(reply: bytes, tmp_path: Path) -> None:
    async with await speaking(tmp_path, reply):
        with pytest.raises(NotAnswered, match="ended before"):
            await request(tmp_path, "echo", {})


@pytest.mark.parametrize("reply", [b'{"ritbot": 1, "refused": "the request is not understood"}\n', b"hello\n"])
async def test_what_speaks_no_http_may_be_another_version(reply: bytes, tmp_path: Path) -> None:
    async with await speaking(tmp_path, reply):
        with pytest.raises(NotAnswered, match="if it still runs, it is another version of ritbot"):
            await request(tmp_path, "echo", {})


async def test_megabytes_cross_and_what_is_too_long_is_refused_before_it_is_sent(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        said = {"text": "x" * 5_000_000}
        assert await request(tmp_path, "echo", said) == {"you said": said}
        with pytest.raises(NotAnswered, match="too long"):
            await request(tmp_path, "echo", {"text": "x" * MAX_MESSAGE_BYTES})


async def test_a_reply_that_is_too_long_is_a_plain_error(desk: Desk, tmp_path: Path) -> None:
    async with desk.open(tmp_path):
        with pytest.raises(NotAnswered, match="longer than"):
            await request(tmp_path, "at length", {})


async def test_only_the_owner_may_read_and_write_the_socket(desk: Desk, tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        async with desk.open(tmp_path):
            assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    finally:
        os.umask(umask)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try it as another user")
async def test_another_user_cannot_connect(desk: Desk) -> None:
    with TemporaryDirectory(prefix="ritbot-test-") as name, socket.socket(socket.AF_UNIX) as probe:
        os.chmod(name, 0o755)
        async with desk.open(Path(name)):
            os.seteuid(65534)
            try:
                with pytest.raises(PermissionError):
                    probe.connect(f"{name}/{NAME}")
            finally:
                os.seteuid(0)


async def test_a_long_folder_has_a_socket_too_and_nothing_is_left_elsewhere(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / ("longer" * 30)
    folder.mkdir(parents=True)
    async with desk.open(folder):
        assert (folder / NAME).is_socket()
        assert await listens(folder)
        assert await request(folder, "echo", {}) == {"you said": {}}
    assert os.listdir(folder) == []


async def test_a_folder_named_from_where_one_stands_is_the_same_folder(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30) / "data"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder.parent)
    async with desk.open(Path("data")):
        assert await listens(folder)
    async with desk.open(folder):
        assert await listens(Path("data"))


async def test_a_socket_that_a_killed_process_left_behind_is_replaced(desk: Desk, tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom deploy.serving.local_answers import LocalServer\n"
        "async def main():\n    async with LocalServer(Path(sys.argv[1]), {}):\n        print('ready', flush=True)\n"
        "        await asyncio.sleep(60)\nasyncio.run(main())"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    assert (tmp_path / NAME).is_socket()
    assert not await listens(tmp_path)
    async with desk.open(tmp_path):
        assert await request(tmp_path, "echo", {}) == {"you said": {}}


async def test_where_no_socket_can_be_made_nobody_is_served_and_nothing_else_stops(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    async with desk.open(tmp_path) as server:
        assert server.path is None
        assert not await listens(tmp_path)
    assert (tmp_path / NAME).is_dir()
