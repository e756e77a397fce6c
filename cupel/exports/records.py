import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby
from math import inf
from tempfile import NamedTemporaryFile

from cupel.columns import RunColumn, column_of
from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel.message_texts import with_text
from cupel.run_reads import RunReadingClient
from cupel_core.domain.runs.run import ProbeStatus

NOT_FOUND = 404
_NO_LABELS: tuple[float, Iterator[Json]] = (inf, iter(()))


@dataclass(frozen=True)
class Record:
    outcome: Json
    scenario: Json
    """The scenario as it was in the run, or only its id and name if the definition was deleted."""
    epoch: int

    @property
    def sample_id(self) -> str:
        persona = self.outcome.get("personaId")
        return f"{self.outcome['scenarioId']}{f'-{persona}' if persona else ''}"

    @property
    def column(self) -> RunColumn:
        return column_of(self.outcome)

    @property
    def model(self) -> str:
        return str(self.outcome["modelId"])

    @property
    def error(self) -> Json | None:
        return self.outcome.get("error")

    @property
    def messages(self) -> list[Json]:
        return [with_text(each) for each in (self.outcome.get("content") or {}).get("messages") or ()]

    @property
    def input_messages(self) -> list[Json]:
        if not self.messages:
            return self.scenario.get("messages") or []
        first = next(
            (position for position, message in enumerate(self.messages) if message["role"] == "assistant"), None
        )
        return self.messages[:first]

    @property
    def answer(self) -> str:
        return next(
            (str(message["content"]) for message in reversed(self.messages) if message["role"] == "assistant"), ""
        )

    @property
    def scoring(self) -> Json:
        return self.outcome.get("scoring") or {}

    @property
    def success(self) -> bool | None:
        """Return the verdict, or None if nothing was judged, or the result could not be computed."""
        result = self.outcome.get("result")
        return bool(result["success"]) if result else None

    @property
    def score(self) -> float | None:
        result = self.outcome.get("result") or {}
        return float(self.success or 0) if result and result.get("score") is None else result.get("score")

    @property
    def reason(self) -> str | None:
        return (self.outcome.get("result") or {}).get("reason") or self.scoring.get("reason")

    @property
    def expected_answers(self) -> list[str]:
        metadata = self.scenario.get("metadata") or {}
        names = ("target", "ideal", "expected")
        expected: object = next((metadata[name] for name in names if metadata.get(name) not in (None, "")), [])
        answers = expected if isinstance(expected, list) else [expected]
        return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in answers]


def probe_index(outcome: Json) -> int:
    return int(outcome["probeIndex"] if "probeIndex" in outcome else outcome["index"])


def status_of(outcome: Json) -> ProbeStatus:
    return ProbeStatus.COMPLETED if outcome.get("error") is None else ProbeStatus.ERROR


def costs_of(outcome: Json) -> dict[str, float | None]:
    """Return the cost of each role whose models were called; None if a price is unknown."""
    costs = outcome.get("costs") or (outcome.get("error") or {}).get("costs") or ()
    return {cost["role"]: cost["costUsd"] for cost in costs}


def total_spend(outcome: Json) -> Json:
    return outcome.get("totalSpend") or (outcome.get("error") or {}).get("totalSpend") or {}


def _index_of(probe_id: str) -> float:
    return int(probe_id.rpartition("-")[2])


def _exported_label(label: Json) -> Json:
    return {name: value for name, value in label.items() if name not in ("runId", "probeId")}


def may_decide(run: Json) -> bool:
    snapshot = run["config"].get("definitionSnapshot")
    return snapshot is None or snapshot.get("decision") is not None


def _scored_fields(result: Json | None) -> Json:
    if result is None:
        return {"result": None, "scoring": None, "verdict": None, "corrected": False}
    scoring, is_judged = result["scoring"], result["success"] is not None
    reason = (scoring or {}).get("reason")
    judged = {"success": result["success"], "score": result["score"], "reason": reason}
    return {
        "result": judged if is_judged else None,
        "scoring": scoring,
        "verdict": result["verdict"],
        "corrected": False,
    }


