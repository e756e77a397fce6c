from collections.abc import Iterator
from itertools import pairwise

from cupel.client import Client
from cupel.json_types import Json

_COMPLETE_STATUSES = ("COMPLETED", "FAILED")


def violations(client: Client, run: Json) -> list[str]:
    """Return violations of "every probe has one outcome" and "every transition has one event"."""
    return [*_count_violations(client, run), *_event_violations(client, run)]


def _count_violations(client: Client, run: Json) -> Iterator[str]:
    progress = run["progress"]
    completed = sorted(transcript["probeIndex"] for transcript in client.list_transcripts(run["id"]))
    failed = sorted(probe["index"] for probe in client.list_run_probes(run["id"], status="ERROR"))
    if (len(completed), len(failed)) != (progress["completed"], progress["failed"]):
        yield f"the progress is {progress}, but there are {len(completed)} transcripts and {len(failed)} errors"
    if len({*completed, *failed}) != len(completed) + len(failed):
        yield "a probe has two outcomes"
    if run["status"] in _COMPLETE_STATUSES and sorted(completed + failed) != list(range(progress["total"])):
        yield "the run has ended and a probe has no outcome"


def _event_violations(client: Client, run: Json) -> Iterator[str]:
    events = client.list_run_events(run["id"])
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        yield "the events have a gap"
    transitions = [(event["data"]["from"], event["data"]["to"]) for event in events if "from" in event["data"]]
    if any(before[1] != after[0] for before, after in pairwise(transitions)):
        yield f"a transition does not start from the previous status: {transitions}"
    if transitions and transitions[-1][1] != run["status"]:
        yield f"the last event says {transitions[-1][1]}, the run is {run['status']}"
