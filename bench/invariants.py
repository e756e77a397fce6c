"""What holds of every run at rest, read through the API alone."""

from collections.abc import Iterator
from itertools import pairwise

from cupel.client import Client
from cupel.json_types import Json

_OVER = ("COMPLETED", "FAILED")


def violations(client: Client, run: Json) -> list[str]:
    """Where a run breaks the counting (every probe one outcome) or the telling (every move one event)."""
    return [*_miscounted(client, run), *_mistold(client, run)]


def _miscounted(client: Client, run: Json) -> Iterator[str]:
    progress = run["progress"]
    completed = sorted(each["probeIndex"] for each in client.transcripts(run["id"]))
    failed = sorted(each["index"] for each in client.probes(run["id"], status="ERROR"))
    if (len(completed), len(failed)) != (progress["completed"], progress["failed"]):
        yield f"{progress} is told, {len(completed)} transcripts and {len(failed)} errors are there"
    if len({*completed, *failed}) != len(completed) + len(failed):
        yield "a probe has two outcomes"
    if run["status"] in _OVER and sorted(completed + failed) != list(range(progress["total"])):
        yield "the run is over and a probe has no outcome"


def _mistold(client: Client, run: Json) -> Iterator[str]:
    events = client.events(run["id"])
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        yield "the events have a gap"
    moves = [(event["data"]["from"], event["data"]["to"]) for event in events if "from" in event["data"]]
    if any(before[1] != after[0] for before, after in pairwise(moves)):
        yield f"a move does not begin where the one before ended: {moves}"
    if moves and moves[-1][1] != run["status"]:
        yield f"the last event tells {moves[-1][1]}, the run is {run['status']}"
