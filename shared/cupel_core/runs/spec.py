"""Run specifications as text, stored with an idempotency key or a schedule.

Two specifications are the same when their texts are.
"""

import orjson

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.runs.spec import RequestedRun, RunSpec, StartSpec, start_spec


def spec_to_text(spec: RequestedRun) -> str:
    return orjson.dumps(encode(spec), option=orjson.OPT_SORT_KEYS).decode()


def spec_from_text(text: str) -> RunSpec:
    return decode(RunSpec, orjson.loads(text))


def scheduled_from_text(text: str) -> StartSpec:
    return start_spec(orjson.loads(text))
