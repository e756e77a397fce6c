"""Operation profiles for tests: written as in requests, and made at random."""

from typing import Any

from hypothesis import strategies as st

from cupel_core.contract.profiles import CreateProfile
from cupel_core.domain.codec import decode
from cupel_core.domain.pipeline.profiles import Pipeline
from cupel_core.domain.pipeline.run_profile import RunProfile

type Json = dict[str, Any]
BEFORE, AFTER = "before_main_llm", "after_main_llm"
LLM: Json = {"kind": "llm", "params": {"target": {"model": "sim/steady"}, "prompt": "Plan: {{ user.text }}"}}


def operation(operation_id: str = "tone", **changes: Any) -> Json:
    """A template operation before the main call; `artifact` is merged."""
    artifact = {"tag": operation_id, **changes.pop("artifact", {})}
    return {
        "id": operation_id,
        "name": operation_id.capitalize(),
        "kind": "template",
        "hooks": [BEFORE],
        "order": 10,
        "params": {"template": "Be polite."},
        "artifact": artifact,
        "effects": [{"type": "prompt.system_update", "mode": "append"}],
        **changes,
    }


def guard(operation_id: str = "scene", *keys: str, **changes: Any) -> Json:
    """A guard by rules with these outputs, by default one named `ok`."""
    outputs = [{"key": key, "title": key, "when": "true"} for key in keys or ("ok",)]
    params = {"engine": "rules", "outputs": outputs, **changes.pop("params", {})}
    artifact = {"format": "json", **changes.pop("artifact", {})}
    return operation(operation_id, kind="guard", params=params, effects=[], artifact=artifact, **changes)


def profile(*operations: Json, **fields: Any) -> Json:
    return {"name": "A profile", "operations": list(operations), **fields}


def content_of(document: Json) -> Json:
    """As it is stored, with all defaults."""
    return CreateProfile.model_validate(document).content()


def pipeline_of(*operations: Json, **fields: Any) -> Pipeline:
    return decode(Pipeline, content_of(profile(*operations, **fields)))


def run_profile(*operations: Json, **fields: Any) -> RunProfile:
    """As a run's snapshot has it."""
    return RunProfile("prof_1", "A profile", 3, pipeline_of(*operations, **fields))


def ask(operation_id: str = "plan", prompt: str = "Plan: {{ user.text }}", **changes: Any) -> Json:
    """An operation that asks the scripted model `custom/operation`."""
    params = {"target": {"model": "custom/operation", "maxAttempts": 1}, "prompt": prompt, **changes.pop("params", {})}
    return operation(operation_id, **{"kind": "llm", "params": params, "effects": [], **changes})


@st.composite
def operation_graphs(draw: st.DrawFn, max_size: int = 8) -> list[Json]:
    """Template operations of both hooks that depend on each other without a cycle, in any order."""
    count = draw(st.integers(0, max_size))
    operations: list[Json] = []
    for number in range(count):
        hook = draw(st.sampled_from([BEFORE, AFTER]))
        possible = [each["id"] for each in operations if each["hooks"] == [hook]]
        depends_on = draw(st.lists(st.sampled_from(possible), unique=True, max_size=3)) if possible else []
        operations.append(
            operation(
                f"op{number}",
                hooks=[hook],
                order=draw(st.integers(-2, 2)),
                enabled=draw(st.sampled_from([True, True, True, False])),
                required=draw(st.booleans()),
                triggers=draw(st.sampled_from([["generate"], ["generate", "regenerate"], ["regenerate"]])),
                dependsOn=depends_on,
                effects=[],
            )
        )
    return draw(st.permutations(operations))
