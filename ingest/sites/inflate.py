"""gzip that cannot blow up: decoding stops as soon as more comes out than was allowed (RFC 1952)."""

from __future__ import annotations

import zlib

_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS


class TooLarge(ValueError):
    """More came out than the limit."""


class Gunzip:
    """Decodes gzip piece by piece, at most `limit` bytes in all. Several members in a row are one
    stream; what follows the last one and is no member is ignored, as browsers do."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False

    def feed(self, data: bytes) -> bytes:
        """Raises TooLarge over the limit, ValueError if it is not gzip."""
        out: list[bytes] = []
        self._begun = self._begun or bool(data)
        while data:
            if self._member.eof:
                if data[0] != _MAGIC[0]:
                    break
                self._member = zlib.decompressobj(_GZIP)
            try:
                piece = self._member.decompress(data, self._left + 1)
            except zlib.error as error:
                raise ValueError(f"damaged gzip data ({error})") from error
            self._left -= len(piece)
            if self._left < 0:
                raise TooLarge
            out.append(piece)
            data = self._member.unused_data
        return b"".join(out)

    @property
    def complete(self) -> bool:
        """False while a member has begun and not ended: the data was cut short."""
        return self._member.eof or not self._begun


def is_gzip(data: bytes) -> bool:
    return data.startswith(_MAGIC)


def gunzip(data: bytes, limit: int) -> bytes:
    """The whole of it. Raises TooLarge over the limit, ValueError if it is damaged or cut short."""
    decoder = Gunzip(limit)
    body = decoder.feed(data)
    if not decoder.complete:
        raise ValueError("gzip data cut short")
    return body
