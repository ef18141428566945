"""Questions, exchanges, channel settings, installations, editions and gaps as JSON bytes, and back. Pure.

What comes back is equal to what went in; of text that is not Unicode (half a surrogate pair, as people's devices
sometimes send it) each such half comes back as "?". An answer inside an exchange looks as navigator.codec writes it.
Fields that this version does not know are passed over. Loading raises ValueError on bytes that are no such thing.
"""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import TypeAdapter

from bot.gaps.gap import Gap
from bot.model import ChannelSettings, Edition, Exchange, Installation

_T = TypeVar("_T")
_EXCHANGE = TypeAdapter(Exchange)
_CHANNEL = TypeAdapter(ChannelSettings)
_INSTALLATION = TypeAdapter(Installation)
_EDITION = TypeAdapter(Edition)
_GAP = TypeAdapter(Gap)


def dump_exchange(exchange: Exchange) -> bytes:
    return _dumped(_EXCHANGE, exchange)


def load_exchange(data: bytes) -> Exchange:
    return _EXCHANGE.validate_json(data)


def dump_channel(settings: ChannelSettings) -> bytes:
    return _dumped(_CHANNEL, settings)


def load_channel(data: bytes) -> ChannelSettings:
    return _CHANNEL.validate_json(data)


def dump_installation(installation: Installation) -> bytes:
    return _dumped(_INSTALLATION, installation)


def load_installation(data: bytes) -> Installation:
    return _INSTALLATION.validate_json(data)


def dump_edition(edition: Edition) -> bytes:
    return _dumped(_EDITION, edition)


def load_edition(data: bytes) -> Edition:
    return _EDITION.validate_json(data)


def dump_gap(gap: Gap) -> bytes:
    return _dumped(_GAP, gap)


def load_gap(data: bytes) -> Gap:
    return _GAP.validate_json(data)


def _dumped(adapter: TypeAdapter[_T], value: _T) -> bytes:
    try:
        return adapter.dump_json(value)
    except ValueError:  # text that is not Unicode
        plain = adapter.dump_python(value, mode="json")
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
