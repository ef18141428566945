"""What lies in deploy/ for containers and clusters: it names only what is there. No container engine takes part."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml  # type: ignore[import-untyped]
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from deploy.commands.cli import COMMANDS
from deploy.install import CPU_INDEX
from deploy.serving.health import Health
from deploy.settings.messages import SettingsError, fields
from deploy.settings.root import Settings, load
from deploy.settings.sources import variable
from tests.fakes.qdrant_server import VERSION
from tests.fakes.threaded import ThreadedServer
from tests.servers import cluster

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ROLES = {name: service for name, service in SERVICES.items() if "build" in service}
SERVERS = {name: service for name, service in SERVICES.items() if name not in ROLES}
FILES = ("compose.yaml", "Dockerfile", "env.example", "ritbot.cluster.toml", "ritbot.example.toml")
SECRETS = {
    variable(path): "s" * 32
    for path, field in fields(Settings)
    if SecretStr in (field.annotation, *get_args(field.annotation))
}


def dockerfile() -> list[str]:
    """Its instructions, one a line."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return "\n".join(lines).replace("\\\n", "").splitlines()


def instructions(name: str) -> list[str]:
    return [line.partition(" ")[2].strip() for line in dockerfile() if line.startswith(f"{name} ")]


def probe() -> list[str]:
    """The command by which the image says whether it is well."""
    (check,) = instructions("HEALTHCHECK")
    command: list[str] = json.loads(check.partition("CMD ")[2])
    return command


# --- compose.yaml


@pytest.mark.parametrize("name", ROLES)
def test_a_role_runs_a_command_that_ritbot_has(name: str) -> None:
    words = [*ROLES[name].get("entrypoint", json.loads(instructions("ENTRYPOINT")[0])), *ROLES[name]["command"]]
    assert words[0] == "ritbot"
    assert words[1] in COMMANDS


def test_every_role_has_a_service_and_so_have_questions_at_the_terminal() -> None:
    assert ROLES.keys() == {"watch", "indexer", "answer", "slack", "web", "ask"}
    assert SERVERS.keys() == {"kafka", "opensearch", "qdrant"}
    assert ROLES["indexer"]["deploy"]["replicas"] > 1
    assert "ports" not in ROLES["indexer"], "copies of a service cannot share a port"


def test_qdrant_is_of_the_version_that_the_stand_in_does_as() -> None:
    assert SERVERS["qdrant"]["image"] == f"${{QDRANT_IMAGE:-qdrant/qdrant:v{VERSION}}}"


