"""A run of a stack as JUnit XML."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cupel import junit_xml
from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus

if TYPE_CHECKING:
    from cupel.client import Client


def render_junit(client: "Client", run: Json) -> str:
    """Reads every transcript. The transcripts of one model at a time, and the whole document, are in memory."""
    return junit_xml.to_xml(run["id"], _suites(client, run))


def _suites(client: "Client", run: Json) -> Iterator[junit_xml.JunitSuite]:
    scenarios = _names_by_id(client.list_scenarios(run["definitionId"]))
    personas = _names_by_id(client.list_personas())
    repeats = run["config"]["repeats"]

    def name(probe: Json, index: int) -> str:
        scenario_id, persona = str(probe["scenarioId"]), probe.get("personaId")
        scenario = scenarios.get(scenario_id, scenario_id)
        # Repeats are the last axis of a plan, in each of its segments.
        return junit_xml.case_name(
            scenario, personas.get(persona, persona) if persona else None, index % repeats, repeats
        )

    for model in run["config"]["models"]:
        cases = {
            each["probeIndex"]: junit_xml.transcript_case(name(each, each["probeIndex"]), each)
            for each in client.list_transcripts(run["id"], model=model)
        }
        for probe in _probes_without_transcript(client, run, model):
            cases.setdefault(probe["index"], junit_xml.probe_case(name(probe, probe["index"]), probe))
        yield junit_xml.JunitSuite(model, [cases[index] for index in sorted(cases)])


def _probes_without_transcript(client: "Client", run: Json, model: str) -> Iterator[Json]:
    progress = run["progress"]
    if progress["completed"] == progress["total"]:
        return iter(())
    ended = progress["completed"] + progress["failed"] == progress["total"]
    status = ProbeStatus.ERROR if ended else None
    probes = client.list_run_probes(run["id"], status=status, model=model)
    return (probe for probe in probes if probe["status"] != ProbeStatus.COMPLETED)


def _names_by_id(items: Iterator[Json]) -> dict[str, str]:
    """Empty if the definition has been deleted since."""
    try:
        return {item["id"]: item["name"] for item in items if item["name"]}
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return {}
