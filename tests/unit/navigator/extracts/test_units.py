"""Units of reading: what is quoted together or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.extracts.units import MAX_PARAGRAPH_CHARACTERS, Unit, units_of, whole_sentences
from tests.unit.navigator.extracts.made import code, list_block, passage, terms_block, text


def made(*blocks: Block) -> list[Unit]:
    return units_of([passage(*blocks)])


def texts(*blocks: Block) -> list[str]:
    return [unit.text for unit in made(*blocks)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The program calls panic! when the index is out of range.",
        "Write to a place of your own, e.g. a folder in your home.",
        "It needs version 3. 2 or newer of the pump.",
        "Names are compared as in C, cf. The manual of libc.",
        "Dr. Pump wrote it.",
        "See sec. 4 for more.",
    ],
)
def test_a_sentence_is_not_cut_at_a_sign_that_ends_none(sentence: str) -> None:
    assert [part.strip() for part in whole_sentences(f"{sentence} Another one follows.")] == [
        sentence,
        "Another one follows.",
    ]


@given(st.text(alphabet="ab A.!?e1 \n", max_size=80))
def test_sentences_lose_nothing(words: str) -> None:
    assert "".join(whole_sentences(words)) == words


def test_code_comes_with_the_sentence_that_says_what_it_does() -> None:
    units = made(text("To start it:"), code("pump start"))
    assert [unit.text for unit in units] == ["To start it:\npump start"]
    assert units[0].has_code
    assert not units[0].code_alone


def test_code_that_nothing_introduces_is_told_apart() -> None:
    assert [unit.code_alone for unit in made(code("pump start"), text("It runs."))] == [True, False]


@pytest.mark.parametrize(
    "said",
    [
        "This code won’t compile:",
        "The following does not compile:",
        "Here is a version that is wrong:",
        "Don’t:",
        "Bad",
        "Before:",
    ],
)
def test_code_that_the_page_marks_as_wrong_is_known(said: str) -> None:
    assert any(unit.wrong for unit in made(text(said), code("let y = &mut x;")) if unit.has_code)


@pytest.mark.parametrize("behind", ["This does not compile, because x is not mutable.", "This code doesn’t work."])
def test_code_is_wrong_also_where_that_is_said_behind_it(behind: str) -> None:
    units = made(text("Let us try it."), code("let y = &mut x;"), text(behind))
    assert all(unit.wrong for unit in units if unit.has_code)


def test_code_is_wrong_where_its_markup_says_so() -> None:
    assert all(unit.wrong for unit in made(text("Try it:"), code("x", "rust,does_not_compile")) if unit.has_code)
    assert not any(unit.wrong for unit in made(text("Try it:"), code("x", "rust")))


def test_a_term_stands_with_its_definition() -> None:
    assert texts(terms_block("-l", "  Use local time.", "-n", "--number", "  Keep that many files.")) == [
        "-l\n  Use local time.",
        "-n\n--number\n  Keep that many files.",
    ]


def test_a_term_inside_a_definition_is_a_term_of_its_own() -> None:
    units = made(
        terms_block("reset [mode]", "  Resets.", "  --soft", "    Keeps all.", "  --mixed", "    Keeps files.")
    )
    assert [(unit.key, unit.text) for unit in units] == [
        ("reset [mode]", "reset [mode]\n  Resets."),
        ("--soft", "  --soft\n    Keeps all."),
        ("--mixed", "  --mixed\n    Keeps files."),
    ]


def test_a_term_whose_definition_the_page_does_not_set_in_comes_with_what_follows() -> None:
    units = made(terms_block("Undo a commit"), code("pump reset"), text("(1) It keeps the water."))
    assert units[0].text == "Undo a commit\npump reset"


def test_a_long_definition_is_cut_into_its_paragraphs_under_the_term() -> None:
    units = made(terms_block("CASCADE", *("  " + "word " * 100 + str(n) for n in range(4))))
    assert len(units) == 4
    assert all(unit.text.startswith("CASCADE\n  word") for unit in units)


def test_a_short_list_stays_whole_with_its_announcement() -> None:
    (unit,) = made(text("To prime it:"), list_block("stop the pump", "open the valve"))
    assert unit.text == "To prime it:\n1. stop the pump\n2. open the valve"


def test_a_row_of_a_large_table_stands_under_its_header() -> None:
    rows = ["name\tdefault", *(f"option{n}\tvalue{n}" for n in range(20))]
    units = made(Block("table", "\n".join(rows)))
    assert units[7].text == "name | default\noption7 | value7"
    assert units[7].key == "option7"


def test_a_sentence_that_leans_on_the_one_before_comes_with_it() -> None:
    long = "A valve lets water in, as long as nobody turns it the other way, which some people do. " * 6
    units = made(text(f"{long}Filters catch sand. They last a year."))
    leaning = next(unit for unit in units if unit.core == "They last a year.")
    assert leaning.text == "Filters catch sand.\nThey last a year."


BLOCK = st.builds(
    Block,
    st.sampled_from(["text", "code", "table", "terms", "quote"]),
    st.text(alphabet="ab .:\n\t`*", min_size=1, max_size=60).filter(str.strip),
)


@given(st.lists(BLOCK, max_size=6))
def test_units_hold_words_of_their_own_passage_only(blocks: list[Block]) -> None:
    for unit in made(*blocks):
        assert unit.pieces
        assert [piece.at for piece in unit.pieces] == sorted(piece.at for piece in unit.pieces)
        for piece in unit.pieces:
            bare = piece.text.replace("\n", "").replace(" ", "").replace("|", "")
            assert set(bare) <= set(blocks[piece.block].text) | {"…"}


def test_of_a_long_paragraph_no_more_is_quoted_than_fits() -> None:
    units = made(text("Pumps move water from one place to another. " * 30))
    assert all(len(unit.text) <= MAX_PARAGRAPH_CHARACTERS + 80 for unit in units)


def keyword(name: str, said: str) -> list[Block]:
    return [text(f"{name} <value>"), code(said), text("May be used in:"), Block("table", "frontend\tbackend\nyes\tno")]


MANUAL = [
    block
    for n in range(40)
    for block in keyword(
        f"option{n}",
        f"Sets the weight of pump number {n} among\nits neighbours, which share the water. "
        + "More water flows\nhere. " * 12,
    )
]


def test_text_that_is_set_in_columns_is_text() -> None:
    (unit,) = made(code("Declare or complete an access list, which\nany rule may name later."))
    assert unit.text == "Declare or complete an access list, which any rule may name later."
    assert not unit.has_code


@pytest.mark.parametrize("listing", ["for x in list:\n    print(x)", "pump start --now", "a = b + c * d - e / f % g;"])
def test_code_is_no_text(listing: str) -> None:
    assert made(text("Run it:"), code(listing))[0].has_code


def test_bare_lines_cut_a_long_section_and_are_the_terms_of_what_follows() -> None:
    units = [unit for unit in made(*MANUAL) if "number 7 among" in unit.text]
    assert {unit.key for unit in units} == {"option7 <value>"}
    assert all(unit.text.startswith("option7 <value>\n") for unit in units)
    assert units[0].first


def test_of_a_very_long_section_the_blocks_that_hold_the_question_are_weighed() -> None:
    blocks = [*MANUAL, *(text(f"Filler number {n}. " + "Sand and stone. " * 60) for n in range(200))]
    units = units_of([passage(*blocks)], lambda words: float("number 7 among" in words.replace("\n", " ")))
    assert any("number 7 among" in unit.text for unit in units)
    assert len({piece.block for unit in units for piece in unit.pieces}) < len(blocks) - 100


def test_the_notes_on_the_lines_of_a_listing_come_with_it() -> None:
    notes = list_block("Keeps the files.", "Goes back one.")
    units = texts(text("Undo and redo"), code("pump reset --soft <1>\npump redo <2>"), notes)
    assert set(units) == {"Undo and redo\npump reset --soft <1>\npump redo <2>\n1. Keeps the files.\n2. Goes back one."}


@pytest.mark.parametrize("between", [(text("Then:"),), (code("a"), text("Do this:"))])
def test_a_list_that_something_announces_is_no_note(between: tuple[Block, ...]) -> None:
    *_, last = texts(code("pump start"), *between, list_block("Open it.", "Close it."))
    assert last.endswith(":\n1. Open it.\n2. Close it.")
    assert "pump" not in last
