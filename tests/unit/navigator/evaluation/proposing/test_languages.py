"""Whether a question is in the language of its pages: sure of a no, lenient otherwise."""

from __future__ import annotations

import pytest

from navigator.evaluation.proposing.languages import SMALL_WORDS, foreign
from tests.unit.navigator.evaluation.proposing.made import PORT

TEXTS = {
    "da": ("Porten står i pump.toml, og tjenesten skal startes igen, når den er ændret.", "Hvordan kan jeg ændre den port, som pumpen lytter på?"),
    "de": ("Der Port steht in pump.toml, und der Dienst muss danach neu gestartet werden.", "Wie kann ich den Port von Pump ändern?"),
    "en": (PORT, "How do I change the port of Pump?"),
    "es": ("El puerto está en el archivo pump.toml, y se reinicia el servicio con pumpctl.", "¿Cómo puedo cambiar el puerto de Pump?"),
    "fr": ("Le port est dans le fichier pump.toml, et le service doit être relancé.", "Comment changer le port de Pump dans le fichier ?"),
    "ja": ("ポートは pump.toml で設定し、その後サービスを再起動する必要があります。", "Pump の port を変更するにはどうすればよいですか？"),
    "ru": ("Порт задаётся в файле pump.toml, после чего службу нужно перезапустить.", "Как изменить порт Pump в файле pump.toml?"),
    "zh": ("端口在 pump.toml 中设置，之后需要重新启动服务。", "如何在 pump.toml 中更改 Pump 的端口？"),
}  # fmt: skip


@pytest.mark.parametrize("language", TEXTS)
def test_a_question_in_the_language_of_its_pages_is_not_foreign(language: str) -> None:
    text, question = TEXTS[language]
    assert not foreign(question, text)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("en", "de"),
        ("de", "en"),
        ("fr", "en"),
        ("en", "fr"),
        ("es", "en"),
        ("en", "ja"),
        ("ja", "en"),
        ("ru", "en"),
        ("en", "zh"),
    ],
)
def test_a_question_in_another_language_is_foreign(asked: str, written: str) -> None:
    assert foreign(TEXTS[asked][1], TEXTS[written][0])


@pytest.mark.parametrize(
    "question", ["", "pump.toml port?", "pumpctl restart --now?", "Was ist port?", "42?", "What is λ?"]
)
def test_where_it_is_not_sure_it_says_nothing(question: str) -> None:
    assert not foreign(question, PORT)


def test_names_in_latin_letters_do_not_make_a_text_latin() -> None:
    assert not foreign("如何用 pumpctl restart 重启 pump-service-controller？", TEXTS["zh"][0])


def test_pages_without_letters_pass() -> None:
    assert not foreign("How do I do it?", "42 43 44")


def test_small_words_are_lower_case_and_told_apart_from_those_of_other_languages() -> None:
    assert all(word == word.casefold() for words in SMALL_WORDS.values() for word in words)
    assert all(
        len(words - other) >= 8 for name, words in SMALL_WORDS.items() for o, other in SMALL_WORDS.items() if o != name
    )
