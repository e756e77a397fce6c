"""A client of the HTTP API: a method for every call, answers as the JSON that it gives, lists as iterators."""

import time
import uuid
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from cupel.environment import find_address
from cupel.errors import ApiProblem, NotConnected, Problem
from cupel.json_types import Json

type Collection = Literal["personas", "connectors", "evals"]
"""What a workspace keeps under a name."""

ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.2
PAGE_SIZE = 100
TRANSIENT = frozenset({429, 502, 503, 504})
IN_FLIGHT = 409
"""What a start answers while an earlier attempt under the same Idempotency-Key is still being carried out."""


class Client:
    """Calls that change nothing, and starts of runs, are repeated when the network or a busy API fails them."""

    def __init__(
        self,
        api_url: str,
        token: str,
        *,
        source: str = "the caller",
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self.source = source
        """Where the token is kept, for people: a file or the environment."""
        self._sleep = sleep
        self._http = httpx.Client(
            base_url=f"{self.api_url}/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(35, connect=5),  # API Gateway answers within 30 s
            transport=transport,
            trust_env=not _is_local(self.api_url),
        )

    @classmethod
    def from_environment(cls) -> Self:
        address = find_address()
        return cls(address.api_url, address.token, source=address.source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def health(self) -> Json:
        return self._get("/health")

    def definitions(
        self, *, folder: str | None = None, search: str | None = None, tag: str | None = None
    ) -> Iterator[Json]:
        return self._pages("/definitions", folder=folder, search=search, tag=tag)

    def definition(self, definition_id: str) -> Json:
        return self._get(f"/definitions/{definition_id}")

    def create_definition(self, definition: Json) -> Json:
        return self._send("POST", "/definitions", definition)

    def update_definition(self, definition_id: str, changes: Json) -> Json:
        return self._send("PATCH", f"/definitions/{definition_id}", changes)

    def delete_definition(self, definition_id: str) -> None:
        self._send("DELETE", f"/definitions/{definition_id}")

    def fork(self, definition_id: str, changes: Json) -> Json:
        """`{name?, folder?, tags?, content?, version?}`; what the content does not override is inherited."""
        return self._send("POST", f"/definitions/{definition_id}/fork", changes)

    def ancestors(self, definition_id: str) -> Iterator[Json]:
        return self._pages(f"/definitions/{definition_id}/ancestors")

    def descendants(self, definition_id: str) -> Iterator[Json]:
        return self._pages(f"/definitions/{definition_id}/descendants")

    def scenarios(self, definition_id: str) -> Iterator[Json]:
        return self._pages(f"/definitions/{definition_id}/scenarios")

    def add_scenarios(self, definition_id: str, items: list[Json]) -> Json:
        """At most 1,000 items a call."""
        return self._send("POST", f"/definitions/{definition_id}/scenarios", {"items": items})

    def import_scenarios(self, definition_id: str, order: Json) -> Json:
        """`{format: csv | jsonl, content, replace?}`: all lines of the text, or none."""
        return self._send("POST", f"/definitions/{definition_id}/scenarios/import", order)

    def generate_scenarios(self, definition_id: str, generation: Json) -> Json:
        return self._send("POST", f"/definitions/{definition_id}/scenarios/generate", generation)

    def generation(self, definition_id: str, generation_id: str) -> Json:
        return self._get(f"/definitions/{definition_id}/scenarios/generations/{generation_id}")

    def import_file(self, kind: str, order: Json) -> Json:
        """`kind` is promptfoo, inspect, openai-evals, csv or jsonl: `{definitions, repeats, temperature, report}`."""
        return self._send("POST", f"/imports/{kind}", order)

    def start_run(self, specification: Json) -> Json:
        """`{run, jobCount}`. Safe to repeat: every call has its own Idempotency-Key, the same in all its attempts."""
        return self._send("POST", "/runs", specification, idempotency_key=str(uuid.uuid4()))

    def run_eval(self, eval_id: str, options: Json | None = None) -> Json:
        """`{run, jobCount}`, as `start_run`."""
        return self._send("POST", f"/evals/{eval_id}/runs", options or {}, idempotency_key=str(uuid.uuid4()))

    def try_out(self, trial: Json) -> Json:
        """One scenario with one target: `{scenarioId, connectorId | model, personaId?, config?}`; answers as above."""
        return self._send("POST", "/playground/runs", trial, idempotency_key=str(uuid.uuid4()))

    def runs(
        self,
        *,
        definition_id: str | None = None,
        schedule_id: str | None = None,
        eval_id: str | None = None,
        status: str | None = None,
    ) -> Iterator[Json]:
        return self._pages("/runs", definitionId=definition_id, scheduleId=schedule_id, evalId=eval_id, status=status)

    def run(self, run_id: str) -> Json:
        return self._get(f"/runs/{run_id}")

    def delete_run(self, run_id: str) -> None:
        self._send("DELETE", f"/runs/{run_id}")

    def schedules(self) -> Iterator[Json]:
        return self._pages("/schedules")

    def schedule(self, schedule_id: str) -> Json:
        """With its last firings."""
        return self._get(f"/schedules/{schedule_id}")

    def create_schedule(self, schedule: Json) -> Json:
        """`{name, expression, timezone?, run, enabled?}`, where `run` is what `start_run` takes."""
        return self._send("POST", "/schedules", schedule)

    def change_schedule(self, schedule_id: str, changes: Json) -> Json:
        return self._send("PATCH", f"/schedules/{schedule_id}", changes)

    def delete_schedule(self, schedule_id: str) -> None:
        self._send("DELETE", f"/schedules/{schedule_id}")

    def kept(self, collection: Collection) -> Iterator[Json]:
        """Newest first."""
        return self._pages(f"/{collection}")

    def kept_one(self, collection: Collection, resource_id: str) -> Json:
        return self._get(f"/{collection}/{resource_id}")

    def keep(self, collection: Collection, resource: Json) -> Json:
        return self._send("POST", f"/{collection}", resource)

    def change_kept(self, collection: Collection, resource_id: str, changes: Json) -> Json:
        return self._send("PATCH", f"/{collection}/{resource_id}", changes)

    def drop(self, collection: Collection, resource_id: str) -> None:
        self._send("DELETE", f"/{collection}/{resource_id}")

    def test_connector(self, connector_id: str) -> Json:
        """`{ok, latencyMs, reply, error}`: what an agent says to one message."""
        return self._send("POST", f"/connectors/{connector_id}/test")

    def settings(self) -> Json:
        """What runs are evaluated with unless they, or their eval, say otherwise."""
        return self._get("/settings")

    def configure(self, changes: Json) -> Json:
        return self._send("PUT", "/settings", changes)

    def judge(self, conversation: Json) -> Json:
        """`{messages, successCriteria?, failureCriteria?, model?}` → a verdict."""
        return self._send("POST", "/judge/criteria", conversation)

    def persona_message(self, conversation: Json) -> Json:
        """`{messages, instructions?, personaId? | persona?, model?}` → what the user says next."""
        return self._send("POST", "/judge/persona-message", conversation)

    def pause_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{run_id}/pause")

    def resume_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{run_id}/resume")

    def cancel_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{run_id}/cancel")

    def retry_run(self, run_id: str, *, model: str | None = None, probe_index: int | None = None) -> Json:
        """The errored probes: all, of one model, or one."""
        return self._send("POST", f"/runs/{run_id}/retry", _given(model=model, probeIndex=probe_index))

    def expand_run(self, run_id: str, sample_percentage: int) -> Json:
        return self._send("POST", f"/runs/{run_id}/expand", {"samplePercentage": sample_percentage})

    def rescore(self, run_id: str, otherwise: Json | None = None) -> Json:
        """`{assertions?, judgeModel?, embeddingModel?, evaluatorUrl?, criteria?}` → the new scoring. Safe to repeat."""
        return self._send("POST", f"/runs/{run_id}/rescore", otherwise or {}, idempotency_key=str(uuid.uuid4()))

    def scorings(self, run_id: str) -> Iterator[Json]:
        return self._pages(f"/runs/{run_id}/scorings")

    def scoring(self, run_id: str, scoring_id: str) -> Json:
        return self._get(f"/runs/{run_id}/scorings/{scoring_id}")

    def scoring_results(self, run_id: str, scoring_id: str, *, model: str | None = None) -> Iterator[Json]:
        """By probe."""
        return self._pages(f"/runs/{run_id}/scorings/{scoring_id}/results", model=model)

    def scores(
        self, run_id: str, *, scoring_id: str | None = None, model: str | None = None, k: int | None = None
    ) -> Json:
        """The figures of each model, by the run's own scoring or by another."""
        return self._get(f"/runs/{run_id}/scores", scoringId=scoring_id, model=model, k=k)

    def scenario_scores(
        self, run_id: str, *, scoring_id: str | None = None, model: str | None = None, k: int | None = None
    ) -> Iterator[Json]:
        """Of each scenario and model."""
        trials = None if k is None else str(k)
        return self._pages(f"/runs/{run_id}/scores/scenarios", scoringId=scoring_id, model=model, k=trials)

    def probes(self, run_id: str, *, status: str | None = None, model: str | None = None) -> Iterator[Json]:
        return self._pages(f"/runs/{run_id}/probes", status=status, model=model)

    def all_probes(self, *, order: str = "newest", **filters: str | None) -> Iterator[Json]:
        """Whole ones across runs, by `evalId`, `scenarioId`, `personaId` and `status`."""
        return self._pages("/probes", order=order, **filters)

    def probe(self, probe_id: str) -> Json:
        return self._get(f"/probes/{probe_id}")

    def correct_probe(self, probe_id: str, result: Json | None) -> Json:
        """What a person says came of it; None takes it back."""
        return self._send("PATCH", f"/probes/{probe_id}", {"result": result})

    def delete_probe(self, probe_id: str) -> None:
        """What was said in it; its counts and its result stay."""
        self._send("DELETE", f"/probes/{probe_id}")

    def transcripts(self, run_id: str, *, model: str | None = None, scenario_id: str | None = None) -> Iterator[Json]:
        return self._pages(f"/runs/{run_id}/transcripts", model=model, scenarioId=scenario_id)

    def transcript(self, transcript_id: str) -> Json:
        return self._get(f"/transcripts/{transcript_id}")

    def events(self, run_id: str, *, after: int = 0) -> list[Json]:
        return list(self._get(f"/runs/{run_id}/events", after=after)["items"])

    def models(self, *, provider: str | None = None) -> Iterator[Json]:
        return self._pages("/models", provider=provider)

    def providers(self) -> Iterator[Json]:
        return self._pages("/providers")

    def configure_provider(self, name: str, changes: Json) -> Json:
        return self._send("PUT", f"/providers/{name}", changes)

    def queue(self, *, provider: str | None = None) -> Iterator[Json]:
        return self._pages("/queue", provider=provider)

    def pause_queue(self, provider: str | None = None) -> list[Json]:
        """One provider's, or all; answers how they stand."""
        return list(self._send("POST", "/queue/pause", _given(provider=provider))["items"])

    def resume_queue(self, provider: str | None = None) -> list[Json]:
        return list(self._send("POST", "/queue/resume", _given(provider=provider))["items"])

    def dead_letters(self, *, provider: str | None = None) -> Iterator[Json]:
        return self._pages("/queue/dead", provider=provider)

    def redrive(self, *, provider: str | None = None, message_ids: list[str] | None = None) -> Json:
        """Sends dead letters again, all or these: `{sent, dropped, toRetry}`."""
        return self._send("POST", "/queue/dead/redrive", _given(provider=provider, messageIds=message_ids or None))

    def tokens(self) -> Iterator[Json]:
        return self._pages("/tokens")

    def create_token(self, name: str, role: str) -> Json:
        """The only answer that holds the token itself."""
        return self._send("POST", "/tokens", {"name": name, "role": role})

    def revoke_token(self, token_id: str) -> None:
        self._send("DELETE", f"/tokens/{token_id}")

    def _pages(self, path: str, **filters: str | None) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            page = self._get(path, limit=PAGE_SIZE, cursor=cursor, **filters)
            yield from page["items"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def _get(self, path: str, **query: str | int | None) -> Json:
        return self._call(self._http.build_request("GET", path, params=_given(**query)), TRANSIENT)

    def _send(self, method: str, path: str, body: Json | None = None, *, idempotency_key: str | None = None) -> Json:
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        request = self._http.build_request(method, path, json=body, headers=headers)
        return self._call(request, TRANSIENT | {IN_FLIGHT} if idempotency_key else frozenset())

    def _call(self, request: httpx.Request, transient: frozenset[int]) -> Json:
        """Repeats the request on network errors and the statuses given; one without any is tried once."""
        attempts = ATTEMPTS if transient else 1
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                if last:
                    raise NotConnected(f"{self.api_url} cannot be reached: {error or type(error).__name__}") from error
            else:
                if last or response.status_code not in transient:
                    return _answer(response)
            self._sleep(FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")


def _is_local(url: str) -> bool:
    """A proxy of the environment cannot reach this machine's own addresses."""
    return httpx.URL(url).host in ("127.0.0.1", "::1", "localhost")


def _given(**fields: Any) -> Json:
    """Those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _answer(response: httpx.Response) -> Json:
    body = _json(response)
    if response.is_success:
        return body
    raise ApiProblem(
        response.status_code,
        str(body.get("title") or response.reason_phrase),
        str(body.get("detail") or ""),
        tuple(Problem(str(error.get("field")), str(error.get("message"))) for error in body.get("errors") or ()),
    )


def _json(response: httpx.Response) -> Json:
    """An error may come from a gateway that answers in other formats; a success may not."""
    if not response.content:
        return {}
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    if response.is_success:
        raise ApiProblem(502, "Not an answer of Cupel", f"{response.request.url} did not answer with a JSON object")
    return {}
