"""`ritbot index` of something that gives no page: a sentence that says why and what to do, and nothing left behind."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from deploy.commands.documents.index import exit_status, index_sites
from deploy.settings.index import IndexSettings
from deploy.settings.known_sites import known_sites, named_on_command_line
from deploy.settings.root import Settings
from tests.fakes.docsite import Behaviour, DocSite, page, status
from tests.fakes.site import html


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=IndexSettings(folder=tmp_path / "data"))


async def index(settings: Settings, target: str, **given: object) -> tuple[int, str]:
    """The exit status, and what is printed on a terminal of 60 columns, with its lines joined."""
    out = StringIO()
    site = named_on_command_line(settings, known_sites(settings, settings.index.folder), target, given)
    done = await index_sites(settings, [site], Console(file=out, width=60))
    return exit_status(done, asked=1), " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([], "is empty; name the folder of the built HTML"),
        (["a.md", "b/c.MD", "d.pdf"], "holds 2 .md, 1 .pdf and no HTML: build the site first"),
        (["a.rst", "Makefile", ".git/x.html"], "holds 1 .rst, 1 other file and no HTML"),
        (["_static/a.html", "x.png"], "holds 1 HTML file, none of which belongs to it; check include and exclude"),
    ],
)
async def test_a_folder_without_html_says_what_it_saw_and_leaves_nothing(
    settings: Settings, tmp_path: Path, files: list[str], told: str
) -> None:
    folder = tmp_path / "manual"
    folder.mkdir()
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    code, said = await index(settings, str(folder))
    assert (code, told in said) == (3, True), said
    assert not settings.index.folder.exists()


async def test_a_private_address_names_the_option_and_the_setting_once(settings: Settings, docs: DocSite) -> None:
    code, said = await index(settings, docs.url("/"))
    assert code == 3
    assert said.count("--allow-private") == said.count("allow_private = true") == 1
    assert not settings.index.folder.exists()


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (page("%PDF-1.7", content_type="application/pdf"), "is no HTML but application/pdf; start at a page of HTML"),
        (status(404), "is not there (HTTP 404)"),
        (status(403), "answered with status 403"),
        (page(html("x", "<p>y</p>", "<meta name=robots content=noindex>")), "is left out as noindex"),
    ],
)
async def test_a_start_that_is_no_page_says_what_it_is(
    settings: Settings, docs: DocSite, start: Behaviour, told: str
) -> None:
    docs.pages |= {"/manual": start}
    code, said = await index(settings, docs.url("/manual"), allow_private=True)
    assert (code, told in said) == (3, True), said
    assert not settings.index.folder.exists()


async def test_what_was_indexed_before_stays_when_another_site_gives_nothing(
    settings: Settings, tmp_path: Path, docs: DocSite
) -> None:
    (tmp_path / "well").mkdir()
    (tmp_path / "well" / "a.html").write_text(html("A", "<p>Text.</p>"))
    assert (await index(settings, str(tmp_path / "well")))[0] == 0
    docs.pages |= {"/": status(500)}
    assert (await index(settings, docs.url("/"), name="ill", allow_private=True))[0] == 3
    assert set(known_sites(settings, settings.index.folder).sites) == {"well"}
    (tmp_path / "well" / "a.html").unlink()
    assert (await index(settings, str(tmp_path / "well")))[0] == 3
    assert set(known_sites(settings, settings.index.folder).sites) == {"well"}
