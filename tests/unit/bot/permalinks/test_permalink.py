"""References to sections, as they stand in addresses."""

from __future__ import annotations

import pytest

from bot.permalinks.permalink import Permalink, parse_reference, reference_in
from tests.fakes.editions import NODE


@pytest.mark.parametrize(
    ("reference", "permalink"),
    [
        (NODE, Permalink(NODE)),
        (NODE.upper(), Permalink(NODE)),
        (f"{NODE}@873ae3e99dec", Permalink(NODE, "873ae3e99dec")),
        (f"{NODE}@{'AB' * 32}", Permalink(NODE, "ab" * 32)),
        ("", None),
        (NODE[:8], None),
        (f"{NODE}/", None),
        (f"{NODE}@", None),
        (f"{NODE}@12345", None),
        (f"{NODE}@{'a' * 65}", None),
        (f"{NODE}@nothexatall", None),
        (f" {NODE}", None),
        (f"{NODE}\n", None),
        (NODE.replace("4", "٤", 1), None),
        ("../../etc/passwd", None),
        ("x" * 100_000, None),
    ],
)
def test_a_reference_is_an_id_with_or_without_a_hash(reference: str, permalink: Permalink | None) -> None:
    assert parse_reference(reference) == permalink


def test_an_address_names_the_hash_in_short_and_is_read_again() -> None:
    whole = Permalink(NODE, "873ae3e99dec" + "0" * 52)
    assert whole.path == f"/n/{NODE}@873ae3e99dec"
    again = parse_reference(whole.path.removeprefix("/n/"))
    assert again
    assert again.names(whole.hash)
    assert not again.names("9" * 64)
    assert not Permalink(NODE).names(whole.hash)


@pytest.mark.parametrize(
    ("url", "public_url", "permalink"),
    [
        (f"https://kb.example/n/{NODE}", "https://kb.example", Permalink(NODE)),
        (f"https://kb.example/x/n/{NODE}@873ae3e99dec?show", "https://kb.example/x/", Permalink(NODE, "873ae3e99dec")),
        (f"https://kb.example/n/{NODE}#text", "https://kb.example", Permalink(NODE)),
        (f"https://kb.example.evil/n/{NODE}", "https://kb.example", None),
        (f"https://kb.example/n/{NODE}", "", None),
        (f"https://other.example/n/{NODE}", "https://kb.example", None),
        ("https://kb.example/n/", "https://kb.example", None),
    ],
)
def test_an_address_of_ours_is_read_and_no_other(url: str, public_url: str, permalink: Permalink | None) -> None:
    assert reference_in(url, public_url) == permalink
