"""Evals, created and read with OpenAI's own client."""

from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.domain.access import AccessRole
from tests.openai_client import openai_client
from tests.operations import OPENAI_OPERATIONS
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals.flows import CONFIG, EXACT, create_eval

SIMILAR: Any = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "rouge_l",
    "pass_threshold": 0.6,
}
LABEL: Any = {
    "type": "label_model",
    "name": "tone",
    "model": "gpt-5-mini",
    "input": [
        {"role": "developer", "content": "Label the tone."},
        {"role": "user", "content": [{"type": "input_text", "text": "{{ sample.output_text }}"}]},
    ],
    "labels": ["kind", "rude"],
    "passing_labels": ["kind"],
}
SCORE: Any = {
    "type": "score_model",
    "name": "quality",
    "model": "sim/steady",
    "input": [{"role": "user", "content": "Rate {{ sample.output_text }}"}],
    "range": [1, 7],
    "pass_threshold": 5.5,
    "sampling_params": {"temperature": 0.2, "max_completions_tokens": 200},
}


def judged(content: Any) -> Any:
    return {**LABEL, "input": [{"role": "user", "content": content}]}


def nested_list(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


COSINE: Any = {**SIMILAR, "name": "meaning", "evaluation_metric": "cosine"}


def test_an_eval_is_returned_with_each_of_its_graders(openai: OpenAI) -> None:
    graders = [EXACT, SIMILAR, LABEL, SCORE, COSINE]
    created = openai.evals.create(
        name="Capitals", data_source_config=CONFIG, testing_criteria=graders, metadata={"team": "search"}
    )
    assert (created.object, created.name, created.metadata) == ("eval", "Capitals", {"team": "search"})
    returned = [grader.model_dump(exclude_none=True, mode="json") for grader in created.testing_criteria]
    assert returned == [
        EXACT,
        SIMILAR,
        {
            **LABEL,
            "input": [
                {"role": "system", "content": "Label the tone."},
                {"role": "user", "content": "{{ sample.output_text }}"},
            ],
        },
        SCORE,
        COSINE,
    ]
    schema: Any = created.data_source_config.model_dump(by_alias=True)["schema"]
    assert schema["properties"]["item"] == CONFIG["item_schema"]
    assert set(schema["properties"]) == {"item", "sample"}
    assert openai.evals.retrieve(created.id).model_dump() == created.model_dump()


def test_an_eval_is_a_definition_whose_assertions_are_its_graders(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai, EXACT, SCORE)
    definition = client.get(f"/v1/definitions/{eval_id}").json()
    assert definition["name"] == "Capitals"
    assert [(each["type"], each["metric"]) for each in definition["content"]["assertions"]] == [
        ("string-check", "exact"),
        ("score-model", "quality"),
    ]


def test_a_change_of_the_definition_s_graders_is_one_of_the_eval_s(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    value = {"operation": "ilike", "input": "{{sample.output_text}}", "reference": "{{item.answer}}"}
    assertions = [{"type": "string-check", "metric": "contained", "value": value}, {"type": "is-json"}]
    assert client.patch(f"/v1/definitions/{eval_id}", {"content": {"assertions": assertions}}).status == 200
    (grader,) = openai.evals.retrieve(eval_id).testing_criteria
    assert (grader.name, grader.type) == ("contained", "string_check")


def test_name_and_metadata_can_be_changed(openai: OpenAI) -> None:
    eval_id = create_eval(openai, metadata={"a": "1"})
    assert openai.evals.update(eval_id, name="Towns").metadata == {"a": "1"}
    updated = openai.evals.update(eval_id, metadata={"b": "2"})
    assert (updated.name, updated.metadata) == ("Towns", {"b": "2"})


def test_lists_are_paged_by_the_last_id(openai: OpenAI) -> None:
    ids = [create_eval(openai, name=f"eval {number}") for number in range(5)]
    page = openai.evals.list(limit=2)
    assert ([each.id for each in page.data], page.has_more) == (ids[:2], True)
    assert [each.id for each in openai.evals.list(limit=2)] == ids
    assert [each.id for each in openai.evals.list(limit=2, order="desc")] == ids[::-1]
    raw = openai.evals.with_raw_response.list(limit=5).http_response.json()
    assert (raw["object"], raw["first_id"], raw["last_id"], raw["has_more"]) == ("list", ids[0], ids[4], False)


def test_evals_are_listed_by_their_last_update(openai: OpenAI) -> None:
    ids = [create_eval(openai, name=f"eval {number}") for number in range(3)]
    openai.evals.update(ids[0], name="changed")
    newest = openai.evals.list(order="desc", order_by="updated_at", limit=1)
    assert ([each.id for each in newest.data], newest.has_more) == ([ids[0]], True)
    assert len(list(openai.evals.list(order="desc", order_by="updated_at", limit=1))) == 3


def test_a_definition_that_is_no_eval_is_not_listed_nor_found(openai: OpenAI, client: Client) -> None:
    other = client.post("/v1/definitions", {"name": "x", "content": {"system": "Be kind."}}).json()["id"]
    assert list(openai.evals.list()) == []
    with pytest.raises(sdk.NotFoundError):
        openai.evals.retrieve(other)


def test_a_deleted_eval_is_gone_with_its_definition(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    deleted = openai.evals.delete(eval_id)
    assert (deleted.deleted, deleted.eval_id) == (True, eval_id)
    assert list(openai.evals.list()) == []
    assert client.get(f"/v1/definitions/{eval_id}").status == 404
    with pytest.raises(sdk.NotFoundError):
        openai.evals.retrieve(eval_id)


def test_a_definition_that_is_deleted_in_cupel_is_no_eval_any_more(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    assert client.delete(f"/v1/definitions/{eval_id}").status == 204
    assert list(openai.evals.list()) == []


def test_a_request_that_is_repeated_with_its_key_creates_one_eval(openai: OpenAI) -> None:
    headers = {"Idempotency-Key": "key-1"}
    first = openai.evals.create(data_source_config=CONFIG, testing_criteria=[EXACT], extra_headers=headers)
    again = openai.evals.create(data_source_config=CONFIG, testing_criteria=[EXACT], extra_headers=headers)
    assert first.model_dump() == again.model_dump()
    assert len(list(openai.evals.list())) == 1


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"testing_criteria": []}, "testing_criteria"),
        ({"testing_criteria": {"a": EXACT}}, "testing_criteria"),
        ({"testing_criteria": [EXACT, "exact"]}, "testing_criteria[1]"),
        ({"testing_criteria": [{"name": "exact"}]}, "testing_criteria[0].type"),
        ({"testing_criteria": [{**EXACT, "type": "x" * 100_000}]}, "testing_criteria[0]"),
        ({"testing_criteria": [{**EXACT, "operation": "regex"}]}, "testing_criteria[0].operation"),
        ({"testing_criteria": [{**EXACT, "input": 5}]}, "testing_criteria[0].input"),
        ({"testing_criteria": [{**EXACT, "input": "{{ item.x | upper }}"}]}, "testing_criteria[0].input"),
        ({"testing_criteria": [{**EXACT, "input": "{{ other.x }}"}]}, "testing_criteria[0].input"),
        ({"testing_criteria": [{**SIMILAR, "evaluation_metric": "vibes"}]}, "testing_criteria[0].evaluation_metric"),
        ({"testing_criteria": [{**SIMILAR, "pass_threshold": "0.5"}]}, "testing_criteria[0].pass_threshold"),
        ({"testing_criteria": [{**SIMILAR, "pass_threshold": True}]}, "testing_criteria[0].pass_threshold"),
        ({"testing_criteria": [{**SCORE, "pass_threshold": 9}]}, "testing_criteria[0]"),
        ({"testing_criteria": [{**SCORE, "range": [7, 1]}]}, "testing_criteria[0]"),
        ({"testing_criteria": [{**SCORE, "range": [False, True]}]}, "testing_criteria[0].range[0]"),
        ({"testing_criteria": [{**SCORE, "model": "nobody/x"}]}, "testing_criteria[0].model"),
        (
            {"testing_criteria": [{**SCORE, "sampling_params": {"temperature": "1"}}]},
            "testing_criteria[0].sampling_params.temperature",
        ),
        ({"testing_criteria": [{**LABEL, "labels": "kind"}]}, "testing_criteria[0].labels"),
        ({"testing_criteria": [{**LABEL, "labels": ["kind", "kind"]}]}, "testing_criteria[0].labels"),
        ({"testing_criteria": [{**LABEL, "passing_labels": ["other"]}]}, "testing_criteria[0].passing_labels"),
        ({"testing_criteria": [{**LABEL, "input": []}]}, "testing_criteria[0].input"),
        ({"testing_criteria": [judged([{"type": "input_image"}])]}, "testing_criteria[0].input[0].content"),
        ({"testing_criteria": [judged(5)]}, "testing_criteria[0].input[0].content"),
        ({"testing_criteria": [judged("")]}, "testing_criteria[0].input[0].content"),
        ({"testing_criteria": [{**EXACT, "name": " "}]}, "testing_criteria[0].name"),
        ({"testing_criteria": [judged(nested_list(900))]}, "testing_criteria[0].input[0].content"),
        ({"testing_criteria": [{"type": "python", "name": "code", "source": "1"}]}, "testing_criteria[0]"),
        ({"data_source_config": "custom"}, "data_source_config"),
        (
            {"data_source_config": {"type": "custom", "item_schema": {"type": "text"}}},
            "data_source_config.item_schema",
        ),
        (
            {"data_source_config": {**CONFIG, "include_sample_schema": "yes"}},
            "data_source_config.include_sample_schema",
        ),
        ({"data_source_config": {"type": "logs", "metadata": {"a": 5}}}, "data_source_config.metadata.a"),
        ({"data_source_config": {"type": "stored_completions", "item_schema": {}}}, "data_source_config.item_schema"),
        ({"data_source_config": {"type": "nothing"}}, "data_source_config"),
        ({"metadata": {"x": "y" * 513}}, "metadata.x"),
        ({"metadata": {"x": 5}}, "metadata.x"),
        ({"metadata": {"x" * 65: "y"}}, f"metadata.{'x' * 65}"),
        ({"metadata": {str(number): "y" for number in range(17)}}, "metadata"),
        ({"name": ""}, "name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_input_is_an_error_of_openai_s_form_that_names_the_parameter(
    openai: OpenAI, changes: dict[str, Any], param: str
) -> None:
    body = {"data_source_config": CONFIG, "testing_criteria": [EXACT], **changes}
    with pytest.raises(sdk.BadRequestError) as refused:
        openai.post("/evals", cast_to=object, body=body)
    assert refused.value.type == "invalid_request_error"
    assert refused.value.code == "invalid_value"
    assert refused.value.param == param
    assert len(refused.value.response.content) < 2_000


def test_python_graders_are_refused_with_the_reason(openai: OpenAI) -> None:
    with pytest.raises(sdk.BadRequestError, match="is code, which a stack does not run"):
        create_eval(openai, {"type": "python", "name": "code", "source": "def grade(sample, item): return 1.0"})


def test_errors_have_openai_s_types(openai: OpenAI, client: Client) -> None:
    with pytest.raises(sdk.AuthenticationError) as unknown:
        openai_client(client, token="cupel_wrong").evals.list()
    assert unknown.value.code == "invalid_api_key"
    with pytest.raises(sdk.NotFoundError) as missing:
        openai.evals.retrieve("def_none")
    assert (missing.value.type, missing.value.code) == ("invalid_request_error", "not_found")
    with pytest.raises(sdk.BadRequestError):
        openai.evals.list(limit=101)
    with pytest.raises(sdk.NotFoundError):
        openai.get("/weather", cast_to=object)
    response = client.request("POST", "/openai/v1/evals", body="{no json")
    assert (response.status, response.json()["error"]["message"]) == (400, "the body is not valid JSON")
    assert response.headers["x-request-id"] == "request-1"


def test_every_operation_needs_its_role(client: Client) -> None:
    viewer, member = client.issue(role=AccessRole.VIEWER), client.issue(role=AccessRole.MEMBER)
    names = {"{eval_id}": "def_x", "{run_id}": "run_x", "{output_item_id}": "run_x-0"}
    for operation in OPENAI_OPERATIONS.values():
        path = operation.path
        for name, value in names.items():
            path = path.replace(name, value)
        for token, role in ((viewer, AccessRole.VIEWER), (member, AccessRole.MEMBER)):
            response = client.request(operation.method, path, json={}, token=token)
            assert (response.status == 403) == (not operation.permits(role)), operation.id
            if response.status == 403:
                assert response.json()["error"]["code"] == "insufficient_permissions"


def test_another_workspace_s_evals_are_unknown(openai: OpenAI, client: Client) -> None:
    eval_id = create_eval(openai)
    stranger = openai_client(client, token=client.issue("other"))
    assert list(stranger.evals.list()) == []
    for request in (stranger.evals.retrieve, stranger.evals.delete, stranger.evals.runs.list):
        with pytest.raises(sdk.NotFoundError):
            request(eval_id)
    with pytest.raises(sdk.NotFoundError):
        stranger.evals.update(eval_id, name="mine")
    with pytest.raises(sdk.NotFoundError):
        stranger.evals.list(after=eval_id)
