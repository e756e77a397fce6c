"""Reports say what the author of a scenario expects as its answer."""

from typing import Any

import pytest

from cupel_core.domain.scoring.assertion_values import expected_answer
from cupel_core.domain.scoring.assertions import Assertion


@pytest.mark.parametrize(
    ("assertions", "expected"),
    [
        ([], None),
        ([Assertion("equals", value="Paris")], "Paris"),
        ([Assertion("icontains-any", value=["Paris", "paris, France"])], "Paris, paris, France"),
        ([Assertion("factuality", value="It is {{ answer }}.")], "It is Rome."),
        ([Assertion("contains", value="{{unknown}}")], "{{unknown}}"),
        ([Assertion("number-equals", value=4)], "4"),
        ([Assertion("equals", value="a"), Assertion("contains", value="b"), Assertion("equals", value="a")], "a; b"),
        ([Assertion("contains", negated=True, value="sorry")], None),
        ([Assertion("llm-rubric", value="is polite"), Assertion("javascript", value="true")], None),
    ],
)
def test_only_values_that_answers_are_compared_with_are_expected(
    assertions: list[Assertion], expected: str | None
) -> None:
    variables: dict[str, Any] = {"answer": "Rome"}
    assert expected_answer(assertions, variables) == expected
