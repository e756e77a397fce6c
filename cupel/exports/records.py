"""What an export is made of: each probe with an outcome, its scenario, and which of its repeats it is."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from cupel.errors import ApiProblem
from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus

if TYPE_CHECKING:
    from cupel.client import Client

NOT_FOUND = 404


@dataclass(frozen=True)
class Record:
    """`outcome` is a transcript, or the probe that failed, which then has `error`."""

    outcome: Json
    scenario: Json
    """As the definition has it now; only its id when it is no longer there."""
    epoch: int
    """Which conversation of this model about this sample it is, from 1."""

    @property
    def sample_id(self) -> str:
        persona = self.outcome.get("personaId")
        return f"{self.outcome['scenarioId']}{f'-{persona}' if persona else ''}"

    @property
    def model(self) -> str:
        return str(self.outcome["modelId"])

    @property
    def error(self) -> Json | None:
        """An infrastructure failure, which is no model's."""
        return self.outcome.get("error")

    @property
    def messages(self) -> list[Json]:
        return (self.outcome.get("content") or {}).get("messages") or []

    @property
    def asked(self) -> list[Json]:
        """What was said before the first answer; of a failed probe, what would have been."""
        if not self.messages:
            return self.scenario.get("messages") or []
        first = next((place for place, message in enumerate(self.messages) if message["role"] == "assistant"), None)
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
        """None where nothing was judged, or it could not be."""
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
    def targets(self) -> list[str]:
        """What is known to be right, where the scenario came with it."""
        metadata = self.scenario.get("metadata") or {}
        known: object = next((metadata[name] for name in ("target", "ideal", "expected") if metadata.get(name)), [])
        return [str(each) for each in (known if isinstance(known, list) else [known])]


@dataclass
class Reading:
    """The records of one run, in the order of their probes, those that failed last."""

    client: "Client"
    run: Json
    shelf: sqlite3.Connection
    transcripts: int = 0
    """Read so far, of all models."""

    def records(self, model: str | None = None) -> Iterator[Record]:
        epochs: Counter[tuple[str, str]] = Counter()
        for outcome in self._outcomes(model):
            record = Record(outcome, self._scenario(outcome["scenarioId"]), 0)
            epochs[record.model, record.sample_id] += 1
            yield replace(record, epoch=epochs[record.model, record.sample_id])

    def _outcomes(self, model: str | None) -> Iterator[Json]:
        for transcript in self.client.transcripts(self.run["id"], model=model):
            self.transcripts += 1
            yield transcript
        if self.run["progress"]["failed"]:
            yield from self.client.probes(self.run["id"], status=ProbeStatus.ERROR, model=model)

    def _scenario(self, scenario_id: str) -> Json:
        found = self.shelf.execute("SELECT json FROM scenarios WHERE id = ?", (scenario_id,)).fetchone()
        return dict(json.loads(found[0])) if found else {"id": scenario_id}


@contextmanager
def reading(client: "Client", run: Json) -> Iterator[Reading]:
    """Scenarios lie in a file meanwhile, because a run may have more of them than memory holds."""
    with NamedTemporaryFile(suffix=".scenarios") as file, closing(sqlite3.connect(file.name)) as shelf:
        shelf.execute("PRAGMA journal_mode = OFF")
        shelf.execute("CREATE TABLE scenarios (id TEXT PRIMARY KEY, json TEXT)")
        try:
            for each in client.scenarios(run["definitionId"]):
                shelf.execute("INSERT INTO scenarios VALUES (?, ?)", (each["id"], json.dumps(each)))
        except ApiProblem as problem:
            if problem.status != NOT_FOUND:  # a deleted definition's run can still be exported
                raise
        yield Reading(client, run, shelf)
