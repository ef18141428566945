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

from ingest.text.words import MAX_TERM_CHARACTERS, terms

LANGUAGES = (
    "ar ca cs da de el en eo es et eu fa fi fr ga hi hu hy id it ja ko lt nb ne nl nn no pl pt ro ru sr st sv ta th "
    "tr yi zh xx"
).split()


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("--max-old-space-size", "--max-old-space-size max-old-space-size max old space size"),
        ("ORA-00942", "ora-00942 ora 00942"),
        ("ray.data.Dataset.map_batches", "ray.data.dataset.map_batches ray data dataset map_batches map batch"),
        ("C++", "c++ c"),
        ("C#", "c# c"),
        (".NET", ".net net"),
        ("node_id", "node_id node id"),
        ("__init__", "__init__ init"),
        ("/etc/hosts", "/etc/hosts etc/hosts etc host"),
        ("0.75", "0.75 0 75"),
        ("v1.2.3", "v1.2.3 v1 v 1 2 3"),
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
        ("kebab-case", "kebab-case kebab case"),
        ("https://ray.io/x", "https://ray.io/x https ray.io ray io x"),
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
    assert terms("die Reise", "de") == ["die", "reis"]
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
    assert terms("disk port disk node_id disk") == ["disk", "port", "disk", "node_id", "node", "id", "disk"]


@pytest.mark.parametrize("text", ["", " \n\t", "... -- // ::", "____", "😀 → ∑ ©", "\ud800", "\u0301\u0301"])
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
    assert all(any(unicodedata.category(char)[0] in "LNM" for char in term) for term in found)
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
        if asked and not contracted and not part_of_more:
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
            found = list(pool.map(lambda word: terms(word, "sv"), words))
    finally:
        sys.setswitchinterval(interval)
    assert found == [[stemmer.stemWord(word)] for word in words]


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