@pytest.mark.parametrize("name", ROLES)
def test_a_role_has_no_more_rights_than_it_needs(name: str) -> None:
    role = ROLES[name]
    assert role["read_only"] is True
    assert role["cap_drop"] == ["ALL"]
    assert role["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in role, "the image's own user is no root"


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_bounds_and_says_how_it_starts_again(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["restart"] == ("no" if name == "ask" else "unless-stopped")


@pytest.mark.parametrize("name", SERVERS)
def test_no_store_is_published_and_each_keeps_its_data_on_a_volume(name: str) -> None:
    service = SERVERS[name]
    assert "ports" not in service
    assert service["networks"] == ["stores"]
    assert COMPOSE["networks"]["stores"]["internal"] is True
    assert [volume.partition(":")[0] for volume in service["volumes"]] == [name]
    assert name in COMPOSE["volumes"]


@pytest.mark.parametrize("name", ROLES)
def test_a_role_waits_for_every_store_that_can_say_that_it_is_well(name: str) -> None:
    waits = {store: wanted["condition"] for store, wanted in ROLES[name]["depends_on"].items()}
    healthy = {store for store, service in SERVERS.items() if "healthcheck" in service}
    assert waits == {store: "service_healthy" if store in healthy else "service_started" for store in SERVERS}


def test_published_ports_are_this_machines_and_those_that_the_image_listens_at() -> None:
    for name, port in (("watch", 8321), ("web", 8322)):
        assert ROLES[name]["ports"] == [f"127.0.0.1:{port}:{instructions('EXPOSE')[0]}"]


def test_the_settings_of_compose_are_taken_with_the_variables_of_env_example(tmp_path: Path) -> None:
    names = re.findall(r"^(\w+)=$", (DEPLOY / "env.example").read_text(encoding="utf-8"), re.MULTILINE)
    assert names
    environ = {"HOME": str(tmp_path), **ROLES["indexer"]["environment"], **{name: SECRETS[name] for name in names}}
    settings = load(DEPLOY / "ritbot.example.toml", environ)
    assert (settings.stores.kind, settings.events.kind) == ("cluster", "kafka")
    assert settings.events.servers == SERVERS["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].rpartition("/")[2]
    assert "${RITBOT_STORES__QDRANT_API_KEY:?" in SERVERS["qdrant"]["environment"]["QDRANT__SERVICE__API_KEY"]
    load(DEPLOY / "ritbot.example.toml", {**environ, **dict.fromkeys(names, "")})


# --- all files


@pytest.mark.parametrize("name", FILES)
def test_every_variable_that_a_file_names_is_a_setting(name: str) -> None:
    known = {variable(path) for path, _ in fields(Settings)}
    named = set(re.findall(r"RITBOT_\w+", (DEPLOY / name).read_text(encoding="utf-8")))
    assert named - known == set()


@pytest.mark.parametrize("name", FILES)
def test_no_file_holds_a_secret(name: str) -> None:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    assigned = re.findall(r"^ *(RITBOT_\w+)[ \t]*[:=][ \t]*\S", text, re.MULTILINE)
    assert set(assigned) & SECRETS.keys() == set()
    last = {name.lower().rpartition("__")[2] for name in SECRETS}
    assert not re.search(rf"^({'|'.join(last)})\s*=", text, re.MULTILINE)


def test_what_holds_secrets_on_the_operators_machine_is_in_no_repository_and_no_image() -> None:
    for ignored in (".gitignore", ".dockerignore"):
        lines = (ROOT / ignored).read_text(encoding="utf-8").splitlines()
        assert {"deploy/.env", "deploy/ritbot.toml"} <= set(lines)


def test_the_settings_for_a_cluster_are_taken_with_its_secrets_and_not_without(tmp_path: Path) -> None:
    path = DEPLOY / "ritbot.cluster.toml"
    named = re.findall(r"^# +(RITBOT_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    settings = load(path, {"HOME": str(tmp_path), **{name: SECRETS[name] for name in named}})
    assert settings.events.tls
    assert settings.stores.opensearch_url.startswith("https://")
    with pytest.raises(SettingsError, match=r"events\.password"):
        load(path, {"HOME": str(tmp_path)})


def test_the_settings_that_make_cluster_prints_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "ritbot.toml"
    printed = cluster.SETTINGS.format(
        name="ritbot", kafka="127.0.0.1:1", opensearch="http://127.0.0.1:2", qdrant="http://127.0.0.1:3"
    )
    path.write_text(printed, encoding="utf-8")
    settings = load(path, {"HOME": "/home/ann"})
    assert (settings.events.kind, settings.stores.qdrant_url) == ("kafka", "http://127.0.0.1:3")


# --- Dockerfile


def test_the_image_runs_as_nobody_special_and_holds_no_build_tools() -> None:
    final = dockerfile()[[n for n, line in enumerate(dockerfile()) if line.startswith("FROM ")][-1] :]
    assert instructions("USER") == ["ritbot"]
    assert any("useradd" in line and "--uid 10001" in line for line in final)
    assert not any(re.search(r"\bpip\b|apt|gcc|build-essential", line) for line in final)


def test_the_image_installs_the_lock_and_pytorch_for_cpus() -> None:
    first, second, light = (line for line in instructions("RUN") if "pip --python" in line)
    assert f"--index-url {CPU_INDEX} " in first
    assert "'^torch==' deploy/requirements.lock" in first
    assert "--constraint deploy/requirements.lock" in second
    assert light.startswith('[ "$PYTORCH" = yes ] || ')
    assert light.endswith("uninstall --yes --requirement deploy/pytorch.txt")


def test_what_the_image_copies_is_there_and_sent_to_the_engine() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in ignored if line.startswith("!")}
    copied = [name for line in instructions("COPY") if "--from" not in line for name in line.split()[:-1]]
    for name in copied:
        assert (ROOT / name).exists()
        assert any(fnmatch.fnmatch(name, pattern) or name.startswith(f"{pattern}/") for pattern in sent)
        assert name not in ignored
    assert {"ingest", "navigator", "bot", "deploy"} <= set(copied)


def test_the_image_has_the_python_that_the_lock_was_made_with() -> None:
    made_with = re.search(r"made with Python (\d+\.\d+)", (DEPLOY / "requirements.lock").read_text(encoding="utf-8"))
    assert made_with
    assert instructions("ARG")[0] == f"PYTHON=python:{made_with[1]}-slim"


def test_every_path_that_a_probe_asks_for_is_served() -> None:
    served = {route.path for route in Health().app.routes if isinstance(route, Route)}
    asked = {path for text in (*probe(), *_words(ROLES)) for path in re.findall(r"/\w+z\b", text)}
    assert asked == {"/healthz"}
    assert asked <= served


class Answering(ThreadedServer):
    """A role that is well, or not."""

    def __init__(self, status: int) -> None:
        self._status = status

    def application(self) -> Starlette:
        async def answer(_: object) -> Response:
            return Response(status_code=self._status)

        return Starlette(routes=[Route("/healthz", answer)])


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_images_probe_says_whether_the_role_is_well(status: int, code: int) -> None:
    with Answering(status) as server:
        assert probe_at(server.url.rpartition(":")[2]) == code


def test_the_images_probe_finds_nobody() -> None:
    assert probe_at("9") == 1


def probe_at(port: str) -> int:
    program, *arguments = (word.replace("8321", port) for word in probe())
    assert program == "python"
    return subprocess.run([sys.executable, *arguments], check=False, capture_output=True, timeout=30).returncode


def _words(value: object) -> Iterator[str]:
    """Every text in a piece of YAML."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield value
