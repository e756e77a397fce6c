"""Runs of any size, whose table has only what a test stores, and a count of the requests to the table."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cupel_core.domain.runs.run import Run
from cupel_core.store import blobs, clients, keys, runs, table
from cupel_core.store.settings import settings
from tests.started_runs import RunSetup, ref_of


def start_large_run(cases: int, models: tuple[str, ...] = ("sim/steady",)) -> Run:
    """As if the run had that many cases, without its snapshot: no test can start it in a second."""
    run = RunSetup(scenario_count=2, models=models).start()
    key = {"pk": {"S": keys.run(ref_of(run))}, "sk": {"S": "run"}}
    body = clients.dynamodb().get_item(TableName=settings().table_name, Key=key)["Item"]["body"]["S"]
    changed = body.replace('"segments": [2]', f'"segments": [{cases}]')
    assert changed != body
    clients.dynamodb().update_item(
        TableName=settings().table_name,
        Key=key,
        UpdateExpression="SET body = :body",
        ExpressionAttributeValues={":body": {"S": changed}},
    )
    blobs.delete(run.snapshot_key)
    return runs.get(ref_of(run))


@contextmanager
def counted_requests() -> Iterator[list[str]]:
    """The names of the requests to the table within the block."""
    sent: list[str] = []

    def note(model: Any, **_: Any) -> None:
        sent.append(model.name)

    events = [client.meta.events for client in (clients.dynamodb(), table.connection().client)]
    for each in events:
        each.register("before-call.dynamodb", note)
    try:
        yield sent
    finally:
        for each in events:
            each.unregister("before-call.dynamodb", note)
