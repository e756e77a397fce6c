"""Responses are rendered once, as their models say."""

from datetime import UTC, datetime
from inspect import signature
from typing import Any, get_args, get_origin

import orjson
import pytest
from aws_lambda_powertools.event_handler import Response

from api import routing
from api.app import app
from api.pages import bounded_page, bounded_record
from api.rendering import Rendered, rendering, response_type
from cupel_core.base.errors import TooLarge
from cupel_core.base.paging import Entry, encode_cursor
from cupel_core.contract.common import ResponseModel, Time


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


def body(result: Any) -> Any:
    return rendering(lambda: result, 200)().body


def test_a_model_becomes_json_by_its_aliases() -> None:
    assert orjson.loads(body(note("é"))) == {"text": "é", "writtenAt": "2026-01-01T12:00:00.000Z"}


def test_characters_are_not_escaped() -> None:
    assert "é" in body(note("é"))


def test_a_response_keeps_its_status_and_headers_and_its_model_becomes_json() -> None:
    rendered = rendering(lambda: Response(202, "application/json", note("a"), {"X": "y"}), 200)()
    assert (rendered.status_code, rendered.headers["X"]) == (202, "y")
    assert orjson.loads(str(rendered.body))["text"] == "a"


def test_a_response_without_a_body_has_none() -> None:
    assert rendering(lambda: Response(204), 204)().body is None


def test_the_rendered_handler_has_the_parameters_of_the_handler_and_no_return_type() -> None:
    def handler(note_id: str, limit: int = 3) -> NoteResponse:
        return note(note_id * limit)

    rendered = signature(rendering(handler, 200))
    assert rendered.parameters == signature(handler).parameters
    assert rendered.return_annotation is rendered.empty


def test_a_page_is_what_its_model_would_be() -> None:
    rendered = bounded_page(NotePage, entries("a", "b", "c"), 2, note)
    page = NotePage(items=[note("a"), note("b")], next_cursor=encode_cursor("c"))
    assert orjson.loads(rendered.json) == page.model_dump(mode="json", by_alias=True)


def test_an_empty_page_has_no_items_and_no_cursor() -> None:
    assert bounded_page(NotePage, [], 2, note).json == b'{"items":[],"nextCursor":null}'


def test_a_record_whose_short_texts_exceed_a_response_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.pages.MAX_PAGE_BYTES", 100)
    with pytest.raises(TooLarge):
        bounded_record(note("a" * 900))


def test_models_of_rendered_pages_have_items_and_a_cursor() -> None:
    routing.load_all(app)
    handlers = [route.func.__wrapped__ for route in (*app._static_routes, *app._dynamic_routes)]  # type: ignore[attr-defined]
    annotations = [signature(handler).return_annotation for handler in handlers]
    pages = {get_args(each)[0] for each in annotations if get_origin(each) is Rendered}
    fields = {page: sorted(page.model_fields) for page in pages if page.__name__.endswith(("Page", "PageResponse"))}
    assert len(fields) >= 10
    assert set(map(tuple, fields.values())) == {("items", "next_cursor")}


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [(NoteResponse, NoteResponse), (Rendered[NotePage], NotePage), (Response[None], None), (dict[str, Any], dict)],
)
def test_the_type_of_a_response_is_that_of_its_body(annotation: Any, kind: Any) -> None:
    def handler() -> Any: ...

    handler.__annotations__["return"] = annotation
    found = response_type(handler)
    assert found is kind or get_origin(found) is kind
