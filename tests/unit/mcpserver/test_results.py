"""Results within their size."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.errors import TooLarge
from mcpserver.models import ListResult, ResultModel, ToolResult
from mcpserver.results import fit, indexed_entries

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=500),
    lambda children: st.lists(children, max_size=20) | st.dictionaries(st.text(max_size=5), children, max_size=5),
    max_leaves=60,
)


class AnyResult(ToolResult):
    content: Any = None


class AnyItem(ResultModel):
    text: str


@given(JSON, st.integers(1_500, 5_000))
def test_a_result_never_exceeds_its_size(content: Any, max_bytes: int) -> None:
    whole = orjson.dumps({"content": content})
    try:
        fitted = fit(AnyResult(content=content), max_bytes)
    except TooLarge:
        assert len(whole) > max_bytes
        return
    assert len(orjson.dumps(fitted)) <= max_bytes
    assert ("truncated" in fitted) == (len(whole) > max_bytes)


def test_the_largest_list_loses_its_last_items_first() -> None:
    content = {"long": [{"n": number, "text": "x" * 100} for number in range(50)], "short": list(range(5))}
    fitted = fit(AnyResult(content=content), 2_000)["content"]
    assert fitted["short"] == content["short"]
    assert fitted["long"] == content["long"][: len(fitted["long"])]
    assert 10 < len(fitted["long"]) < 20


def test_items_of_a_page_are_not_removed() -> None:
    page = ListResult[AnyItem](items=[AnyItem(text="x" * 3_000), AnyItem(text="y")], next_cursor="c")
    fitted = fit(page, 2_000)
    assert [each["text"][0] for each in fitted["items"]] == ["x", "y"]
    assert (fitted["items"][0]["text"][-7:], fitted["nextCursor"]) == ("… [cut]", "c")


def test_what_cannot_be_cut_is_refused() -> None:
    with pytest.raises(TooLarge):
        fit(AnyResult(content={str(number): number for number in range(10_000)}), 2_000)


def test_lists_in_memory_continue_at_a_cursor() -> None:
    entries = list(indexed_entries("abc", None))
    assert [each.item for each in entries] == ["a", "b", "c"]
    assert [each.item for each in indexed_entries("abc", entries[2].cursor)] == ["c"]
