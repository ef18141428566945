"""Pages as generators write them, in the fewest words: the tree that a technical writer would draw of each."""

from __future__ import annotations

import pytest

from ingest.html.parse import parse
from ingest.model import Page

HERE = "https://docs.example.test/guide/page.html"


def page_of(body: str, title: str = "Page", url: str = HERE) -> Page:
    document = parse(f"<!doctype html><title>{title}</title><body>{body}</body>".encode(), url)
    assert document.page is not None
    return document.page


def drawn(page: Page) -> str:
    """Titles, indented by their place, each with its anchor and text."""
    depth = {node.id: 0 for node in page.nodes}
    lines = []
    for node in page.nodes:
        depth[node.id] = 0 if node.parent is None else depth[node.parent] + 1
        anchor = f" #{node.anchor}" if node.anchor else ""
        lines.append(f"{'  ' * depth[node.id]}{node.title}{anchor}: {' / '.join(node.text.split(chr(10)))}".rstrip())
    return "\n".join(lines)


PAGES = {
    "texinfo": (
        "Slots (Acme Manual)",
        '<div class="chapter" id="Slots"><div class="header"><p>Next: <a href="b.html" rel="next">Specials</a>, Previous: '
        '<a href="a.html" rel="prev">Signals</a>, Up: <a href="index.html" rel="up">Acme</a> &nbsp; [<a href="index.html#C" '
        'rel="contents">Contents</a>][<a href="i.html">Index</a>]</p></div><hr><h2 class="chapter">8 Slots</h2><p>A slot holds.</p></div>',
        "8 Slots #Slots: A slot holds.",
    ),
    "texi2html": (
        "Acme utilities: 6. Files",
        '<table><tr><td>[<a href="a.html"> &lt;&lt; </a>]</td><td>[<a href="b.html"> &gt;&gt; </a>]</td><td>[<a href="t.html">Top</a>]</td>'
        '<td>[<a href="t.html#C">Contents</a>]</td><td>[<a href="x.html"> ? </a>]</td></tr></table><hr><a name="Files"></a><a name="S6"></a>'
        '<h1><a href="t.html#TOC6">6. Files</a></h1><p>Files are made so.</p><a name="How"></a><h2><a href="t.html#TOC7">6.1 How</a></h2><p>So.</p>',
        "6. Files #S6: Files are made so.\n  6.1 How #How: So.",
    ),
    "texinfo contents": (
        "Manual",
        '<h1>Manual</h1><div id="SEC_Contents"><h2>Table of Contents</h2><div class="contents"><ul><li><a href="#A">1 A</a></li>'
        '<li><a href="#B">2 B</a></li></ul></div></div><hr><h2 id="A">1 A</h2><p>One.</p><h2 id="B">2 B</h2><p>Two.</p>',
        "Manual:\n  1 A #A: One.\n  2 B #B: Two.",
    ),
    "haproxy-dconv": (
        "Manual",
        '<h1>Manual</h1><p>Words.</p><div class="page-header"><h1 id="s">Summary</h1></div><div class="row"><div class="pagination-right">'
        '<b>1.</b></div><div><a href="#1">Start</a></div></div><div class="row"><div><b>2.</b></div><div><a href="#2">Stop</a></div></div>'
        '<a class="anchor" id="1"></a><div class="page-header"><h1>1. Start</h1></div><p>Start it.</p>'
        '<a class="anchor" id="2"></a><div class="page-header"><h1>2. Stop</h1></div><p>Stop it.</p>',
        "Manual:\n  Manual: Words.\n  1. Start #1: Start it.\n  2. Stop #2: Stop it.",
    ),
    "groff": (
        "pic-6.html",
        '<hr>[ <a href="p5.html">prev</a> | <a href="p7.html">next</a> | <a href="pic.html">top</a> ]<hr><h2>6. Objects<a name="6. Objects"></a></h2><p>Draw.</p>',
        "6. Objects #6. Objects: Draw.",
    ),
    "DocBook": (
        "Acme Book",
        '<table class="nav"><tr><td><a accesskey="p" href="a.html"><img alt="Prev" src="p.png"></a></td><td><a accesskey="u" href="b.html"><img alt="Up"></a></td>'
        '<th>Acme Documentation</th></tr></table><div class="book"><div class="titlepage"><div><h1 class="title"><a name="book"></a>Acme Book</h1></div>'
        '<div><div class="author"><h3 class="author">Jane Doe</h3></div></div></div><p>Read it from the first chapter to the last one, then try.</p></div>',
        "Acme Book #book: Jane Doe / Read it from the first chapter to the last one, then try.",
    ),
    "OTP": (
        "Erlang -- timer",
        '<div class="topbar"><h1 id="timer">timer</h1></div><div id="content"><h1>timer</h1><h3 id="m">Module</h3><p>Timers.</p></div>',
        "timer #timer:\n  Module #m: Timers.",
    ),
    "gi-docgen": (
        "Gtk.Button.new",
        '<section id="main"><header><h3>Constructor</h3><h1><a href="index.html">Gtk</a><a href="b.html">Button</a><span class="sep"></span>new</h1></header>'
        '<h4 id="d">Description</h4><p>Makes a button.</p></section>',
        "Gtk.Button.new:\n  Description #d: Makes a button.",
    ),
    "doxygen": (
        "Acme: Box Class Reference",
        '<div class="header"><div class="headertitle"><div class="title">Box Class Reference</div></div></div><div class="contents"><p>A box.</p>'
        '<h2 class="groupheader">Member Function Documentation</h2><a id="a1"></a><h2 class="memtitle"><span class="permalink"><a href="#a1">&#9670;</a></span>open()</h2>'
        '<div class="memitem"><p>Opens it.</p></div><a id="a2"></a><h2 class="memtitle"><span class="permalink"><a href="#a2">&#9670;</a></span>close()</h2><p>Closes it.</p></div>',
        "Box Class Reference: A box.\n  Member Function Documentation:\n    open() #a1: Opens it.\n    close() #a2: Closes it.",
    ),
    "crystal": (
        "enum Color",
        '<h1>enum Color</h1><p>A color.</p><h2 id="m">Members</h2><dl><dt id="R">Red = 1</dt><dt id="G">Green = 2</dt></dl>',
        "enum Color: A color.\n  Members #m: Red = 1 / Green = 2",
    ),
    "nested in itself": (
        "Acme",
        '<h1>Acme</h1><p>Words.</p><h2 id="a">Hello</h2><h3 id="b">Hello</h3><p>World.</p>',
        "Acme: Words.\n  Hello #a: World.",
    ),
    "old javadoc": (
        "Box (Acme API)",
        '<div class="topNav"><ul class="navList"><li><a href="o.html">Overview</a></li><li>Class</li></ul></div><div class="subNav"><ul><li>Prev Class</li></ul></div>'
        '<div class="header"><div class="subTitle">com.acme</div><h2 title="Class Box" class="title">Class Box</h2></div><div class="contentContainer">'
        '<div class="block">A box of things.</div><a name="open--"><!-- --></a><h4>open</h4><pre>void open()</pre></div><div class="bottomNav"><ul><li>Class</li></ul></div>',
        "Class Box: A box of things.\n  open #open--: void open()",
    ),
    "rustdoc": (
        "Box in acme - Rust",
        '<main><h1>Struct Box</h1><p>A box.</p><h2 id="i">Implementations<a href="#i" class="anchor">§</a></h2><details open><summary><section id="impl-Box">'
        '<a class="src rightside" href="s.html">Source</a><a href="#impl-Box" class="anchor">§</a><h3>impl Box</h3></section></summary><p>Its own.</p></details></main>',
        "Struct Box: A box.\n  Implementations #i:\n    impl Box #impl-Box: Its own.",
    ),
    "YARD": (
        "Class: Box",
        '<h1>Class: Box</h1><p>A box.</p><h2>Methods <small><a href="#" class="summary_toggle">collapse</a></small></h2><table class="source_code"><tr>'
        '<td><pre class="lines">\n12\n13</pre></td><td><pre class="code">def open\nend</pre></td></tr></table>',
        "Class: Box: A box.\n  Methods: def open / end",
    ),
    "eyebrow": (
        "Start - Acme",
        '<div id="content-area"><header><div><div class="eyebrow">Basics</div><div><h1>Start</h1></div></div><p>In five minutes.</p></header><h2 id="r">Run</h2><p>Run it.</p></div>',
        "Start: In five minutes.\n  Run #r: Run it.",
    ),
    "GitHub wiki": (
        "Install · acme/acme Wiki",
        '<main><h1>Install</h1><div id="wiki-body"><div class="markdown-heading"><h2>With npm</h2><a id="user-content-with-npm" class="anchor" href="#with-npm"></a></div><p>Run npm.</p></div></main>',
        "Install:\n  With npm #user-content-with-npm: Run npm.",
    ),
    "Word": (
        "Ops guide",
        '<p class=MsoTitle>Ops guide</p><p class=MsoToc1><a href="#_Toc1">Start 1</a></p><p>An introduction that is long enough to be seen as text.</p><h1><a name="_Toc1">Start</a></h1><p>Go.</p>',
        "Ops guide: An introduction that is long enough to be seen as text.\n  Start #_Toc1: Go.",
    ),
    "R Markdown": (
        "Dashboards",
        '<div id="header"><h1 class="title">Dashboards</h1><h4 class="author">Jo Doe</h4><h4 class="date">2024-01-01</h4></div><div id="a" class="section level2"><h2>A</h2><p>One.</p></div>',
        "Dashboards: Jo Doe / 2024-01-01\n  A #a: One.",
    ),
    "tab labels": (
        "Start",
        '<main><h1>Start</h1><p>Take one:</p><div class="vp-code-group"><div class="tabs"><input type="radio"><label>npm</label><input type="radio"><label>yarn</label></div>'
        "<pre>npm i acme</pre><pre>yarn add acme</pre></div></main>",
        "Start: Take one: / npm i acme / yarn add acme",
    ),
    "callout": (
        "Start",
        '<main><h1>Start</h1><div class="callout"><div class="callout-title-container"><span class="screen-reader-only">Note</span>Note</div><p>Mind it.</p></div></main>',
        "Start: Note / Mind it.",
    ),
    "Jupyter Book": (
        "Run tasks",
        '<main><div id="jb-print-docs-body"><h1>Run tasks</h1></div><section id="run-tasks"><h1>Run tasks<a class="headerlink" href="#run-tasks">#</a></h1><p>Run them.</p></section></main>',
        "Run tasks #run-tasks: Run them.",
    ),
    "man page": ("Acme manual - run(8)", "<pre>RUN(8)\n\nNAME\n  run it</pre>", "run(8): RUN(8) /  / NAME /   run it"),
}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_gives_its_writers_tree(kind: str) -> None:
    title, body, tree = PAGES[kind]
    url = "https://docs.example.test/man/run.8.html" if kind == "man page" else HERE
    assert drawn(page_of(body, title, url)) == tree


