"""The folder of `ritbot curate`: every reply, a line each as it comes, and what is made of them.

    FOLDER/replies.jsonl     what the model wrote, with the key under which it was asked
    FOLDER/train.jsonl       the examples
    FOLDER/held_out.jsonl    those of the questions that are held out

A question is held out or not by its words alone (and the seed), so that it stays where it is while others come and go, and
stands in one of the two files only.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ingest.model import sha256
from navigator.batch.lines import JsonLines
from navigator.strategies.rdr2.actions import ActionKind, kinds
from navigator.strategies.rdr2.examples import Example, dump_example, load_example

REPLIES = "replies.jsonl"
TRAIN = "train.jsonl"
HELD_OUT = "held_out.jsonl"


@dataclass(frozen=True, slots=True)
class RouterReply:
    """`example` has no actions where none of the reply counts."""

    key: str
    collapsed: bool
    example: Example


@dataclass(frozen=True, slots=True)
class CurationSummary:
    """What a folder holds: examples in each file, actions by kind (RDR2 Table 3), replies that made no example
    (`collapsed`, or without a line that counts: `useless`), lines that were `expelled`."""

    train: int
    held_out: int
    actions: dict[ActionKind, int] = field(default_factory=dict)
    collapsed: int = 0
    useless: int = 0
    expelled: int = 0


class CuratedFolder:
    """`with` opens and holds it, made where it is not there. Raises OSError, so where another run holds it, and
    FileExistsError where its files are not of this making."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = JsonLines(path / REPLIES)
        self._replies: dict[str, RouterReply] = {}

    def __enter__(self) -> Self:
        if not (self.path / REPLIES).exists():
            for name in (TRAIN, HELD_OUT):
                if (self.path / name).exists():
                    raise FileExistsError(errno.EEXIST, "This was not written by ritbot curate", str(self.path / name))
        self._lines.__enter__()
        self._replies = {reply.key: reply for reply in self._lines.rows(_load_reply)}
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.__exit__()

    @property
    def unreadable(self) -> int:
        """Lines that could not be read; they count as not there."""
        return self._lines.unreadable

    def has(self, key: str) -> bool:
        return key in self._replies

    def keep(self, reply: RouterReply) -> None:
        """Raises OSError."""
        row = {"key": reply.key, "collapsed": reply.collapsed, "example": json.loads(dump_example(reply.example))}
        self._lines.append(json.dumps(row))
        self._replies[reply.key] = reply

    def write(self, *, held_out: float, seed: int) -> CurationSummary:
        """Make the two files of all replies; of two about the same question and page the later counts. Raises OSError."""
        latest = {(reply.example.question, reply.example.page): reply for reply in self._replies.values()}
        examples = [reply.example for reply in latest.values() if reply.example.actions]
        files: dict[bool, list[Example]] = {False: [], True: []}
        for example in examples:
            files[is_held_out(example.question, held_out, seed)].append(example)
        self._write(TRAIN, files[False])
        self._write(HELD_OUT, files[True])
        return CurationSummary(
            train=len(files[False]),
            held_out=len(files[True]),
            actions=kinds(example.routed for example in examples),
            collapsed=sum(reply.collapsed for reply in latest.values()),
            useless=sum(not reply.collapsed and not reply.example.actions for reply in latest.values()),
            expelled=sum(reply.example.invalid_lines for reply in latest.values()),
        )

    def _write(self, name: str, examples: Sequence[Example]) -> None:
        """Whole or not at all."""
        new = self.path / f"{name}.new"
        new.write_text("".join(f"{dump_example(example)}\n" for example in examples), encoding="utf-8", newline="\n")
        os.replace(new, self.path / name)


def _load_reply(line: bytes) -> RouterReply:
    row = json.loads(line)
    return RouterReply(str(row["key"]), bool(row["collapsed"]), load_example(json.dumps(row["example"])))


def is_held_out(question: str, share: float, seed: int) -> bool:
    """By the words of the question, case and white space left out of account."""
    digest = sha256(str(seed), " ".join(question.casefold().split()))
    return int(digest[:13], 16) / 16**13 < share
