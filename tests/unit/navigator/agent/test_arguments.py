"""Arguments of tools as models write them: what can mean one thing only is taken as that."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.agent.arguments import ToolError, arguments_object, number_arguments, text_argument, tool_named
from navigator.ports import NOT_AN_OBJECT


def numbers(arguments: dict[str, Any]) -> list[int]:
    return number_arguments(arguments_object(arguments), "sections", "read")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, [3]),
        ([3, 3, 4], [3, 4]),
        ("3", [3]),
        ("[3]", [3]),
        ("[3, 4]", [3, 4]),
        ("3, 4", [3, 4]),
        ("3 4", [3, 4]),
        ("3 and 4", [3, 4]),
        ("3-5", [3, 4, 5]),
        ("sections 3, 4", [3, 4]),
        (3.0, [3]),
        ([3.0, "4"], [3, 4]),
        (["#3"], [3]),
        (["[3]"], [3]),
        (["3: Priming"], [3]),
        (["3: Priming 2 pumps"], [3]),
        (["3. Priming"], [3]),
        (["3 - Priming"], [3]),
        (["Section 3"], [3]),
        ([{"id": 3}], [3]),
        ([{"number": "4", "title": "Hoses"}], [4]),
        ({"id": 3}, [3]),
        ([[3, 4]], [3, 4]),
        (["3", "no number"], [3]),
        ('"[3]"', [3]),
        ("['3', '4']", [3, 4]),
        ("[3.0, 4.0]", [3, 4]),
        ("3.0", [3]),
        ("３", [3]),
        ("3/4", [3, 4]),
        ("- 3\n- 4", [3, 4]),
        ("3 to 5", [3, 4, 5]),
        ("§3", [3]),
        (["node_3", "S4"], [3, 4]),
        (["3 (Priming)", "[4] Hoses"], [3, 4]),
        (["#3 Priming", "4 Hoses"], [3, 4]),
        ("3: Priming, quickly, 4: Hoses", [3, 4]),
        ("3. Priming\n4. Hoses", [3, 4]),
        ({"0": 3, "1": 4}, [3, 4]),
        ({"ids": [3, 4]}, [3, 4]),
        ({"type": "array", "items": [3]}, [3]),
    ],
)
def test_numbers_in_any_form(given: Any, expected: list[int]) -> None:
    assert numbers({"sections": given}) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"section": [3]},
        {"Sections": 3},
        {"section_ids": [3]},
        {"id": "3"},
        {"arguments": {"sections": [3]}},
        {"input": '{"sections": [3]}'},
        {NOT_AN_OBJECT: '"{\\"sections\\": [3]}"'},
        {NOT_AN_OBJECT: '```json\n{"sections": [3]}\n```'},
        {NOT_AN_OBJECT: '{"sections": [3,],}'},
        {NOT_AN_OBJECT: "{'sections': [3]}"},
        {NOT_AN_OBJECT: "[3]"},
        {NOT_AN_OBJECT: "3"},
        {"read": {"sections": [3]}},
        {"properties": {"sections": [3]}},
        {"raw": '{"sections": [3]}'},
        {"sectionIds": [3]},
        {"sections[]": [3]},
        {"toc": 3},
        {"reason": "because", "sections": "3"},
    ],
)
def test_arguments_in_any_wrapping(arguments: dict[str, Any]) -> None:
    assert numbers(arguments) == [3]


@pytest.mark.parametrize(
    "value", [None, "", "abc", True, 3.5, [], [{}], {}, [[[[[[3]]]]]], "1-1000000", "9" * 5000, "Chapter on 3 pumps"]
)
def test_what_names_no_number_says_how_the_tool_is_called(value: Any) -> None:
    with pytest.raises(ToolError, match="read takes"):
        numbers({"sections": value})


@pytest.mark.parametrize("written", ["{", "{not json", '"' * 9, "x" * 50_000, "[" * 5_000])
def test_what_is_no_json_is_no_argument(written: str) -> None:
    assert arguments_object({NOT_AN_OBJECT: written}) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "pump"},
        {"q": "pump"},
        {"Query": "pump"},
        {NOT_AN_OBJECT: '{"query": "pump"}'},
        {"query": {"text": "pump"}},
        {"query": ["pump"]},
        {"search_term": "pump"},
        {"input": "pump"},
    ],
)
def test_a_text_by_its_name_or_a_usual_one(arguments: dict[str, Any]) -> None:
    assert text_argument(arguments_object(arguments), "query", "search") == "pump"


def test_an_argument_that_is_called_like_a_wrapper_stays() -> None:
    assert arguments_object({"input": 3}) == {"input": 3}


@pytest.mark.parametrize(
    "written",
    ["read", "Read", "READ", "functions.read", "mcp__docs__read", "read_sections", "readSections", "docs/read"],
)
def test_a_tool_is_known_by_its_name(written: str) -> None:
    assert tool_named(written, ["get_toc", "read"]) == "read"


@pytest.mark.parametrize("written", ["getToc", "get-toc", "GetTOC", "mcp__docs__get_toc"])
def test_a_name_of_two_words_is_known_too(written: str) -> None:
    assert tool_named(written, ["get_toc", "read"]) == "get_toc"


@pytest.mark.parametrize("written", ["browse", "", "thread", "keyword_search"])
def test_a_name_of_none_or_of_several_stays(written: str) -> None:
    assert tool_named(written, ["search", "keyword", "read"]) == written


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "sections", "input", "_invalid"]), inner)
    ),
    max_leaves=9,
)


@given(st.dictionaries(st.sampled_from(["sections", "section", "arguments", "_invalid"]), JSON))
def test_whatever_is_written_is_numbers_or_a_tool_error(arguments: dict[str, Any]) -> None:
    with suppress(ToolError):
        assert all(type(number) is int for number in numbers(arguments))
