"""Pages made to cost more than their size: each kind grows with the bytes asked for, so that its cost can be measured
at n, 2n and 4n.

A kind is what an attack repeats: what is nested, what is put side by side, what is named twice. Nesting stops at `DEEP`
elements, a little under what ritbot reads, since a deeper page is refused before it costs anything; it then
begins again beside the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

DEEP = 450
WORDS = "Enough words for a paragraph of prose that a reader would call content. "
"""More than any threshold below which text is taken for a label."""


def repeated(piece: str, size: int) -> str:
    """`piece` as often as `size` characters hold; `#` in it counts."""
    counted = "#" in piece
    number = max(size // (len(piece) + 4 * counted), 1)
    return "".join(piece.replace("#", str(i)) for i in range(number)) if counted else piece * number


def nested(opening: str, closing: str, size: int, inner: str = "x", depth: int = DEEP) -> str:
    """Towers of `depth` elements, side by side; `inner` stands at the bottom of each."""
    tower = opening * depth + inner + closing * depth
    if "#" not in tower:
        return tower * max(size // len(tower), 1)
    return "".join(_numbered(tower, i) for i in range(max(size // len(tower), 1)))


def _numbered(tower: str, number: int) -> str:
    return "".join(f"{part}{number}-{i}" for i, part in enumerate(tower.split("#")))


def _flat(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + repeated(piece, size) + after


def _deep(opening: str, closing: str, inner: str = "x", before: str = "", depth: int = DEEP) -> Callable[[int], str]:
    return lambda size: before + nested(opening, closing, size, inner, depth)


def _around(opening: str, closing: str, piece: str, depth: int = DEEP) -> Callable[[int], str]:
    """Many pieces at the bottom of one tower."""
    return lambda size: opening * depth + repeated(piece, size) + closing * depth


def _staircase(opening: str, closing: str, step: str, depth: int = DEEP) -> Callable[[int], str]:
    """Towers with something beside every step."""
    return lambda size: nested(opening + step, closing, size, "x", depth)


def _shadows(size: int) -> str:
    """Shadow roots in shadow roots, each with its slot."""
    piece = '<div><template shadowrootmode="open"><slot></slot>'
    return nested(piece, "</template>x</div>", size, "x", DEEP // 2)


def _slots(size: int) -> str:
    """One host with many slots of one name, and many children for them."""
    slots = repeated("<slot></slot>", size // 2)
    return f'<div><template shadowrootmode="open">{slots}</template>{repeated("<i>x</i>", size // 2)}</div>'


def _named_slots(size: int) -> str:
    slots = repeated("<slot name=a#></slot>", size // 2)
    return f'<div><template shadowrootmode="open">{slots}</template>{repeated("<i slot=a#>x</i>", size // 2)}</div>'


def _json_ld(inner: Callable[[int], str]) -> Callable[[int], str]:
    return lambda size: f'<script type="application/ld+json">{inner(size)}</script><p>{WORDS}'


_LIST_ITEM = '{"@type":"ListItem","position":#,"name":"n#","item":"/#"}'
_TRAIL = '{"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","name":"a","item":"/b"}]}'

KINDS: dict[str, Callable[[int], str]] = {
    # before the page begins
    "comments before the doctype": lambda size: repeated("<!-- a -->", size) + "<!doctype html><p>x",
    "comments before nothing": _flat("<!-- a -->"),
    "comments before the doctype, spaced": lambda size: repeated("<!-- a --> \n ", size) + "x",
    "comments that never end": _flat("<!--"),
    "comment ends and beginnings": _flat("--><!--"),
    "XML prologs": _flat("<?xml "),
    "an XML prolog without an end": lambda size: "<?xml " + " " * size,
    "white space": lambda size: " " * size + "x",
    "line breaks": lambda size: "\n" * size + "x",
    "less-than signs": lambda size: "<" * size,
    "tags cut short": _flat("<a "),
    "scripts that never end": _flat("<script>"),
    "titles that never end": _flat("<title "),
    "style and script, mixed": _flat("<style><script></style>"),
    "meta charset": _flat("<meta charset=x>"),
    "meta http-equiv": _flat('<meta http-equiv=content-type content="text/html; charset=">'),
    "meta refresh": _flat('<meta http-equiv=refresh content="1;url=/a#">'),
    "a refresh of blanks": lambda size: f'<meta http-equiv=refresh content="{" " * size}x"><p>x',
    "a refresh of digits": lambda size: f'<meta http-equiv=refresh content="{"1" * size}x"><p>x',
    "meta robots": _flat("<meta name=robots content=a,b,c>"),
    "bodies": _flat("<body class=a#>"),
    "heads": _flat("<head></head>"),
    "bases": _flat("<base href=/a#>"),
    "canonicals": _flat("<link rel=canonical href=/a#>"),
    "links up": _flat("<link rel=up href=/a#>", before="<p>x"),
    "a title of separators": lambda size: f"<title>{' | ' * (size // 3)}</title><p>{WORDS}",
    "a title of spaces": lambda size: f"<title>a{chr(0x2003) * size}b</title><p>{WORDS}",
    "a title of hyphens": lambda size: f"<title>{'- ' * (size // 2)}</title><p>{WORDS}",
    "a title that many headings end": lambda size: (
        f"<title>x{' x' * (size // 4)}</title>{repeated('<h2>x</h2>', size)}"
    ),
    "a long title and many headings": lambda size: (
        f"<title>{'a ' * (size // 4)}</title>" + repeated("<h2>a a#</h2>", size // 2)
    ),
    # flat floods
    "x<br>": _flat("x<br>"),
    "paragraphs without ends": _flat("<p>x"),
    "list items without ends": _flat("<li>x"),
    "cells without ends": _flat("<td>x", before="<table>"),
    "rows without ends": _flat("<tr>", before="<table>"),
    "options": _flat("<option>", before="<select>"),
    "options with text": _flat("<option>a</option>", before="<select>"),
    "selects": _flat("<select><option>"),
    "optgroups": _flat("<optgroup><option>", before="<select>"),
    "attributes": lambda size: f"<p {repeated('a#=1 ', size)}>x",
    "classes": lambda size: f'<div class="{repeated("c# ", size)}">{WORDS}</div>',
    "classes of one letter": lambda size: repeated("<div class=a#>x</div>", size),
    "a class of hyphens": lambda size: f'<div class="{"-" * size}">{WORDS}</div>',
    "a class of many toc": lambda size: f'<div class="{"-toc-x" * (size // 6)}x">{WORDS}</div>',
    "an id of one letter": lambda size: f'<div id="{"a" * size}">{WORDS}</div><h2 id="{"b" * 9}">x</h2>',
    "a style of semicolons": lambda size: f'<div style="{"; " * (size // 2)}">{WORDS}</div>',
    "a style of blanks": lambda size: f'<div style="display{" " * size}x">{WORDS}</div>',
    "a style of displays": lambda size: f'<div style="{"; display " * (size // 10)}">{WORDS}</div>',
    "aria-controls": lambda size: f'<h2><button aria-controls="{repeated("c# ", size)}">x</button></h2>',
    "same ids": _flat("<h2 id=same>x</h2>"),
    "ids": _flat("<h2 id=a#>x</h2>"),
    "headings": _flat("<h2>x</h2>"),
    "headings of rising level": _flat("<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4><h5>e</h5><h6>f</h6>"),
    "headings of aria levels": lambda size: "".join(
        f"<p role=heading aria-level={1 + i % 99}>x</p>" for i in range(size // 36)
    ),
    "titles that one page shares": _flat("<h1>The same title</h1>"),
    "anchors before one heading": lambda size: repeated("<a id=a#></a>", size) + "<h2>x</h2>",
    "anchors before headings": _flat("<a id=a#></a><h2>x</h2>"),
    "names in one heading": lambda size: f"<h2>{repeated('<a id=a#>x</a>', size)}</h2>",
    "names and links in one heading": lambda size: f"<h2>{repeated('<a id=a# href=#b#>x</a>', size)}</h2>",
    "links in one heading": lambda size: f"<h2>{repeated('<a href=/#>x</a>', size)}</h2>",
    "own links": _flat("<a href=#x>x</a>"),
    "links": _flat("<a href=/p#>x</a>"),
    "links of dots": _flat("<a href=/a/../b/./c/../#>x</a>"),
    "one link of dots": lambda size: f"<a href='/{'a/../' * (size // 5)}'>x</a>",
    "one link of per cents": lambda size: f"<a href='/{'%' * size}'>x</a><a href='/?{'%4' * (size // 2)}'>y</a>",
    "one link of backslashes": lambda size: f"<a href='{chr(92) * size}'>x</a>",
    "one link of ampersands": lambda size: f"<a href='/?{'&' * size}'>x</a>",
    "one link of many hosts": lambda size: f"<a href='//{'a.' * (size // 2)}'>x</a>",
    "one link of a long name": lambda size: f"<a href='//{chr(0xE9) * size}/'>x</a>",
    "a link that many name": _flat("<a accesskey=u href=/up class=nav>up</a>"),
    "active links": _flat("<nav><a aria-current=page href=/x#>x</a></nav>"),
    "active links in one list": lambda size: (
        f"<nav><ul>{repeated('<li><a aria-current=page href=/x#>x#</a>', size)}</ul></nav>"
    ),
    "items without labels": lambda size: (
        f"<nav><ul>{repeated('<li><ul><li><a aria-current=page href=/x#>x#</a></ul>', size)}</ul></nav>"
    ),
    "captions before lists": lambda size: (
        f"<nav>{repeated('<p class=caption>c</p><ul><li><a aria-current=page href=/x#>x#</a></ul>', size)}</nav>"
    ),
    "breadcrumbs": _flat("<nav class=breadcrumb><a href=/a#>a</a></nav>"),
    "crumbs": lambda size: f"<nav class=breadcrumb><ol>{repeated('<li><a href=/a#>a#</a>', size)}</ol></nav><p>x",
    "crumbs by microdata": lambda size: (
        f"<div itemtype=BreadcrumbList>{repeated('<b itemprop=itemListElement>a#</b>', size)}</div><p>x"
    ),
    "rows of signs": _flat("<p><a href=/a#>a</a> &gt; <a href=/b#>b</a></p>"),
    "a row of signs": lambda size: f"<p>{repeated('<a href=/a#>a</a> &gt; ', size)}</p>",
    "related lists": _flat("<div class=related><li class=nav-item>x</li></div>"),
    "callouts": _flat("<div class=note><h3>x</h3><p>y</div>"),
    "empty elements": _flat("<div></div>"),
    "empty inline elements": _flat("<b></b>"),
    "articles": _flat(f"<article><p>{WORDS}</article>"),
    "mains": _flat(f"<main><p>{WORDS}</main>"),
    "articles with headings outside": _flat("<article>x</article><h2>y</h2>"),
    "one article, many headings outside": lambda size: (
        f"<main><article><h1>x</h1></article>{repeated('<h2>y</h2>', size)}</main>"
    ),
    "navigation": _flat("<nav><a href=/a#>x</a></nav>"),
    "header after header": _flat(f"<header><h1>x</h1>{WORDS}</header>"),
    "cards": _flat("<a href=/a#><h3>x</h3></a>"),
    "linked headings": _flat("<h3><a href=/a#>x</a></h3>"),
    "one card of headings": lambda size: f"<a href=/a>{repeated('<h3>x</h3>', size)}</a>",
    "lists of own links": _flat("<ul><li><a href=#a>x</a><li><a href=#b>x</a></ul>"),
    "siblings of own lists": lambda size: (
        f"<main>{repeated('<p>x</p><ul><li><a href=#a>x</a><li><a href=#b>x</a></ul>', size)}</main>"
    ),
    "toctrees": _flat("<div class=toctree-wrapper><ul><li><a href=/a#>x</a></ul></div>"),
    "signatures": _flat("<dl><dt class=sig id=a#>a</dt><dd>b</dd></dl>"),
    "terms": lambda size: f"<dl>{repeated('<dt id=a#>a</dt><dd>b</dd>', size)}</dl>",
    "terms without definitions": lambda size: f"<dl>{repeated('<dt id=a#>a</dt>', size)}</dl>",
    "plain terms": lambda size: f"<dl>{repeated('<dt>a</dt><dd>b</dd>', size)}</dl>",
    "aliases": lambda size: f"<dl><dt id=x>a</dt>{repeated('<dt id=a#>a</dt>', size)}<dd>b</dd></dl>",
    "tables": _flat("<table><tr><td>a<td>b</table>"),
    "rows of one heading": lambda size: f"<table><tr>{repeated('<td><h1>x</h1></td>', size)}</table>",
    "rows of headings in columns": lambda size: (
        f"<table><tr>{repeated('<td><a href=/x>x</a></td><td><h1>x</h1></td>', size)}</table>"
    ),
    "ragged rows": lambda size: f"<table>{repeated('<tr><td>a<td>b<td>c<td>d', size)}</table>",
    "captions": lambda size: f"<table>{repeated('<caption>x</caption>', size)}</table>",
    "formulas": _flat('<math alttext="x"><mi>x</mi></math>'),
    "a formula of parts": lambda size: f"<math>{repeated('<mi>x</mi>', size)}</math>",
    "formula pictures": _flat('<img class=math alt="x">'),
    "pictures": _flat('<img alt="a picture">'),
    "pictures in one paragraph": lambda size: f"<p>{repeated('<img alt=picture%20#>', size)}</p>",
    "listings": _flat("<pre>x</pre>"),
    "a listing of lines": lambda size: f"<pre>{'x' + chr(10) * 2 * (size // 2)}</pre>",
    "a listing of empty lines": lambda size: f"<pre>{chr(10) * size}x{chr(10) * size}</pre>",
    "a listing of parts": lambda size: f"<pre>{repeated('<span>x</span>', size)}</pre>",
    "a listing of blocks": lambda size: f"<pre>{repeated('<div>x</div>', size)}</pre>",
    "fragments of lines": _flat("<div class=fragment><div class=line>x</div></div>"),
    "languages": lambda size: f'<pre class="{"language-" * (size // 9)}!">x</pre>',
    "note marks": _flat("<sup><a href=#a>[1]</a></sup>"),
    "a note of many marks": lambda size: f"<sup>{repeated('<a href=#a>1</a>', size)}</sup>",
    "back links": _flat("<a href=#a>↩</a>"),
    "ruby": _flat("<ruby>x<rt>y</ruby>"),
    "ruby without ends": _flat("<rt>x", before="<ruby>"),
    "details": _flat("<details><summary>x</summary>y</details>"),
    "hgroups": _flat("<hgroup><h1>x</h1><h2>y</h2></hgroup>"),
    "one hgroup": lambda size: f"<hgroup>{repeated('<h2>x</h2>', size)}</hgroup>",
    "custom elements": _flat("<my-thing#>x</my-thing#>"),
    "app roots": _flat("<my-app></my-app><script></script>"),
    "app roots around all": _around("<my-app>", "</my-app>", "<my-app></my-app>"),
    "noscripts": _flat("<noscript>enable </noscript>"),
    "noscripts of blanks": lambda size: f"<noscript>enable{' ' * size}x</noscript><script></script>",
    "drawings": _flat("<svg><title>x</title></svg>"),
    "one drawing": lambda size: f"<svg>{repeated('<path d=M0></path>', size)}</svg>",
    "entities": _flat("&amp;"),
    "invisible characters": lambda size: "<p>" + "\u200b" * (size // 3) + WORDS,
    "soft hyphens": lambda size: f"<p>{WORDS}" + "a\u00ad" * (size // 3),
    "null characters": lambda size: "<p>" + "\x00" * size,
    "one word": lambda size: "<p>" + "a" * size,
    "one word of Chinese": lambda size: "<p>" + "\u4e2d" * (size // 3),
    "surrogates": _flat("<p>&#xd800;"),
    "slots": _slots,
    "named slots": _named_slots,
    "shadows in shadows": _shadows,
    "shadows side by side": _flat('<div><template shadowrootmode="open"><slot></slot></template>x</div>'),
    "templates": _deep("<template>", "</template>"),
    "formatting left open": lambda size: "<p>" + repeated("<font a=#>", 3_000) + "x<p>" * (size // 4),
    "formatting left open, in cells": lambda size: (
        "<table><td>" + repeated("<b c=#>", 3_000) + "</table>" + "x<p>" * (size // 4)
    ),
    "formatting closed wrongly": lambda size: "<b><b><b>" + "<div></b>" * (size // 9),
    "links closed wrongly": _flat("<a><p>"),
    "words beside a table": _flat("x<b>", before="<table>"),
    # JSON-LD
    "crumbs in JSON-LD": _json_ld(
        lambda size: f'{{"@type":"BreadcrumbList","itemListElement":[{repeated(_LIST_ITEM + ",", size)}{{}}]}}'
    ),
    "trails in JSON-LD": _json_ld(lambda size: f"[{repeated(_TRAIL + ',', size)}{{}}]"),
    "types in JSON-LD": _json_ld(lambda size: f'{{"@type":[{repeated(chr(34) + "a" + chr(34) + ",", size)}1]}}'),
    "nested JSON-LD": _json_ld(lambda size: "[" * (size // 2) + "]" * (size // 2)),
    "nested objects of JSON-LD": _json_ld(lambda size: '{"a":' * (size // 6) + "1" + "}" * (size // 6)),
    "a number of JSON-LD": _json_ld(lambda size: "1" * size),
    "broken JSON-LD": _json_ld(lambda size: "[" * size),
    "blocks of JSON-LD": _flat(f'<script type="application/ld+json">{_TRAIL}</script>'),
    # towers
    "spans": _deep("<span>", "</span>"),
    "bold": _deep("<b>", "</b>"),
    "links in names": _deep("<i id=a#>", "</i>"),
    "divs": _deep("<div>", "</div>"),
    "divs with classes": _deep("<div class='sidebar menu'>", "</div>"),
    "divs with ids": _deep("<div id=a#>", "</div>", "<h2>x</h2>"),
    "divs of prose": _staircase("<div>", "</div>", WORDS),
    "sections with headings": _staircase("<section>", "</section>", "<h2>x</h2>"),
    "sections with ids and headings": _staircase("<section id=a#>", "</section>", "<h2>x</h2>"),
    "mains in mains": _deep("<main>", "</main>"),
    "mains and navigation": _deep("<main><nav>", "</nav></main>", depth=DEEP // 2),
    "articles in articles": _deep("<article>", "</article>", "<h1>x</h1>"),
    "asides": _deep("<aside>", "</aside>", WORDS),
    "headers": _deep("<header>", "</header>", "<h1>x</h1>"),
    "footers": _deep("<footer>", "</footer>", "<h1>x</h1>"),
    "navigation in navigation": _deep("<nav>", "</nav>", "<a aria-current=page href=/x>x</a>"),
    "groups around an active link": _staircase(
        "<details>", "</details>", "<summary>s</summary><a aria-current=page>x</a>"
    ),
    "menus": _staircase("<ul><li>", "</ul>", "<a aria-current=page href=/x>x</a>", DEEP // 2),
    "quotes": _deep("<blockquote>", "</blockquote>"),
    "quotes with classes": _deep("<blockquote class='sidebar menu'>", "</blockquote>"),
    "lists": _deep("<ul><li>", "</ul>", depth=DEEP // 2),
    "lists with text": _staircase("<ul><li>", "</ul>", "x", DEEP // 2),
    "ordered lists": _staircase("<ol><li>", "</ol>", "x", DEEP // 2),
    "lists of links": _staircase("<ul><li>", "</ul>", "<a href=#a>x</a>", DEEP // 2),
    "lists around all": _around("<ul><li>", "</ul>", "<li>x", DEEP // 2),
    "definitions": _deep("<dl><dd>", "</dl>", depth=DEEP // 2),
    "definitions with terms": _staircase("<dl><dt id=a#>t<dd>", "</dl>", "x", DEEP // 2),
    "definitions in definitions": _around("<dl><dt>t<dd>", "</dl>", "<dt>t<dd>x", DEEP // 2),
    "address terms around all": lambda size: (
        nested("<dl><dt id=a#>t<dd>", "", 1, "", DEEP // 2) + repeated("<dl><dd>x</dl>", size) + "</dl>" * (DEEP // 2)
    ),
    "tables in tables": _deep("<table><tr><td>", "</table>", depth=DEEP // 4),
    "tables in tables with text": _staircase("<table><tr><td>", "</table>", "x<td>y<td>", DEEP // 4),
    "cells deep below a table": lambda size: (
        "<table><tr>" + nested("<td><div>", "</div></td>", size, "x", 1) + "</table>"
    ),
    "rows around all": _around("<table><tr><td>", "</table>", "<tr><td>x", DEEP // 4),
    "images in towers of cells": _staircase("<table><tr><td>", "</table>", "<img>", DEEP // 4),
    "listings in listings": _deep("<pre>", "</pre>", "a\nb"),
    "listings deep in a table": lambda size: f"<table><tr><td>{nested('<pre>', '</pre>', size)}</table>",
    "formulas in formulas": _deep("<span class=katex>", "</span>"),
    "formulas of MathML": _deep("<mrow>", "</mrow>", before="<math>"),
    "MathJax in MathJax": _deep("<mjx-container>", "</mjx-container>"),
    "superscripts": _deep("<sup>", "</sup>", "<a href=#a>1</a>"),
    "raised links": _deep("<sup><a href=#a>", "</a></sup>", "1", depth=DEEP // 2),
    "screen reader only": _deep("<span class=sr-only>", "</span>"),
    "headings in callouts": _deep("<div class=note>", "</div>", "<h2>x</h2>"),
    "headings in a tower": _around("<div>", "</div>", "<h2>x</h2>"),
    "headings in a tower of callouts": _around("<div class=note>", "</div>", "<h2>x</h2>"),
    "headings with a tower": lambda size: f"<h2>{nested('<span>', '</span>', size)}</h2>",
    "headings with a tower of names": lambda size: f"<h2>{nested('<b id=a#>', '</b>', size)}</h2>",
    "headings in links in a tower": _around("<div>", "</div>", "<a href=/a><h2>x</h2></a>"),
    "articles around all": _around("<article>", "</article>", "<h2>x</h2>"),
    "hidden around all": _around("<div hidden>", "</div>", "<main>x</main>"),
    "mains deep": _around("<div>", "</div>", "<main>x</main>"),
    "titles in rows": _around("<div>", "</div>", "<h1>x</h1>"),
    "active links in a tower": _around("<div class=menu>", "</div>", "<a aria-current=page href=/x>x</a>"),
    "active links in a tower of groups": _around(
        "<details><summary>s</summary>", "</details>", "<nav><a aria-current=page>x</a></nav>"
    ),
    "accessed links in a tower": _around("<div>", "</div>", "<a accesskey=u href=/x>x</a>"),
    "buttons in a tower": _around("<div>", "</div>", "<button aria-controls=x>x</button>"),
    "dd in a tower": _around("<div>", "</div>", "<dd>x"),
    "table parts in a tower": _around("<table><tr><td><div>", "", "<caption>x</caption>", DEEP // 4),
    "trail rows in a tower": _around("<div>", "</div>", "<p><a href=/a>a</a> &gt; b</p>"),
    "breadcrumbs in a tower": _around("<div class=fqn>", "</div>", "<a href=/a>a</a>"),
    "related in a tower": _deep("<div class=related>", "</div>"),
    "subtitles in a tower": _deep("<div><p class=sub-title>x</p>", "</div>"),
    "closing tags of nothing": _around("<div>", "</div>", "</p>"),
}


def pages(size: int) -> Iterator[tuple[str, bytes]]:
    """Every kind, about `size` bytes of it."""
    for name, make in KINDS.items():
        yield name, make(size).encode("utf-8", "surrogatepass")
