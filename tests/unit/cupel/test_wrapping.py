"""Lines of the command on a terminal are broken between words; in a pipe they are whole."""

from io import StringIO

import pytest
from rich.text import Text

from cupel.session import PlainTextConsole
from cupel.wrapping import wrapped

SENTENCE = "version 2 of Support (new definition): the scenarios of 3 files, which took 4.1 s to be checked and stored"


def printed(text: str, *, is_terminal: bool = True, width: int = 40, **options: object) -> list[str]:
    console = PlainTextConsole(
        file=StringIO(), force_terminal=is_terminal, width=width, color_system=None, highlight=False
    )
    console.print(text, **options)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [20, 40, 57, 80])
@pytest.mark.parametrize("indent", [0, 2])
def test_no_word_is_cut_on_a_terminal(width: int, indent: int) -> None:
    text = " " * indent + SENTENCE
    lines = printed(text, width=width, markup=False)
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()) == SENTENCE
    assert {len(line) - len(line.lstrip()) for line in lines[1:]} == {indent + 2}


def test_lines_are_whole_in_a_pipe() -> None:
    assert printed(SENTENCE, is_terminal=False, markup=False) == [SENTENCE]


def test_each_line_of_a_text_is_broken_for_itself() -> None:
    assert printed("first\n  second and third and fourth\nlast", width=20, markup=False) == [
        "first",
        "  second and third",
        "    and fourth",
        "last",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "next: cupel rescore run_01m8p59wjrz6b6j89z1mxwhj1j --judge-model openai/gpt-6 --watch",
        "export CUPEL_API_URL=http://127.0.0.1:8080/a/long/path CUPEL_TOKEN=cupel_x",
        "https://example.com/a/path/that/is/longer/than/the/line/of/the/terminal",
    ],
)
def test_commands_and_addresses_can_be_copied(line: str) -> None:
    assert printed(line, markup=False) == [line]


def test_a_command_within_a_sentence_is_not_broken() -> None:
    lines = printed("the local stack has stopped: start it with `cupel up --port 8080`, please", markup=False)
    assert lines == ["the local stack has stopped: start it", "  with `cupel up --port 8080`, please"]


def test_wide_characters_count_twice() -> None:
    assert printed("模型 模型 模型 模型 模型 模型", width=20, markup=False) == ["模型 模型 模型 模型", "  模型 模型"]


def test_styles_are_preserved() -> None:
    styled = wrapped(Text.from_markup("one two three four five [bold]six seven[/bold] eight nine"), 24)
    assert styled.plain == "one two three four five\n  six seven eight nine"
    assert [styled.plain[each.start : each.end] for each in styled.spans] == ["six seven"]


def test_a_part_of_an_answer_is_printed_as_it_is() -> None:
    assert printed(SENTENCE, markup=False, end="") == [SENTENCE]
