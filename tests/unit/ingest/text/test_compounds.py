"""Compounds and their parts, in the languages that write them as one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.text.compounds import parts


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Datensicherung", "daten sicherung"),
        ("Zugriffsberechtigungen", "zugriffs berechtigungen"),
        ("Netzwerkeinstellungen", "netzwerk einstellungen"),
        ("netzwerkeinstellungen", "netzwerk einstellungen"),
        ("DATENSICHERUNG", "daten sicherung"),
        ("Anschlussnummer", "anschluss nummer"),
        ("Warteschlange", "warte schlange"),
        ("Zeitüberschreitung", "zeit überschreitung"),
        ("Umgebungsvariable", "umgebungs variable"),
        ("Mehrmandantenfähigkeit", "mehr mandanten fähigkeit"),
        ("Straßenname", "straßen name"),
        ("Logdatei", "log datei"),
        ("Kubernetesumgebung", "kubernetes umgebung"),
    ],
)
def test_a_german_compound_is_split_into_words(word: str, expected: str) -> None:
    assert parts(word, "de") == tuple(expected.split())


@pytest.mark.parametrize(
    "word",
    "Berechtigung Verwaltung Einstellung Anwendung Auftrag Beispiel Rechnungen Konfiguration Standard Name "
    "kubernetesumgebung x2datensicherung".split(),
)
def test_a_simple_word_stays_whole(word: str) -> None:
    assert parts(word, "de") == ()


@pytest.mark.parametrize(
    ("language", "word", "expected"),
    [
        ("nl", "netwerkinstellingen", "netwerk instellingen"),
        ("sv", "säkerhetskopiering", "säkerhets kopiering"),
        ("da", "netværksindstillinger", "netværks indstillinger"),
        ("nb", "brukernavn", "bruker navn"),
        ("no", "brukernavn", "bruker navn"),
        ("fi", "verkkoasetukset", "verkko asetukset"),
    ],
)
def test_so_are_those_of_its_neighbours(language: str, word: str, expected: str) -> None:
    assert parts(word, language) == tuple(expected.split())


@pytest.mark.parametrize("language", ["en", "fr", "ja", "", "xx"])
def test_other_languages_have_none(language: str) -> None:
    assert parts("Datensicherung", language) == ()


@given(st.one_of(st.text(), st.text("abenstrung", max_size=60)))
def test_parts_are_pieces_of_the_word(word: str) -> None:
    assert all(part and part in word.lower() for part in parts(word, "de"))
