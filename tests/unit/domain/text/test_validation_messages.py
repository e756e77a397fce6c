"""Messages about invalid values in our words, and paths of invalid fields, as requests have them."""

import re
from collections.abc import Iterator
from string import Formatter
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core._pydantic_core import list_all_errors

from cupel_core.domain.text.validation_messages import error_message, field_message, without_union_members

CONTEXT = {"discriminator": "'type'", "expected_plural": "s", "expected": "'a' or 'b'", "error": "the reason"}
OF_VALIDATORS = {"value_error", "assertion_error"}
"""The message is that of our own validator."""
LIBRARY_WORDS = re.compile(
    r"\b([Ii]nputs?|should|valid (?!JSON)\w+|String|Decimal|parse|instance of a|dictionary|mapping|datetime|timedelta"
    r"|discriminator|Value error|Assertion|sentinel|python|timezone|permitted|Field required)\b"
)
VERBS = re.compile(r"(must|is|has|cannot)\b")


def library_messages() -> Iterator[tuple[str, str]]:
    """Every message that pydantic can make: for values of Python and of JSON."""
    for each in list_all_errors():
        for template in {each["message_template_python"], each.get("message_template_json")} - {None}:
            names = [name for _, name, _, _ in Formatter().parse(template) if name]
            yield each["type"], template.format(**{name: CONTEXT.get(name, "9") for name in names})


def test_no_message_of_the_library_is_shown() -> None:
    messages = [(kind, field_message(message)) for kind, message in library_messages() if kind not in OF_VALIDATORS]
    assert len(messages) > 100
    assert [each for each in messages if LIBRARY_WORDS.search(each[1]) or not VERBS.match(each[1])] == []


@pytest.mark.parametrize("message", ["Value error, must be even", "Assertion failed, must be even"])
def test_the_message_of_a_validator_is_shown_alone(message: str) -> None:
    assert field_message(message) == "must be even"


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Annotated[int, Field(ge=1)], -3, "must be at least 1, not -3"),
        (Annotated[int, Field(ge=1)], "-3", "must be at least 1, not -3"),
        (Annotated[float, Field(le=2)], float("nan"), "must be a number, not NaN"),
        (Annotated[float, Field(le=2)], "nan", "must be a number, not NaN"),
        (Annotated[float, Field(le=2)], float("inf"), "must be at most 2, not an infinite number"),
        (Annotated[float, Field(allow_inf_nan=False)], float("nan"), "must be a finite number, not NaN"),
        (Annotated[float, Field(le=2)], "inf", "must be at most 2, not an infinite number"),
        (int, "1.5", "must be an integer, not 1.5"),
        (int, "many", "must be an integer, not 'many'"),
        (Literal["a", "b"], "c", "must be 'a' or 'b', not 'c'"),
        (Literal["a", "b"], "c" * 100, "must be 'a' or 'b', not another text"),
        (Literal["a", "b"], "\x1b[2J", "must be 'a' or 'b', not another text"),
        (str, 5, "must be text, not 5"),
        (str, False, "must be text, not false"),
        (str, ["a"], "must be text, not a list"),
        (int, None, "must be an integer, not null"),
        (list[str], {"a": 1}, "must be a list, not an object"),
        (list[str], "secret", "must be a list, not text"),
        (dict[str, str], [1], "must be an object, not a list"),
        (Annotated[list[str], Field(max_length=1)], ["a", "b"], "must have at most 1 item, not 2"),
        (Annotated[str, Field(max_length=3)], "secret", "must have at most 3 characters, not 6"),
        (Annotated[str, Field(pattern="^a$")], "secret", "must match ^a$"),
    ],
)
def test_a_message_says_what_is_accepted_and_what_was_found(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(value)
    assert error_message(refused.value.errors()[0]) == message


MEMBER = "function-wrap[_list_known_fields()]"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("evaluators", "goal", "bool"), {"evaluators": {"goal": 3}}, ("evaluators", "goal")),
        (("goal", MEMBER, "treshold"), {"goal": {"treshold": 1}}, ("goal", "treshold")),
        (("items", 1, "str"), {"items": ["a", 2]}, ("items", 1)),
        (("models",), {}, ("models",)),
        (("metadata", "bool"), {"metadata": {"bool": object()}}, ("metadata", "bool")),
        (("metadata", "a[0]"), {"metadata": {"a[0]": object()}}, ("metadata", "a[0]")),
        (("metadata", "x", "[key]"), {"metadata": {"x": 1}}, ("metadata", "x", "[key]")),
    ],
)
def test_members_of_unions_are_no_fields(
    path: tuple[str | int, ...], value: Any, expected: tuple[str | int, ...]
) -> None:
    assert without_union_members(path, value) == expected
