"""Sealing of tokens; the suites of the bot's store try it with both adapters."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet

from bot.errors import KeyMissing, KeyWrong
from bot.store.sealing import KeySeal, LeftSealed

ONE, TWO, THREE = (Fernet.generate_key().decode() for _ in range(3))


@pytest.mark.parametrize("text", ["xoxb-1", "", "é 🦊 \x00", "x" * 100_000])
def test_what_was_closed_is_opened_as_it_was(text: str) -> None:
    seal = KeySeal([ONE])
    assert seal.open(seal.close(text)) == text


def test_a_text_is_closed_to_something_else_every_time() -> None:
    seal = KeySeal([ONE])
    assert "xoxb" not in seal.close("xoxb-1")
    assert seal.close("xoxb-1") != seal.close("xoxb-1")


def test_the_first_key_closes_and_every_key_opens() -> None:
    assert KeySeal([TWO, ONE]).open(KeySeal([ONE]).close("t")) == "t"
    assert KeySeal([TWO]).open(KeySeal([TWO, ONE]).close("t")) == "t"


@pytest.mark.parametrize("sealed", ["", "no token", "gAAAAA", "é"])
def test_what_no_key_opens_says_what_to_do_and_shows_nothing(sealed: str) -> None:
    for text in (sealed, KeySeal([THREE]).close("xoxb-1")):
        with pytest.raises(KeyWrong, match="set the key that was in use") as caught:
            KeySeal([ONE, TWO]).open(text)
        assert ONE not in str(caught.value)


def test_a_token_that_was_changed_is_not_opened() -> None:
    seal = KeySeal([ONE])
    closed = seal.close("xoxb-1")
    with pytest.raises(KeyWrong):
        seal.open(closed[:-10] + ("A" if closed[-10] != "A" else "B") + closed[-9:])


@pytest.mark.parametrize("key", ["", "short", "x" * 44, "é" * 44])
def test_what_is_no_key_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(KeyWrong, match=r"bot\.keys: what is set is no key") as caught:
        KeySeal([ONE, key])
    assert not key or key not in str(caught.value)


def test_without_a_key_nothing_is_closed_or_opened() -> None:
    with pytest.raises(KeyMissing, match=r"set bot\.keys"):
        KeySeal([]).close("t")
    with pytest.raises(KeyMissing, match=r"set bot\.keys"):
        KeySeal([]).open("t")


def test_a_copy_takes_and_gives_tokens_as_they_are_kept() -> None:
    assert LeftSealed().open(LeftSealed().close("gAAAA")) == "gAAAA"
