"""The places that settings come from, each read into a layer: variables, the TOML file, the machine.

A layer knows where each of its values came from, so that a wrong one can be traced. Nothing here reads the environment:
it is an argument.

pydantic-settings merges the layers and checks them; its own sources for TOML and variables are not taken, for three
things that they do not keep. They stop at the first thing that cannot be read, where all that is wrong is told at once;
they do not remember which variable or line a value came from; and they read the process's environment themselves.
"""

from __future__ import annotations

import json
import os.path
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel, SecretStr
from pydantic_core import ErrorDetails

from deploy.settings.former import FIXED, RENAMED, take_out, told_of
from deploy.settings.messages import SettingsError, bare, complaint, fields, unknown

PREFIX = "RITBOT_"
CONFIG = "RITBOT_CONFIG"
"""Names the file; the only RITBOT_ variable that is no setting."""

MACHINE = {"ANTHROPIC_API_KEY": ("model", "api_key"), "ANTHROPIC_BASE_URL": ("model", "base_url")}
"""Variables of other programs that stand in where ritbot's own settings say nothing."""

PATHS = (
    ("index", "folder"),
    ("stores", "opensearch_ca_file"),
    ("stores", "qdrant_ca_file"),
    ("events", "ca_file"),
    ("events", "certificate_file"),
    ("events", "key_file"),
    ("embedding", "model"),
    ("model", "ca_file"),
    ("sites", "start"),
    ("sites", "ca_file"),
)
"""Settings that may name a place on disk. Where it is relative, it starts at the file that names it."""

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place says: nested values, the origin of each by its location, and what is wrong already."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[Loc, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def up_to_date(self) -> Layer:
        """The same without settings that an earlier version had, and what is to be told of them."""
        origins, notices = dict(self.origins), []
        for path in (*RENAMED, *FIXED):
            value = take_out(self.values, path)
            if value is None:
                continue
            origin = origins.pop(path, "")
            notices.append(told_of(path, origin))
            if (new := RENAMED.get(path)) and new not in origins:
                _put(self.values, new, value)
                origins[new] = origin
        return replace(self, origins=origins, notices=tuple(notices))


def variable(path: tuple[str, ...]) -> str:
    """index.folder -> RITBOT_INDEX__FOLDER."""
    return PREFIX + "__".join(path).upper()


def variables(root: type[BaseModel], environ: Mapping[str, str]) -> Layer:
    """The RITBOT_ variables; empty ones count as not set, a list is written as JSON. A variable with `__` must
    be a setting. Others are let pass (a cluster sets RITBOT_PORT and the like by itself for a service called
    ritbot) unless they only lack an underscore."""
    listed = {path for path, found in fields(root) if get_origin(bare(found.annotation)) is tuple}
    known = {variable(path): path for path in (*RENAMED, *FIXED, *(path for path, _ in fields(root)))}
    squeezed = {name.replace("__", "_") for name in known}
    values: dict[str, Any] = {}
    origins: dict[Loc, str] = {}
    problems: list[str] = []
    for name, text in environ.items():
        if not name.startswith(PREFIX) or not text or name == CONFIG:
            continue
        if name in known:
            try:
                _put(values, known[name], json.loads(text) if known[name] in listed else text)
                origins[known[name]] = name
            except ValueError:
                what = "tables" if known[name] == ("sites",) else "texts"
                problems.append(f"{name}: got text that is not JSON; it takes a list of {what} as JSON")
        elif "__" in name or name.replace("__", "_") in squeezed:
            problems.append(unknown(name, "variable", map(variable, (path for path, _ in fields(root)))))
    return Layer(values, origins, (*problems, *_anchor(values, Path.cwd()))).up_to_date()


def file(path: Path) -> Layer:
    """The TOML file; one that cannot be read or is not TOML is a problem with file, line and column."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except OSError as error:
        return Layer(problems=(f"{path}: cannot be read ({error.strerror})",))
    except UnicodeDecodeError as error:
        return Layer(problems=(f"{path}: is not UTF-8 text (byte {error.start})",))
    except tomllib.TOMLDecodeError as error:
        return Layer(problems=(_syntax(path, text, str(error)),))
    origins: dict[Loc, str] = {loc: str(path) for loc in _leaves(values)}
    return Layer(values, origins, tuple(_anchor(values, path.absolute().parent))).up_to_date()


def machine(environ: Mapping[str, str], platform: str = sys.platform) -> Layer:
    """What holds on this machine where nothing is set: the data folder, and other programs' variables."""
    values: dict[str, Any] = {"index": {}}
    origins: dict[Loc, str] = {}
    for name, path in MACHINE.items():
        if environ.get(name):
            _put(values, path, environ[name])
            origins[path] = name
    folder = data_folder(environ, platform)
    if folder:
        _put(values, ("index", "folder"), str(folder))
        origins["index", "folder"] = "the platform's data folder"
    return Layer(values, origins)


