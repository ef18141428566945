"""The settings of the pages in a browser."""

from __future__ import annotations

import pytest

from deploy.settings.messages import SettingsError
from deploy.settings.root import load

HOME = {"HOME": "/home/ann"}


def test_operators_are_refused_where_nobody_can_be_told_apart() -> None:
    settings = load(None, {**HOME, "RITBOT_WEB__OPERATORS": '["ada"]'})
    with pytest.raises(SettingsError, match=r'web\.operators names people, and web\.access is "open"'):
        settings.web.check(settings.slack)
    load(None, {**HOME, "RITBOT_WEB__OPERATORS": '["ada"]', "RITBOT_WEB__ACCESS": "proxy"}).web.check(settings.slack)
