"""A version that a question names is the one that is answered from; a number is not yet a version."""

import pytest

from navigator.question.versions import version_named

KNOWN = ("v1.9", "v2.0", "v2.1.3", "v2.10.0", "latest")


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("Which port does Pump listen on in v1.9?", "v1.9"),
        ("and in v2?", "v2.10.0"),
        ("How do I rotate keys in version 2.1?", "v2.1.3"),
        ("What changed in 2.0?", "v2.0"),
        ("Is v3 there, or v2.0?", "v2.0"),
        ("V2.10.0, please", "v2.10.0"),
    ],
)
def test_a_version_that_is_there_is_found_as_people_write_it(question: str, version: str) -> None:
    assert version_named(question, KNOWN) == version


@pytest.mark.parametrize(
    "question",
    ["How do I run 2 replicas?", "Use 1 or 2 pods", "in v3?", "the latest", "node-2.0.example", "IPv6?", "rev2", ""],
)
def test_what_names_no_version_that_is_there_names_none(question: str) -> None:
    assert version_named(question, KNOWN) is None


def test_where_there_are_no_versions_none_is_named() -> None:
    assert version_named("in v2?", ()) is None
