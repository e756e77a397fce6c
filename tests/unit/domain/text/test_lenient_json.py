"""Objects are found in any text, with the mistakes that models make, and in bounded time."""

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.domain.text.lenient_json import MAX_DEPTH, JsonObject, TooIntricate, find_objects, plain
from tests.effort import EXAMPLES

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, min_size=1, max_size=3), st.booleans())
def test_every_json_object_is_read_as_json_reads_it(written: dict[str, Any], is_ascii: bool) -> None:
    found = find_objects(f"so: {json.dumps(written, ensure_ascii=is_ascii)} done")
    assert ([plain(each) for each in found.objects], found.rest) == ([written], "so: \n done")


@settings(max_examples=2 * EXAMPLES)
@given(st.text(alphabet="{}[]\"':,\\/*“” \nabtrue10.%-"))
def test_any_text_is_read(text: str) -> None:
    found = find_objects(text)
    assert len(found.rest) <= len(text) + len(found.objects)


def test_the_pairs_of_a_key_that_occurs_twice_are_both_there() -> None:
    assert find_objects('{"a": 1, "a": 2}').objects == (JsonObject((("a", 1), ("a", 2))),)


def test_an_empty_object_says_nothing() -> None:
    assert find_objects("{} {x} { }").objects == ()


def test_an_object_in_a_string_is_no_object() -> None:
    assert [plain(each) for each in find_objects(json.dumps({"a": '{"b": 1}'})).objects] == [{"a": '{"b": 1}'}]


HOSTILE = {
    "braces": "{" * 3_000_000,
    "pairs of braces": "{}" * 1_500_000,
    "nested objects": '{"a":' * 600_000,
    "nested lists": '{"a":' + "[" * 3_000_000,
    "strings never closed": '{"a' * 1_000_000,
    "quotation marks": '{"' * 1_500_000,
    "comments never closed": '{"a":/*' * 400_000,
    "line comments": '{"a"://' * 400_000,
    "escapes": '{"a":"' + "\\" * 3_000_000,
    "bare keys": "{a:" * 1_000_000,
    "long name": "{" + "a" * 3_000_000,
    "long number": '{"a":' + "1" * 3_000_000,
    "white space": ('{"a"' + " " * 1_000) * 3_000,
    "small objects": '{"a":1}' * 400_000,
    "typographic quotes": "{“" * 1_500_000,
    "almost closed": ('{"a":' * MAX_DEPTH + "1" + "}" * (MAX_DEPTH - 1)) * 8_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_read_or_given_up_in_bounded_time(text: str) -> None:
    started = time.process_time()
    with contextlib.suppress(TooIntricate):
        find_objects(text)
    assert time.process_time() - started < 3
