"""The settings of the bot's store."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography.fernet import Fernet

from bot.store.sealing import SETTING, KeySeal
from deploy.settings.messages import SettingsError
from deploy.settings.root import describe, load

ONE, TWO = (Fernet.generate_key().decode() for _ in range(2))
HOME = {"HOME": "/home/ann"}


def test_keys_are_taken_with_commas_between_them_and_never_shown() -> None:
    settings = load(None, {**HOME, "RITBOT_BOT__KEYS": f"{ONE}, {TWO}"}).bot
    assert settings.sealing_keys == (ONE, TWO)
    assert KeySeal(settings.sealing_keys).open(KeySeal([TWO]).close("t")) == "t"
    assert ONE not in repr(settings)


def test_no_key_is_none() -> None:
    assert load(None, HOME).bot.sealing_keys == ()


@pytest.mark.parametrize(
    "keys",
    ["short", f"{ONE},", f"{ONE} {TWO}", ONE[:-1], "é" * 44],
    ids=["short", "comma", "space", "cut", "no base64"],
)
def test_what_is_no_key_is_told_without_showing_it(keys: str) -> None:
    with pytest.raises(SettingsError, match=r"bot\.keys .*it takes keys of 32 bytes") as caught:
        load(None, {**HOME, "RITBOT_BOT__KEYS": keys})
    assert keys not in str(caught.value)


def test_the_event_log_keeps_nothing_longer_than_the_answer_log() -> None:
    assert load(None, HOME).bot.keep_events == timedelta(days=14)
    assert load(None, {**HOME, "RITBOT_BOT__KEEP_DAYS": "3"}).bot.keep_events == timedelta(days=3)


def test_the_setting_that_errors_name_exists() -> None:
    assert SETTING in {row.name for row in describe(HOME)}
