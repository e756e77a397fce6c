"""Run specifications as text, stored with an idempotency key or a schedule.

Two specifications are the same when their texts are.
"""

import orjson

from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec


def spec_to_text(spec: RunSpec | EvalRunSpec) -> str:
    return orjson.dumps(spec.to_json(), option=orjson.OPT_SORT_KEYS).decode()


def spec_from_text(text: str) -> RunSpec:
    return RunSpec.from_json(orjson.loads(text))


def scheduled_from_text(text: str) -> RunSpec | EvalRunSpec:
    """What a schedule starts."""
    data = orjson.loads(text)
    return EvalRunSpec.from_json(data) if "eval_options" in data else RunSpec.from_json(data)
