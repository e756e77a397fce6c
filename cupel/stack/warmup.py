"""One call of each function, so that the first run does not wait for layers to be unpacked.

The emulator unpacks one worker at a time. The calls name a run that does not exist, which every consumer drops.
"""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from cupel.stack.clients import client
from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION, STACK_NAME
from cupel_core.messages import DispatchOrder, DueSchedule, GenerationOrder, Message, ProbeSlice

_NOBODY = "warming"
_NOTHING = "run_none"


class Call(NamedTuple):
    function: str
    event: dict[str, Any]
    workers: int = 1


def warm(emulator: Emulator) -> dict[str, str]:
    """Calls all but the API and its authorizer, which the first request wakes. Answers what failed, by function."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return {
            call.function: failure
            for call in _calls()
            for failure in pool.map(lambda call: _invoke(emulator, call), [call] * call.workers)
            if failure
        }


def _calls() -> tuple[Call, ...]:
    return (
        Call("dispatch", _delivery(DispatchOrder(workspace=_NOBODY, run_id=_NOTHING, epoch=1))),
        Call(
            "probe",
            _delivery(ProbeSlice(workspace=_NOBODY, run_id=_NOTHING, epoch=1, leaf=0, indexes=[0])),
            workers=2,  # as many as work on one provider at a time
        ),
        Call("generate", _delivery(GenerationOrder(workspace=_NOBODY, definition_id="def_none", generation_id="none"))),
        Call("finish", {"op": "warm"}),
        Call("score", {"op": "warm"}),
        Call("schedule", _due()),
        Call("sweep", {}),
    )


def _due() -> dict[str, Any]:
    return DueSchedule(workspace=_NOBODY, schedule_id="sch_none", scheduled_time="").model_dump(by_alias=True)


def _delivery(message: Message) -> dict[str, Any]:
    """As SQS would deliver it."""
    record = {
        "messageId": str(uuid.uuid4()),
        "receiptHandle": "none",
        "body": message.to_body(),
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:{STACK_NAME}-probe-sim",
        "awsRegion": REGION,
    }
    return {"Records": [record]}


def _invoke(emulator: Emulator, call: Call) -> str | None:
    lambda_ = client("lambda", emulator)
    answer = lambda_.invoke(FunctionName=f"{STACK_NAME}-{call.function}", Payload=json.dumps(call.event))
    if "FunctionError" not in answer:
        return None
    return str(json.loads(answer["Payload"].read()).get("errorMessage")).partition("\n")[0]
