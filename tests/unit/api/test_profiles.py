"""Operation profiles over HTTP."""

from typing import Any

import pytest

from cupel_core import sandbox
from cupel_core.resources import profile_validation
from cupel_core.sandbox import pool
from tests.profiles import AFTER, LLM, Json, guard, operation, profile
from tests.unit.api.client import Client

HOSTILE = "{{ " + "~".join(["(a|d(b))"] * 12_000) + " }}"
"""Takes seconds to compile."""


@pytest.fixture
def created(client: Client) -> Json:
    answer = client.post("/v1/profiles", profile(operation(), description="Polite."))
    assert answer.status == 201, answer.text
    stored: Json = answer.json()
    return stored


def path_of(stored: Json) -> str:
    return f"/v1/profiles/{stored['id']}"


def test_a_profile_is_stored_with_its_defaults(client: Client, created: Json) -> None:
    assert client.get(path_of(created)).json() == created
    assert (created["version"], created["enabled"], created["executionMode"]) == (1, True, "concurrent")
    assert created["operations"][0]["triggers"] == ["generate", "regenerate"]
    assert created["operations"][0]["artifact"]["persistence"] == "run_only"
    assert created["warnings"] == []


def test_profiles_are_listed_without_their_operations(client: Client, created: Json) -> None:
    (listed,) = client.get("/v1/profiles").json()["items"]
    assert listed == {name: value for name, value in created.items() if name in listed}
    assert "operations" not in listed


def test_what_was_read_can_be_sent_again(client: Client, created: Json) -> None:
    sent = {name: created[name] for name in ("name", "description", "enabled", "executionMode", "operations")}
    again = client.patch(path_of(created), sent).json()
    assert (again["version"], again["operations"]) == (1, created["operations"])


def test_other_operations_make_the_next_version(client: Client, created: Json) -> None:
    changed = client.patch(path_of(created), {"operations": [operation("other")]}).json()
    assert (changed["version"], changed["operations"][0]["id"]) == (2, "other")
    first = client.get(path_of(created), query={"version": 1}).json()
    assert (first["version"], first["operations"]) == (1, created["operations"])
    assert client.get(path_of(created), query={"version": 3}).status == 404


def test_another_mode_makes_the_next_version(client: Client, created: Json) -> None:
    changed = client.patch(path_of(created), {"executionMode": "sequential"}).json()
    assert (changed["version"], changed["operations"]) == (2, created["operations"])


def test_name_description_and_being_enabled_have_no_versions(client: Client, created: Json) -> None:
    changed = client.patch(path_of(created), {"name": "New", "description": None, "enabled": False}).json()
    assert (changed["version"], changed["name"], changed["description"], changed["enabled"]) == (1, "New", None, False)
    assert client.get(path_of(created)).json() == changed


def test_a_change_needs_the_current_tag(client: Client, created: Json) -> None:
    tag = client.get(path_of(created)).headers["ETag"]
    assert client.patch(path_of(created), {"enabled": False}, headers={"If-Match": tag}).status == 200
    assert client.patch(path_of(created), {"operations": []}, headers={"If-Match": tag}).status == 412
    assert client.get(path_of(created)).json()["version"] == 1


def test_names_are_unique(client: Client, created: Json) -> None:
    answer = client.post("/v1/profiles", profile(name=created["name"].upper()))
    assert (answer.status, answer.json()["errors"]) == (
        409,
        [{"field": "name", "message": "there is another profile of this name"}],
    )


def test_a_deleted_profile_is_gone_and_its_name_free(client: Client, created: Json) -> None:
    assert client.delete(path_of(created)).status == 204
    assert client.get(path_of(created)).status == 404
    assert client.get(path_of(created), query={"version": 1}).status == 404
    assert client.patch(path_of(created), {"enabled": False}).status == 404
    assert client.delete(path_of(created)).status == 404
    assert client.get("/v1/profiles").json()["items"] == []
    assert client.post("/v1/profiles", profile(name=created["name"])).status == 201


def test_another_workspaces_profile_is_not_found(client: Client, created: Json, stranger: str) -> None:
    for send in (
        client.get(path_of(created), token=stranger),
        client.patch(path_of(created), {"enabled": False}, token=stranger),
        client.delete(path_of(created), token=stranger),
    ):
        assert send.status == 404
    assert client.get("/v1/profiles", token=stranger).json()["items"] == []


def texts(value: object) -> str:
    return value if isinstance(value, str) else ""


