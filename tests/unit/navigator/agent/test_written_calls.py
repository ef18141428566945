"""Calls that a model wrote into its text."""

import time

import pytest

from navigator.agent.arguments import arguments_object, number_arguments
from navigator.agent.written_calls import written_calls
from navigator.citations.markup import without_calls

NAMES = ["get_toc", "read"]
READ = '{"name": "read", "arguments": {"sections": [3]}}'


@pytest.mark.parametrize(
    "text",
    [
        f"Looking.\n<tool_call>\n{READ}\n</tool_call>",
        f"Looking.\n<tool_call>{READ}",
        f"Looking.\n\n```json\n{READ}\n```",
        f"Looking.\n{READ}",
        f"Looking.\n[{READ}]",
        f"Looking. [TOOL_CALLS][{READ}]",
        f"Looking. <|python_tag|>{READ}",
        'Looking. {"tool": "functions.read", "input": {"sections": "[3]"}}',
        'Looking. {"function": {"name": "read", "arguments": "{\\"sections\\": [3]}"}}',
        'Looking. <function=read>{"sections": [3]}</function>',
        'Looking. <function_calls><invoke name="read"><parameter name="sections">[3]</parameter></invoke></function_calls>',
        'Looking. <invoke name="Read">\n<parameter name="sections">3</parameter>\n</invoke>',
        "Looking. <tool_call>read\n<arg_key>sections</arg_key>\n<arg_value>[3]</arg_value>\n</tool_call>",
        "Looking. <tool_call>\n<function=read>\n<parameter=sections>\n[3]\n</parameter>\n</function>\n</tool_call>",
        'Looking. <｜DSML｜function_calls><｜DSML｜invoke name="read"><｜DSML｜parameter name="sections" string="false">[3]'
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
        'Looking. <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"sections": [3]}<｜tool▁call▁end｜>',
        'Looking. <｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{"sections": [3]}\n```<｜tool▁call▁end｜>',
        'Looking. <|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"sections": [3]}<|tool_call_end|>',
        'Looking. <|channel|>commentary to=functions.read <|constrain|>json<|message|>{"sections": [3]}<|call|>',
        'Looking. [TOOL_CALLS]read[ARGS]{"sections": [3]}',
        f"Looking. <|tool_call|>[{READ}]",
        f"Looking. <TOOLCALL>[{READ}]</TOOLCALL>",
        f"Looking. <|START_ACTION|>[{READ}]<|END_ACTION|>",
        f"Looking. <minimax:tool_call>{READ}</minimax:tool_call>",
        'Looking. <tool_use><server>docs</server><name>read</name><arguments>{"sections": [3]}</arguments></tool_use>',
        "Looking.\n<tool_code>print(read(sections=[3]))</tool_code>",
        "Looking.\n```tool_code\nprint(default_api.read(sections=[3]))\n```",
        "Looking.\nread(sections=[3])",
        "Looking.\n<read>\n<sections>[3]</sections>\n</read>",
        "Looking.\n[read([3])]",
        'Looking.\nAction: read\nAction Input: {"sections": [3]}\nObservation:',
        'Looking.\n{"tool": "read", "sections": [3]}',
    ],
)
def test_a_call_in_the_text_is_a_call(text: str) -> None:
    found = written_calls(text, NAMES)
    (call,) = found.calls
    assert (call.name, found.said, found.tried) == ("read", "Looking.", True)
    assert number_arguments(arguments_object(call.arguments), "sections", "read") == [3]


def test_several_calls_are_several() -> None:
    text = f"<tool_call>{READ}</tool_call>\n<tool_call>{READ.replace('3', '4')}</tool_call>"
    assert [call.id for call in written_calls(text, NAMES).calls] == ["written_1", "written_2"]


@pytest.mark.parametrize(
    "text", ["<tool_call>read 3</tool_call>", "<tool_call>", '<tool_call>{"name": "browse"}</tool_call>']
)
def test_a_call_that_cannot_be_read_was_tried(text: str) -> None:
    found = written_calls(text, NAMES)
    assert (found.calls, found.tried, found.said) == ((), True, "")


@pytest.mark.parametrize(
    "text",
    [
        "Fill it [3].",
        'Send this:\n\n```json\n{"name": "read", "arguments": {"sections": [3]}}\n```\n\nThen wait.',
        'Send `{"name": "ports", "value": 3}`',
        'Send {"name": "read"}',
        "Then call read(3) in your program.",
        "So:\n\nread(sections=[3])\n\nreads three.",
        "Action: read the manual.",
        "<read> is a tag",
        "{",
        "",
    ],
)
def test_json_in_an_answer_is_no_call(text: str) -> None:
    found = written_calls(text, NAMES)
    assert (found.calls, found.tried, found.said) == ((), False, text)


def test_people_see_no_calls() -> None:
    assert without_calls(f"Fill it.<tool_call>{READ}</tool_call>") == "Fill it."
    assert without_calls("Fill it.<tool_call>{") == "Fill it."
    assert without_calls("Write `<tool_call>` for it.") == "Write `<tool_call>` for it."


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "<tool_call>",
        "<invoke ",
        "<function=read>",
        '{"name":',
        "<parameter name='a'>",
        "[",
        "read(",
        "<read>",
        "read<a>",
        "\n[",
        "Action: read\n",
        "<|tool_call|>read ",
    ],
)
def test_reading_grows_with_the_length_alone(piece: str) -> None:
    started = time.monotonic()
    written_calls(piece * (200_000 // len(piece)), NAMES)
    assert time.monotonic() - started < 5
