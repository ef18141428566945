"""Settings: what beats what, where paths start, and what somebody with a wrong setting is told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deploy.commands.upkeep.settings import named
from deploy.settings import sources
from deploy.settings.index import IndexSettings
from deploy.settings.messages import fields
from deploy.settings.root import (
    Settings,
    SettingsError,
    SiteSettings,
    config_file,
    describe,
    in_force,
    load,
    places,
)
from deploy.wiring.navigation import recipe_of
from ingest.model import Site
from navigator.agent.prompts import RitBounds
from navigator.extracts.choice import Bounds
from navigator.retrieval.retriever import RECIPES, Recipe
from tests.unit.deploy.settings.conftest import HOME, Write


def problems(path: Path | None, environ: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(path, HOME | (environ or {}))
    return [problem.replace(f"{path}", "FILE") for problem in caught.value.problems]


# What beats what


def test_without_a_file_and_variables_the_defaults_hold(write: Write) -> None:
    settings = load(write(""), HOME)
    assert settings == Settings(index=IndexSettings(folder=Path("/home/ann/.local/share/ritbot")))


def test_the_file_beats_the_default_and_the_variable_beats_the_file(write: Write) -> None:
    path = write("[index]\nconcurrency = 3\nchunk_tokens = 200\n")
    settings = load(path, HOME | {"RITBOT_INDEX__CONCURRENCY": "5"})
    assert (settings.index.concurrency, settings.index.chunk_tokens, settings.index.max_page_bytes) == (
        5,
        200,
        10_000_000,
    )


def test_nested_tables_are_reached_by_variables(write: Write) -> None:
    path = write("[model.prices]\ninput = 1.0\noutput = 5\n")
    prices = load(path, HOME | {"RITBOT_MODEL__PRICES__INPUT": "2.5"}).model.prices
    assert (prices.input, prices.output, prices.cache_read) == (2.5, 5.0, None)


def test_an_empty_variable_counts_as_not_set(write: Write) -> None:
    path = write('[model]\napi_key = "from the file"\n')
    assert load(path, HOME | {"RITBOT_MODEL__API_KEY": ""}).model.api_key == SecretStr("from the file")


def test_ritbots_own_key_beats_the_file_and_the_file_beats_the_machines_key(write: Write) -> None:
    machine = HOME | {"ANTHROPIC_API_KEY": "machine", "ANTHROPIC_BASE_URL": "http://machine:1/"}
    bare, named = write(""), '[model]\napi_key = "file"\nbase_url = "http://file:1/"\n'
    assert load(bare, machine).model.base_url == "http://machine:1/"
    assert load(bare, machine).model.api_key == SecretStr("machine")
    model = load(write(named), machine | {"RITBOT_MODEL__API_KEY": "own"}).model
    assert model.base_url == "http://file:1/"
    assert model.api_key == SecretStr("own")


@pytest.mark.parametrize(
    ("provider", "key", "chosen"),
    [
        ("auto", "", "extractive"),
        ("auto", "k", "anthropic"),
        ("extractive", "k", "extractive"),
        ("anthropic", "", "anthropic"),
    ],
)
def test_auto_means_the_model_whose_key_is_there(provider: str, key: str, chosen: str, write: Write) -> None:
    assert load(write(f'[model]\nprovider = "{provider}"\n'), HOME | {"ANTHROPIC_API_KEY": key}).model.chosen == chosen


def test_the_file_is_the_one_named_else_the_variables_else_the_one_that_lies_there(tmp_path: Path) -> None:
    assert config_file(Path("a.toml"), {"RITBOT_CONFIG": "b.toml"}) == Path("a.toml")
    assert config_file(None, {"RITBOT_CONFIG": "b.toml"}) == Path("b.toml")
    assert config_file(None, {}) is None


def test_settings_made_in_code_take_nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEX", '{"folder": "/elsewhere"}')
    monkeypatch.setenv("RITBOT_INDEX__CONCURRENCY", "5")
    assert Settings(index=IndexSettings(folder=Path("/x"))).index == IndexSettings(folder=Path("/x"))


# Paths


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"HOME": "/h"}, "linux", "/h/.local/share/ritbot"),
        ({"HOME": "/h", "XDG_DATA_HOME": "/data"}, "linux", "/data/ritbot"),
        ({"HOME": "/h", "XDG_DATA_HOME": "relative"}, "linux", "/h/.local/share/ritbot"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/ritbot"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/ritbot"),
        ({}, "linux", None),
    ],
)
def test_the_data_folder_is_the_platforms(environ: dict[str, str], platform: str, folder: str | None) -> None:
    assert sources.data_folder(environ, platform) == (Path(folder) if folder else None)


def test_without_a_home_the_folder_must_be_set(write: Write) -> None:
    with pytest.raises(SettingsError) as caught:
        load(write(""), {})
    assert caught.value.problems == ("index.folder: is not set; it takes a path",)
    assert load(write(""), {"RITBOT_INDEX__FOLDER": "/x"}).index.folder == Path("/x")


def test_relative_paths_start_at_the_file_that_names_them(write: Write, tmp_path: Path) -> None:
    path = write(
        '[index]\nfolder = "data"\n[embedding]\nmodel = "./weights"\n'
        '[[sites]]\nname = "a"\nstart = "../html"\nca_file = "ca.pem"\n'
        '[[sites]]\nname = "b"\nstart = "https://docs.example.com/"\n'
    )
    settings = load(path, HOME)
    assert settings.index.folder == tmp_path / "data"
    assert settings.embedding.model == str(tmp_path / "weights")
    assert settings.sites[0].start == str(tmp_path.parent / "html")
    assert settings.sites[0].ca_file == tmp_path / "ca.pem"
    assert settings.sites[1].start == "https://docs.example.com/"


def test_relative_paths_in_variables_start_at_the_working_directory(write: Write) -> None:
    assert load(write(""), HOME | {"RITBOT_INDEX__FOLDER": "data"}).index.folder == Path.cwd() / "data"


def test_a_models_name_is_no_path(write: Write) -> None:
    assert load(write('[embedding]\nmodel = "org/name"\n'), HOME).embedding.model == "org/name"


def test_a_home_that_does_not_exist_is_told(write: Write) -> None:
    told = problems(write('[index]\nfolder = "~nobody-of-that-name/x"\n'))
    assert told == ['index.folder: got "~nobody-of-that-name/x"; there is no such home']


# What is told


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        (
            '[index]\nconcurrency = "many"',
            'index.concurrency (FILE): got "many"; it takes a whole number from 1 to 256',
        ),
        ("[index]\nconcurrency = 0", "index.concurrency (FILE): got 0; it takes a whole number from 1 to 256"),
        ("[index]\nconcurrency = 1.5", "index.concurrency (FILE): got 1.5; it takes a whole number from 1 to 256"),
        ("[index]\nguard_share = nan", "index.guard_share (FILE): got nan; it takes a number from 0 to 1"),
        (
            "[navigator]\nread_characters = 9",
            "navigator.read_characters (FILE): got 9; it takes a whole number, 1000 or more",
        ),
        ("[model]\ntimeout = 0", "model.timeout (FILE): got 0; it takes a number above 0"),
        ("[embedding]\nallow_download = 3", "embedding.allow_download (FILE): got 3; it takes true or false"),
        (
            '[retrieval]\noutline = "xml"',
            'retrieval.outline (FILE): got "xml"; it takes "outline" or "titles" or "json"',
        ),
        ("[model]\nname = [1]", "model.name (FILE): got a list; it takes a text"),
        ("retrieval = 7", "retrieval (FILE): got 7; it takes a table"),
        ("[index]\nfoldr = 1", "index.foldr (FILE): there is no such setting; did you mean index.folder?"),
        (
            "[index]\nthreads = 1",
            "index.threads (FILE): there is no such setting; did you mean embedding.threads?",
        ),
        ("[modle]\nname = 1", "modle (FILE): there is no such setting; did you mean model?"),
        ("[zzz]\nqqq = 1", "zzz (FILE): there is no such setting"),
        (
            '[model]\nbase_url = "localhost:80"',
            'model.base_url (FILE): got "localhost:80"; it takes an http:// or https:// address',
        ),
        (
            '[sites]\nname = "a"',
            "sites (FILE): got a value that is not shown here; it takes a list of tables, each under its own [[sites]]",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_what_it_got_and_what_it_takes(toml: str, told: str, write: Write) -> None:
    assert problems(write(toml)) == [told]


SITE = '[[sites]]\nname = "docs"\nstart = "html"\n'


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        (
            SITE + 'include = ["ok", "(["]',
            'sites.docs.include.#2 (FILE): got "(["; it takes a regular expression '
            "(unterminated character set at position 1)",
        ),
        (
            SITE + 'versions = "v[0-9]"',
            'sites.docs.versions (FILE): got "v[0-9]"; it takes a regular expression with a group around the version',
        ),
        (SITE + "strat = 1", "sites.docs.strat (FILE): there is no such setting; did you mean sites.docs.start?"),
        (
            SITE + SITE,
            "sites (FILE): got a value that is not shown here; it takes every name once, and docs is there twice",
        ),
        (
            '[[sites]]\nstart = "html"',
            "sites.#1.name (FILE): is not set; it takes a name of letters, digits, dots, _ and -",
        ),
        (
            '[[sites]]\nname = "a b"\nstart = "html"',
            'sites.a b.name (FILE): got "a b"; it takes a name of letters, digits, dots, _ and -',
        ),
        (
            '[[sites]]\nname = "a"\nstart = "ftp://x/"',
            'sites.a.start (FILE): got "ftp://x/"; it takes an http:// or https:// address',
        ),
        (
            '[[sites]]\nname = "a"\nstart = "https://me:hunter2@x/"',
            'sites.a.start (FILE): got "https://…@x/"; it takes an address without a password; set Authorization in headers'
            " for that",
        ),
    ],
)
def test_a_wrong_site_is_named(toml: str, told: str, write: Write) -> None:
    assert problems(write(toml)) == [told]


def test_everything_wrong_is_told_at_once(write: Write) -> None:
    path = write('[index]\nconcurrency = "many"\n[log]\nlevel = "loud"\n' + SITE + "delay = -1\n")
    told = problems(path, {"RITBOT_RETRIEVAL__N": "0", "RITBOT_INDEX__FOLDR": "x", "RITBOT_SITES": ""})
    assert told == [
        "RITBOT_INDEX__FOLDR (variable): there is no such setting; did you mean RITBOT_INDEX__FOLDER?",
        'index.concurrency (FILE): got "many"; it takes a whole number from 1 to 256',
        'retrieval.n (RITBOT_RETRIEVAL__N): got "0"; it takes a whole number from 1 to 1000',
        'log.level (FILE): got "loud"; it takes "auto" or "debug" or "info" or "warning" or "error"',
        "sites.docs.delay (FILE): got -1; it takes a number, 0 or more",
    ]


def test_the_whole_message_counts_what_is_wrong(write: Write) -> None:
    with pytest.raises(SettingsError, match=r"^2 settings are wrong:\n  index\.\w+ .*\n  index\.\w+ "):
        load(write("[index]\nconcurrency = 0\nguard_share = -1\n"), HOME)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[index]\nfolder = \n", "FILE, line 2, column 10: not TOML: Invalid value"),
        (b"[index", "FILE, line 1, column 7: not TOML: Expected ']' at the end of a table declaration"),
        (b"a = 1\n\na = 2\n", "FILE, line 3, column 6: not TOML: Cannot overwrite a value"),
        (b"[index]\nfolder = '\xff'\n", "FILE: is not UTF-8 text (byte 18)"),
    ],
)
def test_a_file_that_is_not_toml_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "ritbot.toml"
    path.write_bytes(content)
    assert problems(path) == [told]


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "ritbot.toml"
    path.write_bytes(b"\xef\xbb\xbf[index]\r\nconcurrency = 3\r\n")
    assert load(path, HOME).index.concurrency == 3


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    assert problems(tmp_path / "no.toml") == ["FILE: cannot be read (No such file or directory)"]
    assert problems(tmp_path) == ["FILE: cannot be read (Is a directory)"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "RITBOT_INDEX__FOLDR",
            "RITBOT_INDEX__FOLDR (variable): there is no such setting; did you mean RITBOT_INDEX__FOLDER?",
        ),
        (
            "RITBOT_MODEL_API_KEY",
            "RITBOT_MODEL_API_KEY (variable): there is no such setting; did you mean RITBOT_MODEL__API_KEY?",
        ),
        ("RITBOT_SITES", "RITBOT_SITES: got text that is not JSON; it takes a list of tables as JSON"),
    ],
)
def test_a_variable_that_is_no_setting_is_told_without_its_value(name: str, told: str, write: Write) -> None:
    assert problems(write(""), {name: "hunter2"}) == [told]


@pytest.mark.parametrize("name", ["RITBOT_PORT", "RITBOT_SERVICE_HOST", "RITBOT_PORT_8080_TCP_ADDR", "RITBOT_CONFIG"])
def test_variables_that_a_cluster_sets_for_a_service_called_ritbot_are_let_pass(name: str, write: Write) -> None:
    assert load(write(""), HOME | {name: "tcp://10.0.0.1:80"}).index.concurrency == 16


def test_sites_can_be_given_as_json(write: Write) -> None:
    sites = load(write(""), HOME | {"RITBOT_SITES": '[{"name": "a", "start": "/html"}]'}).sites
    assert [site.name for site in sites] == ["a"]


def test_a_list_of_texts_can_be_given_as_json(write: Write) -> None:
    assert load(write(""), HOME | {"RITBOT_SLACK__MANAGERS": '["U1", "U2"]'}).slack.managers == ("U1", "U2")
    assert problems(write(""), {"RITBOT_SLACK__MANAGERS": "U1"}) == [
        "RITBOT_SLACK__MANAGERS: got text that is not JSON; it takes a list of texts as JSON"
    ]


def test_every_setting_that_is_a_path_starts_at_the_file_that_names_it() -> None:
    rows = [*fields(Settings), *((("sites", name), field) for name, field in SiteSettings.model_fields.items())]
    assert {path for path, field in rows if Path in (field.annotation, *get_args(field.annotation))} < set(
        sources.PATHS
    )


# Secrets


@pytest.mark.parametrize(
    ("toml", "environ"),
    [
        ("[model]\napi_key = ['hunter2']", {}),
        ("model = 'hunter2'", {}),
        ("sites = ['hunter2']", {}),
        (SITE + "headers = { Authorization = ['hunter2'] }", {}),
        (SITE + "headers = 'hunter2'", {}),
        (SITE + "proxy = ['hunter2']", {}),
        ("[model]\napi-key = 'hunter2'", {}),
        ("[model]\nbase_url = 'ftp://u:hunter2@h/'", {}),
        ("", {"RITBOT_MODEL__APIKEY": "hunter2"}),
        ("", {"ANTHROPIC_BASE_URL": "ftp://u:hunter2@h/"}),
        ("", {"RITBOT_SITES": '["hunter2"]'}),
    ],
)
def test_a_secret_is_never_part_of_what_is_told(toml: str, environ: dict[str, str], write: Write) -> None:
    with pytest.raises(SettingsError) as caught:
        load(write(toml), HOME | environ)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_settings_print_without_secrets(write: Write) -> None:
    toml = (
        SITE + "headers = { Authorization = 'hunter2' }\nproxy = 'http://u:hunter2@p/'\n[model]\napi_key = 'hunter2'\n"
    )
    settings = load(write(toml), HOME)
    assert "hunter2" not in repr(settings) + str(settings) + settings.model_dump_json()


# Sites


def test_a_site_gets_its_secrets_from_the_environment_and_its_size_limit_from_the_index(write: Write) -> None:
    toml = (
        SITE
        + 'headers = { Authorization = "env:DOCS_TOKEN", X-Team = "docs" }\nproxy = "env:P"\n'
        + "[index]\nmax_page_bytes = 77\n"
    )
    site = load(write(toml), HOME).site("docs", {"DOCS_TOKEN": "hunter2", "P": "http://proxy:1"})
    assert site.headers == (("Authorization", "hunter2"), ("X-Team", "docs"))
    assert (site.proxy, site.max_bytes, site.is_folder) == ("http://proxy:1", 77, True)
    assert "hunter2" not in repr(site)


def test_secrets_missing_from_the_environment_are_told_all_at_once(write: Write) -> None:
    settings = load(write(SITE + 'headers = { A = "env:ONE", B = "env:TWO" }\nproxy = "env:ONE"\n'), HOME)
    with pytest.raises(SettingsError) as caught:
        settings.site("docs", {"TWO": ""})
    assert caught.value.problems == (
        "sites.docs.headers.A: takes ONE from the environment, where it is not set",
        "sites.docs.headers.B: takes TWO from the environment, where it is not set",
        "sites.docs.proxy: takes ONE from the environment, where it is not set",
    )


def test_a_folder_that_is_not_there_is_no_matter_of_settings(write: Write) -> None:
    assert load(write(SITE), HOME).site("docs", {}).start.endswith("/html")


def test_a_site_that_is_not_there_is_told_with_the_one_meant(write: Write) -> None:
    with pytest.raises(SettingsError, match=r"there is no site called dosc; did you mean docs\?"):
        load(write(SITE), HOME).site("dosc", {})


def test_the_settings_of_a_site_are_the_fields_of_a_site_and_its_strategy() -> None:
    settings = [name for name in SiteSettings.model_fields if name != "strategy"]
    assert settings == [field.name for field in dataclasses.fields(Site)]


def test_the_defaults_of_a_site_are_those_of_a_site(write: Write) -> None:
    assert load(write('[[sites]]\nname = "a"\nstart = "/x"\n'), HOME).site("a", {}) == Site("a", "/x")


# What is described


def test_the_defaults_are_those_of_the_code_that_uses_them(write: Write) -> None:
    settings = load(write(""), HOME)
    navigator, retrieval = settings.navigator, settings.retrieval
    assert RitBounds() == RitBounds(
        navigator.budget,
        read_characters=navigator.read_characters,
        outline=retrieval.outline,
    )
    assert recipe_of(settings) == RECIPES["ritbot"] == Recipe()
    assert settings.model.extract_threshold == Bounds().found


def test_the_papers_recipe_is_a_setting(write: Write) -> None:
    plain = load(write('[retrieval]\nrecipe = "plain"\nn = 20\n'), HOME)
    assert recipe_of(plain) == Recipe(n=20, kappa=60, page_share=0.0, cover=False, links_share=1.0, tail=0.0)


def test_every_setting_is_described() -> None:
    rows = describe(HOME)
    assert [row.name for row in rows if not (row.takes and row.default and row.help)] == []
    by_name = {row.name: row for row in rows}
    assert by_name["index.folder"].default == "/home/ann/.local/share/ritbot"
    assert by_name["index.concurrency"].default == "16"
    assert by_name["model.api_key"].default == "not set"
    assert by_name["log.format"].default == '"console"'
    assert by_name["sites[].start"].default == "must be set"
    assert by_name["sites[].include"].takes == "a list of regular expressions"
    assert by_name["model.prices.input"].takes == "a number, 0 or more"


TOML_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = [sources.variable(path) for path, _ in fields(Settings)]


def loads_or_tells(environ: dict[str, str]) -> bool:
    try:
        return isinstance(load(Path("/dev/null"), HOME | environ), Settings)
    except SettingsError as error:
        return all(error.problems) and len(error.problems) > 0


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=20)))
def test_whatever_variables_hold_the_outcome_is_settings_or_a_settings_error(environ: dict[str, str]) -> None:
    assert loads_or_tells(environ)


@given(st.dictionaries(st.sampled_from(sorted(SiteSettings.model_fields)) | st.text(max_size=8), TOML_LIKE, max_size=4))
def test_whatever_a_site_holds_the_outcome_is_settings_or_a_settings_error(site: dict[str, object]) -> None:
    assert loads_or_tells({"RITBOT_SITES": json.dumps([site])})


@pytest.mark.parametrize(
    ("name", "value", "origin"),
    [
        ("index.concurrency", "4", "RITBOT_INDEX__CONCURRENCY"),
        ("index.chunk_tokens", "99", "ritbot.toml"),
        ("index.guard_share", "0.1", "the default"),
        ("model.api_key", "**********", "ANTHROPIC_API_KEY"),
        ("router.api_key", "not set", "the default"),
        ("sites[].include", 'docs: ["a", "b"]', "ritbot.toml"),
        ("sites[].delay", "not set", "ritbot.toml"),
    ],
)
def test_a_setting_is_told_with_where_it_comes_from(name: str, value: str, origin: str, write: Write) -> None:
    path = write(
        '[index]\nchunk_tokens = 99\nconcurrency = 2\n[[sites]]\nname = "docs"\nstart = "d"\ninclude = ["a", "b"]\n'
    )
    environ = HOME | {"RITBOT_INDEX__CONCURRENCY": "4", "ANTHROPIC_API_KEY": "sk-secret"}
    assert in_force(load(path, environ), places(path, environ), name) == (
        value,
        str(path) if origin == "ritbot.toml" else origin,
    )


def test_every_setting_has_a_value_in_force(write: Write) -> None:
    path = write("")
    holds = [in_force(load(path, HOME), places(path, HOME), row.name) for row in describe()]
    assert {origin for _, origin in holds} == {"the default", "the platform's data folder"}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("embedding", {"embedding.model", "embedding.device"}),
        ("model.name", {"model.name"}),
        ("device", {"embedding.device"}),
        ("sites.delay", {"sites[].delay"}),
        ("nonesuch", set()),
    ],
)
def test_settings_are_found_by_name_table_or_part(name: str, found: set[str]) -> None:
    names = {row.name for row in describe() if named(row.name, name)}
    assert found <= names
    assert len(names) < 30
    assert bool(names) == bool(found)