LINKS = {
    "index letter": '<ul><li><a href="a.html#x">x (class)</a></li><li><a href="b.html#y">y()</a></li></ul>',
    "see also": '<p>See also <a href="a.html">Installing the server</a> and <a href="b.html">Running it</a>.</p>',
    "children": '<ul><li><a href="a.html">Installing</a></li><li><a href="b.html">Running</a></li></ul>',
    "index table": '<table><tr><td><a href="a.html">autopoint</a>:</td><td><a href="b.html">13.6 Invoking autopoint</a></td></tr></table>',
    "inherited": '<code><a href="o.html#c">clone</a>, <a href="o.html#e">equals</a>, <a href="o.html#f">finalize</a></code>',
}
TEXT = {
    "prose": '<p>Set <a href="a.html">timeout</a> to the seconds that a request may take.</p>',
    "children with words": '<ul><li><a href="a.html">Install</a>: how to put the server on a machine</li></ul>',
    "code": "<pre>run --fast</pre><p><a href='a.html'>More</a></p>",
    "no links": "<p>Words.</p>",
}


@pytest.mark.parametrize("kind", [*LINKS, *TEXT])
def test_a_section_of_links_is_marked(kind: str) -> None:
    page = page_of(f"<main><h1>Top</h1><p>Words.</p><h2>Part</h2>{(LINKS | TEXT)[kind]}</main>")
    assert [node.links_only for node in page.nodes] == [False, kind in LINKS]


