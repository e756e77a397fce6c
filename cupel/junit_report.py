"""A run of a stack as JUnit's XML."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cupel import junit
from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus

if TYPE_CHECKING:
    from cupel.client import Client


def junit_of(client: "Client", run: Json) -> str:
    """Reads every transcript; those of one model are in memory at a time, and the document."""
    return junit.document(run["id"], _suites(client, run))


def _suites(client: "Client", run: Json) -> Iterator[junit.Suite]:
    scenarios = _names(client.scenarios(run["definitionId"]))
    personas = _names(client.kept("personas"))
    repeats = run["config"]["repeats"]

    def name(probe: Json, index: int) -> str:
        scenario_id, persona = str(probe["scenarioId"]), probe.get("personaId")
        scenario = scenarios.get(scenario_id, scenario_id)
        # The last axis of a plan, in each of its segments.
        return junit.case_name(scenario, personas.get(persona, persona) if persona else None, index % repeats, repeats)

    for model in run["config"]["models"]:
        cases = {
            each["probeIndex"]: junit.case_of(name(each, each["probeIndex"]), each)
            for each in client.transcripts(run["id"], model=model)
        }
        for probe in _without_transcript(client, run, model):
            cases.setdefault(probe["index"], junit.case_of_probe(name(probe, probe["index"]), probe))
        yield junit.Suite(model, [cases[index] for index in sorted(cases)])


def _without_transcript(client: "Client", run: Json, model: str) -> Iterator[Json]:
    progress = run["progress"]
    if progress["completed"] == progress["total"]:
        return iter(())
    ended = progress["completed"] + progress["failed"] == progress["total"]
    status = ProbeStatus.ERROR if ended else None
    listed = client.probes(run["id"], status=status, model=model)
    return (probe for probe in listed if probe["status"] != ProbeStatus.COMPLETED)


def _names(items: Iterator[Json]) -> dict[str, str]:
    """By id; none where a definition was deleted since."""
    try:
        return {item["id"]: item["name"] for item in items if item["name"]}
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        return {}
