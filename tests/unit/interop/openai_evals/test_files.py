"""Files and uploads with rows of data, with OpenAI's own client."""

import json
from datetime import timedelta
from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.base.clock import utc_now
from cupel_core.interop.openai_evals import files
from cupel_core.runs import workspace_erasure
from cupel_core.runs.workspace_erasure import erase_workspace
from cupel_core.store import data_files
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.openai_client import openai_client
from tests.stored_text import places_with
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals.flows import ITEMS, carry_out, completions, create_eval

LINES = "".join(json.dumps({"item": item}) + "\r\n" for item in ITEMS)


def upload(openai: OpenAI, text: str | bytes = LINES, name: str = "rows.jsonl") -> str:
    content = text.encode() if isinstance(text, str) else text
    return openai.files.create(file=(name, content), purpose="evals").id


def of_file(file_id: str) -> Any:
    return completions() | {"source": {"type": "file_id", "id": file_id}}


def test_a_file_is_read_back_as_it_was_sent(openai: OpenAI) -> None:
    file = openai.files.create(file=("rows.jsonl", LINES.encode()), purpose="evals")
    assert (file.object, file.filename, file.bytes, file.status) == ("file", "rows.jsonl", len(LINES), "processed")
    assert openai.files.retrieve(file.id) == file
    assert openai.files.content(file.id).text == LINES


def test_a_binary_line_end_and_a_boundary_in_the_content_are_kept(openai: OpenAI) -> None:
    text = json.dumps({"item": {"text": "--boundary\r\n é"}}) + "\n\n"
    assert openai.files.content(upload(openai, text)).content == text.encode()


@pytest.mark.usefixtures("finish_starts")
def test_a_run_reads_its_rows_from_a_file(openai: OpenAI) -> None:
    eval_id, file_id = create_eval(openai), upload(openai)
    run = openai.evals.runs.create(eval_id, data_source=of_file(file_id))
    carry_out(run.id)
    run = openai.evals.runs.retrieve(run.id, eval_id=eval_id)
    assert run.data_source.model_dump(exclude_none=True) == of_file(file_id)
    assert run.result_counts.model_dump() == {"total": 3, "passed": 2, "failed": 1, "errored": 0}


def test_a_run_of_an_unknown_file_is_refused(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    own = upload(openai_client(client, token=client.issue("other")))
    for file_id in ("jsonl_none", own):
        with pytest.raises(sdk.BadRequestError) as refused:
            openai.evals.runs.create(eval_id, data_source=of_file(file_id))
        assert refused.value.param == "data_source.source.id"


def test_rows_of_a_file_that_do_not_fit_are_refused_by_their_number(openai: OpenAI) -> None:
    items = [ITEMS[0], {"question": 5, "answer": "x"}]
    eval_id, file_id = create_eval(openai), upload(openai, "\n".join(json.dumps({"item": item}) for item in items))
    with pytest.raises(sdk.BadRequestError, match="row 2 of the file: its item does not fit") as refused:
        openai.evals.runs.create(eval_id, data_source=of_file(file_id))
    assert refused.value.param == "data_source.source.id"


def test_files_are_listed_in_pages(openai: OpenAI) -> None:
    ids = [upload(openai, name=f"{number}.jsonl") for number in range(5)]
    assert [file.id for file in openai.files.list(limit=2)] == ids[::-1]
    assert [file.id for file in openai.files.list(limit=2, order="asc")] == ids
    assert [file.id for file in openai.files.list(purpose="evals")] == ids[::-1]
    assert [file.id for file in openai.files.list(purpose="evals")] == ids[::-1]
    assert list(openai.files.list(purpose="batch")) == []


def test_nothing_of_a_deleted_file_is_stored(openai: OpenAI, cloud: Settings) -> None:
    file_id = upload(openai, json.dumps({"item": {"text": "zanzibar"}}), "zanzibar.jsonl")
    assert len(places_with("zanzibar", cloud)) == 2
    assert openai.files.delete(file_id).deleted
    assert places_with("zanzibar", cloud) == []
    with pytest.raises(sdk.NotFoundError):
        openai.files.retrieve(file_id)
    with pytest.raises(sdk.NotFoundError):
        openai.files.content(file_id)


def test_a_deleted_file_that_a_backup_brings_back_is_deleted_again(openai: OpenAI) -> None:
    file_id = upload(openai)
    file = data_files.get("acme", file_id)
    openai.files.delete(file_id)
    data_files.create("acme", file, LINES.encode())
    workspace_erasure.reapply_deletions(utc_now())
    with pytest.raises(sdk.NotFoundError):
        openai.files.retrieve(file_id)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one line"),
        ("{no json", "line 1 is not JSON"),
        ('{"item": {}}\n{"items": {}}', "line 2: item: "),
        ('{"item": 5}', "line 1: item: "),
        (b"\xff\xfe", "line 1 is not JSON"),
    ],
)
def test_a_file_without_rows_is_refused_with_its_line(openai: OpenAI, text: str | bytes, message: str) -> None:
    with pytest.raises(sdk.BadRequestError, match=message) as refused:
        upload(openai, text)
    assert refused.value.param == "file"


