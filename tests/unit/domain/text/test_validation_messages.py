"""Paths of invalid fields, as requests have them."""

from typing import Any

import pytest

from cupel_core.domain.text.validation_messages import without_union_members

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
