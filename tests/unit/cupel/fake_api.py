"""A fake of the HTTP API in memory."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from typer.testing import Result

from cupel.client import Client
from cupel.columns import columns_of
from cupel.results import ModelResults, PassRate, tabulate

type Json = dict[str, Any]
type Connect = Callable[[], Client]
type Cupel = Callable[..., Result]


USER = {"role": "user", "content": "?"}
SIMULATED, REAL = "sim/steady", "openai/gpt-5-mini"


ALL_SCENARIOS = {"scenarios": 12, "total": 12, "seed": 42, "isDrawn": False, "probesToAdd": 0, "note": None}


def a_run(**changes: Any) -> Json:
    run = {
        "id": "run_1",
        "definitionId": "def_1",
        "definitionName": "Refunds",
        "definitionVersion": 1,
        "scenarioCount": 12,
        "scenarioTotal": 120,
        "startedBy": {"type": "token", "id": "tok_1", "name": "ci"},
        "name": None,
        "tags": [],
        "metadata": {},
        "status": "COMPLETED",
        "report": False,
        "pauseReason": None,
        "config": {
            "models": ["sim/steady", "openai/gpt-5-mini"],
            "samplePercentage": 10,
            "sampleSeed": 42,
            "repeats": 1,
        },
        "progress": {"total": 6, "completed": 5, "failed": 1},
        "createdAt": "2026-01-31T09:30:00.000Z",
        "completedAt": "2026-01-31T09:30:09.000Z",
        "failure": None,
        "spend": {"costUsd": None, "pricedUsd": 0.0, "lostUsd": 0.0, "models": [], "budget": None},
    }
    return with_targets(run | changes)


def a_target(target: str, total: int, completed: int = 0, errored: int = 0, **changes: Any) -> Json:
    """The progress of one target; `changes` of `results` are merged."""
    results = {
        "probes": completed,
        "isComplete": True,
        "judged": 0,
        "passRate": None,
        "decided": 0,
        "unscoredReasons": [],
    }
    results |= {"meanDecision": None, "estimatedTokens": 100 * completed, **changes.pop("results", {})}
    return {
        **column_fields(target),
        "target": target,
        "total": total,
        "completed": completed,
        "errored": errored,
        "running": 0,
        "ratePerSecond": None,
        "etaSeconds": 0.0 if completed + errored == total else None,
        "costUsd": 0.0,
        "pricedUsd": 0.0,
        "results": results,
        "errors": {"probes": errored, "isComplete": True, "causes": []},
        "delays": [],
        "slowCalls": None,
        **changes,
    }


def a_progress(*targets: Json, **changes: Any) -> Json:
    """The progress of a run with these targets."""
    priced = sum(target["pricedUsd"] for target in targets)
    return {
        "runId": "run_1",
        "status": "RUNNING",
        "report": False,
        "pauseReason": None,
        "pauseCause": None,
        "readAt": "2026-01-31T09:31:12.000Z",
        **{count: sum(target[count] for target in targets) for count in ("total", "completed", "errored", "running")},
        "spend": {"costUsd": priced, "pricedUsd": priced, "lostUsd": 0.0, "models": [], "budget": None},
        "targets": list(targets),
        **changes,
    }


def a_delay(reason: str, **changes: Any) -> Json:
    fields = ("provider", "model", "until", "message", "limit", "learnedLimit", "budget", "takenSlots", "staggerMs")
    return {"reason": reason, **dict.fromkeys(fields), **changes}


def column_fields(model: str) -> Json:
    """Of a target without a label, in a definition without prompts."""
    return {"targetId": model, "promptId": None, "label": None, "modelId": model, "connectorId": None}


def a_transcript(index: int, model: str, code: str | None, **changes: Any) -> Json:
    transcript = {
        "id": f"run_1.{index}",
        "probeIndex": index,
        "scenarioId": f"scn_{index % 3}",
        "scenarioName": f"case {index % 3}",
        "personaId": None,
        "personaName": None,
        "repeat": 0,
        "variables": {},
        "dimensions": {},
        "metadata": {},
        **column_fields(model),
        "modelVersion": "v1",
        "definitionSnapshot": {"template": "shared by all"},
        "content": {
            "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": f"Rating: {code}"}]
        },
        "turnCount": 1,
        "tokenCount": 100,
        "usage": {"inputTokens": 80, "outputTokens": 20},
        "durationMs": 40,
        "costUsd": 0.0,
        "decisionCode": code,
        "decisionText": "because",
        "result": None,
        "omittedParameters": [],
        "createdAt": "2026-01-31T09:30:01.000Z",
    }
    transcript |= changes
    costs = [{"role": "target", "calls": 1, "costUsd": transcript["costUsd"]}]
    return {"totalSpend": a_spend(transcript["costUsd"]), "costs": costs} | transcript


def a_spend(cost_usd: float | None = 0.0, calls: int = 1) -> Json:
    return {"calls": calls, "usage": {"inputTokens": 80, "outputTokens": 20}, "costUsd": cost_usd, "uncertainUsd": 0.0}


def an_error(index: int, model: str, code: str = "timeout", message: str = "no answer in 60 s") -> Json:
    error = {"code": code, "message": message, "attempts": 4, "totalSpend": a_spend(calls=0), "costs": []}
    named = {"scenarioId": "scn_2", "scenarioName": "case 2", "personaName": None, "repeat": 0, "metadata": {}}
    return {"index": index, "status": "ERROR", **column_fields(model), "error": error} | named


def _share_fields(rate: PassRate | None) -> Json:
    """An estimate of a share, in the fields of the API."""
    return {
        "successes": rate.passed if rate else 0,
        "trials": rate.judged if rate else 0,
        "scenarios": rate.scenarios if rate else 0,
        "share": rate.share if rate else None,
        "interval95": rate.interval if rate else None,
        "effectiveTrials": rate.effective_trials if rate else 0.0,
    }


def result_row(found: ModelResults, errors: Json) -> Json:
    """A row of `GET /runs/{id}/results`."""
    decisions, rate = found.decisions, found.pass_rate
    estimate = {
        "completed": found.completed,
        "errored": found.errored,
        "decision": {
            "mean": decisions.mean,
            "sd": decisions.sd,
            "standardError": decisions.standard_error,
            "interval95": found.decisions.interval,
        },
        "distribution": [
            {"code": code, "estimate": {"successes": count}} for code, count in decisions.distribution.items()
        ],
        "passRate": _share_fields(rate),
        "passRateBounds": rate
        and rate.bounds
        and {"errorsAsFailures": _share_fields(rate.errors_fail), "errorsAsPasses": {"share": rate.bounds.high}},
    }
    duration = None if found.median_duration_ms is None else {"p50": found.median_duration_ms}
    return {
        **column_fields(found.column.model),
        "targetId": found.column.target,
        "promptId": found.column.prompt,
        "probes": found.probes,
        "estimate": estimate,
        "unscored": found.unscored,
        "cutAnswers": found.cut_answers,
        "partlyChecked": found.partly_checked,
        "leftOutChecks": found.left_out_checks,
        "omittedParameters": [{"name": name, "answers": count} for name, count in found.omitted_parameters],
        "tokens": found.tokens,
        "operations": {
            "durationMs": duration,
            "costUsd": found.cost_usd,
            "uncertainUsd": found.uncertain_usd,
            "costs": [{"role": role, "calls": calls, "costUsd": usd} for role, calls, usd in found.costs],
        },
        "extrapolated": found.extrapolated,
        "judgeAccuracy": None,
        "correctedPassRate": None,
        "errors": [
            {
                "code": each.code,
                "count": each.count,
                "probeIndex": errors[each.code],
                "example": each.example,
                "retryHelps": each.retry_helps,
            }
            for each in found.reasons
        ],
        "unscoredReasons": [
            {
                "code": each.code,
                "model": each.model,
                "providerCode": each.provider_code,
                "count": each.count,
                "probeIndex": 0,
                "example": each.example,
            }
            for each in found.unscored_reasons
        ],
    }


def with_targets(run: Json) -> Json:
    """The run with its models as targets."""
    targets = [{"id": model, "label": None, "model": model, "params": {}} for model in run["config"]["models"]]
    return {**run, "config": {"promptIds": [], "params": {}, **run["config"], "targets": targets}}


@dataclass
class FakeApi:
    """Responds like the API. `polls` are the successive statuses of the run; it keeps the last."""

    definitions: list[Json] = field(default_factory=list)
    warnings: list[Json] = field(default_factory=list)
    generations: list[Json] = field(default_factory=list)
    """The state of a generation at each request."""
    scenarios: dict[str, list[Json]] = field(default_factory=dict)
    runs: list[Json] = field(default_factory=lambda: [a_run()])
    polls: list[str] = field(default_factory=list)
    progress: list[Json] = field(default_factory=list)
    """What successive reads of the run's progress return; then it follows from the run."""
    transcripts: list[Json] = field(default_factory=list)
    errors: list[Json] = field(default_factory=list)
    models: list[Json] = field(default_factory=list)
    providers: list[Json] = field(default_factory=list)
    tokens: list[Json] = field(default_factory=list)
    personas: list[Json] = field(default_factory=list)
    lists: dict[str, list[Json]] = field(default_factory=dict)
    """The items of further lists, by path."""
    sample: Json = field(default_factory=lambda: dict(ALL_SCENARIOS))
    """Which part of the scenarios the run has."""
    documents: dict[str, Json] = field(default_factory=dict)
    """Further resources, by path."""
    refusals: list[httpx.Response | httpx.TransportError] = field(default_factory=list)
    """Errors for the next requests."""
    respond_to_posts: httpx.Response | None = None
    """The response to every POST."""
    failing_path: str = ""
    """Path and query that always respond with 500."""
    requests: list[httpx.Request] = field(default_factory=list)
    page_size: int = 2

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.refusals:
            refusal = self.refusals.pop(0)
            if isinstance(refusal, httpx.TransportError):
                raise refusal
            return refusal
        if request.url.raw_path.decode() == self.failing_path:
            return httpx.Response(500)
        if self.respond_to_posts is not None and request.method == "POST":
            return self.respond_to_posts
        path = [part for part in request.url.path.split("/") if part][1:]
        body = json.loads(request.content) if request.content else {}
        return self._respond(request, path, body)

    def _respond(self, request: httpx.Request, path: list[str], body: Json) -> httpx.Response:
        if request.method == "GET" and "/".join(path) in self.lists:
            return self._page(request, self.lists["/".join(path)])
        if request.method == "GET" and "/".join(path) in self.documents:
            return httpx.Response(200, json=self.documents["/".join(path)])
        response = self._read(request, path) if request.method == "GET" else self._write(request.method, path, body)
        if response is None:
            return httpx.Response(404, json={"status": 404, "title": "Not found", "detail": "there is no such thing"})
        return response

    def _read(self, request: httpx.Request, path: list[str]) -> httpx.Response | None:
        filters = request.url.params
        match path:
            case ["definitions"]:
                return self._page(request, [d for d in reversed(self.definitions) if self._is_listed(d, filters)])
            case ["definitions", definition_id] if definition_id in self.scenarios:
                return self._definition(200, self._find(definition_id))
            case ["definitions", _, "scenarios", "generations", _]:
                return httpx.Response(200, json={"id": "gen_1", **self.generations.pop(0)})
            case ["runs", run_id, *rest] if document := self._run_document(run_id, rest):
                return httpx.Response(200, json=document)
            case ["runs", _, "transcripts"]:
                model = filters.get("model")
                return self._page(request, [t for t in self.transcripts if model in (None, t["modelId"])])
            case ["runs", _, "labels"]:
                return self._page(request, [])
            case ["probes"] | ["runs", _, "probes"]:
                model = filters.get("model")
                return self._page(request, [e for e in self.errors if model in (None, e["modelId"])])
            case ["definitions", definition_id, "scenarios"]:
                return self._page(request, self.scenarios.get(definition_id, []))
            case ["runs" | "models" | "providers" | "tokens" | "personas" as collection]:
                return self._page(request, getattr(self, collection))
        return None

    def _write(self, method: str, path: list[str], body: Json) -> httpx.Response | None:
        match method, *path:
            case "POST", "definitions":
                head = {"id": f"def_{len(self.definitions) + 1}", "version": 1, "folder": None, "tags": []}
                definition = {**head, **body, "warnings": self.warnings}
                self.scenarios[definition["id"]] = definition.pop("scenarios", [])
                self.definitions.append(definition)
                return self._definition(201, definition)
            case "PATCH", "definitions", definition_id:
                definition = self._find(definition_id)
                definition["version"] += bool(body.keys() & {"content", "scenarios"})
                self.scenarios[definition_id] = body.pop("scenarios", self.scenarios[definition_id])
                definition.update(body)
                return self._definition(200, definition)
            case "POST", "definitions", definition_id, "scenarios":
                definition = self._find(definition_id)
                definition["version"] += bool(self.scenarios[definition_id])
                self.scenarios[definition_id].extend(body["items"])
                return httpx.Response(201, json={"ids": [], "definitionVersion": definition["version"]})
            case "POST", "definitions", definition_id, "scenarios", "generate":
                self.scenarios[definition_id] = [{"generated": body}]
                status = self.generations.pop(0) if self.generations else {"status": "COMPLETED"}
                return httpx.Response(201, json={"id": "gen_1", **status})
            case "POST", "runs":
                self.runs[0]["config"]["models"] = body["models"]
                return httpx.Response(201, json={"run": self._read_run(), "jobCount": 6, "estimate": None})
            case "PATCH", "runs", _:
                return httpx.Response(200, json=self.runs[0] | body)
            case "PUT", "providers", name:
                provider = {"name": name, "enabled": True, "usable": True, "needsKey": True, "hasKey": True}
                return httpx.Response(200, json=provider)
            case "POST", "tokens":
                return httpx.Response(201, json={"id": "tok_1", **body, "token": "cupel_secret"})
            case "DELETE", "tokens", _:
                return httpx.Response(204)
        return None

    def _find(self, definition_id: str) -> Json:
        return next(each for each in self.definitions if each["id"] == definition_id)

    def _definition(self, status: int, definition: Json) -> httpx.Response:
        body = definition | {"scenarioCount": len(self.scenarios[definition["id"]])}
        return httpx.Response(status, json=body, headers={"ETag": f'"{definition.get("version", 1)}"'})

    def _is_listed(self, definition: Json, filters: httpx.QueryParams) -> bool:
        searched, folder = filters.get("search", ""), filters.get("folder")
        return searched.casefold() in definition["name"].casefold() and folder in (None, definition["folder"])

    def _read_run(self) -> Json:
        if self.polls:
            self.runs[0]["status"] = self.polls.pop(0)
        return with_targets(self.runs[0])

    def _run_document(self, run_id: str, rest: list[str]) -> Json | None:
        match rest:
            case [] if run_id == self.runs[0]["id"]:
                return self._read_run()
            case ["progress"]:
                return self._progress(self._read_run())
            case ["results"]:
                return self._results()
        return None

    def _results(self) -> Json:
        """As the API counts these transcripts and errors."""
        run = with_targets(self.runs[0])
        found = tabulate(columns_of(run), run["progress"]["total"], self.transcripts, self.errors)
        errors = {error["error"]["code"]: error["index"] for error in reversed(self.errors)}
        rows = [result_row(row, errors) for row in found]
        recorded = sum(row["estimate"]["completed"] + row["estimate"]["errored"] for row in rows)
        return {"isComplete": True, "counted": recorded, "recorded": recorded, "sample": self.sample, "columns": rows}

    def _progress(self, run: Json) -> Json:
        if self.progress:
            return self.progress.pop(0)
        models, counts = run["config"]["models"], run["progress"]
        cause = run.get("pauseCause")
        delay = a_delay("run_paused", **(cause or {}))
        targets = [a_target(model, counts["total"] // len(models)) for model in models]
        for target in targets:
            target["delays"] = [delay] if run["status"] == "PAUSED" else []
        same = {name: run.get(name) for name in ("status", "pauseReason", "pauseCause")}
        return a_progress(*targets, **same, completed=counts["completed"], errored=counts["failed"])

    def _page(self, request: httpx.Request, items: list[Json]) -> httpx.Response:
        items = [with_targets(item) if "models" in item.get("config", {}) else item for item in items]
        start = int(request.url.params.get("cursor", 0))
        end = start + self.page_size
        return httpx.Response(
            200, json={"items": items[start:end], "nextCursor": str(end) if end < len(items) else None}
        )

    def bodies(self, method: str, path: str) -> list[Json]:
        """The bodies sent to `path`."""
        sent = [r for r in self.requests if r.method == method and r.url.path == f"/v1{path}"]
        return [json.loads(request.content) for request in sent]