def test_other_purposes_and_bodies_are_refused(openai: OpenAI, client: Client) -> None:
    with pytest.raises(sdk.BadRequestError) as refused:
        openai.files.create(file=("rows.jsonl", LINES.encode()), purpose="batch")
    assert refused.value.param == "purpose"
    expires: Any = {"anchor": "created_at", "seconds": 3600}
    with pytest.raises(sdk.BadRequestError, match="not supported") as expiring:
        openai.files.create(file=("rows.jsonl", LINES.encode()), purpose="evals", expires_after=expires)
    assert expiring.value.param == "expires_after"
    with pytest.raises(sdk.APIStatusError) as unsupported:
        openai.post("/files", cast_to=object, body={"file": "x"})
    assert unsupported.value.status_code == 415
    forms = [b"", b"--x--", b"--x\r\n\r\nno name\r\n--x--", b"--x\r\nname", b"--x" * 100]
    for form in forms:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        response = client.request("POST", "/openai/v1/files", raw_body=form or b"-", headers=headers)
        assert response.status == 400, form


def test_a_file_above_4_mb_is_too_large(openai: OpenAI) -> None:
    with pytest.raises(sdk.APIStatusError, match="uploaded in parts") as refused:
        upload(openai, LINES + " " * files.MAX_FILE_BYTES)
    assert (refused.value.status_code, refused.value.code) == (413, "content_too_large")


def test_a_larger_file_is_uploaded_in_parts(openai: OpenAI) -> None:
    line = json.dumps({"item": {"text": "x" * 1_000}}) + "\n"
    content = (line * 5_000).encode()
    made = openai.uploads.upload_file_chunked(
        file=content,
        filename="large.jsonl",
        bytes=len(content),
        mime_type="application/jsonl",
        purpose="evals",
        part_size=2 * 1024 * 1024,
    )
    assert made.status == "completed"
    assert made.file is not None
    assert made.file.bytes == len(content)
    assert len(files.rows_of("acme", made.file.id)) == 5_000
    with pytest.raises(sdk.APIStatusError) as refused:
        openai.files.content(made.file.id)
    assert refused.value.status_code == 413


