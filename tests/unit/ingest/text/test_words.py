"""Terms: what each kind of word and identifier can be found by, then properties over any text."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from ingest.text.words import MAX_TERM_CHARACTERS, language_term, names, terms

LANGUAGES = (
    "ar ca cs da de el en eo es et eu fa fi fr ga hi hu hy id it ja ko lt nb ne nl nn no pl pt ro ru sr st sv ta th "
    "tr yi zh xx"
).split()


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("--max-old-space-size", "--max-old-space-size max-old-space-size maxoldspaces max old space size"),
        ("ORA-00942", "ora-00942 ora00942 ora 00942"),
        (
            "ray.data.Dataset.map_batches",
            "ray.data.dataset.map_batches ray data dataset mapbatch map_batches map batch",
        ),
        ("C++", "c++ c"),
        ("C#", "c# c"),
        (".NET", ".net net"),
        ("node_id", "nodeid node_id node id"),
        ("__init__", "__init__ init"),
        ("/etc/hosts", "/etc/hosts etc/hosts etc host"),
        ("0.75", "0.75 0.75.x"),
        ("v1.2.3", "v1.2.3 1.2.3 1.2.x"),
        ("@ray.remote", "@ray.remote ray.remote ray remot"),
        ("$HOME", "$home home"),
        ("%s", "%s s"),
        ("502", "502"),
        ("HTTPServer2", "httpserver2 http server 2"),
        ("getURLs", "geturl get url"),
        ("std::vector", "std::vector std vector"),
        ("localhost:8080", "localhost:8080 localhost 8080"),
        ("$HOME/.bashrc", "$home/.bashrc home/.bashrc $home home .bashrc bashrc"),
        ("C:\\Users", "c:\\users c user"),
        ("kebab-case", "kebab-case kebabcas kebab case"),
        ("https://ray.io/x", "https://ray.io/x https ray.io ray io x"),
        ("Foo#bar", "foo#bar foo bar"),
        ("-F", "-F f"),
        ("🚀", "🚀"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(identifier: str, expected: str) -> None:
    assert terms(identifier) == expected.split()


@pytest.mark.parametrize(
    "sentence", ["{}", "Set {}, then go.", "It is ({}).", "`{}`: done", "“{}”", "使用{}。", "x={}"]
)
@pytest.mark.parametrize("identifier", ["--max-old-space-size", "ORA-00942", "C++", "C#", ".NET", "$HOME", "v1.2.3"])
def test_an_identifier_in_a_sentence_gives_the_terms_that_a_question_for_it_gives(
    identifier: str, sentence: str
) -> None:
    assert set(terms(identifier)) <= set(terms(sentence.format(identifier)))


def test_names_in_a_list_with_slashes_are_found_one_by_one() -> None:
    assert {"c++", "c#", ".net", "java"} <= set(terms("Java/C++/C#/.NET"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DataFrames", "dataframe"),
        ("batches", "batching"),
        ("user's", "users"),
        ("user’s", "user"),
        ("ＦＵＬＬ", "full"),
        ("non‐breaking‑hyphen", "non-breaking-hyphen"),
        ("super\u00adcali\u200bfragilistic", "supercalifragilistic"),
        ("İstanbul", "istanbul"),
        ("STRASSE", "straße"),
    ],
)
def test_spellings_of_the_same_thing_give_the_same_term(one: str, other: str) -> None:
    assert terms(one)[0] == terms(other)[0]


def test_words_are_stems_of_the_language() -> None:
    assert terms("Häuser laufen", "de") == terms("Häusern laufe", "de-AT") == ["haus", "lauf"]
    assert terms("running", "en_US") == ["run"]
    assert terms("running quickly", "xx") == ["running", "quickly"]


def test_stop_words_give_nothing_and_capitals_make_them_keywords() -> None:
    assert terms("How do I use it? What can't it do, and why don't they?") == ["use"]
    assert terms("SELECT a WHERE x NOT IN y") == ["select", "where", "x", "not", "in", "y"]


def test_stop_words_are_dropped_in_their_own_language_only() -> None:
    assert terms("die Reise", "de") == ["reis"]
    assert terms("die Reise") == ["die", "reis"]
    assert terms("can", "fr") == ["can"]


def test_accents_stay() -> None:
    assert terms("naïve", "xx") == terms("nai\u0308ve", "xx") == ["naïve"]


def test_vowel_signs_do_not_cut_a_word() -> None:
    assert terms("हिन्दी", "xx") == ["हिन्दी"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("安装程序", "安装 装程 程序"),
        ("猫", "猫"),
        ("使用Docker部署", "使用 docker 部署"),
        ("第3章", "第 3 章"),
        ("カタカナとひらがな", "カタ タカ カナ ナと とひ ひら らが がな"),
        ("한국어 문서", "한국 국어 문서"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย"),
    ],
)
def test_scripts_without_spaces_give_overlapping_pairs(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


def test_repeated_words_give_repeated_terms_in_reading_order() -> None:
    assert terms("disk port disk node_id disk") == ["disk", "port", "disk", "nodeid", "node_id", "node", "id", "disk"]


@pytest.mark.parametrize("text", ["", " \n\t", "... -- // ::", "____", "→ ∑ ©", "\ud800", "\u0301\u0301"])
def test_a_text_without_letters_and_digits_has_no_terms(text: str) -> None:
    assert terms(text) == []


def test_a_term_that_no_search_server_would_take_is_cut() -> None:
    assert terms("x" * 20_000) == ["x" * MAX_TERM_CHARACTERS]


ALPHABETS = st.one_of(
    st.text(),
    st.text(st.sampled_from("aBcS123-_./:@$%#+'’~\\ é中あกΣİß\u0301\u0e31\u200b\u00a0\u3000(),")),
    st.lists(st.sampled_from(["how", "Not", "x", "C++", "node_id", "don't", "3.4", "中文", " ", "-", "/", "("])).map(
        "".join
    ),
)


@given(ALPHABETS, st.sampled_from(LANGUAGES))
def test_any_text_in_any_language_gives_terms_that_survive_joining_and_splitting(text: str, language: str) -> None:
    found = terms(text, language)
    assert " ".join(found).split() == found
    assert all(0 < len(term) <= MAX_TERM_CHARACTERS for term in found)
    assert all(any(unicodedata.category(char)[0] in "LNMS" for char in term) for term in found)
    " ".join(found).encode()
    assert terms(text, language) == found


@given(ALPHABETS)
def test_every_run_of_letters_and_digits_can_be_found_by_itself(text: str) -> None:
    found = set(terms(text))
    seen = unicodedata.normalize("NFKC", text).replace("’", "'")
    for shy in "\u00ad\u200b\u2060\ufeff":
        seen = seen.replace(shy, "")
    for run in re.finditer(r"[^\W_]+", seen):
        beside = seen[max(0, run.start() - 1) : run.start()] + seen[run.end() : run.end() + 1]
        contracted = seen[: run.start()].endswith("'") and run[0].lower() in {"s", "t", "d", "m", "re", "ve", "ll"}
        asked = terms(run[0])
        part_of_more = any(unicodedata.category(char)[0] == "M" for char in beside)
        of_a_version = "." in beside and (run[0][0].isdigit() or run[0][-1].isdigit())
        if asked and not contracted and not part_of_more and not of_a_version:
            assert found & set(asked), run[0]


@given(st.lists(st.sampled_from(["disk", "--flag", "C++", "中文", "how", "node_id", "Dr."])))
def test_a_text_gives_the_terms_of_its_words(words: list[str]) -> None:
    assert terms(" ".join(words)) == [term for word in words for term in terms(word)]


def test_threads_that_share_a_stemmer_do_not_mix_up_their_words() -> None:
    words = [a + b + c + "ernas" for a in "bdfglmprst" for b in "aeiouyåäö" for c in ("ck", "ll", "nd", "rt", "st")]
    stemmer = snowballstemmer.stemmer("swedish")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda word: terms(word, "sv")[0], words))
    finally:
        sys.setswitchinterval(interval)
    assert found == [stemmer.stemWord(word) for word in words]


def work(call: Callable[[], object]) -> int:
    """How many function calls something takes: its work, without a clock."""
    count = 0

    def on_event(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "unit", [*"aA0-._/'@+#中ก\u0301\u1100", "aA", "a1", "a.", "a/", "a:", "a_", "://", "a's"], ids=ascii
)
def test_long_runs_of_one_kind_are_quick(unit: str) -> None:
    short, long = ((unit * size)[:size] for size in (2_000, 20_000))
    assert work(lambda: terms(long)) <= 11 * work(lambda: terms(short)) + 100


@pytest.mark.timeout(10)
def test_a_storm_of_combining_marks_does_not_take_quadratic_time() -> None:
    assert terms("a" + "\u0300" * 200_000 + "\u0316" * 200_000 + " disk")[-1] == "disk"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("maxRetryCount", "max_retry_count"),
        ("MAX_RETRY_COUNT", "--max-retry-count"),
        ("getUserById()", "get_user_by_id"),
        ("ERR_LOCK_TIMEOUT", "errLockTimeout"),
        ("E-1100", "e1100"),
        ("ACM0942", "acm-0942"),
        ("$ACME_LOG_LEVEL", "acmeLogLevel"),
        ("v3.1", "3.1.0"),
        ("Python3.10", ">=3.10"),
        ("/etc/foo.conf", "(/etc/foo.conf)"),
    ],
)
def test_a_name_is_one_term_however_it_is_spelled(one: str, other: str) -> None:
    assert len(names(one)) == 1
    assert names(one) == names(other)
    assert names(one)[0] in set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(
    "name",
    "E1100 E0382 42P01 0x80070005 502 ERR_123 KeyError ray.init gc.auto Foo::bar Foo#bar C++ C# F# .NET -F -f --no-cache "
    "--verbose /etc/foo.conf ~/.acme.conf @property __init__ $HOME user@example.com localhost:8080 3.1.x 🚀".split(),
)
def test_a_question_for_a_name_holds_a_term_of_every_text_with_it(name: str) -> None:
    (found,) = names(f"What is {name}?")
    assert found in terms(f"Set {name}, then go.")


@pytest.mark.parametrize(
    "text",
    ["read-only", "GitHub", "PyTorch", "macOS", "and/or", "e.g. this", "16GB", "24-hour", "2024-01-31", "k8s", "42"],
)
def test_words_that_prose_joins_and_quantities_are_no_names(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("asked", "same", "other"),
    [
        ("3.1", "v3.1 3.1.0 V3.1 Python3.1 3.1-rc1 (3.1)", "3.10 3.0.1 13.1 2.3.1 3.11 v3.1.4"),
        ("3.10", "v3.10 3.10.0", "3.1 3.0 3.100"),
        ("2.0.0", "2.0 v2.0", "2 2.0.1 20.0"),
    ],
)
def test_versions_are_compared_as_versions(asked: str, same: str, other: str) -> None:
    (wanted,) = names(asked)
    assert all(wanted in terms(f"New in {version}.") for version in same.split())
    assert not any(wanted in terms(f"New in {version}.") for version in other.split())


def test_a_version_is_found_by_its_line_and_a_year_by_itself() -> None:
    assert set(terms("3.1.x")) <= set(terms("3.1.4")) & set(terms("3.1"))
    assert not set(terms("3.1.x")) & set(terms("3.10.1"))
    assert "2024" in terms("2024.1")


def test_a_compound_is_found_by_its_parts() -> None:
    assert set(terms("Sicherung", "de")) <= set(terms("Die Datensicherung", "de"))
    assert terms("Datensicherung") == ["datensicherung"]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("fr", "l'installation", "installation"), ("fr", "jusqu’aux", "aux"), ("it", "dell'utente", "utente"), ("ca", "l'usuari", "usuari")],
)  # fmt: skip
def test_what_an_apostrophe_joins_is_left_off(language: str, one: str, other: str) -> None:
    assert terms(one, language) == terms(other, language)


def test_a_question_in_another_language_than_the_page_loses_its_own_small_words_too() -> None:
    assert terms("Was ist die Datensicherung?", "en", "de") == ["datensicherung"]


@given(ALPHABETS, st.sampled_from(LANGUAGES))
def test_any_text_has_names_that_are_terms_of_it(text: str, language: str) -> None:
    assert set(names(text, language)) <= set(terms(text, language))


def test_no_text_says_in_which_language_it_was_analysed() -> None:
    assert language_term("de") not in terms("language=de language = de")
