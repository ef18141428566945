"""How Kafka is reached, and what its errors mean: all that the log and its consumers share of aiokafka.

Vendor errors are translated in `translated` and nowhere else.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import (
    AuthenticationFailedError,
    CommitFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    RecordTooLargeError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
)

from ingest.errors import GroupBusy, IngestError, RecordTooLarge, StoreUnavailable
from ingest.events.topics import MAX_RECORD_BYTES
from ingest.ports import Record

_LATE_START_SECONDS = 2.0

MAX_REQUEST_BYTES = 4 * MAX_RECORD_BYTES
"""Of a request, and of a dead letter's record: a value grows by a third in base64, a key is there twice."""

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError, RecordTooLargeError)
_REFUSED = (
    AuthenticationFailedError,
    SaslAuthenticationFailed,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)


@dataclass(frozen=True, slots=True)
class Connection:
    """`servers`: one or more "host:port". With a `username` the client logs in by SASL; with `tls` it speaks TLS,
    checked against `ca_file` (PEM) or the system's authorities, and shows `certificate_file` where brokers ask for one.
    `prefix`: what the names of topics and groups begin with on these brokers, and nowhere else. `timeout`, in seconds:
    how long a request, an append or a commit may take."""

    servers: tuple[str, ...]
    tls: bool = False
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    mechanism: Mechanism = "PLAIN"
    prefix: str = ""
    timeout: float = 30.0

    @property
    def name(self) -> str:
        return f"Kafka at {', '.join(self.servers)}"

    def named(self, name: str) -> str:
        """What a topic or a group of ours is called on these brokers."""
        return self.prefix + name

    def options(self) -> dict[str, Any]:
        """Arguments that all aiokafka clients take. Reads the certificates' files: StoreUnavailable if it cannot."""
        options: dict[str, Any] = {
            "bootstrap_servers": list(self.servers),
            "request_timeout_ms": int(self.timeout * 1000),
            "security_protocol": ("SASL_" if self.username else "") + ("SSL" if self.tls else "PLAINTEXT"),
        }
        if self.username:
            options |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password or "",
            }
        if self.tls:
            options["ssl_context"] = self._ssl_context()
        return options

    def _ssl_context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate_file:
                context.load_cert_chain(self.certificate_file, self.key_file)
        except OSError as error:
            files = ", ".join(filter(None, (self.ca_file, self.certificate_file, self.key_file)))
            raise StoreUnavailable(f"{self.name}: the TLS files {files} cannot be used: {error}") from error
        return context


@contextmanager
def translated(connection: Connection, doing: str) -> Iterator[None]:
    try:
        yield
    except (KafkaError, OSError) as error:
        raise meaning(connection, doing, error) from error


def meaning(connection: Connection, doing: str, error: Exception) -> IngestError:
    """What a vendor's error says in ours. TimeoutError, an OSError, is among them."""
    if isinstance(error, TOO_LARGE):
        return RecordTooLarge(f"{connection.name}, {doing}: {error}")
    if isinstance(error, CommitFailedError):
        return GroupBusy(f"{connection.name}, {doing}: the group has members: stop them first")
    if isinstance(error, _REFUSED):
        return StoreUnavailable(f"{connection.name}, {doing}: refused ({error}): check user, password and ACLs")
    reason = str(error) or type(error).__name__
    return StoreUnavailable(f"{connection.name}, {doing}: {reason}; check that the brokers run and can be reached")


class Client(Protocol):
    """What all clients of aiokafka have in common."""

    async def start(self) -> None: ...


async def start(client: Client, within: float) -> None:
    """Connect. aiokafka loses an open connection when it is cancelled half-way, so it gets a moment to come to an end.
    Raises TimeoutError and what the client raises; the client is to be closed then, too."""
    starting = asyncio.create_task(client.start())
    try:
        async with asyncio.timeout(within):
            await asyncio.shield(starting)
    finally:
        if not starting.done():
            await asyncio.wait([starting], timeout=_LATE_START_SECONDS)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)


@asynccontextmanager
async def reader(
    connection: Connection, partitions: Sequence[TopicPartition], group: str | None = None
) -> AsyncIterator[AIOKafkaConsumer]:
    """A client that reads partitions without joining a group; it can look after the offsets of `group`."""
    kafka = AIOKafkaConsumer(
        **connection.options(),
        group_id=connection.named(group) if group else None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=MAX_REQUEST_BYTES,
    )
    kafka.assign(partitions)
    try:
        await start(kafka, connection.timeout)
        yield kafka
    finally:
        await kafka.stop()


def as_record(connection: Connection, found: ConsumerRecord) -> Record:
    return Record(
        topic=found.topic.removeprefix(connection.prefix),
        partition=found.partition,
        offset=found.offset,
        key=(found.key or b"").decode("utf-8", "surrogateescape"),
        value=found.value,
        timestamp=datetime.fromtimestamp(found.timestamp / 1000, UTC),
    )