SHAPES: list[tuple[Json, str, str]] = [
    ({"id": "Tone"}, "id", "must match ^[a-z][a-z0-9_]{0,63}$"),
    ({"name": " "}, "name", "must not be blank"),
    ({"kind": "rag"}, "kind", "must be 'template', 'llm' or 'guard'"),
    ({"enabled": "yes"}, "enabled", "must be true or false"),
    ({"hooks": []}, "hooks", "must have at least 1 item"),
    ({"hooks": ["during"]}, "hooks.0", "must be 'before_main_llm' or 'after_main_llm'"),
    ({"hooks": [AFTER, AFTER]}, "hooks", "must not name one twice"),
    ({"triggers": ["continue"]}, "triggers.0", "must be 'generate' or 'regenerate'"),
    ({"order": "first"}, "order", "must be a number from -1,000,000,000 to 1,000,000,000"),
    ({"params": {"template": " "}}, "params.template", "must not be blank"),
    ({"params": {"template": "x" * 100_001}}, "params.template", "must have at most 100000 characters"),
    ({"artifact": {"tag": "T"}}, "artifact.tag", "must match ^[a-z][a-z0-9_]{0,63}$"),
    ({"artifact": {"usage": "all"}}, "artifact.usage", "must be 'prompt_only', 'ui_only', 'prompt+ui' or 'internal'"),
    (
        {"artifact": {"persistence": "persisted", "retention": {"maxVersions": 101}}},
        "artifact.retention.maxVersions",
        "must be at most 100",
    ),
    (
        {"artifact": {"persistence": "persisted", "retention": {"maxAgeDays": 0}}},
        "artifact.retention.maxAgeDays",
        "must be at least 1",
    ),
    (
        {"artifact": {"persistence": "persisted", "retention": {"maxAgeDays": 3_651}}},
        "artifact.retention.maxAgeDays",
        "must be at most 3650",
    ),
    ({"effects": [{"type": "prompt.delete"}]}, "effects.0.type", "must be 'prompt.system_update', "),
    (
        {"effects": [{"type": "prompt.insert_at_depth", "depthFromEnd": 1, "role": "user"}]},
        "effects.0.depthFromEnd",
        "must be at most 0",
    ),
    (
        {"effects": [{"type": "prompt.append_after_last_user", "role": "tool"}]},
        "effects.0.role",
        "must be 'system', 'developer', 'user' or 'assistant'",
    ),
    ({"effects": [{"type": "turn.user.rewrite"}] * 11}, "effects", "must have at most 10 items"),
    ({"surprise": 1}, "surprise", "is not a known field; known fields: id, name, kind, "),
    ({**LLM, "params": {"prompt": "p"}}, "params.target", "is required"),
    (
        {**LLM, "params": {"prompt": "p", "target": {"model": "sim/steady", "params": {"tools": [{"name": "f"}]}}}},
        "params.target.params",
        "must not have tools: an operation calls no tools, and has an output",
    ),
    (
        {**LLM, "params": {"prompt": "p", "target": {"model": "sim/steady", "callTimeoutSeconds": 0}}},
        "params.target.callTimeoutSeconds",
        "must be at least 1",
    ),
    (
        {**LLM, "params": {"prompt": "p", "target": {"model": "sim/steady", "maxAttempts": 11}}},
        "params.target.maxAttempts",
        "must be at most 10",
    ),
    (
        {**LLM, "params": {**LLM["params"], "output": {"mode": "json", "schema": {"items": 1}}}},
        "params.output.schema",
        "items: must be an object or a boolean",
    ),
    ({**LLM, "params": {**LLM["params"], "maxCostUsd": 0}}, "params.maxCostUsd", "must be greater than 0"),
    (
        {"kind": "guard", "params": {"engine": "rules", "outputs": []}},
        "params.outputs",
        "must have at least 1 item",
    ),
]


@pytest.mark.parametrize(("changes", "field", "message"), SHAPES, ids=texts)
def test_a_field_of_the_wrong_shape_is_named_with_the_accepted_values(
    client: Client, changes: Json, field: str, message: str
) -> None:
    answer = client.post("/v1/profiles", profile(operation(**changes)))
    assert answer.status == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == f"operations.0.{field}"
    assert error["message"].startswith(message)


def test_required_fields_are_named(client: Client) -> None:
    answer = client.post("/v1/profiles", profile({}))
    required = ["artifact", "hooks", "id", "kind", "name", "order", "params"]
    assert sorted(answer.fields()) == [f"operations.0.{name}" for name in required]


def model_operation(model: str, **params: Any) -> Json:
    limits = {name: params.pop(name) for name in ("maxCostUsd",) if name in params}
    return operation(kind="llm", params={"prompt": "p", "target": {"model": model, "params": params}, **limits})


