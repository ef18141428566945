"""gzip that cannot blow up: decoding stops as soon as more comes out than was allowed (RFC 1952)."""

from __future__ import annotations

import zlib

_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS


MAX_MEMBERS = 10_000
"""Of one stream; block gzip of 50 MiB has about 800. Each costs something, also an empty one of 20 bytes."""
_WINDOW_BYTES = 16_384
"""So much is looked at at once: zlib copies what stands behind every member."""


class TooLarge(ValueError):
    """More came out than the limit. `decoded`: what came out of the data last fed, up to the limit."""

    def __init__(self, decoded: bytes = b"") -> None:
        super().__init__()
        self.decoded = decoded


class Gunzip:
    """Decodes gzip piece by piece, at most `limit` bytes in all. Several members in a row are one
    stream; what follows the last one and is no member is ignored, as browsers do."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._member = zlib.decompressobj(_GZIP)
        self._members = 1
        self._begun = self._over = False

    def feed(self, data: bytes) -> bytes:
        """Raises TooLarge over the limit, ValueError if it is not gzip."""
        out: list[bytes] = []
        self._begun = self._begun or bool(data)
        for start in range(0, len(data), _WINDOW_BYTES):
            window = data[start : start + _WINDOW_BYTES]
            while window and not self._over:
                window = self._decode(window, out)
        return b"".join(out)

    def _decode(self, data: bytes, out: list[bytes]) -> bytes:
        """Decode to the end of the data or of a member; what is left."""
        if self._member.eof:
            if data[0] != _MAGIC[0]:
                self._over = True
                return b""
            self._members += 1
            if self._members > MAX_MEMBERS:
                raise ValueError(f"gzip data of more than {MAX_MEMBERS:,} members")
            self._member = zlib.decompressobj(_GZIP)
        try:
            piece = self._member.decompress(data, self._left + 1)
        except zlib.error as error:
            raise ValueError(f"damaged gzip data ({error})") from error
        out.append(piece[: self._left])
        if len(piece) > self._left:
            raise TooLarge(b"".join(out))
        self._left -= len(piece)
        return self._member.unused_data

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
