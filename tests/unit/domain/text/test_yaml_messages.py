"""Problems of YAML files in our words, by both parsers that are in use."""

import re

import pytest
import yaml

from cupel_core.domain.text.yaml_messages import yaml_problem

LIBRARY_WORDS = re.compile(r"\b(token|node|scalar|expected|not allowed|constructor|hashable|anchor|alias|found)\b|<\w+")


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("a: b: c", "put a text that has one in quotes"),
        ("a: 1\n  b: 2", "correct the indentation"),
        ("a: @x", "needs quotes"),
        ("a: 1\nb\nc: 2", "check its colon"),
        ("- a\nb: 1", "check the indentation"),
        ("a:\n  b: 1\n c: 2", "check the indentation"),
        ("a: 'it's'", "put a text that has quotes or brackets in quotes"),
        ("a: [1, 2", "close every bracket"),
        ("a: [b, {c: d]", "close every bracket"),
        ("a: ]", "a value is needed"),
        ("a: 'abc", "a quote is opened and not closed"),
        ('a: "\\d"', "put the text in single quotes"),
        ("a: *x", "a text that starts with * needs quotes"),
        ("a: !x y", "a text that starts with ! needs quotes"),
        ("? [a]\n: b", "a key must be a text"),
        ("a: &x 1\nb: &x 2", "a name with & is given twice"),
        ("a: 1\n---\nb: 2", "a file has one"),
        ("a: - b", "a list item is not possible here"),
        ("[x] is y", "in quotes"),
    ],
)
def test_a_problem_says_what_to_do(loader: type[yaml.SafeLoader], text: str, remedy: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError) as refused:
        yaml.load(text, Loader=loader)  # noqa: S506 - safe loaders
    message = yaml_problem(refused.value.problem or refused.value.context or "")
    assert remedy in message
    assert not LIBRARY_WORDS.search(message)


def test_a_tab_is_named() -> None:
    with pytest.raises(yaml.MarkedYAMLError) as refused:
        yaml.safe_load("a:\n\tb: 1")
    assert yaml_problem(str(refused.value.problem)) == "a line must not be indented with a tab; use spaces"
