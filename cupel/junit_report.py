from collections.abc import Iterator
from typing import TYPE_CHECKING

from cupel import junit_xml
from cupel.columns import RunColumn, columns_of
from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus

if TYPE_CHECKING:
    from cupel.client import Client


def render_junit(client: "Client", run: Json) -> str:
    """Read every transcript. The transcripts of one column at a time, and the whole document, are in memory."""
    return junit_xml.to_xml(run["id"], _suites(client, run))


def _suites(client: "Client", run: Json) -> Iterator[junit_xml.JunitSuite]:
    repeats = run["config"]["repeats"]
    for column in columns_of(run):
        of_column = {"model": column.target, "prompt_id": column.prompt}
        cases = {
            each["probeIndex"]: junit_xml.transcript_case(_name(each, repeats), each)
            for each in client.list_transcripts(run["id"], **of_column)
        }
        for probe in _probes_without_transcript(client, run, column):
            cases.setdefault(probe["index"], junit_xml.probe_case(_name(probe, repeats), probe))
        yield junit_xml.JunitSuite(column.name, [cases[index] for index in sorted(cases)])


def _name(outcome: Json, repeats: int) -> str:
    scenario = outcome.get("scenarioName") or outcome["scenarioId"]
    persona = outcome.get("personaName") or outcome.get("personaId")
    return junit_xml.case_name(scenario, persona, outcome["repeat"], repeats)


def _probes_without_transcript(client: "Client", run: Json, column: RunColumn) -> Iterator[Json]:
    progress = run["progress"]
    if progress["completed"] == progress["total"]:
        return iter(())
    ended = progress["completed"] + progress["failed"] == progress["total"]
    status = ProbeStatus.ERROR if ended else None
    probes = client.list_run_probes(run["id"], status=status, model=column.target, prompt_id=column.prompt)
    return (probe for probe in probes if probe["status"] != ProbeStatus.COMPLETED)
