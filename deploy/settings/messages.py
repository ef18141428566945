"""What a wrong setting is told: which one, what it got, what it takes. Pure; never shows a secret."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

Location = Sequence[str | int]

TAKES = "takes"
"""The type of a PydanticCustomError whose message says what the setting takes."""

NAMES: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    SecretStr: "a text (secret)",
    Path: "a path",
}


class SettingsError(Exception):
    """Settings that cannot be used: one sentence for each that is wrong, fit for a user."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        head = [f"{len(problems)} settings are wrong:"] if len(problems) > 1 else []
        super().__init__("\n  ".join([*head, *problems]))


def fields(root: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Every setting with its location, sections entered; a list of tables is one setting."""
    for name, found in root.model_fields.items():
        if isinstance(found.annotation, type) and issubclass(found.annotation, BaseModel):
            yield from fields(found.annotation, (*path, name))
        else:
            yield (*path, name), found


def complaint(error: ErrorDetails, root: type[BaseModel], name: str, origin: str) -> str:
    """One error of a validation as a sentence. `name` is the setting's dotted name, `origin` where the
    value came from."""
    if error["type"] == "extra_forbidden":
        around = bare(_field(root, error["loc"][:-1])[0])
        prefix = name[: len(name) - len(str(error["loc"][-1]))]
        known = [prefix + key for key in around.model_fields]
        return unknown(name, origin, [*known, *(".".join(path) for path, _ in fields(root))])
    hint, metadata = _field(root, error["loc"])
    if error["type"] == "missing":
        return f"{name}{f' ({origin})' if origin else ''}: is not set; it takes {takes(hint, metadata)}"
    wanted = error["msg"] if error["type"] == TAKES else takes(hint, metadata)
    got = "a value that is not shown here" if _holds_secrets(hint) else shown(error["input"])
    return f"{name} ({origin}): got {got}; it takes {wanted}"


def unknown(name: str, origin: str, known: Iterable[str]) -> str:
    """A key that is no setting."""
    return f"{name} ({origin}): there is no such setting{did_you_mean(name, known)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known name nearest to a mistyped one: by spelling, else the same last word in another section."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    last = re.split(r"\.|__", name)[-1]
    near = near or [other for other in known if re.split(r"\.|__", other)[-1] == last]
    return f"; did you mean {near[0]}?" if near else ""


def takes(hint: Any, metadata: Sequence[Any] = ()) -> str:
    """What a field takes, in words: `a whole number from 1 to 256`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return takes(args[0], (*metadata, *args[1:]))
    for item in metadata:
        if isinstance(item, str):
            return item
    if origin in (Union, UnionType):
        return " or ".join(takes(arg, metadata) for arg in args if arg is not type(None))
    if origin is Literal:
        return " or ".join(f'"{value}"' for value in args)
    if origin is tuple:
        return f"a list of {_plural(takes(args[0]))}"
    if origin is dict:
        return "a table of texts"
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return "a table"
    return NAMES[hint] + _bounds(metadata)


def shown(value: object) -> str:
    """A value as it may be printed: short, without the password of an address."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            safe = re.sub(r"(?<=://)[^/\s@]+(?=@)", "…", value)
            return f'"{safe}"' if len(safe) <= 80 else f'"{safe[:79]}…"'
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
    return str(value)


def default(field: FieldInfo) -> str:
    """A field's default as it would be written in the file."""
    if field.is_required():
        return "must be set"
    value = field.default
    return "not set" if value is None else shown(value) if value or value in (0, False) else "empty"


def _plural(noun: str) -> str:
    """`a regular expression with one group` -> `regular expressions with one group`."""
    head, *rest = noun.removeprefix("a ").removeprefix("an ").split(" with ", 1)
    return " with ".join([f"{head}s", *rest])


def _bounds(metadata: Sequence[Any]) -> str:
    low = next((item for item in metadata if isinstance(item, (Ge, Gt))), None)
    high = next((item.le for item in metadata if isinstance(item, Le)), None)
    match low:
        case Ge(ge) if high is not None:
            return f" from {ge} to {high}"
        case Ge(ge):
            return f", {ge} or more"
        case Gt(gt) if high is not None:
            return f" above {gt}, at most {high}"
        case Gt(gt):
            return f" above {gt}"
    return ""


def _field(root: type[BaseModel], loc: Location) -> tuple[Any, Sequence[Any]]:
    """Type and metadata of the field at `loc`."""
    hint: Any = root
    metadata: Sequence[Any] = ()
    for step in loc:
        hint = bare(hint)
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            field: FieldInfo = hint.model_fields[str(step)]
            hint, metadata = field.annotation, field.metadata
        else:
            hint, metadata = get_args(hint)[-1 if get_origin(hint) is dict else 0], ()
    return hint, metadata


def bare(hint: Any) -> Any:
    """A type without Annotated and without None."""
    if get_origin(hint) is Annotated:
        return bare(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return next(bare(arg) for arg in get_args(hint) if arg is not type(None))
    return hint


def _holds_secrets(hint: Any) -> bool:
    plain = bare(hint)
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return any(_holds_secrets(field.annotation) for field in plain.model_fields.values())
    return plain is SecretStr or any(_holds_secrets(arg) for arg in get_args(plain) if arg is not Ellipsis)
