"""is-html: what promptfoo's rule makes of a parsed text (`tests/interop` compares both on such texts)."""

from pathlib import Path

import pytest

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.checks import compute, compute_bounded
from cupel_core.scoring.html_documents import html_problem


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html><html lang=en><head><title>T</title></head><body><p>Hi</p></body></html>",
        "  <p>Hello <b>world</b></p>\n<hr>\n<p>again",
        "<div>a<p>b</div>",
        "<!-- a --><html></html>",
        "<head></head>",
        "<BODY>text in a body that is written",
        "<html><head><meta charset=utf-8></head><body class=x>text</body></html>",
        "<script>if (a < b) document.write('<body>')</script>",
        "<my-element>text</my-element>",
        "<svg><circle r=1 /></svg>",
        "<table><tr><td>a",
        "<noscript>text</noscript>",
        "<unknown><em>a</em></unknown>",
    ],
)
def test_markup_alone_is_html(text: str) -> None:
    assert html_problem(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" \n\ufeff", "is empty"),
        ("Here is the page: <p>Hello</p>", "has text outside of HTML elements"),
        ("<p>Hello</p> as you asked", "has text outside of HTML elements"),
        ("<p>closed by the list<ul><li>a</ul>text", "has text outside of HTML elements"),
        ("<html>text</html>", "has text outside of HTML elements"),
        ("text <body>", "has text outside of HTML elements"),
        ("<!-- <body> -->text", "has text outside of HTML elements"),
        ("<p title='<body>'></p>text", "has text outside of HTML elements"),
        ("<table>text<tr><td>a</table>", "has text outside of HTML elements"),
        ("<td>text</td>", "has text outside of HTML elements"),
        ("```html\n<p>a</p>\n```", "has text outside of HTML elements"),
        ("a < b", "has text outside of HTML elements"),
        ("<unknown>text</unknown>", "has no HTML element"),
        ("<!DOCTYPE html>", "has no HTML element"),
        ("</body><body>", "has no HTML element"),
        ("</head><html>", "has no HTML element"),
        ("<?XML version='1.0'?><p>a</p>", "is XML"),
        ("<p>" + 10_485_760 * "a", "has more than 10,485,760 characters"),
    ],
)
def test_what_is_not_html_has_a_reason(text: str, problem: str) -> None:
    assert html_problem(text) == problem


def test_an_output_is_never_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page").write_text("<p>of the machine</p>")
    monkeypatch.chdir(tmp_path)
    assert html_problem("page") == "has text outside of HTML elements"


def test_a_text_on_which_the_parser_fails_is_an_error() -> None:
    with pytest.raises(ValueError, match="the parser of HTML fails"):
        html_problem("</li><table></title><body><svg><td><html>")


async def test_it_is_computed_in_the_sandbox_alone() -> None:
    result = await compute_bounded(Assertion("is-html"), AssertionContext("<p>a</p>"))
    assert (result.passed, result.reason) == (True, "the output is HTML")
    here = compute(Assertion("is-html").to_json(), AssertionContext("a <p>b</p>").to_json())
    assert (here.passed, here.reason) == (False, "the output has text outside of HTML elements")


def test_only_a_few_tags_of_a_wrapper_are_examined() -> None:
    assert html_problem("<!-- <body> --> " * 19 + "<body>text") is None
    assert html_problem("<!-- <body> --> " * 20 + "<body>text") == "has text outside of HTML elements"
