"""Settings of stores, events and the HTTP address: what goes together, and what somebody with a wrong one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.settings.root import SettingsError, load
from deploy.settings.stores import EventsSettings
from ingest.events.kafka.client import Connection

CLUSTER = '[stores]\nkind = "cluster"\n'


def events(tmp_path: Path, lines: str, above: str = CLUSTER) -> EventsSettings:
    return load(_file(tmp_path, f"{above}[events]\n{lines}"), {"HOME": "/home/ann"}).events


def problems(tmp_path: Path, toml: str) -> list[str]:
    path = _file(tmp_path, toml)
    with pytest.raises(SettingsError) as caught:
        load(path, {"HOME": "/home/ann"})
    return [problem.replace(f"{path}", "FILE") for problem in caught.value.problems]


def _file(folder: Path, toml: str) -> Path:
    path = folder / "ritbot.toml"
    path.write_text(toml, encoding="utf-8")
    return path


def test_kafka_with_files_is_refused_with_what_to_set(tmp_path: Path) -> None:
    assert problems(tmp_path, '[events]\nkind = "kafka"\n') == [
        'events.kind (FILE): got "kafka"; it takes "kafka" only where stores.kind is "cluster"'
    ]


def test_servers_may_be_several_and_in_brackets(tmp_path: Path) -> None:
    found = events(tmp_path, 'servers = "k1.example:9092, k2.example:9093,[::1]:9094"')
    assert found.servers == "k1.example:9092,k2.example:9093,[::1]:9094"


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('servers = "k1.example"', 'events.servers (FILE): got "k1.example"; it takes host:port, several with commas'),
        ('servers = ""', 'events.servers (FILE): got ""; it takes host:port'),
        ('servers = "k:9092,"', 'events.servers (FILE): got "k:9092,"; it takes host:port'),
        ('servers = "k:0"', 'events.servers (FILE): got "k:0"; it takes host:port'),
        ('servers = "kafka://k:9092"', "events.servers (FILE): got"),
        ('prefix = "a b"', 'events.prefix (FILE): got "a b"; it takes letters, digits, dots, _ and -'),
        ('mechanism = "GSSAPI"', 'events.mechanism (FILE): got "GSSAPI"; it takes "PLAIN" or "SCRAM-SHA-256" or'),
        ('user = "ann"', "events.password: is not set; it takes a text (secret)"),
        ('password = "hush"', "events.password (FILE): got a value that is not shown here; it takes a text (secret)"),
        ('ca_file = "ca.pem"', "events.ca_file (FILE): got"),
        ('tls = false\nkey_file = "key.pem"', "events.key_file (FILE): got"),
        ("partitions = 0", "events.partitions (FILE): got 0; it takes a whole number from 1 to 1000"),
    ],
)
def test_a_wrong_setting_of_the_event_log_is_told(toml: str, told: str, tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, f"{CLUSTER}[events]\n{toml}\n")
    assert problem.startswith(told)
    assert "hush" not in problem


@pytest.mark.parametrize("setting", ["ca_file", "certificate_file", "key_file"])
def test_files_of_kafka_go_with_tls_and_start_at_the_settings_file(setting: str, tmp_path: Path) -> None:
    assert getattr(events(tmp_path, f'tls = true\n{setting} = "tls/x.pem"'), setting) == tmp_path / "tls/x.pem"


@pytest.mark.parametrize("setting", ["opensearch_ca_file", "qdrant_ca_file"])
def test_the_authorities_of_stores_start_at_the_settings_file(setting: str, tmp_path: Path) -> None:
    path = _file(tmp_path, f'[stores]\n{setting} = "ca.pem"\n')
    assert getattr(load(path, {"HOME": "/home/ann"}).stores, setting) == tmp_path / "ca.pem"


def test_a_short_secret_of_the_webhook_is_refused_and_not_shown(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, '[http]\nhook_secret = "sesame"\n')
    assert problem == (
        "http.hook_secret (FILE): got a value that is not shown here; it takes a secret of at least 16 characters"
    )


def test_the_default_is_that_of_the_code_that_uses_it() -> None:
    assert EventsSettings().prefix == Connection(()).prefix
