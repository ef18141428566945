"""Bytes to text as browsers do it: byte order mark, then the HTTP header, then the page's own declaration.

Labels mean what the WHATWG Encoding Standard says they mean (iso-8859-1 is windows-1252, windows-31j is
the Shift_JIS with circled digits). Nothing is guessed from letter frequencies: without a declaration
the text is UTF-8 if it can be, else windows-1252. Never raises.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
"""The longer mark first where one begins with another."""
_UTF16_IN_META = "utf-8"
_REPLACED = frozenset({"hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr", "utf-7", "replacement"})
"""Encodings in which a page could hide markup; the standard refuses them, here they become windows-1252."""

_WHATWG = {
    "cp1252": "ascii us-ascii ansi_x3.4-1968 cp819 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 l1 latin1 "
    "iso_8859-1:1987 csisolatin1 x-cp1252 windows-1252 cp1252 x-user-defined",
    "cp1254": "iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 csisolatin5 l5 latin5 x-cp1254",
    "cp874": "iso-8859-11 iso8859-11 iso885911 tis-620 dos-874 windows-874",
    "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis",
    "euc_jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
    "cp949": "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 iso-ir-149 csksc56011987 cseuckr windows-949",
    "gb18030": "gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 gbk x-gbk iso-ir-58 gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "koi8_u": "koi8-u koi8-ru",
    "koi8_r": "koi8-r koi koi8 koi8_r cskoi8r",
    "iso8859_8": "iso-8859-8-i logical csiso88598i iso-8859-8-e visual",
    "mac_roman": "macintosh mac x-mac-roman csmacintosh",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "utf-8": "utf8 utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "utf-16-le": "utf-16 utf-16le ucs-2 unicode csunicode iso-10646-ucs-2 unicodefeff",
    "utf-16-be": "utf-16be unicodefffe",
}
_CODECS = {label: codec for codec, labels in _WHATWG.items() for label in labels.split()}
_HEADER_CHARSET = re.compile(r"charset\s*+=\s*+[\"']?\s*+([^\s\"';,]++)", re.IGNORECASE)
_UNREAD = re.compile(rb"<!--(?:[^-]++|-(?!->))*+(?:-->)?|<(script|style|title)\b(?:[^<]++|<(?!/\1))*+", re.IGNORECASE)
_BODY = re.compile(rb"<body\b|</head\b", re.IGNORECASE)
MAX_HEAD_BYTES = 65_536
"""So far a declaration of the encoding is looked for."""
_XML_ENCODING = re.compile(rb"encoding\s*+=\s*+[\"']([^\"']*+)[\"']", re.IGNORECASE)
_META = re.compile(rb"<\s*+meta([^>]*+)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"charset\s*+=\s*+[\"']?([^\s/;\"'>]++)", re.IGNORECASE)
_XML_PROLOG = re.compile(r"\s*+<\?xml\b")
_SELF_CLOSED = re.compile(r"<([a-zA-Z][\w:-]*+)((?:\s++[\w:.-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+)\s*+/>")
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr path rect circle line polyline polygon"
    " ellipse use stop".split()
)


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a page. `content_type` is the HTTP header's value, with or without a charset."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    in_header = _HEADER_CHARSET.search(content_type)
    label = (_codec(in_header[1]) if in_header else None) or _declared(body)
    return body.decode(label or ("utf-8" if _is_utf8(body) else "cp1252"), "replace")


def as_html(text: str, content_type: str = "") -> str:
    """XHTML in a form that an HTML parser reads as meant: `<a id="x"/>` becomes an element that ends.

    Done for pages that are served as XML or begin with an XML prolog; others stay as they are."""
    if "xhtml" not in content_type.lower() and not _XML_PROLOG.match(text):
        return text

    def ended(match: re.Match[str]) -> str:
        name = match[1]
        return match[0] if name.lower() in _VOID else f"<{name}{match[2]}></{name}>"

    return _SELF_CLOSED.sub(ended, text)


def _declared(body: bytes) -> str | None:
    """The codec that the page names in its head (or in an XML prolog), comments and scripts left out.

    A declaration counts however late in the head it stands: browsers start over when they meet one."""
    end = _BODY.search(body, 0, MAX_HEAD_BYTES)
    head = _UNREAD.sub(b" ", body[: end.start() if end else MAX_HEAD_BYTES])
    label = next(_labels(head), None)
    codec = _codec(label.decode("ascii", "replace")) if label else None
    return _UTF16_IN_META if codec in ("utf-16-le", "utf-16-be") else codec


def _labels(head: bytes) -> Iterator[bytes]:
    """The names of encodings that an XML prolog and then the meta elements give, in that order."""
    start = head.lstrip()
    if start.startswith(b"<?"):
        yield from _XML_ENCODING.findall(start.partition(b"?>")[0])[-1:]
    for meta in _META.finditer(head):
        yield from _META_CHARSET.findall(meta[1])[-1:]


def _codec(label: str) -> str | None:
    label = label.strip().lower()
    if label in _REPLACED:
        return "cp1252"
    if label in _CODECS:
        return _CODECS[label]
    try:
        info = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    return info.name if info._is_text_encoding else None


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