def data_folder(environ: Mapping[str, str], platform: str) -> Path | None:
    """Where programs keep a user's data on this platform; None for a user without a home."""
    xdg = environ.get("XDG_DATA_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "ritbot"
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "ritbot"
    home = environ.get("HOME")
    if not home:
        return None
    return Path(home) / ("Library/Application Support" if platform == "darwin" else ".local/share") / "ritbot"


def explained(error: ErrorDetails, root: type[BaseModel], layers: Sequence[Layer]) -> str:
    """A validation error as a sentence; `layers` with the strongest first."""
    loc = error["loc"]
    return complaint(error, root, _dotted(loc, layers), origin_of(layers, loc))


def revealed(setting: str, secrets: Mapping[str, SecretStr], environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets as they are, `env:NAME` replaced by the variable. Raises SettingsError."""
    plain: dict[str, str] = {}
    missing: list[str] = []
    for key, secret in secrets.items():
        plain[key] = secret.get_secret_value()
        if plain[key].startswith("env:"):
            name = plain[key].removeprefix("env:")
            plain[key] = environ.get(name, "")
            if not plain[key]:
                missing.append(f"{setting}.{key}: takes {name} from the environment, where it is not set")
    if missing:
        raise SettingsError(*missing)
    return plain


def _put(values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *above, last = path
    for step in above:
        values = values.setdefault(step, {})
        if not isinstance(values, dict):  # it is told by the validation
            return
    values[last] = value


def _leaves(values: Mapping[str, Any], above: Loc = ()) -> Iterator[Loc]:
    """The locations of all values that are not tables, and of empty tables."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key)


def _anchor(values: dict[str, Any], base: Path) -> list[str]:
    """Make the relative paths among the values start at `base`, and ~ at the home; what is wrong with them."""
    problems = []
    for section, key in PATHS:
        tables = values.get(section)
        for table in tables if isinstance(tables, list) else [tables]:
            if not isinstance(table, dict):
                continue
            value = table.get(key)
            if isinstance(value, str) and value and _is_path(key, value):
                try:
                    table[key] = os.path.normpath(base / Path(value).expanduser())
                except RuntimeError:
                    problems.append(f'{section}.{key}: got "{value}"; there is no such home')
    return problems


def _is_path(key: str, value: str) -> bool:
    if key == "model":
        return value.startswith((".", "/", "~"))
    return "://" not in value


def _syntax(path: Path, text: str, message: str) -> str:
    """tomllib's message with its place in front: it ends in (at line 3, column 7) or (at end of document)."""
    what, _, where = message.rpartition(" (at ")
    found = re.match(r"line (\d+), column (\d+)", where)
    lines = text.split("\n")
    line, column = found.groups() if found else (str(len(lines)), str(len(lines[-1]) + 1))
    return f"{path}, line {line}, column {column}: not TOML: {what or message}"


def origin_of(layers: Sequence[Layer], loc: Loc) -> str:
    """Where the strongest layer that has a value at `loc` has it from: its own origin, that of a table or list around it, or
    of something in it; "" where none has."""
    for layer in layers:
        around = (layer.origins.get(loc[:length]) for length in range(len(loc), 0, -1))
        inside = (origin for path, origin in layer.origins.items() if path[: len(loc)] == loc)
        if found := next((origin for origin in (*around, *inside) if origin), None):
            return found
    return ""


def _dotted(loc: Loc, layers: Sequence[Layer]) -> str:
    """("sites", 0, "include", 1) -> sites.docs.include.#2, where the first site is called docs."""
    words = [step if isinstance(step, str) else f"#{step + 1}" for step in loc]
    if loc[0] == "sites" and len(loc) > 1:
        sites = next(layer.values["sites"] for layer in layers if "sites" in layer.values)
        site = sites[loc[1]]
        name = site.get("name") if isinstance(site, dict) else None
        words[1] = name if isinstance(name, str) and name else words[1]
    return ".".join(words)