def test_an_upload_is_completed_once(openai: OpenAI, cloud: Settings) -> None:
    content = LINES.encode()
    begun = openai.uploads.create(filename="a.jsonl", bytes=len(content), mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(begun.id, data=content)
    first = openai.uploads.complete(begun.id, part_ids=[part.id])
    again = openai.uploads.complete(begun.id, part_ids=[part.id])
    assert first == again
    assert len(list(openai.files.list())) == 1
    assert [place for place in places_with("Oslo", cloud) if place.startswith("uploads/")] == []
    with pytest.raises(sdk.ConflictError):
        openai.uploads.cancel(begun.id)


def test_an_upload_whose_completion_crashed_makes_one_file(openai: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    content = LINES.encode()
    begun = openai.uploads.create(filename="a.jsonl", bytes=len(content), mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(begun.id, data=content)
    with monkeypatch.context() as crash:
        crash.setattr(data_files, "end_upload", lambda *_: 1 / 0)
        with pytest.raises(sdk.InternalServerError):
            openai.uploads.complete(begun.id, part_ids=[part.id])
    made = openai.uploads.complete(begun.id, part_ids=[part.id])
    assert made.file is not None
    assert [file.id for file in openai.files.list()] == [made.file.id]


def test_an_upload_that_is_cancelled_while_it_is_completed_makes_no_file(
    openai: OpenAI, cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = LINES.encode()
    begun = openai.uploads.create(filename="a.jsonl", bytes=len(content), mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(begun.id, data=content)
    create = data_files.create

    def cancelled_meanwhile(*arguments: Any) -> None:
        create(*arguments)
        monkeypatch.setattr(data_files, "create", create)
        openai.uploads.cancel(begun.id)

    monkeypatch.setattr(data_files, "create", cancelled_meanwhile)
    with pytest.raises(sdk.ConflictError):
        openai.uploads.complete(begun.id, part_ids=[part.id])
    assert list(openai.files.list()) == []
    assert places_with("Oslo", cloud) == []


def test_a_cancelled_upload_has_no_parts_any_more(openai: OpenAI, cloud: Settings) -> None:
    begun = openai.uploads.create(filename="a.jsonl", bytes=10, mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(begun.id, data=LINES.encode())
    assert openai.uploads.cancel(begun.id).status == "cancelled"
    assert places_with("Oslo", cloud) == []
    for request in (
        lambda: openai.uploads.complete(begun.id, part_ids=[part.id]),
        lambda: openai.uploads.parts.create(begun.id, data=b"x"),
    ):
        with pytest.raises(sdk.ConflictError):
            request()


def test_parts_must_be_those_of_the_upload_and_make_the_announced_file(openai: OpenAI, client: Client) -> None:
    content = LINES.encode()
    begun = openai.uploads.create(filename="a.jsonl", bytes=len(content), mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(begun.id, data=content)
    for part_ids in (["part_none"], ["../x"], [part.id, part.id]):
        with pytest.raises(sdk.BadRequestError) as refused:
            openai.uploads.complete(begun.id, part_ids=part_ids)
        assert (refused.value.param or "").startswith("part_ids")
    with pytest.raises(sdk.BadRequestError, match="checksum"):
        openai.uploads.complete(begun.id, part_ids=[part.id], md5="0" * 32)
    stranger = openai_client(client, token=client.issue("other"))
    with pytest.raises(sdk.NotFoundError):
        stranger.uploads.complete(begun.id, part_ids=[part.id])
    with pytest.raises(sdk.NotFoundError):
        stranger.uploads.parts.create(begun.id, data=b"x")
    with pytest.raises(sdk.APIStatusError) as large:
        openai.uploads.create(filename="a", bytes=2**30, mime_type="text/plain", purpose="evals")
    assert large.value.status_code == 413


def test_another_workspace_s_files_are_unknown(openai: OpenAI, client: Client) -> None:
    file_id = upload(openai)
    stranger = openai_client(client, token=client.issue("other"))
    assert list(stranger.files.list()) == []
    for request in (stranger.files.retrieve, stranger.files.content, stranger.files.delete):
        with pytest.raises(sdk.NotFoundError):
            request(file_id)


def test_files_are_erased_with_their_workspace(openai: OpenAI, client: Client, cloud: Settings) -> None:
    upload(openai, json.dumps({"item": {"text": "zanzibar"}}))
    erase_workspace("acme", utc_now(), lambda: True)
    for minutes in (1, 30, 60):
        erase_due(utc_now() + timedelta(minutes=minutes), lambda: 900.0)
    assert places_with("zanzibar", cloud) == []


@pytest.mark.usefixtures("finish_starts")
def test_an_export_of_the_dashboard_is_a_file_of_rows(openai: OpenAI) -> None:
    lines = [
        {"item": item, "sample": {"output_text": item["question"]}, "grades": {"exact": 1.0}, "data_source_idx": number}
        for number, item in enumerate(ITEMS)
    ]
    file_id, eval_id = upload(openai, "\n".join(map(json.dumps, lines))), create_eval(openai)
    source: Any = {"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
    run = openai.evals.runs.create(eval_id, data_source=source)
    carry_out(run.id)
    assert openai.evals.runs.retrieve(run.id, eval_id=eval_id).result_counts.passed == 2
