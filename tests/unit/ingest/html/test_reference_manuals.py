"""Reference manuals as their generators write them, each with neighbours that look alike and mean something else."""

from __future__ import annotations

import pytest

from ingest.html.parse import parse
from tests.unit.ingest.html.test_generators import HERE, drawn, page_of

TOC = "".join(f'<div class="toc-h2"><a class="sec" href="#s{n}">{n} Part {n}</a></div>' for n in (1, 2, 3))
PARTS = "".join(f'<h2 id="s{n}">{n} Part {n}</h2><p>Text {n}.</p>' for n in (1, 2))
MENU = "".join(
    f"<li><a href='{name}.html'>{name.title()} of it all</a></li>" for name in "start use api faq news".split()
)
TEXT = "<p>The library asks for memory by functions of your own, so that a debugger can count what is given back, or not.</p>"
MAN2HTML_END = "<DT><DD>\n<P>\n"

MANUALS = {
    "SWI-Prolog: the contents have a heading above those of the text": (
        "Tables for Prolog",
        f'<div class="abstract"><p>About tables.</p></div><h1><a id="document-contents">Table of Contents</a></h1><div class="toc">{TOC}</div>{PARTS}',
        "Tables for Prolog: About tables.\n  1 Part 1 #s1: Text 1.\n  2 Part 2 #s2: Text 2.",
    ),
    "a chapter with parts that is called contents": (
        "Parcels",
        "<h1>Parcels</h1><p>Words.</p><h2 id=c>Contents</h2><h3 id=w>What may be in it</h3><p>Books.</p>",
        "Parcels: Words.\n  Contents #c:\n    What may be in it #w: Books.",
    ),
    "a title element that ends with a section's number": (
        "Acme 9.0 Manual: Section A.59",
        '<h2 id="sec:yall"><a id="sec:A.59"><span>A.59</span> <span>library(yall)</span></a></h2><p>Lambdas.</p><h3 id=x>A.59.1 More</h3><p>So.</p>',
        "A.59 library(yall) #sec:yall: Lambdas.\n  A.59.1 More #x: So.",
    ),
    "a title element that ends with another number": (
        "Acme Manual: Section 4",
        "<h2 id=a>3 Start</h2><p>One.</p><h2 id=b>4a Go</h2><p>Two.</p>",
        "Acme Manual: Section 4:\n  3 Start #a: One.\n  4a Go #b: Two.",
    ),
    "man2html: terms without words go on with the definition before": (
        "srun",
        "<H1>srun</H1><H2 id=o>OPTIONS</H2><DL COMPACT><dt><B>--bind</B>=<I>how</I><a class=l id=OPT_bind href='#OPT_bind'></a></dt><dd>"
        f"How tasks are bound.\n{MAN2HTML_END}On some machines only.<DL COMPACT>{MAN2HTML_END}<dt><B>g</B><a id=OPT_g href='#OPT_g'></a></dt>"
        f"<dd>By card.\n{MAN2HTML_END}</DL>{MAN2HTML_END}<dt><B>-A</B><a id=OPT_A href='#OPT_A'></a></dt><dd>Who pays.\n{MAN2HTML_END}</DL>"
        "<H2 id=s>SEE ALSO</H2><p>sbatch</p>",
        "srun:\n  OPTIONS #o:\n    --bind=how #OPT_bind: How tasks are bound. / On some machines only.\n      g #OPT_g: By card.\n"
        "    -A #OPT_A: Who pays.\n  SEE ALSO #s: sbatch",
    ),
    "terms without addresses among others stay text": (
        "Terms",
        "<h1>Terms</h1><dl><dt id=a>A</dt><dd>One.</dd><dt>B</dt><dd>Two.</dd></dl>",
        "Terms: A / One. / B / Two.",
    ),
    "OTP: the types of a function rank above the function": (
        "lists",
        "<h1>lists</h1><h3 id=e>Exports</h3><div><article class=func><h4 id=all-2>all(P, L)</h4><div><h3 class=t>Types</h3><div>P = fun()</div></div>"
        "</article><article class=func><h4 id=any-2>any(P, L)</h4><h3 class=t>Types</h3><div>L = [T]</div></article></div><h3 id=s>See also</h3><p>Sets.</p>",
        "lists:\n  Exports #e:\n    all(P, L) #all-2:\n      Types: P = fun()\n    any(P, L) #any-2:\n      Types: L = [T]\n  See also #s: Sets.",
    ),
    "ExDoc: every section has an h1": (
        "Enum",
        "<h1>Enum</h1><section id=moduledoc><p>Lists.</p></section><section id=functions><h1 class=s><a href='#functions'></a><span>Functions</span></h1><div>"
        "<section class=detail id='all?/1'><div><h1 class=signature>all?(e)</h1></div><section class=docstring><p>All.</p><h2 id=x>Examples</h2><p>So.</p></section></section>"
        "<section class=detail id='any?/1'><div><h1 class=signature>any?(e)</h1></div><p>Any.</p></section></div></section>",
        "Enum:\n  Enum: Lists.\n  Functions #functions:\n    all?(e) #all?/1: All.\n      Examples #x: So.\n    any?(e) #any?/1: Any.",
    ),
    "sections side by side, each with an h1": (
        "Parts",
        "<section id=a><h1>Pumps</h1><p>One.</p></section><section id=b><h1>Seals</h1><p>Two.</p><section id=c><h2>Rings</h2><p>So.</p></section></section>",
        "Parts:\n  Pumps #a: One.\n  Seals #b: Two.\n    Rings #c: So.",
    ),
    "an article that begins with too small a heading": (
        "Guide",
        "<h1>Guide</h1><article><h3 id=a>In short</h3><p>One.</p><h2 id=b>Set up</h2><p>Two.</p></article>",
        "Guide:\n  In short #a: One.\n  Set up #b: Two.",
    ),
    "articles side by side": (
        "News",
        "<h1>News</h1><article><h2 id=a>May</h2><p>One.</p><h3 id=x>More</h3><p>So.</p></article><article><h2 id=b>June</h2><p>Two.</p></article>",
        "News:\n  May #a: One.\n    More #x: So.\n  June #b: Two.",
    ),
    "Haddock: every signature is a section": (
        "Text.Pretty",
        "<div id=package-header><span class=caption>pretty-1.1</span></div><div id=content><div id=module-header><p class=caption>Text.Pretty</p></div>"
        "<div id=interface><a href='#g:1' id='g:1'><h1>Documents</h1></a><div class=top><p class=src><span class=keyword>class</span> <a id='t:Doc' class=def>Doc</a>"
        " a <a href='src/T.html#Doc' class=link>Source</a> <a href='#t:Doc' class=selflink>#</a></p><div class=doc><p>A set of layouts.</p></div>"
        "<div class='subs methods'><p class=caption>Methods</p><p class=src><a id='v:fits' class=def>fits</a> :: a -&gt; Bool <a href='src/T.html#fits' class=link>Source</a></p></div>"
        "<div class='subs instances'><h4 class=instances>Instances</h4><p class=src><a href='o.html#v:fmap'>fmap</a> :: b</p></div></div>"
        "<div class=top><p class=src><a id='v:char' class=def>char</a> :: Char <a href='src/T.html#char' class=link>Source</a> <a href='#v:char' class=selflink>#</a></p>"
        "<div class=doc><p>One letter.</p></div></div><a href='#g:2' id='g:2'><h1>Words</h1></a><p>None.</p></div></div>",
        "Text.Pretty:\n  Documents #g:1:\n    class Doc a #t:Doc: A set of layouts. / Methods\n      fits :: a -> Bool #v:fits:\n      Instances: fmap :: b\n"
        "    char :: Char #v:char: One letter.\n  Words #g:2: None.",
    ),
    "paragraphs with an address each are text": (
        "RFC 9",
        '<section id="section-1"><h2 id="name-a">1. Abstract</h2><p id="section-1-1" class=src>One.<a href="#section-1-1" class="pilcrow">¶</a></p>'
        '<p id="section-1-2" class=src>Two.<a href="#section-1-2" class="pilcrow">¶</a></p></section>',
        "RFC 9:\n  1. Abstract #name-a: One. / Two.",
    ),
    "libxml2: a page laid out by tables": (
        "Memory Management",
        "<table><tr><td><a href='http://gnome.test/'><img src=l.png alt='Logo'></a></td><td><table><tr><td><h1>The parser of Acme</h1><h2>Memory Management</h2>"
        f"</td></tr></table></td></tr></table><table><tr><td width=200><table><tr><td><b>Menu</b></td></tr><tr><td><ul>{MENU}</ul></td></tr></table></td>"
        f"<td><table><tr><td>{TEXT}<h3 id=a>How</h3>{TEXT}</td></tr></table></td></tr></table>",
        f"Memory Management: {TEXT[3:-4]}\n  How #a: {TEXT[3:-4]}",
    ),
    "a table of links and what they are": (
        "Parts",
        f"<h1>Parts</h1><p>All parts.</p><table><tr><td><ul>{MENU}</ul></td><td>{TEXT}</td></tr><tr><td><a href='x.html'>X</a></td><td>{TEXT}</td></tr></table>",
        "Parts: All parts. / Start of it all Use of it all Api of it all Faq of it all News of it all\t"
        f"{TEXT[3:-4]} / X\t{TEXT[3:-4]}",
    ),
    "a picture beside the text": (
        "Parts",
        f"<h1>Parts</h1><table><tr><td><a href=big.png><img src=small.png alt='The pump'></a></td><td>{TEXT}</td></tr></table>",
        f"Parts: The pump\t{TEXT[3:-4]}",
    ),
    "the site's name as h1, with words of its own": (
        "Memory",
        "<h1>Acme</h1><p>Acme parses.</p><h2>Memory</h2><p>It is counted.</p>",
        "Acme: Acme parses.\n  Memory: It is counted.",
    ),
    "ocamldoc: every value is a section, a module is where its link leads": (
        "Batteries",
        "<link title='Index of values' rel=Appendix href='i.html'><h1>Module <a href='type_Char.html'>Char</a></h1><hr>"
        "<pre><span id=MODULEChar><span>module</span> Char</span>: <code>sig</code> <a href='Char.html'>..</a> <code>end</code></pre><div class='info module top'>"
        "<p>Letters.</p></div><h2 id='1_Codes'>Codes</h2><pre><span id=VALcode><span>val</span> code</span> : <code>char -&gt; int</code></pre>"
        "<div class=info><p>The code of it.</p><pre><code>code 'a'</code></pre></div><pre><span id=TYPEt><span>type</span> t</span> = <code>char</code></pre>",
        "Module Char: module Char: sig .. end / Letters.\n  Codes #1_Codes:\n    val code : char -> int #VALcode: The code of it. / code 'a'\n    type t = char #TYPEt:",
    ),
    "odoc": (
        "Char (acme.Char)",
        "<meta name=generator content='odoc 2.4'><header class=odoc-preamble><h1>Module <code><span>Char</span></code></h1><p>Letters.</p></header><div class=odoc-content>"
        "<div class=odoc-spec><div class='spec value anchored' id=val-code><a href='#val-code' class=anchor></a><code><span>val</span> code : char -&gt; int</code></div>"
        "<div class=spec-doc><p>The code of it.</p></div></div></div>",
        "Module Char: Letters.\n  val code : char -> int #val-code: The code of it.",
    ),
    "scaladoc: types in a signature name other pages": (
        "Seq",
        "<div id=definition><p id=owner><a href='p.html' name=scala>scala</a>.<a href='q.html' name='scala.c'>c</a></p><h1>Seq</h1><h3><span class=morelinks><div>Related Doc: "
        "<a href='q.html' name='scala.c'>package c</a></div></span></h3></div><div id=comment><p>A row.</p></div><div id=mbrsel><div id=order><span>Ordering</span><ol><li>Alphabetic</li>"
        "</ol></div></div><h3 id=values>Members</h3><ol><li><a id='count:Int'></a><h4 class=signature><span>def</span> <span>count: <a href='Int.html' class=extype name='scala.Int'>Int</a>"
        "</span></h4><p>How many.</p></li></ol>",
        "Seq #definition: A row.\n  Members #values:\n    def count: Int #count:Int: How many.",
    ),
    "qdoc: the bar above the title is a trail": (
        "QBit Class | Qt Core",
        "<div class=header><div class=navigationbar><ul><li>Qt 5</li><li><a href='core.html'>Qt Core</a></li><li>QBit</li><li id=v><a href='core.html'>Qt 5.1 Reference</a></li></ul>"
        "</div></div><div class='content mainContent'><h1 class=title>QBit Class</h1><p>Holds bits.</p><a name=pub></a><h2 id=pub>Public</h2><p>None.</p></div>",
        "QBit Class: Holds bits.\n  Public #pub: None.",
    ),
    "LDoc: the page's menu has the project's title": (
        "Reference",
        f"<div id=main><div id=navigation><br><h1>Penlight</h1><ul>{MENU}</ul></div><div id=content><h1>Module <code>pl.List</code></h1><p>Python-style lists.</p></div></div>",
        "Module pl.List: Python-style lists.",
    ),
    "texinfo: a function whose category is empty": (
        "Files",
        "<h2 id=F>Files</h2><dl class=def><dt id=index-stat><span class=category>: </span><span><strong>stat</strong> <em>(file)</em></span></dt><dd><p>Asks.</p></dd></dl>",
        "Files #F:\n  stat (file) #index-stat: Asks.",
    ),
    "an index whose definitions are links": (
        "Index",
        "<h1>Index</h1><dl>" + "".join(f"<dt>option {n}</dt><dd><a href='c{n}.html'>{'Where the option is told of. ' * 3}</a></dd>" for n in range(40)) + "</dl>",
        "Index: " + " / ".join(f"option {n} / {('Where the option is told of. ' * 3).strip()}" for n in range(40)),
    ),
    "mandoc: the line above and below the text is the system's": (
        "LS(1)",
        "<table class=head><tr><td class=head-ltitle>LS(1)</td><td class=head-vol>General Commands</td><td class=head-rtitle>LS(1)</td></tr></table><div class=manual-text>"
        "<section class=Sh><h1 class=Sh id=NAME><a class=permalink href='#NAME'>NAME</a></h1><p class=Pp>ls — lists</p></section><section class=Sh><h1 class=Sh id=OPTIONS>"
        "<a class=permalink href='#OPTIONS'>OPTIONS</a></h1><dl class=Bl-tag><dt id=A><a class=permalink href='#A'><code class=Fl>-A</code></a></dt><dd>All.</dd></dl></section></div>"
        "<table class=foot><tr><td class=foot-date>July 5, 2024</td><td class=foot-os>OpenBSD</td></tr></table>",
        "LS(1):\n  NAME #NAME: ls — lists\n  OPTIONS #OPTIONS:\n    -A #A: All.",
    ),
    "mandoc: the same line in spans": (
        "LS(1)",
        "<div class=head role=doc-pageheader><span class=head-ltitle>LS(1)</span> <span class=head-vol>General Commands</span></div><main class=manual-text><section class=Sh>"
        "<h2 class=Sh id=NAME>NAME</h2><p class=Pp>ls</p></section></main><div class=foot role=doc-pagefooter><span class=foot-date>July 5, 2024</span></div>",
        "LS(1):\n  NAME #NAME: ls",
    ),
    "groff: links to the parts stand loose under the title, empty cells set in": (
        "LS",
        "<h1 align=center>LS</h1>\n<a href='#NAME'>NAME</a><br>\n<a href='#OPTIONS'>OPTIONS</a><br>\n<hr>\n<h2>NAME\n<a name=NAME></a>\n</h2><p>ls lists</p><h2>OPTIONS\n<a name=OPTIONS></a></h2>"
        "<table><tr><td width=11%></td><td><p><b>-l</b></p></td><td></td><td><p>long</p></td></tr></table><hr>",
        "LS:\n  NAME #NAME: ls lists\n  OPTIONS #OPTIONS: -l\tlong",
    ),
    "roffit: an address stands at the end of the paragraph before": (
        "sms man page",
        "<p class=level0><a name=NAME></a><h2 class=nroffsh>NAME</h2>\n<p class=level0>sms - Converts. <a name=SEE></a><h2 class=nroffsh>SEE ALSO</h2>\n<p class=level0>mail\n<p class=level0>"
        "<a name='-c'></a><span class=nroffip>-c &lt;file&gt;</span> \n<p class=level1>Where. \n<p class=level0><a name='-d'></a><span class=nroffip>-d</span>\n<p class=level1>Debug.\n"
        "<p class=roffit>\n This HTML page was made with <a href='r'>roffit</a>.\n",
        "sms man page:\n  NAME #NAME: sms - Converts.\n  SEE ALSO #SEE: mail\n    -c <file> #-c: Where.\n    -d #-d: Debug.",
    ),
    "an index entry at the end of a paragraph is no address of the next heading": (
        "Pumps",
        "<h1>Pumps</h1><p>Words. <a name='ix-seal'></a></p><h2>Valves</h2><p>So.</p>",
        "Pumps: Words.\n  Valves: So.",
    ),
    "SWI-Prolog: what a predicate promises stands beside its name": (
        "Lists",
        "<h2 id=l>Lists</h2><dl><dt><span class=pred-tag>[det]</span><a id='append/2'><b>append</b>(+L)</a></dt><dd>Joins.</dd><dt><span style='float: right'>[semidet]</span><a id='last/2'>"
        "<b>last</b>(+L)</a></dt><dd>The last.</dd></dl>",
        "Lists #l:\n  append(+L) #append/2: Joins.\n  last(+L) #last/2: The last.",
    ),
    "Slurm: questions that the contents name, each in one paragraph with its answer": (
        "FAQ",
        "<h1>FAQ</h1><h2>For Users</h2><ul><li><a href='#comp'>Why so slow?</a></li><li><a href='#lim'>Why so big?</a></li></ul><h2>For Users</h2><p><a name=comp><b>Why so slow?</b></a><br>"
        "Because of the nodes.</p><p>They wait.</p><p><a id=lim><b>Why so big?</b></a>\nBecause of limits.</p><p><a id=x><b>Nothing</b></a> names this.</p>",
        "FAQ:\n  For Users:\n    Why so slow? #comp: Because of the nodes. / They wait.\n    Why so big? #lim: Because of limits. / Nothing names this.",
    ),
    "two sections of one title, one of them empty": (
        "Parts",
        "<h1>Parts</h1><h2 id=a>Pumps</h2><h2 id=b>Pumps</h2><p>So.</p>",
        "Parts:\n  Pumps #a:\n  Pumps #b: So.",
    ),
    "OTP: the description follows the box of the types": (
        "lists",
        "<h1>lists</h1><h3 id=e>Exports</h3><article class=func><h4 id=all-2>all(P)</h4><div class=fun-types><h3>Types</h3><div>P = fun()</div></div><div class=fun-desc><p>Whether all do.</p></div>"
        "</article><h3 id=s>See also</h3><p>Sets.</p>",
        "lists:\n  Exports #e:\n    all(P) #all-2: Whether all do.\n      Types: P = fun()\n  See also #s: Sets.",
    ),
    "phpDocumentor: every page is called Documentation": (
        "Documentation",
        "<main class=phpdocumentor><article><h2 class=phpdocumentor-content__title>Pump <span class=phpdocumentor-element__package>in package <ul><li><a href=p.html>Water</a></li></ul></span></h2>"
        "<p>Moves water.</p><section><h3 id=methods>Methods <a href='#methods' class=headerlink></a></h3><article><h4 id=method_run>run()</h4><p>Starts it.</p></article></section></article></main>",
        "Pump: Moves water.\n  Methods #methods:\n    run() #method_run: Starts it.",
    ),
    "DocFX: a sign is left between links that are none": (
        "Class Pump",
        "<article><h1 id=Pump>Class Pump</h1><h3 id=methods>Methods</h3><span class='small pull-right'><span class=divider>|</span><a href=n>Improve this Doc</a></span><span><a href=v>View Source</a></span>"
        "<a id='Run_'></a><h4 id=Run>Run()</h4><p>Starts it.</p></article>",
        "Class Pump #Pump:\n  Methods #methods:\n    Run() #Run: Starts it.",
    ),
    "TypeDoc: a tag beside the name": (
        "Pump | acme",
        "<div class=col-content><div class=tsd-page-title><h1>Class Pump<code class='tsd-tag'>Abstract</code></h1></div><section><p>Moves water up to the second floor of the house.</p></section></div>",
        "Class Pump: Moves water up to the second floor of the house.",
    ),
    "GAPDoc: the contents lead to the page by its file's name, and a line to every chapter": (
        "10 Pumps",
        "<div class=chlinktop><span>Goto Chapter: </span><a href='chap0.html'>Top</a>  <a href='chap1.html'>1</a>  <a href='chap2.html'>2</a>  <a href='chapInd.html'>Ind</a></div>"
        "<div><a href='chap0.html'>[Top of Book]</a>&nbsp; <a href='chap9.html'>[Previous Chapter]</a></div><p id=mathjaxlink><a href='chap10_mj.html'>[MathJax on]</a></p><p><a id=X8 name=X8></a></p>"
        "<div class=ChapSects><a href='page.html#X8'>10 <span>Pumps</span></a><div><a href='page.html#X7'>10.1 Running them</a><a href='page.html#X6'>10.2 Stopping them</a></div></div>"
        "<h3>10 <span>Pumps</span></h3><p><a id=X7 name=X7></a></p><h4>10.1 Running them</h4><p>So.</p><p><a id=X6></a></p><h4>10.2 Stopping them</h4><p>So.</p>",
        "10 Pumps #X8:\n  10.1 Running them #X7: So.\n  10.2 Stopping them #X6: So.",
    ),
    "Scribble: every definition is a section": (
        "26 Drawing",
        "<h3><a name='(part._draw)'></a>26 Drawing</h3><p>All of it.</p><div class=SIntrapara><blockquote class=SVInsetFlow><table class='boxed RBoxed'><tr><td><blockquote class=SubFlow>"
        "<div class='RBackgroundLabel SIEHidden'><div><p>procedure</p></div></div><p class=RForeground><span class=RktPn>(</span><a name='(def._pen)'></a><span class=RktSym><a href='#(def._pen)' class=RktValDef>"
        "pen</a></span> width<span class=RktPn>)</span> → void?</p></blockquote></td></tr></table></blockquote></div><div class=SIntrapara>Takes a pen.</div>",
        "26 Drawing #(part._draw): All of it.\n  (pen width) → void? #(def._pen): Takes a pen.",
    ),
    "Publican: links with keys around the text, in any language": (
        "A.4. Knoppix",
        "<div id=banner><a href='http://acme.test/get/'><span>Download the ebook</span></a></div><p id=title><a href='http://acme.test'><img alt='Product Site' src=l.png></a><a href=i.html><img alt='Site' "
        "src=r.png></a></p><ul class='docnav top'><li><a accesskey=p href=a.html><strong>Zurück</strong></a></li><li>Das Handbuch</li><li><a accesskey=n href=b.html><strong>Weiter</strong></a></li></ul>"
        "<div class=section><h2 class=title><a id=knoppix></a>A.4. Knoppix</h2><div class=para>A live system. <div class=url>→ <a href='http://k.test/'>http://k.test/</a></div></div></div>"
        "<ul class=docnav><li><a accesskey=p href=a.html><strong>Zurück</strong>A.3. Mint</a></li><li><a accesskey=n href=b.html><strong>Weiter</strong>A.5. Siduction</a></li></ul>",
        "A.4. Knoppix #knoppix: A live system. / → http://k.test/",
    ),
    "tex4ht: a line of ways, and a number in the title": (
        "Pumps",
        "<div class=crosslinks><p>[<a href='b.html'>next</a>] [<a href='a.html'>prev</a>] [<a href='a.html#tailx'>prev-tail</a>] [<a href='#tailx'>tail</a>] [<a href='i.html#x'>up</a>] </p></div>"
        "<h2 class=chapterHead><span class=titlemark>Chapter 2</span><br><a id=x4></a>Pumps</h2><p>Words.</p><h3><span>2.1 </span> <a id=x5></a>Seals</h3><p>So.</p>",
        "Chapter 2 Pumps #x4: Words.\n  2.1 Seals #x5: So.",
    ),
    "Doxygen until 1.8.10: a member begins with its signature": (
        "Acme: Pump Class Reference",
        "<div class=header><div class=headertitle><div class=title>Pump Class Reference</div></div></div><div class=contents><p>Moves water.</p><h2 class=groupheader>Functions</h2>"
        "<a class=anchor id=a1></a><div class=memitem><div class=memproto><table class=memname><tr><td class=memname>int run</td><td>(int n)</td></tr></table></div><div class=memdoc><p>Starts it.</p></div>"
        "</div></div>",
        "Pump Class Reference: Moves water.\n  Functions:\n    int run (int n) #a1: Starts it.",
    ),
    "Docsy: a question under a heading of its own, and both answers to it": (
        "Pumps",
        "<main><h1>Pumps</h1><p>So.</p><h2 class='feedback--title'>Feedback</h2><p class='feedback--question'>Was this page helpful?</p><button>Yes</button><p class='feedback--response'>Glad to hear it! Please "
        "<a href=i>tell us how we can improve</a>.</p><p class='feedback--response'>Sorry to hear that. Please <a href=i>tell us how we can improve</a>.</p></main>",
        "Pumps: So.",
    ),
    "letters of an index lead into the page": (
        "Index",
        "<h1>Index</h1><div><a href='#a'>A</a> <a href='#b'>B</a> <a href='#c'>C</a></div><p>pump, 3</p>",
        "Index: A B C / pump, 3",
    ),
    "DocBook: callouts are pictures": (
        "Run",
        "<h1 id=r>Run</h1><pre class=programlisting>run \\ <a name=co1></a><img src='images/callouts/1.png' alt=1>\n  -p 80</pre>",
        "Run #r: run \\ /   -p 80",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "<table><tr><td><img alt='Acme Libraries' src=a.png></td><td><a href='i.html'>Home</a></td><td><a href='l.html'>Libraries</a></td><td><a href='f.html'>FAQ</a></td></tr></table>",
        "<table class=bar><tr><td><b>[<a href='i.html'>Overview</a>][<a href='c.html'>Constants</a>][<a href='t.html'>Types</a>]</b></td><td>Of <a href='u.html'>#fcl</a></td></tr></table>",
        "<ul><li><a href='i.html'>Home</a></li><li><a href='d.html'>Downloads</a></li><li><a href='e.html'>English</a></li></ul>",
        "<p><a href='de.html'>Deutsch</a> | <a href='fr.html'>Français</a></p>",
        "<table><tr><td><a href='toc.html'>Back to Table of Contents</a></td><td><a href='n.html'><b>Next:</b> Graphics</a></td></tr></table>",
        "[ <a href='p.html'>top</a> ]",
    ],
)
def test_what_leads_elsewhere_before_the_title_is_no_text(line: str) -> None:
    page = page_of(f"{line}<h1>Pumps</h1><p>They move water.</p>", "Pumps")
    assert drawn(page) == "Pumps: They move water."


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("<table><tr><td><a href='i.html'>Home Page</a></td><td><a href='s.html'>Site Map</a></td></tr></table>", False),
        ("<ul><li><a href='t.html'>Table of Contents</a></li><li><a href='p.html'>Previous Chapter</a></li></ul>", False),
        ("[ <a href='p.html'>top</a> ]", False),
        ("<p><a href='v.html'>Valves</a> <a href='s.html'>Seals</a></p>", True),
        ("<p>Home of the <a href='v.html'>valves</a></p>", True),
        ("<p><a href='#next'>next</a></p>", True),
        ("<ul><li><a href='iter.next.html'>next</a></li><li><a href='iter.last.html'>last</a></li></ul>", True),
    ],
)  # fmt: skip
def test_links_after_the_text_are_the_sites_only_where_they_say_so(line: str, kept: bool) -> None:
    page = page_of(f"<h1>Pumps</h1><p>They move water.</p>{line}<h2>Next</h2><p>So.</p>", "Pumps")
    assert (page.nodes[0].text != "They move water.") is kept


