"""Warnings of what a valid profile probably does not mean."""

import pytest

from cupel_core.domain.pipeline.profiles import ProfileIssue, profile_warnings
from tests.profiles import Json, guard, operation, pipeline_of

CONDITION = {"operationId": "scene", "output": "ok", "operator": "is_true"}
UNUSED = operation("a", effects=[])
WARNED = {
    "disabled dependency": (
        [operation("a", enabled=False), operation("b", dependsOn=["a"])],
        "operations.1.dependsOn.0",
        "a is disabled: b never runs",
    ),
    "dependency of another trigger": (
        [operation("a", triggers=["generate"]), operation("b", dependsOn=["a"])],
        "operations.1.dependsOn.0",
        "a does not run on regenerate: b does not either",
    ),
    "unused artifact": (
        [UNUSED],
        "operations.0.artifact",
        "nothing uses art.a: no effect, condition, template or inclusion",
    ),
    "value that is included and inserted": (
        [
            operation(
                "a",
                artifact={"usage": "prompt_only", "inclusion": {"at": "after_last_user"}},
                effects=[{"type": "prompt.append_after_last_user", "role": "user"}],
            )
        ],
        "operations.0.artifact.inclusion",
        "the value is both included and inserted by an effect",
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_a_warning_names_the_field_and_the_reason(case: str) -> None:
    operations, field, message = WARNED[case]
    assert profile_warnings(pipeline_of(*operations)) == (ProfileIssue(field, message),)


@pytest.mark.parametrize(
    "user",
    [
        operation("b", params={"template": "{{ art.a.value }}"}),
        operation("b", effects=[{"type": "turn.user.rewrite", "template": "{{ art_by_operation.a }}"}]),
        guard(
            "b",
            params={"outputs": [{"key": "k", "title": "K", "when": "art.a.value == 'x'"}]},
            artifact={"usage": "ui_only"},
        ),
    ],
    ids=["template", "effect", "expression"],
)
def test_an_artifact_that_another_operation_names_is_used(user: Json) -> None:
    assert profile_warnings(pipeline_of(UNUSED, user)) == ()


def test_a_guard_on_which_an_operation_depends_is_used() -> None:
    dependent = operation("a", dependsOn=["scene"], runConditions=[CONDITION])
    assert profile_warnings(pipeline_of(guard(), dependent)) == ()


def test_a_disabled_operation_has_no_warnings() -> None:
    assert profile_warnings(pipeline_of({**UNUSED, "enabled": False})) == ()
