"""What holds of every run at rest, read through the API alone."""

from cupel.client import Client
from tests.evaluating import Json


def violations(api: Client, run: Json) -> list[str]:
    """Where a run breaks invariants 1 and 4; empty for a run as it should be."""
    found = []
    run_id, progress = run["id"], run["progress"]
    completed = sorted(each["probeIndex"] for each in api.transcripts(run_id))
    failed = sorted(each["index"] for each in api.probes(run_id, status="ERROR"))
    if (len(completed), len(failed)) != (progress["completed"], progress["failed"]):
        found.append(f"{progress} is told, {len(completed)} transcripts and {len(failed)} errors are there")
    if len({*completed, *failed}) != len(completed) + len(failed):
        found.append("a probe has two outcomes")
    if run["status"] in ("COMPLETED", "FAILED") and sorted(completed + failed) != list(range(progress["total"])):
        found.append("the run is over and a probe has no outcome")
    events = list(api.events(run_id))
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        found.append("the events have a gap")
    moves = [(event["data"]["from"], event["data"]["to"]) for event in events if "from" in event["data"]]
    if any(before[1] != after[0] for before, after in zip(moves, moves[1:], strict=False)):
        found.append(f"a move does not begin where the one before ended: {moves}")
    if moves and moves[-1][1] != run["status"]:
        found.append(f"the last event tells {moves[-1][1]}, the run is {run['status']}")
    return found
