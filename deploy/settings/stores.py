"""[stores] and [events]: what keeps the index, and what carries the events."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from deploy.settings.messages import TAKES
from deploy.settings.site import Name, SettingsTable, Text, Web

_SERVER = re.compile(r"[^\s:,/@]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")


def _servers(value: str) -> str:
    servers = [server.strip() for server in value.split(",")]
    if all(_SERVER.fullmatch(server) and 0 < int(server.rpartition(":")[2]) < 65536 for server in servers):
        return ",".join(servers)
    raise PydanticCustomError(TAKES, "host:port, several with commas between them")


Servers = Annotated[str, AfterValidator(_servers), "host:port, several with commas between them"]
Prefix = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,100}$"), "letters, digits, dots, _ and -, at most 100"]


class StoresSettings(SettingsTable):
    kind: Literal["embedded", "cluster"] = Field(
        default="embedded",
        description="Where trees and the search index are kept. embedded: files in index.folder, one process at a time. "
        "cluster: OpenSearch (trees, words) and Qdrant (vectors), any number of processes.",
    )
    name: Name = Field(default="ritbot", description="cluster: what the names of indexes and collections begin with.")
    opensearch_url: Web = Field(default="http://localhost:9200", description="cluster: the address of OpenSearch.")
    opensearch_user: Text | None = Field(default=None, description="cluster: the user at OpenSearch.")
    opensearch_password: SecretStr | None = Field(default=None, description="cluster: the password at OpenSearch.")
    opensearch_ca_file: Path | None = Field(
        default=None, description="cluster: a file of certificate authorities to trust for OpenSearch."
    )
    qdrant_url: Web = Field(default="http://localhost:6333", description="cluster: the address of Qdrant.")
    qdrant_api_key: SecretStr | None = Field(default=None, description="cluster: the key of Qdrant.")
    qdrant_ca_file: Path | None = Field(
        default=None, description="cluster: a file of certificate authorities to trust for Qdrant."
    )


class EventsSettings(SettingsTable):
    kind: Literal["sqlite", "kafka"] = Field(
        default="sqlite",
        description="What carries events from the watcher to the indexers. sqlite: a file in index.folder. kafka: Kafka, "
        'for which stores.kind must be "cluster"; watcher and indexers then run apart.',
    )
    servers: Servers = Field(default="localhost:9092", description="kafka: the brokers to ask first.")
    prefix: Prefix = Field(default="", description="kafka: what the names of topics and groups begin with.")
    create_topics: bool = Field(default=True, description="kafka: whether topics that are missing are created.")
    partitions: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="kafka: partitions of a topic that is created; so many indexers at most have work. "
        "It cannot be changed afterwards.",
    )
    user: Text | None = Field(default=None, description="kafka: the user, where brokers ask for one (SASL).")
    password: SecretStr | None = Field(default=None, validate_default=True, description="kafka: the user's password.")
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        default="SCRAM-SHA-512", description="kafka: how the user logs in."
    )
    tls: bool = Field(default=False, description="kafka: whether connections are encrypted.")
    ca_file: Path | None = Field(
        default=None, description="kafka: a file of certificate authorities to trust; not set: the system's."
    )
    certificate_file: Path | None = Field(
        default=None, description="kafka: the certificate to show, where brokers ask for one."
    )
    key_file: Path | None = Field(default=None, description="kafka: its private key, where it is in another file.")

    @field_validator("password")
    @classmethod
    def _goes_with_a_user(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        user = info.data.get("user")
        if value is None and user is not None:
            raise PydanticKnownError("missing")
        if value is not None and user is None:
            raise PydanticCustomError(TAKES, "a text (secret) where events.user is set")
        return value

    @field_validator("ca_file", "certificate_file", "key_file")
    @classmethod
    def _goes_with_tls(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is None or info.data.get("tls", True):
            return value
        raise PydanticCustomError(TAKES, "a path where events.tls is true")
