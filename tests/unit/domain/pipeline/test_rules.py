"""The rules of profiles: each failed one names its field and says what would be right."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cupel_core.domain.pipeline.profiles import ProfileIssue
from cupel_core.domain.pipeline.rules import profile_errors, secret_errors
from tests.in_one_test import in_one_test
from tests.profiles import (
    AFTER,
    BEFORE,
    LLM,
    Json,
    content_of,
    guard,
    operation,
    operation_graphs,
    pipeline_of,
    profile,
)

WRITER = operation("a", hooks=[AFTER], effects=[{"type": "turn.assistant.rewrite"}])
SECOND_WRITER = operation("b", hooks=[AFTER], effects=[{"type": "turn.assistant.rewrite"}])
CONDITION = {"operationId": "scene", "output": "ok", "operator": "is_true"}


def llm(**changes: Any) -> Json:
    return operation("x", **{**LLM, "params": {**LLM["params"], **changes.pop("params", {})}, **changes})


def prompted(**inclusion: Any) -> Json:
    return operation("x", artifact={"usage": "prompt_only", "inclusion": inclusion})


def errors(*operations: Json) -> list[ProfileIssue]:
    return list(profile_errors(pipeline_of(*operations)))


INVALID = {
    "operation twice": (
        [operation("a"), operation("a", artifact={"tag": "b"})],
        "operations.1.id",
        "there is another operation a",
    ),
    "unknown dependency": (
        [operation("a", dependsOn=["x"]), operation("b")],
        "operations.0.dependsOn.0",
        "there is no operation x; the others are b",
    ),
    "unknown dependency of the only operation": (
        [operation("a", dependsOn=["x"])],
        "operations.0.dependsOn.0",
        "there is no operation x; there are no others",
    ),
    "itself": ([operation("a", dependsOn=["a"])], "operations.0.dependsOn.0", "cannot depend on itself"),
    "dependency twice": (
        [operation("a"), operation("b", dependsOn=["a", "a"])],
        "operations.1.dependsOn.1",
        "a is named twice",
    ),
    "dependency across the main call": (
        [operation("a"), operation("b", hooks=[AFTER], dependsOn=["a"], effects=[])],
        "operations.1.dependsOn.0",
        "a runs in before_main_llm only: a dependency cannot cross the main call",
    ),
    "cycle": (
        [operation("a", dependsOn=["b"]), operation("b", dependsOn=["c"]), operation("c", dependsOn=["a"])],
        "operations.0.dependsOn",
        "depends on itself through a → b → c → a",
    ),
    "condition on an unknown operation": (
        [operation("a", runConditions=[CONDITION])],
        "operations.0.runConditions.0.operationId",
        "there is no operation scene; there are no others",
    ),
    "condition on what is no guard": (
        [operation("scene"), operation("a", dependsOn=["scene"], runConditions=[CONDITION])],
        "operations.1.runConditions.0.operationId",
        "scene is not a guard",
    ),
    "condition on a guard that is no dependency": (
        [guard(), operation("a", runConditions=[CONDITION])],
        "operations.1.runConditions.0.operationId",
        "scene must also be in dependsOn",
    ),
    "condition on an unknown output": (
        [guard("scene", "one", "two"), operation("a", dependsOn=["scene"], runConditions=[CONDITION])],
        "operations.1.runConditions.0.output",
        "guard scene has no output ok; it has one, two",
    ),
    "tag of another operation": (
        [operation("a"), operation("b", artifact={"tag": "a"})],
        "operations.1.artifact.tag",
        "art.a is written by operation a already",
    ),
    "history of a value of one turn": (
        [operation(artifact={"retention": {"maxVersions": 2}})],
        "operations.0.artifact.retention",
        "a run_only artifact has no history",
    ),
    "no inclusion": (
        [operation(artifact={"usage": "prompt_only"})],
        "operations.0.artifact.inclusion",
        "is required: usage prompt_only needs an inclusion",
    ),
    "inclusion without a prompt": (
        [operation(artifact={"inclusion": {"at": "system_append"}})],
        "operations.0.artifact.inclusion",
        "usage internal has none; use prompt_only or prompt+ui",
    ),
    "no depth": (
        [prompted(at="depth", role="user")],
        "operations.0.artifact.inclusion.depthFromEnd",
        "is required with at depth",
    ),
    "depth elsewhere": (
        [prompted(at="system_append", depthFromEnd=-1)],
        "operations.0.artifact.inclusion.depthFromEnd",
        "is only possible with at depth",
    ),
    "role in the system": (
        [prompted(at="system_prepend", role="user")],
        "operations.0.artifact.inclusion.role",
        "is only possible with at after_last_user or depth",
    ),
    "text of a guard": (
        [guard(artifact={"format": "text"})],
        "operations.0.artifact.format",
        "must be json: a guard's artifact is JSON",
    ),
    "text of JSON": (
        [llm(params={"output": {"mode": "json"}})],
        "operations.0.artifact.format",
        "must be json: the artifact of JSON output is JSON",
    ),
    "JSON of a template": (
        [operation(artifact={"format": "json"})],
        "operations.0.artifact.format",
        "must be text or markdown: the operation makes a text",
    ),
    "append to an object": (
        [llm(params={"output": {"mode": "json"}}, artifact={"format": "json", "writeMode": "append"})],
        "operations.0.artifact.writeMode",
        "must be replace: append needs a list, by an output schema of type array",
    ),
    "prompt effect after the main call": (
        [operation(hooks=[AFTER])],
        "operations.0.effects.0.type",
        "prompt effects are not possible in after_main_llm: hooks must be before_main_llm alone",
    ),
    "effect on the answer before the main call": (
        [operation(effects=[{"type": "turn.assistant.annotate"}])],
        "operations.0.effects.0.type",
        "there is no answer yet in before_main_llm: hooks must be after_main_llm alone",
    ),
    "effect without its field": (
        [operation(effects=[{"type": "prompt.insert_at_depth", "role": "user"}])],
        "operations.0.effects.0.depthFromEnd",
        "is required with prompt.insert_at_depth",
    ),
    "effect with another's field": (
        [operation(effects=[{"type": "turn.user.rewrite", "role": "user"}])],
        "operations.0.effects.0.role",
        "is only possible with prompt.append_after_last_user or prompt.insert_at_depth",
    ),
    "two rewrites of one operation": (
        [operation(effects=[{"type": "turn.user.rewrite"}] * 2)],
        "operations.0.effects.1.type",
        "rewrites the user's message twice",
    ),
    "two operations that rewrite the answer": (
        [WRITER, SECOND_WRITER],
        "operations.1.effects.0.type",
        "a and b both rewrite the answer: make one depend on the other",
    ),
    "schema of a text": (
        [llm(params={"output": {"schema": {"type": "array"}}})],
        "operations.0.params.output.schema",
        "needs mode json",
    ),
    "no pattern": (
        [llm(params={"output": {"mode": "json", "extract": "pattern"}}, artifact={"format": "json"})],
        "operations.0.params.output.pattern",
        "is required with extract pattern",
    ),
    "pattern that is not used": (
        [llm(params={"output": {"mode": "json", "pattern": "x"}}, artifact={"format": "json"})],
        "operations.0.params.output.pattern",
        "is only possible with extract pattern",
    ),
    "pattern that does not compile": (
        [
            llm(
                params={"output": {"mode": "json", "extract": "pattern", "pattern": "("}},
                artifact={"format": "json"},
            )
        ],
        "operations.0.params.output.pattern",
        "is not a regular expression: a group is not closed",
    ),
    "limit of costs without one of tokens": (
        [llm(params={"maxCostUsd": 0.1})],
        "operations.0.params.target.params.maxOutputTokens",
        "is required with maxCostUsd, to bound what a call costs",
    ),
    "output twice": ([guard("scene", "a", "a")], "operations.0.params.outputs.1.key", "there is another output a"),
    "no expression": (
        [guard(params={"outputs": [{"key": "a", "title": "A"}]})],
        "operations.0.params.outputs.0.when",
        "is required with engine rules",
    ),
    "expression for a model": (
        [guard(params={"engine": "llm", **LLM["params"]})],
        "operations.0.params.outputs.0.when",
        "is only possible with engine rules",
    ),
    "prompt for rules": (
        [guard(params=LLM["params"])],
        "operations.0.params.engine",
        "must be llm with a target and a prompt",
    ),
    "no prompt for a model": (
        [guard(params={"engine": "llm", "outputs": [{"key": "a", "title": "A"}]})],
        "operations.0.params.engine",
        "llm needs a target and a prompt",
    ),
}


@in_one_test("case", INVALID)
def test_a_broken_rule_names_the_field_and_what_would_be_right(case: str) -> None:
    operations, field, message = INVALID[case]
    assert errors(*operations) == [ProfileIssue(field, message)]


VALID = {
    "rewrites in order": [WRITER, {**SECOND_WRITER, "dependsOn": ["a"]}],
    "rewrites in order through others": [
        WRITER,
        operation("c", hooks=[AFTER], dependsOn=["a"], effects=[]),
        {**SECOND_WRITER, "dependsOn": ["c"]},
    ],
    "rewrites in different hooks": [
        operation("a", effects=[{"type": "turn.user.rewrite"}]),
        operation("b", hooks=[AFTER], effects=[{"type": "turn.user.rewrite"}]),
    ],
    "condition": [guard(), operation("a", dependsOn=["scene"], runConditions=[CONDITION])],
    "appended list": [
        llm(
            params={"output": {"mode": "json", "schema": {"type": "array"}}},
            artifact={"format": "json", "writeMode": "append"},
        )
    ],
    "both hooks": [operation("a", hooks=[BEFORE, AFTER], effects=[{"type": "turn.user.rewrite"}])],
    "inclusion at a depth": [prompted(at="depth", depthFromEnd=-2, role="developer")],
    "guard by a model": [guard(params={"engine": "llm", "outputs": [{"key": "a", "title": "A"}], **LLM["params"]})],
    "nothing": [],
}


@pytest.mark.parametrize("case", VALID)
def test_a_valid_profile_has_no_errors(case: str) -> None:
    assert errors(*VALID[case]) == []


def test_all_broken_rules_are_reported_together() -> None:
    fields = [issue.field for issue in errors(operation("a", dependsOn=["x"]), operation("a"), guard("g", "k", "k"))]
    assert fields == [
        "operations.1.id",
        "operations.0.dependsOn.0",
        "operations.1.artifact.tag",
        "operations.2.params.outputs.1.key",
    ]


@pytest.mark.parametrize("secret", ["sk-abcdefghijklmnop1234", "use Bearer abcdefghijklmnop.1234"])
def test_what_looks_like_a_secret_is_refused(secret: str) -> None:
    content = content_of(profile(operation("a", params={"template": f"x {secret}"})))
    message = "looks like a secret: keys belong to the providers of the workspace"
    assert list(secret_errors(content["operations"])) == [ProfileIssue("operations.0.params.template", message)]


def test_ordinary_words_are_no_secrets() -> None:
    content = content_of(profile(operation("a", params={"template": "risk-free task-list Bearer of news"})))
    assert list(secret_errors(content["operations"])) == []


@given(operation_graphs())
def test_operations_that_depend_on_each_other_without_a_cycle_are_valid(operations: list[Json]) -> None:
    assert errors(*operations) == []


@given(operation_graphs(max_size=6), st.data())
def test_every_cycle_is_found(operations: list[Json], data: st.DataObject) -> None:
    same_hook = [each for each in operations if each["hooks"] == [BEFORE]]
    pipeline = pipeline_of(*operations)
    pairs = [
        (one, other)
        for one in same_hook
        for other in same_hook
        if pipeline.depends(pipeline.by_id[one["id"]], other["id"])
    ]
    assume(pairs)
    one, other = data.draw(st.sampled_from(pairs))
    closed = [
        {**each, "dependsOn": [*each["dependsOn"], one["id"]]} if each["id"] == other["id"] else each
        for each in operations
    ]
    found = errors(*closed)
    assert found
    assert all(issue.message.startswith("depends on itself through ") for issue in found)
