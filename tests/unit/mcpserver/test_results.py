"""Results within their size."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.base.errors import TooLarge
from cupel_core.interfaces.mcp.models import ListResult, ResultModel, ToolResult
from cupel_core.interfaces.mcp.results import fit, indexed_entries

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=500),
    lambda children: st.lists(children, max_size=20) | st.dictionaries(st.text(max_size=5), children, max_size=5),
    max_leaves=60,
)


class AnyResult(ToolResult):
    content: Any = None


class AnyItem(ResultModel):
    text: str


class FreeItem(ResultModel):
    first: int
    second: int
    scores: dict[str, float]


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
    content: dict[str, Any] = {
        "long": [{"n": number, "text": "x" * 100} for number in range(50)],
        "short": list(range(5)),
    }
    fitted = fit(AnyResult(content=content), 2_000)["content"]
    assert fitted["short"] == content["short"]
    assert fitted["long"] == content["long"][: len(fitted["long"])]
    assert 10 < len(fitted["long"]) < 20


def test_items_of_a_page_are_not_removed() -> None:
    page = ListResult[AnyItem](items=[AnyItem(text="x" * 3_000), AnyItem(text="y")], next_cursor="c")
    fitted = fit(page, 2_000)
    assert [each["text"][0] for each in fitted["items"]] == ["x", "y"]
    assert (fitted["items"][0]["text"][-7:], fitted["nextCursor"]) == ("… [cut]", "c")


def test_what_was_cut_is_named_with_how_much_is_shown() -> None:
    content: dict[str, Any] = {"items": [{"n": number} for number in range(500)], "short": [1, 2]}
    fitted = fit(AnyResult(content=content), 2_000)
    assert fitted["cut"] == [f"content: {len(fitted['content']['items'])} of 500"]


def test_many_small_lists_are_cut_in_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    measure = orjson.dumps

    def counted(value: Any) -> bytes:
        passes.append(1)
        return measure(value)

    monkeypatch.setattr(orjson, "dumps", counted)
    properties = {f"p{number:x}": {"enum": [1, 2]} for number in range(4_500)}
    fitted = fit(AnyResult(content={"properties": properties}), 16_000)
    assert len(passes) < 60
    shown = fitted["content"]["properties"]
    assert 300 < len(shown) < len(properties)
    assert list(shown) == list(properties)[: len(shown)]


def test_maps_lose_keys_and_models_no_fields() -> None:
    content = {f"dimension {number:02d} with a usual name": 1.0 for number in range(45)}
    page = ListResult[FreeItem](items=[FreeItem(first=1, second=2, scores=content)])
    (item,) = fit(page, 1_000)["items"]
    assert (item["first"], item["second"]) == (1, 2)
    assert 10 < len(item["scores"]) < 45


def test_what_cannot_be_cut_is_refused() -> None:
    page = ListResult[AnyItem](items=[AnyItem(text=str(number)) for number in range(1_000)])
    with pytest.raises(TooLarge):
        fit(page, 2_000)


def test_lists_in_memory_continue_at_a_cursor() -> None:
    entries = list(indexed_entries("abc", None))
    assert [each.item for each in entries] == ["a", "b", "c"]
    assert [each.item for each in indexed_entries("abc", entries[2].cursor)] == ["c"]
