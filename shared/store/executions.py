"""The finishing execution of a run: one per run and epoch, whoever starts it and how often."""

import orjson

from shared.messages import RunRef
from shared.settings import settings
from shared.store.clients import stepfunctions


def begin(ref: RunRef, epoch: int) -> None:
    """Starts `<run>-<epoch>`; Step Functions refuses the name a second time for 90 days, which is success here."""
    client = stepfunctions()
    payload = orjson.dumps({"workspace": ref.workspace, "runId": ref.run_id, "epoch": epoch}).decode()
    try:
        client.start_execution(
            stateMachineArn=settings().finish_machine_arn, name=f"{ref.run_id}-{epoch}", input=payload
        )
    except client.exceptions.ExecutionAlreadyExists:
        return
