"""Every operation below `/openai/v1`: bad input has OpenAI's error form, and no other workspace's data is reached."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from openai import OpenAI

from tests.openai_client import openai_client
from tests.operations import OPENAI_OPERATIONS
from tests.stored_text import places_with
from tests.unit.api.client import Answer, Client
from tests.unit.interop.openai_evals.flows import CONFIG, EXACT, carry_out, completions, create_eval

pytestmark = pytest.mark.usefixtures("finish_starts")

FORM = {"Content-Type": "multipart/form-data; boundary=x"}
NO_FILE = b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nevals\r\n--x--\r\n'
PART = b'--x\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n{"item": {}}\r\n--x--\r\n'
UNKNOWN = {"eval_id": "def_none", "run_id": "run_none", "output_item_id": "run_none-0", "file_id": "jsonl_none"}
UNKNOWN |= {"upload_id": "upload_none", "model": "none", "provider": "nobody", "name": "none"}


class Bad(NamedTuple):
    """A request that is refused, and the parameter that its error names."""

    param: str | None
    body: Any = None
    form: bytes | None = None
    query: Mapping[str, Any] = MappingProxyType({})
    status: int = 400


NOT_FOUND = Bad(None, status=404)
BAD: dict[str, list[Bad]] = {
    "listOpenAIEvals": [
        Bad("limit", query={"limit": "0"}),
        Bad("limit", query={"limit": "many"}),
        Bad("order", query={"order": "up"}),
        Bad("order_by", query={"order_by": "name"}),
        Bad("colour", query={"colour": "red"}),
        Bad(None, query={"after": "def_none"}, status=404),
    ],
    "createOpenAIEval": [
        Bad("data_source_config", {"testing_criteria": [EXACT]}),
        Bad("testing_criteria", {"data_source_config": CONFIG}),
        Bad("testing_criteria[0].name", {"data_source_config": CONFIG, "testing_criteria": [{**EXACT, "name": 5}]}),
    ],
    "getOpenAIEval": [NOT_FOUND, Bad("x", query={"x": "1"})],
    "updateOpenAIEval": [
        Bad("name", {"name": 5}),
        Bad("metadata.a", {"metadata": {"a": 1}}),
        Bad(None, {}, status=404),
    ],
    "deleteOpenAIEval": [NOT_FOUND],
    "listOpenAIEvalRuns": [NOT_FOUND, Bad("status", query={"status": "done"}), Bad("limit", query={"limit": "101"})],
    "createOpenAIEvalRun": [
        Bad("data_source", {}),
        Bad("data_source.source.type", {"data_source": {"type": "jsonl", "source": {}}}),
        Bad("name", {"data_source": completions(), "name": "x" * 300}),
        Bad(None, {"data_source": completions()}, status=404),
    ],
    "getOpenAIEvalRun": [NOT_FOUND],
    "cancelOpenAIEvalRun": [NOT_FOUND],
    "cancelOpenAIEvalRunOfOlderClients": [NOT_FOUND],
    "deleteOpenAIEvalRun": [NOT_FOUND],
    "listOpenAIOutputItems": [NOT_FOUND, Bad("status", query={"status": "good"}), Bad("order", query={"order": "x"})],
    "getOpenAIOutputItem": [NOT_FOUND],
    "listOpenAIFiles": [
        Bad("limit", query={"limit": "10001"}),
        Bad("order", query={"order": "up"}),
        Bad(None, query={"after": "jsonl_none"}, status=404),
    ],
    "createOpenAIFile": [Bad("file", form=NO_FILE), Bad("body", form=b"none"), Bad(None, {"a": 1}, status=415)],
    "getOpenAIFile": [NOT_FOUND],
    "readOpenAIFile": [NOT_FOUND],
    "deleteOpenAIFile": [NOT_FOUND],
    "createOpenAIUpload": [Bad("bytes", {"bytes": 0, "filename": "a", "mime_type": "b", "purpose": "evals"})],
    "addOpenAIUploadPart": [Bad("purpose", form=NO_FILE), Bad(None, form=PART, status=404)],
    "completeOpenAIUpload": [Bad("part_ids", {"part_ids": []}), Bad(None, {"part_ids": ["a"]}, status=404)],
    "cancelOpenAIUpload": [NOT_FOUND],
    "listOpenAIModels": [Bad("x", query={"x": "1"})],
    "getOpenAIModel": [NOT_FOUND],
    "getOpenAIModelOfProvider": [NOT_FOUND],
    "validateOpenAIGrader": [
        Bad("grader", {}),
        Bad("grader.type", {"grader": {"name": "exact", "operation": "eq"}}),
        Bad("grader.reference", {"grader": {**EXACT, "reference": None}}),
    ],
    "runOpenAIGrader": [
        Bad("model_sample", {"grader": EXACT}),
        Bad("item", {"grader": EXACT, "model_sample": "a", "item": []}),
    ],
}
CASES = [(name, bad) for name, cases in BAD.items() for bad in cases]


def send(
    client: Client, operation_id: str, ids: dict[str, str], bad: Bad | None = None, token: str | None = None
) -> Answer:
    operation, bad = OPENAI_OPERATIONS[operation_id], bad or Bad(None)
    more: dict[str, Any] = {"raw_body": bad.form, "headers": FORM} if bad.form is not None else {"json": bad.body}
    return client.request(operation.method, operation.path.format(**ids), query=dict(bad.query), token=token, **more)


def test_every_operation_has_bad_input() -> None:
    assert BAD.keys() == OPENAI_OPERATIONS.keys()


@pytest.fixture
def own(openai: OpenAI) -> dict[str, str]:
    """Ids of what the workspace has; of others, it is not told what is wrong with its input."""
    eval_id = create_eval(openai, name="own")
    run = openai.evals.runs.create(eval_id, data_source=completions([{"question": "a", "answer": "x"}]))
    upload = openai.uploads.create(filename="own", bytes=12, mime_type="text/plain", purpose="evals")
    return {**UNKNOWN, "eval_id": eval_id, "run_id": run.id, "upload_id": upload.id}


@pytest.mark.parametrize(("operation_id", "bad"), CASES, ids=[f"{name}-{bad.param}" for name, bad in CASES])
def test_bad_input_is_refused_in_openai_s_form(
    client: Client, own: dict[str, str], operation_id: str, bad: Bad
) -> None:
    answer = send(client, operation_id, UNKNOWN if bad.status == 404 else own, bad)
    assert answer.status == bad.status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", bad.param)
    assert error["message"]
    assert len(answer.text) < 2_000
    if bad.status in (400, 404):
        assert error["code"] == {400: "invalid_value", 404: "not_found"}[bad.status]


@pytest.mark.parametrize("operation_id", OPENAI_OPERATIONS)
@pytest.mark.parametrize("token", ["cupel_none", "sk-openai"])
def test_every_operation_needs_a_token(client: Client, operation_id: str, token: str) -> None:
    answer = send(client, operation_id, UNKNOWN, token=token)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_no_operation_reaches_another_workspace_s_data(openai: OpenAI, client: Client, cloud: Any) -> None:
    eval_id = create_eval(openai, name="zanzibar")
    run = openai.evals.runs.create(eval_id, data_source=completions([{"question": "zanzibar", "answer": "x"}]))
    carry_out(run.id)
    file_id = openai.files.create(file=("zanzibar", b'{"item": {}}'), purpose="evals").id
    upload = openai.uploads.create(filename="zanzibar", bytes=12, mime_type="text/plain", purpose="evals")
    part = openai.uploads.parts.create(upload.id, data=b'{"item": {}}')
    ids = {**UNKNOWN, "eval_id": eval_id, "run_id": run.id, "output_item_id": f"{run.id}-0"}
    ids |= {"file_id": file_id, "upload_id": upload.id}
    valid = {
        "updateOpenAIEval": Bad(None, {"name": "mine"}),
        "createOpenAIEvalRun": Bad(None, {"data_source": completions()}),
        "addOpenAIUploadPart": Bad(None, form=PART),
        "completeOpenAIUpload": Bad(None, {"part_ids": [part.id]}),
    }
    before, stranger = places_with("zanzibar", cloud), client.issue("other")
    named = [each for each in OPENAI_OPERATIONS.values() if "{" in each.path and "Model" not in each.id]
    assert len(named) == 17
    for operation in named:
        answer = send(client, operation.id, ids, valid.get(operation.id), token=stranger)
        assert (answer.status, answer.json()["error"]["code"]) == (404, "not_found"), operation.id
        assert "zanzibar" not in answer.text
    for listed in ("listOpenAIEvals", "listOpenAIFiles"):
        assert send(client, listed, ids, token=stranger).json()["data"] == []
        for after in (eval_id, file_id):
            assert send(client, listed, ids, Bad(None, query={"after": after}), token=stranger).status == 404
    assert places_with("zanzibar", cloud) == before
    assert openai.uploads.complete(upload.id, part_ids=[part.id]).status == "completed"
    own = create_eval(openai_client(client, token=stranger))
    for source in ({"type": "file_id", "id": file_id}, {"type": "file_id", "id": "jsonl_none"}):
        body = {"data_source": completions() | {"source": source}}
        answer = send(client, "createOpenAIEvalRun", {"eval_id": own}, Bad(None, body), token=stranger)
        assert (answer.status, answer.json()["error"]["param"]) == (400, "data_source.source.id")
        assert json.loads(answer.text)["error"]["message"].startswith("data_source.source.id: ")
