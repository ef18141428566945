"""Which language a question and a page are in: their own words first, then what was claimed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, Node, Page
from ingest.text.languages import SMALL_WORDS, page_language, spoken

QUESTIONS = {
    "ca": "Com canvio el port amb què escolta?",
    "cs": "Jak se dá změnit port, na kterém čeká?",
    "da": "Hvad gør jeg, hvis porten er optaget af noget?",
    "de": "Wo stelle ich das Netzwerk ein?",
    "el": "Πώς μπορώ να αλλάξω τη θύρα;",
    "en": "What is new in 3.1?",
    "es": "¿Cómo cambio el puerto del servidor?",
    "fi": "Miten vaihdan portin?",
    "fr": "Comment changer le port ?",
    "it": "Come cambio la porta?",
    "nb": "Hva gjør jeg når noe er opptatt?",
    "nl": "Hoe stel ik het netwerk in?",
    "pl": "Jak zmienić port, który jest zajęty?",
    "pt": "Qual é a porta em que não posso escutar?",
    "ro": "Cum schimb portul pe care îl folosesc?",
    "ru": "Как изменить порт, который уже занят?",
    "sv": "Hur ändrar jag porten?",
    "tr": "Bu portu nasıl değiştirebilirim?",
    "uk": "Як змінити порт, який вже зайнятий?",
}
NOT_CLEAR = ["", "E1100", "error E1100", "reset admin password", "Docker on Mac", "Datensicherung", "🚀", "__init__"]


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_tells_its_language(language: str) -> None:
    assert spoken(QUESTIONS[language]) == language


@pytest.mark.parametrize("text", NOT_CLEAR)
def test_names_alone_tell_none(text: str) -> None:
    assert spoken(text) == ""


def test_a_name_in_a_question_is_not_of_its_language() -> None:
    assert spoken("Was macht git rebase --onto upstream in the_file?") == "de"


GERMAN = "Die Adresse steht in der Datei, und nach einer Änderung wird der Dienst neu gestartet."
ENGLISH = "The address is in the file, and after a change the service has to be started again."


def page(text: str, claimed: str | None, *code: str) -> Page:
    blocks = (Block("text", text), *(Block("code", listing) for listing in code))
    return Page("k", "u", "u", "T", (Node("0", None, 0, "T", blocks=blocks),), language=claimed)


@pytest.mark.parametrize(
    ("text", "claimed", "site", "language"),
    [
        (GERMAN, "de", "en", "de"),
        (GERMAN, None, "en", "de"),
        (GERMAN, "en", "en", "de"),
        (GERMAN, "en-US", "de", "de"),
        (ENGLISH, "de", "de", "en"),
        (ENGLISH, None, "de", "en"),
        (ENGLISH, "zh-CN", "zh", "en"),
        ("Port 8080", "de-AT", "en", "de"),
        ("Port 8080", "", "de", "de"),
        ("Port 8080", None, "pt-BR", "pt"),
        ("ポートは pump.toml で設定します。", "ja", "en", "ja"),
        ("Порт задаётся в файле, и после этого службу нужно запустить.", None, "en", "ru"),
        ("Порт задається у файлі, і після цього службу треба запустити.", "uk", "en", "uk"),
    ],
)
def test_a_page_is_in_the_language_of_its_words_else_in_the_one_that_is_claimed(
    text: str, claimed: str | None, site: str, language: str
) -> None:
    assert page_language(page(text, claimed), site) == language


def test_listings_do_not_count() -> None:
    assert (
        page_language(page(GERMAN, None, "# if this is not in the list of those that are there\n" * 20), "en") == "de"
    )


@given(st.text(), st.one_of(st.none(), st.text(max_size=6)))
def test_any_text_has_a_language(text: str, claimed: str | None) -> None:
    assert spoken(text) in {"", *SMALL_WORDS}
    assert page_language(page(text, claimed), "en")