@dataclass
class OutcomeReader:
    client: RunReadingClient
    run: Json
    rescore_id: str | None = None
    transcripts: int = 0
    errored: int = 0

    def outcomes(self, column: RunColumn | None = None) -> Iterator[Json]:
        of_column = {} if column is None else {"model": column.target, "prompt_id": column.prompt}
        listed = merge(self._transcripts(of_column), self._errored(of_column), key=probe_index)
        return self._with_labels(listed)

    def _with_labels(self, outcomes: Iterator[Json]) -> Iterator[Json]:
        """Yield the outcomes, and with those that people have labelled the labels. Both are listed by probe."""
        labels = groupby(self.client.list_labels(self.run["id"]), lambda each: _index_of(each["probeId"]))
        labelled, given = next(labels, _NO_LABELS)
        for outcome in outcomes:
            index = probe_index(outcome)
            while labelled < index:
                labelled, given = next(labels, _NO_LABELS)
            yield {**outcome, "labels": list(map(_exported_label, given))} if labelled == index else outcome

    def _transcripts(self, of_column: dict[str, str | None]) -> Iterator[Json]:
        listed = (
            self._own_transcripts(of_column) if self.rescore_id is None else self._rescored(of_column, self.rescore_id)
        )
        for transcript in listed:
            self.transcripts += 1
            yield transcript

    def _own_transcripts(self, of_column: dict[str, str | None]) -> Iterator[Json]:
        return iter(self.client.list_transcripts(self.run["id"], **of_column))

    def _rescored(self, of_column: dict[str, str | None], rescore_id: str) -> Iterator[Json]:
        """Yield the transcripts with the rescore's results, or without results where it has none. Both are listed by
        probe."""
        results = iter(self.client.list_rescore_results(self.run["id"], rescore_id, **of_column))
        result = next(results, None)
        for transcript in self._own_transcripts(of_column):
            while result is not None and result["probeIndex"] < transcript["probeIndex"]:
                result = next(results, None)
            is_its = result is not None and result["probeIndex"] == transcript["probeIndex"]
            yield {**transcript, "rescoreId": rescore_id, **_scored_fields(result if is_its else None)}

    def _errored(self, of_column: dict[str, str | None]) -> Iterator[Json]:
        if self.run["progress"]["failed"]:
            for probe in self.client.list_run_probes(self.run["id"], status=ProbeStatus.ERROR, **of_column):
                self.errored += 1
                yield probe


@dataclass
class RunReader:
    reader: OutcomeReader
    scenarios_database: sqlite3.Connection

    def records(self, column: RunColumn | None = None) -> Iterator[Record]:
        epochs: Counter[tuple[str, str]] = Counter()
        for outcome in self.reader.outcomes(column):
            record = Record(outcome, self._scenario(outcome), 0)
            identity = record.column.name, record.sample_id
            epochs[identity] += 1
            yield replace(record, epoch=epochs[identity])

    def _scenario(self, outcome: Json) -> Json:
        query, scenario_id = "SELECT json FROM scenarios WHERE id = ?", outcome["scenarioId"]
        row = self.scenarios_database.execute(query, (scenario_id,)).fetchone()
        return dict(json.loads(row[0])) if row else {"id": scenario_id, "name": outcome.get("scenarioName")}


@contextmanager
def open_run(reader: OutcomeReader) -> Iterator[RunReader]:
    """Read the scenarios of a run into a temporary SQLite file, because they may exceed memory."""
    with NamedTemporaryFile(suffix=".scenarios") as file, closing(sqlite3.connect(file.name)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("CREATE TABLE scenarios (id TEXT PRIMARY KEY, json TEXT)")
        try:
            run = reader.run
            for each in reader.client.list_scenarios(run["definitionId"], version=run["definitionVersion"]):
                database.execute("INSERT INTO scenarios VALUES (?, ?)", (each["id"], json.dumps(each)))
        except ApiProblem as problem:
            if problem.status != NOT_FOUND:  # The run of a deleted definition can still be exported.
                raise
        yield RunReader(reader, database)