CONTENTS: list[tuple[Json, str, str]] = [
    (operation(params={"template": "{% if %}"}), "params.template", "does not compile: Expected an expression"),
    (operation(params={"template": "{% include 'x' %}"}), "params.template", "does not compile: include is not"),
    (
        operation(effects=[{"type": "turn.user.rewrite", "template": "{{ value"}]),
        "effects.0.template",
        "does not compile: unexpected end of template",
    ),
    (
        guard(params={"outputs": [{"key": "a", "title": "A", "when": "a b"}]}),
        "params.outputs.0.when",
        "does not compile: it must be one expression",
    ),
    (
        guard(params={"outputs": [{"key": "a", "title": "A", "when": "a) %}{{ b"}]}),
        "params.outputs.0.when",
        "does not compile: unexpected ')'",
    ),
    (model_operation("gpt-5-mini"), "params.target.model", 'model "gpt-5-mini" must have the form provider/name'),
    (model_operation("connector/con_1"), "params.target.model", "must be a model, not a connector"),
    (
        model_operation("sim/stedy"),
        "params.target.model",
        'unknown simulated model "sim/stedy"; did you',
    ),
    (
        model_operation("anthropic/claude-x", seed=1),
        "params.target.params.seed",
        "is no parameter of Anthropic",
    ),
    (
        model_operation("custom/mine", maxCostUsd=0.1, maxOutputTokens=10),
        "params.maxCostUsd",
        "the price of custom/mine is unknown: set it with the provider",
    ),
    (operation(dependsOn=["x"]), "dependsOn.0", "there is no operation x"),
    (operation(params={"template": "sk-abcdefghijklmnopqrst"}), "params.template", "looks like a secret"),
]


@pytest.mark.parametrize(("invalid", "field", "message"), CONTENTS, ids=texts)
def test_a_broken_rule_is_refused_and_reported_by_a_check(
    client: Client, invalid: Json, field: str, message: str
) -> None:
    refused = client.post("/v1/profiles", profile(invalid))
    assert refused.status == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == f"operations.0.{field}"
    assert error["message"].startswith(message)
    check = client.post("/v1/profiles/check", profile(invalid))
    assert (check.status, check.json()) == (200, {"errors": [error], "warnings": [], "plan": None})
    assert client.get("/v1/profiles").json()["items"] == []


def test_an_update_is_checked_like_a_new_profile(client: Client, created: Json) -> None:
    answer = client.patch(path_of(created), {"operations": [operation(dependsOn=["x"])]})
    assert (answer.status, answer.fields()) == (422, ["operations.0.dependsOn.0"])
    assert client.get(path_of(created)).json() == created


def test_a_check_shows_what_turns_would_run_and_stores_nothing(client: Client) -> None:
    operations = [operation("a", triggers=["generate"], effects=[]), operation("b", order=1, enabled=False)]
    check = client.post("/v1/profiles/check", profile(*operations)).json()
    assert [step["operationId"] for step in check["plan"]["generate"]["steps"]] == ["a"]
    assert check["plan"]["regenerate"]["omitted"] == [
        {"operationId": "a", "reason": "trigger_mismatch"},
        {"operationId": "b", "reason": "disabled"},
    ]
    assert [warning["field"] for warning in check["warnings"]] == ["operations.0.artifact"]
    assert client.get("/v1/profiles").json()["items"] == []


def test_warnings_are_stored_all_the_same(client: Client) -> None:
    answer = client.post("/v1/profiles", profile(operation("a", effects=[])))
    message = "nothing uses art.a: no effect, condition, template or inclusion"
    assert (answer.status, answer.json()["warnings"]) == (201, [{"field": "operations.0.artifact", "message": message}])


def test_a_profile_has_at_most_40_operations(client: Client) -> None:
    answer = client.post("/v1/profiles", profile(*(operation(f"a{number}") for number in range(41))))
    assert answer.json()["errors"] == [{"field": "operations", "message": "must have at most 40 items, not 41"}]


def test_a_profile_has_at_most_256_kb(client: Client) -> None:
    operations = [operation(f"a{number}", params={"template": "x" * 99_000}) for number in range(3)]
    answer = client.post("/v1/profiles", profile(*operations))
    assert answer.json()["errors"] == [{"field": "operations", "message": "must have at most 256 KB"}]


def test_a_template_that_compiles_for_too_long_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_validation, "_TEMPLATE_LIMITS", sandbox.TaskLimits(cpu_seconds=0.2))
    pool.reset_budgets()
    answer = client.post("/v1/profiles", profile(operation(params={"template": HOSTILE[:99_999]})))
    pool.reset_budgets()
    assert answer.json()["errors"] == [
        {"field": "operations", "message": "compiling the templates takes more than 0.2 s of CPU time"}
    ]
