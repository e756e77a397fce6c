"""What an operation returns becomes a response once, as its models say."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from cupel_core.base.errors import TooLarge
from cupel_core.base.paging import Entry, Page, encode_cursor
from cupel_core.contract.common import ResponseModel, Time
from cupel_core.contract.operation import MEMBER, Answered, Call, Listed, Rendered, Tagged, Text, operation
from cupel_core.contract.payloads import bounded_record
from cupel_core.interfaces.http.operations import _respond
from tests.operations import OPERATIONS


class NoteResponse(ResponseModel):
    text: str
    written_at: Time


class NotePage(ResponseModel):
    items: list[NoteResponse]
    next_cursor: str | None


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def note(text: str) -> NoteResponse:
    return NoteResponse(text=text, written_at=NOON)


def entries(*texts: str) -> list[Entry[str]]:
    return [Entry(encode_cursor(text), text) for text in texts]


def body(result: Any, limit: int | None = None) -> Any:
    return orjson.loads(str(_respond(200, result, limit).body))


def test_a_model_becomes_json_by_its_aliases() -> None:
    assert body(note("é")) == {"text": "é", "writtenAt": "2026-01-01T12:00:00.000Z"}


def test_characters_are_not_escaped() -> None:
    assert "é" in str(_respond(200, note("é"), None).body)


def test_an_answer_has_its_own_status_location_and_headers() -> None:
    rendered = _respond(200, Answered(note("a"), 202, "/v1/notes/a", {"X": "y"}), None)
    assert (rendered.status_code, rendered.headers["X"], rendered.headers["Location"]) == (202, "y", "/v1/notes/a")
    assert orjson.loads(str(rendered.body))["text"] == "a"


def test_a_text_has_its_media_type() -> None:
    rendered = _respond(200, Text("text/plain", "a", {"X": "y"}), None)
    assert (rendered.content_type, rendered.body, rendered.headers["X"]) == ("text/plain", "a", "y")


def test_an_operation_that_returns_nothing_has_no_content() -> None:
    assert (_respond(200, None, None).status_code, _respond(200, None, None).body) == (204, None)


def test_a_page_is_what_its_model_would_be() -> None:
    page = NotePage(items=[note("a"), note("b")], next_cursor=encode_cursor("c"))
    assert body(Listed(entries("a", "b", "c"), note), 2) == page.model_dump(mode="json", by_alias=True)


def test_a_page_of_a_list_in_memory_is_sent_whole() -> None:
    listed: Listed[NotePage] = Listed(Page(("a", "b"), "next"), note)
    assert [each["text"] for each in body(listed, 1)["items"]] == ["a", "b"]
    assert body(listed, 1)["nextCursor"] == "next"


def test_an_empty_page_has_no_items_and_no_cursor() -> None:
    assert body(Listed([], note), 2) == {"items": [], "nextCursor": None}


def test_a_record_whose_short_texts_exceed_a_response_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cupel_core.contract.payloads.MAX_PAGE_BYTES", 100)
    with pytest.raises(TooLarge):
        bounded_record(note("a" * 900))


def test_models_of_pages_have_items_and_a_cursor() -> None:
    pages = {each.response for each in OPERATIONS.values() if each.is_list}
    assert len(pages) >= 20
    assert {tuple(sorted(page.model_fields)) for page in pages} == {("items", "next_cursor")}


def as_it_is(call: Call) -> NoteResponse: ...
def of_tagged(call: Call) -> Tagged[NoteResponse]: ...
def of_page(call: Call) -> Listed[NotePage]: ...
def of_json(call: Call) -> Tagged[Rendered[NoteResponse]]: ...
def of_several(call: Call) -> Answered[NoteResponse] | Text | None: ...
def of_nothing(call: Call) -> None: ...


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (as_it_is, NoteResponse),
        (of_tagged, NoteResponse),
        (of_page, NotePage),
        (of_json, NoteResponse),
        (of_several, NoteResponse),
        (of_nothing, None),
    ],
)
def test_the_type_of_a_response_is_that_of_its_body(function: Callable[..., Any], kind: Any) -> None:
    declared = operation("GET /v1/notes", "List notes", role=MEMBER, returns="Notes")(function)
    assert declared.operation.response is kind  # type: ignore[attr-defined]