TRAILS = {
    "menu bar": '<nav class="navbar"><ul class="nav"><li class="dropdown"><a href="#">Resources</a><ul><li><a href="/guide/page.html">Page</a></li></ul></li></ul></nav>',
    "label of the list": '<nav><h3>Table of Contents</h3><ul><li>Before<ul><li><a href="/b.html">Top of page</a></li></ul></li><li>Page<ul><li><a href="/guide/page.html">Top of page</a></li></ul></li></ul></nav>',
    "heading": '<main><h1>Page</h1><h2 class="breadcrumb"><a href="/a.html">A</a> &gt; <a href="/b.html">B</a> &gt; C</h2></main>',
    "section": '<main><h1>Page</h1><div id="breadcrumbs"><h2>Breadcrumbs</h2><p>See <a href="/a.html">the bar</a>.</p></div></main>',
    "example": '<main><h1>Page</h1><nav aria-label="breadcrumb"><ol><li><a href="#">Home</a></li><li><a href="#">Library</a></li></ol></nav></main>',
}


@pytest.mark.parametrize("kind", TRAILS)
def test_what_only_looks_like_a_trail_is_none(kind: str) -> None:
    page = page_of(f"{TRAILS[kind]}<h1>Page</h1><p>Words.</p>")
    assert [crumb.title for crumb in page.breadcrumb] == []


@pytest.mark.parametrize("name", ["pagination-centered", "breadcrumb", "footer", "navbar-text"])
def test_a_cell_keeps_its_words_whatever_its_class(name: str) -> None:
    table = f'<table><tr><th>Option</th><th>Default</th></tr><tr><td class="{name}">-F</td><td><div class="pagination-right">p</div></td></tr></table>'
    assert page_of(f"<h1>Top</h1><p>Words.</p>{table}").nodes[0].text.endswith("-F\tp")