def test_links_before_a_heading_that_is_not_the_title_are_text() -> None:
    chapters = "<ul><li><a href='a.html'>Pumps</a></li><li><a href='b.html'>Valves</a></li></ul>"
    assert page_of(f"{chapters}<h2>Notes</h2><p>So.</p>", "Acme").nodes[0].text == "Pumps\nValves"


def test_a_bar_above_the_title_is_a_trail_where_it_ends_in_the_page() -> None:
    bar = (
        "<div class={}><ul><li><a href='core.html'>Core</a></li><li>QBit</li></ul></div><h1>QBit Class</h1><p>Bits.</p>"
    )
    assert [crumb.title for crumb in page_of(bar.format("navigationbar"), "QBit").breadcrumb] == ["Core"]
    assert page_of(bar.format("summary"), "QBit").breadcrumb == ()


def test_a_trail_may_begin_with_the_way_up_and_end_in_a_part_of_the_title() -> None:
    odoc = "<nav class=odoc-nav><a href='u.html'>Up</a> – <a href='a.html'>acme</a> » <a href='l.html'>lib</a> » Pump</nav><h1>Module Pump</h1><p>So.</p>"
    assert [crumb.title for crumb in page_of(odoc, "Pump").breadcrumb] == ["acme", "lib"]
    yard = "<div id=menu><a href='i.html'>Index (P)</a> » <span><a href='Acme.html'>Acme</a></span> » <span class=title>Pump</span></div><h1>Class: Acme::Pump</h1><p>So.</p>"
    assert [crumb.title for crumb in page_of(yard, "Class: Acme::Pump").breadcrumb] == ["Index (P)", "Acme"]


def test_a_package_is_above_its_class_and_words_before_a_trail_are_no_crumb() -> None:
    javadoc = (
        "<div class=header><div class=subTitle>com.acme</div><h2 class=title>Class Pump</h2></div><p>Moves water.</p>"
    )
    assert [crumb.title for crumb in page_of(javadoc, "Pump (Acme API)").breadcrumb] == ["com.acme"]
    wiki = "<div class=breadcrumbs><span>You are here: </span><a href='s.html'>start</a> » <a href='page.html'>pumps</a></div><h1>Pumps</h1><p>So.</p>"
    assert [crumb.title for crumb in page_of(wiki, "pumps").breadcrumb] == ["start"]


def test_an_arrow_before_a_link_is_no_trail() -> None:
    page = page_of("<h2>Pumps</h2><div>→ <a href='https://k.test/x'>https://k.test/x</a></div>", "Pumps")
    assert page.breadcrumb == ()


def test_a_refresh_for_browsers_without_scripts_leads_nowhere_where_the_text_is_here() -> None:
    head = "<!doctype html><title>Pumps</title><noscript><meta http-equiv='refresh' content='0; URL=noscript.html'></noscript>"
    whole = parse(f"{head}<h1>Pumps</h1><p>{'They move water. ' * 30}</p>".encode(), HERE)
    assert whole.skip is None
    stub = parse(f"{head}<p>Loading the page.</p>".encode(), HERE)
    assert stub.skip is not None
    assert stub.skip.reason == "redirect"


def test_a_bar_is_no_separator_in_a_table() -> None:
    page = page_of(
        "<h1>Signs</h1><table><tr><th>Sign</th><th>Means</th></tr><tr><td>|</td><td>or</td></tr></table><p>|</p>",
        "Signs",
    )
    assert page.nodes[0].text == "Sign\tMeans\n|\tor"


@pytest.mark.parametrize(("title", "body", "tree"), MANUALS.values(), ids=MANUALS)
def test_a_manuals_page_gives_its_writers_tree(title: str, body: str, tree: str) -> None:
    assert drawn(page_of(body, title)) == tree
