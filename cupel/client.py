"""A client of the HTTP API: one method per operation, named after it. Lists are iterators over all items."""

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

from cupel.environment import LOCAL_FILE, find_address
from cupel.errors import ApiProblem, CupelError, GraphqlError, NotConnected, RefusedField, UsageError
from cupel.json_types import Json, TaggedJson, unsendable_field, without_none
from cupel.pages import TRANSCRIPTS_PER_PAGE, Pages

ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.2
MAX_WAIT_SECONDS = 30.0
TRANSIENT = frozenset({502, 503, 504})
LIMITED = 429
"""Refused before anything was done."""
IN_PROGRESS = 409
"""With `Retry-After`: an earlier attempt with the same Idempotency-Key has not been answered yet."""


class Client:
    """Retries reads, and requests that create something, on network errors and when the API is busy; no other writes.

    Every request is repeated if it exceeds the token's limit, after the time that the API asks for.

    Each call that creates something has its own Idempotency-Key, which all of its attempts carry.

    With `if_match`, the `etag` of what was read, a change is refused (ApiProblem 412) if that is no longer the state.
    """

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
        """Where the address and token come from, for display: a file or the environment."""
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

    def get_health(self) -> Json:
        return self._get("/health")

    def get_open_api_document(self) -> Json:
        return self._get("/openapi.json")

    def graphql(self, query: str, variables: Json | None = None) -> Json:
        """The `data` of a query, or of mutations. GraphqlError if it was refused or a field of it failed.

        Queries are repeated like other reads; for a start that may be repeated, see `idempotencyKey` in its input.
        """
        body = {"query": query, "variables": variables}
        is_repeatable = re.search(r"\bmutation\b", query) is None
        response = self._respond(self._request("POST", "/graphql", body), is_repeatable=is_repeatable)
        answer = _json(response)
        if "errors" in answer and "title" not in answer:  # Not a problem document.
            raise GraphqlError(answer["errors"], answer.get("data"))
        return dict(_body_or_problem(response)["data"])

    def get_graphql_schema(self) -> str:
        """In GraphQL's schema language, with descriptions."""
        response = self._respond(self._http.build_request("GET", "/graphql/schema"), is_repeatable=True)
        if not response.is_success:
            _body_or_problem(response)
        return response.text

    def send_mcp_message(self, message: str, headers: Mapping[str, str], tools: str | None = None) -> Json | None:
        """The answer of the MCP server to a message in JSON; None without one. `tools` names groups of tools.

        ApiProblem if what answers is not the MCP server, but a gateway before it.
        """
        params = without_none(tools=tools)
        sent = {"Content-Type": "application/json", **headers}
        request = self._http.build_request("POST", "/mcp", content=message.encode(), headers=sent, params=params)
        response = self._respond(request, is_repeatable=False)
        body = _json(response)
        if body.get("jsonrpc") == "2.0":
            return body
        _body_or_problem(response)
        if body:
            raise ApiProblem(502, "Not a response of the MCP server", "the answer is no message of JSON-RPC")
        return None

    def list_definitions(
        self,
        *,
        folder: str | None = None,
        include_children: bool = False,
        search: str | None = None,
        tag: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        sort: str | None = None,
    ) -> Pages:
        """Newest first, unless `sort` is `createdAt`."""
        times = {"createdAfter": created_after, "createdBefore": created_before, "sort": sort}
        children = "true" if include_children else None
        return self._pages("/definitions", folder=folder, includeChildren=children, search=search, tag=tag, **times)

    def get_definition(self, definition_id: str, *, version: int | None = None) -> TaggedJson:
        return self._get(f"/definitions/{_segment(definition_id)}", version=version)

    def create_definition(self, definition: Json) -> TaggedJson:
        return self._send("POST", "/definitions", definition, is_repeatable=True)

    def update_definition(self, definition_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/definitions/{_segment(definition_id)}", changes, if_match=if_match)

    def delete_definition(self, definition_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/definitions/{_segment(definition_id)}", if_match=if_match)

    def erase_definition(self, definition_id: str) -> None:
        """Erase it with its scenarios, its runs and everything said in them."""
        self._send("POST", f"/definitions/{_segment(definition_id)}/erase")

    def delete_definitions(self, ids: list[str]) -> list[Json]:
        """Delete up to 100 definitions; `{id, deleted, problem}` for each."""
        return self._delete_each("/definitions/bulk-delete", ids)

    def fork_definition(self, definition_id: str, changes: Json) -> Json:
        """`changes` is `{name?, folder?, tags?, content?, version?}`; content that is not overridden is inherited."""
        return self._send("POST", f"/definitions/{_segment(definition_id)}/fork", changes, is_repeatable=True)

    def list_definition_ancestors(self, definition_id: str) -> Pages:
        return self._pages(f"/definitions/{_segment(definition_id)}/ancestors")

    def list_definition_descendants(self, definition_id: str) -> Pages:
        return self._pages(f"/definitions/{_segment(definition_id)}/descendants")

    def list_scenarios(self, definition_id: str, *, version: int | None = None) -> Pages:
        number = None if version is None else str(version)
        return self._pages(f"/definitions/{_segment(definition_id)}/scenarios", version=number)

    def get_scenario(self, definition_id: str, scenario_id: str, *, version: int | None = None) -> TaggedJson:
        return self._get(f"/definitions/{_segment(definition_id)}/scenarios/{_segment(scenario_id)}", version=version)

    def update_scenario(
        self, definition_id: str, scenario_id: str, changes: Json, *, if_match: str | None = None
    ) -> TaggedJson:
        """Change a scenario in the next version of its definition; returns it with its `definitionVersion`."""
        path = f"/definitions/{_segment(definition_id)}/scenarios/{_segment(scenario_id)}"
        return self._send("PATCH", path, changes, if_match=if_match)

    def delete_scenario(self, definition_id: str, scenario_id: str, *, if_match: str | None = None) -> None:
        """Delete a scenario in the next version of its definition."""
        self._send(
            "DELETE", f"/definitions/{_segment(definition_id)}/scenarios/{_segment(scenario_id)}", if_match=if_match
        )

    def create_scenarios(self, definition_id: str, items: list[Json]) -> Json:
        """Add at most 1,000 scenarios per call; returns `{ids, total, definitionVersion}`."""
        return self._send(
            "POST", f"/definitions/{_segment(definition_id)}/scenarios", {"items": items}, is_repeatable=True
        )

    def import_scenarios(self, definition_id: str, body: Json) -> Json:
        """`body` is `{format: csv | jsonl, content, replace?}`. Imports every line of the text, or none of them."""
        return self._send("POST", f"/definitions/{_segment(definition_id)}/scenarios/import", body, is_repeatable=True)

    def generate_scenarios(self, definition_id: str, generation: Json) -> Json:
        return self._send(
            "POST", f"/definitions/{_segment(definition_id)}/scenarios/generate", generation, is_repeatable=True
        )

    def get_scenario_generation(self, definition_id: str, generation_id: str) -> Json:
        return self._get(f"/definitions/{_segment(definition_id)}/scenarios/generations/{_segment(generation_id)}")

    def import_promptfoo(self, body: Json) -> Json:
        """Import a promptfoo configuration; returns `{definitions, repeats, temperature, report}`."""
        return self._send("POST", "/imports/promptfoo", body, is_repeatable=True)

    def import_dataset(self, dataset_format: str, body: Json) -> Json:
        """`dataset_format` is inspect, openai-evals, csv or jsonl; returns the same shape as `import_promptfoo`."""
        return self._send("POST", f"/imports/{_segment(dataset_format)}", body, is_repeatable=True)

    def create_file(self, file: Json) -> Json:
        """Announce `{name, type, size, sha256}`; returns `{file, upload}`. See also `upload_file`."""
        return self._send("POST", "/files", file, is_idempotent=True)

    def complete_file(self, file_id: str) -> Json:
        return self._send("POST", f"/files/{_segment(file_id)}/complete", is_idempotent=True)

    def upload_file(self, content: bytes, name: str, media_type: str) -> Json:
        """Upload an image or a PDF, unless the workspace has it already; returns the file, whose `id` messages name."""
        digest = sha256(content).hexdigest()
        announced = self.create_file({"name": name, "type": media_type, "size": len(content), "sha256": digest})
        upload = announced["upload"]
        if upload is None:
            return dict(announced["file"])
        self._put(upload["url"], content, upload["headers"])
        return self.complete_file(announced["file"]["id"])

    def list_files(self) -> Pages:
        """Newest first."""
        return self._pages("/files")

    def get_file(self, file_id: str) -> TaggedJson:
        """With a `downloadUrl`, which is valid for five minutes."""
        return self._get(f"/files/{_segment(file_id)}")

    def delete_file(self, file_id: str) -> None:
        self._send("DELETE", f"/files/{_segment(file_id)}")

    def list_personas(self) -> Pages:
        """Newest first."""
        return self._pages("/personas")

    def create_persona(self, persona: Json) -> TaggedJson:
        return self._send("POST", "/personas", persona, is_repeatable=True)

    def get_persona(self, persona_id: str) -> TaggedJson:
        return self._get(f"/personas/{_segment(persona_id)}")

    def update_persona(self, persona_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/personas/{_segment(persona_id)}", changes, if_match=if_match)

    def delete_persona(self, persona_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/personas/{_segment(persona_id)}", if_match=if_match)

    def list_connectors(self) -> Pages:
        """Newest first."""
        return self._pages("/connectors")

    def create_connector(self, connector: Json) -> TaggedJson:
        return self._send("POST", "/connectors", connector, is_repeatable=True)

    def get_connector(self, connector_id: str) -> TaggedJson:
        return self._get(f"/connectors/{_segment(connector_id)}")

    def update_connector(self, connector_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/connectors/{_segment(connector_id)}", changes, if_match=if_match)

    def delete_connector(self, connector_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/connectors/{_segment(connector_id)}", if_match=if_match)

    def test_connector(self, connector_id: str) -> Json:
        """Send one message to the agent; returns `{ok, latencyMs, reply, error}`."""
        return self._send("POST", f"/connectors/{_segment(connector_id)}/test")

    def list_evals(self) -> Pages:
        """Newest first."""
        return self._pages("/evals")

    def create_eval(self, body: Json) -> TaggedJson:
        return self._send("POST", "/evals", body, is_repeatable=True)

    def get_eval(self, eval_id: str) -> TaggedJson:
        return self._get(f"/evals/{_segment(eval_id)}")

    def update_eval(self, eval_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/evals/{_segment(eval_id)}", changes, if_match=if_match)

    def delete_eval(self, eval_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/evals/{_segment(eval_id)}", if_match=if_match)

    def create_eval_run(self, eval_id: str, options: Json | None = None) -> Json:
        """Start a run of an eval; returns `{run, jobCount}`."""
        return self._send("POST", f"/evals/{_segment(eval_id)}/runs", options or {}, is_repeatable=True)

    def estimate_eval_run(self, eval_id: str, options: Json | None = None) -> Json:
        """What a run of the eval would cost and how long it would take; nothing is started."""
        return self._send("POST", f"/evals/{_segment(eval_id)}/runs/estimate", options or {})

    def create_playground_run(self, playground_run: Json) -> Json:
        """Run one scenario with one target: `{scenarioId, connectorId | model, personaId?, config?}`.

        Returns `{run, jobCount}`.
        """
        return self._send("POST", "/playground/runs", playground_run, is_repeatable=True)

    def get_settings(self) -> TaggedJson:
        """The judge, persona and embedding models, and the evaluator, of runs and evals that name none."""
        return self._get("/settings")

    def update_settings(self, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PUT", "/settings", changes, if_match=if_match)

    def create_run(self, specification: Json) -> Json:
        """Start a run; returns `{run, jobCount}`."""
        return self._send("POST", "/runs", specification, is_repeatable=True)

    def estimate_run(self, specification: Json) -> Json:
        """What the run would cost and how long it would take; nothing is started."""
        return self._send("POST", "/runs/estimate", specification)

    def create_report(self, run_id: str, options: Json | None = None) -> Json:
        """Make a report of a run that has ended, unless there is one of its outcomes; its `status` says when it is
        completed. `options` may have a `summarizerModel`."""
        return self._send("POST", f"/runs/{_segment(run_id)}/reports", options or {}, is_idempotent=True)

    def list_reports(self, run_id: str) -> list[Json]:
        """Newest first, without their content."""
        return list(self._get(f"/runs/{_segment(run_id)}/reports")["items"])

    def get_report(self, run_id: str, report_id: str) -> Json:
        """With its content, once it is completed."""
        return self._get(f"/runs/{_segment(run_id)}/reports/{_segment(report_id)}")

    def create_trial(self, run_id: str, report_id: str, options: Json | None = None) -> Json:
        """Try the revised prompt of a report against the original, unless it has a trial. `options` may have
        `maxBudgetUsd`, `scenarios`, `repeats`."""
        return self._send("POST", _trial_path(run_id, report_id), options or {}, is_idempotent=True)

    def estimate_trial(self, run_id: str, report_id: str, options: Json | None = None) -> Json:
        """How large a trial would be, what it could find and what it would cost; nothing is started."""
        return self._send("POST", f"{_trial_path(run_id, report_id)}/estimate", options or {})

    def get_trial(self, run_id: str, report_id: str) -> Json:
        """With its `result`, once both prompts were run and compared."""
        return self._get(_trial_path(run_id, report_id))

    def list_report_conversations(self, run_id: str, report_id: str) -> Pages:
        """The completed conversations of the run, with their failure tags."""
        return self._pages(f"/runs/{_segment(run_id)}/reports/{_segment(report_id)}/conversations")

    def get_run_report(self, run_id: str) -> Json:
        """The newest completed report of a run."""
        return self._get(f"/runs/{_segment(run_id)}/report")

    def get_run_report_text(self, run_id: str, report_format: str) -> str:
        """The newest completed report of a run as Markdown (`md`) or HTML (`html`)."""
        path = f"/runs/{_segment(run_id)}/report"
        response = self._respond(
            self._http.build_request("GET", path, params={"format": report_format}), is_repeatable=True
        )
        if not response.is_success:
            _body_or_problem(response)
        return response.text

    def create_scale_run(self, scale_run: Json) -> Json:
        """Start a scale run: many conversations with one system prompt; returns `{run, jobCount}`."""
        return self._send("POST", "/scale-runs", scale_run, is_repeatable=True)

    def estimate_scale_run(self, scale_run: Json) -> Json:
        """Return what the scale run would cost and how long it would take, without starting it."""
        return self._send("POST", "/scale-runs/estimate", scale_run)

    def list_runs(
        self,
        *,
        definition_id: str | None = None,
        experiment_id: str | None = None,
        schedule_id: str | None = None,
        eval_id: str | None = None,
        status: str | None = None,
        name: str | None = None,
        tag: str | None = None,
        metadata: Mapping[str, str] | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        sort: str | None = None,
    ) -> Pages:
        """Newest first, unless `sort` is `createdAt`. `name` is a part of the name, ignoring case.

        All entries of `metadata` match: numbers and truth values as `812` and `true`.
        """
        times = {"createdAfter": created_after, "createdBefore": created_before, "sort": sort}
        owners = {"definitionId": definition_id, "experimentId": experiment_id}
        filters = {**owners, "scheduleId": schedule_id, "evalId": eval_id, "status": status}
        entries = [f"{key}={value}" for key, value in (metadata or {}).items()] or None
        return self._pages("/runs", **filters, **times, name=name, tag=tag, metadata=entries)

    def get_run(self, run_id: str) -> TaggedJson:
        return self._get(f"/runs/{_segment(run_id)}")

    def update_run(self, run_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Change `name`, `tags` or `metadata`, whatever the run's status."""
        return self._send("PATCH", f"/runs/{_segment(run_id)}", changes, if_match=if_match)

    def get_run_progress(self, run_id: str) -> Json:
        """How far each target is, with what holds it up, and results, tokens and errors so far."""
        return self._get(f"/runs/{_segment(run_id)}/progress")

    def get_budgets(self) -> Json:
        """What is used of the workspace's budgets for the day and the month."""
        return self._get("/budgets")

    def get_run_budget(self, run_id: str) -> Json:
        """What is used of a run's budget, and by which workers. Conflict for a run without one."""
        return self._get(f"/runs/{_segment(run_id)}/budget")

    def update_run_budget(self, run_id: str, max_budget_usd: float, *, resume: bool = True) -> Json:
        """Raise or lower a run's budget. A run that is paused because of it resumes, unless `resume` is false."""
        changes = {"maxBudgetUsd": max_budget_usd, "resume": resume}
        return self._send("PATCH", f"/runs/{_segment(run_id)}/budget", changes)

    def delete_run(self, run_id: str) -> None:
        self._send("DELETE", f"/runs/{_segment(run_id)}")

    def delete_runs(self, ids: list[str]) -> list[Json]:
        """Delete up to 100 runs; `{id, deleted, problem}` for each."""
        return self._delete_each("/runs/bulk-delete", ids)

    def pause_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{_segment(run_id)}/pause")

    def resume_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{_segment(run_id)}/resume")

    def cancel_run(self, run_id: str) -> Json:
        return self._send("POST", f"/runs/{_segment(run_id)}/cancel")

    def retry_run(
        self,
        run_id: str,
        *,
        model: str | None = None,
        probe_index: int | None = None,
        confirmed_usd: float | None = None,
    ) -> Json:
        """Run errored probes again: all of them, those of one model, or one.

        `confirmed_usd` is the expected cost that was agreed to, if it exceeds what is left of a budget.
        """
        return self._send(
            "POST",
            f"/runs/{_segment(run_id)}/retry",
            without_none(model=model, probeIndex=probe_index, confirmedUsd=confirmed_usd),
            is_repeatable=True,
        )

    def estimate_retry(self, run_id: str, *, model: str | None = None, probe_index: int | None = None) -> Json:
        """What a retry would cost and how long it would take; nothing is started."""
        path = f"/runs/{_segment(run_id)}/retry/estimate"
        return self._send("POST", path, without_none(model=model, probeIndex=probe_index))

    def rerun_run(self, run_id: str, overrides: Json | None = None) -> Json:
        """Repeat a run with `{models?, priority?, repeats?, experimentId?, config?}`; returns `{run, jobCount}`."""
        path = f"/runs/{_segment(run_id)}/rerun"
        return self._send("POST", path, overrides or {}, is_repeatable=True)

    def expand_run(self, run_id: str, sample_percentage: int, *, confirmed_usd: float | None = None) -> Json:
        """Add scenarios to a sampled run that has ended; `confirmed_usd` as for a retry."""
        body = {"samplePercentage": sample_percentage, **without_none(confirmedUsd=confirmed_usd)}
        return self._send("POST", f"/runs/{_segment(run_id)}/expand", body, is_repeatable=True)

    def estimate_expansion(self, run_id: str, sample_percentage: int) -> Json:
        """What the added scenarios would cost and how long they would take; nothing is started."""
        path = f"/runs/{_segment(run_id)}/expand/estimate"
        return self._send("POST", path, {"samplePercentage": sample_percentage})

    def list_run_events(self, run_id: str, *, after: int = 0) -> list[Json]:
        """The events whose `seq` is greater than `after`."""
        return list(self._get(f"/runs/{_segment(run_id)}/events", after=after)["items"])

    def create_event_ticket(self, run_id: str) -> Json:
        """For a browser's EventSource, for 15 minutes: `{ticket, path, expiresAt}`."""
        return self._send("POST", f"/runs/{_segment(run_id)}/event-tickets")

    def list_run_probes(
        self, run_id: str, *, status: str | None = None, model: str | None = None, prompt_id: str | None = None
    ) -> Pages:
        """`model` is the id of a target, or a model; in the following methods too."""
        return self._pages(f"/runs/{_segment(run_id)}/probes", status=status, model=model, promptId=prompt_id)

    def list_run_cases(self, run_id: str, *, model: str | None = None, prompt_id: str | None = None) -> Pages:
        """A row per scenario and persona, with a cell per target and prompt."""
        return self._pages(f"/runs/{_segment(run_id)}/cases", model=model, promptId=prompt_id)

    def get_probe_columns(self, run_id: str, block: int) -> TaggedJson:
        """The figures of probes `1000 * block` and following, as lists with an entry per probe."""
        return self._get(f"/runs/{_segment(run_id)}/probe-columns", block=block)

    def list_probe_excerpts(self, run_id: str, indexes: list[int]) -> list[Json]:
        """The beginning of the answers of up to 100 probes, and why they passed or failed."""
        path = f"/runs/{_segment(run_id)}/probe-excerpts"
        return list(self._get(path, indexes=[str(index) for index in indexes])["items"])

    def find_probe_matches(self, run_id: str, query: str, *, first: int = 0) -> Json:
        """`{indexes, nextIndex}`: which of the next 1,000 probes have all of these words in their conversation."""
        return self._get(f"/runs/{_segment(run_id)}/probe-matches", q=query, first=first)

    def get_case_names(self, run_id: str, *, first: int = 0) -> TaggedJson:
        """`{items, nextIndex}`: names and dimensions of up to 1,000 cases, from index `first` on."""
        return self._get(f"/runs/{_segment(run_id)}/case-names", first=first)

    def list_probes(
        self,
        *,
        order: str = "newest",
        eval_id: str | None = None,
        scenario_id: str | None = None,
        persona_id: str | None = None,
        status: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
    ) -> Pages:
        """Probes of all runs, with their conversations."""
        owners = {"evalId": eval_id, "scenarioId": scenario_id, "personaId": persona_id}
        times = {"createdAfter": created_after, "createdBefore": created_before}
        return self._pages("/probes", order=order, status=status, **owners, **times)

    def get_probe(self, probe_id: str) -> TaggedJson:
        return self._get(f"/probes/{_segment(probe_id)}")

    def correct_probe(self, probe_id: str, result: Json | None, *, if_match: str | None = None) -> TaggedJson:
        """Override the computed result with a human one; None restores the computed result."""
        return self._send("PATCH", f"/probes/{_segment(probe_id)}", {"result": result}, if_match=if_match)

    def delete_probe_content(self, probe_id: str) -> None:
        """Delete the conversation. The probe, its counts and its result stay."""
        self._send("DELETE", f"/probes/{_segment(probe_id)}/content")

    def delete_probe_contents(self, ids: list[str]) -> list[Json]:
        """Delete the conversations of up to 100 probes; `{id, deleted, problem}` for each."""
        return self._delete_each("/probes/bulk-delete-content", ids)

    def list_transcripts(
        self,
        run_id: str,
        *,
        model: str | None = None,
        prompt_id: str | None = None,
        scenario_id: str | None = None,
        result: str | None = None,
        decision: str | None = None,
        tag: str | None = None,
    ) -> Pages:
        """`result` is passed, failed or unscored; `tag` is one of a failed assertion."""
        of_column = {"model": model, "promptId": prompt_id}
        filters = {**of_column, "scenarioId": scenario_id, "result": result, "decision": decision, "tag": tag}
        path = f"/runs/{_segment(run_id)}/transcripts"
        return Pages(lambda limit, cursor: self._get(path, limit=limit, cursor=cursor, **filters), TRANSCRIPTS_PER_PAGE)

    def get_transcript(self, transcript_id: str) -> Json:
        return self._get(f"/transcripts/{_segment(transcript_id)}")

    def create_rescore(self, run_id: str, overrides: Json | None = None) -> Json:
        """Grade transcripts again with `{assertions?, judgeModel?, embeddingModel?, evaluatorUrl?, criteria?}`."""
        return self._send("POST", f"/runs/{_segment(run_id)}/rescores", overrides or {}, is_repeatable=True)

    def list_rescores(self, run_id: str) -> Pages:
        """Newest first."""
        return self._pages(f"/runs/{_segment(run_id)}/rescores")

    def list_grader_agreement(self, run_id: str) -> list[Json]:
        """Return how far the run's own scoring agrees with its ten newest rescores, and with corrections by users."""
        return list(self._get(f"/runs/{_segment(run_id)}/grader-agreement")["items"])

    def get_rescore(self, run_id: str, rescore_id: str) -> Json:
        return self._get(f"/runs/{_segment(run_id)}/rescores/{_segment(rescore_id)}")

    def update_rescore_budget(self, run_id: str, rescore_id: str, max_budget_usd: float) -> Json:
        """Raise the budget of a rescore that goes on, or was stopped by it; it grades what is left."""
        path = f"/runs/{_segment(run_id)}/rescores/{_segment(rescore_id)}/budget"
        return self._send("PATCH", path, {"maxBudgetUsd": max_budget_usd})

    def list_rescore_results(
        self, run_id: str, rescore_id: str, *, model: str | None = None, prompt_id: str | None = None
    ) -> Pages:
        """One result per probe."""
        path = f"/runs/{_segment(run_id)}/rescores/{_segment(rescore_id)}/results"
        return self._pages(path, model=model, promptId=prompt_id)

    def create_experiment(self, experiment: Json) -> TaggedJson:
        """Create `{name, hypothesis, direction?, baselineRunId?, …}`."""
        return self._send("POST", "/experiments", experiment, is_repeatable=True)

    def list_experiments(self) -> Pages:
        """Newest first."""
        return self._pages("/experiments")

    def get_experiment(self, experiment_id: str) -> TaggedJson:
        return self._get(f"/experiments/{_segment(experiment_id)}")

    def update_experiment(self, experiment_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/experiments/{_segment(experiment_id)}", changes, if_match=if_match)

    def delete_experiment(self, experiment_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/experiments/{_segment(experiment_id)}", if_match=if_match)

    def add_experiment_run(self, experiment_id: str, run_id: str) -> None:
        self._send("PUT", f"/experiments/{_segment(experiment_id)}/runs/{_segment(run_id)}")

    def remove_experiment_run(self, experiment_id: str, run_id: str) -> None:
        self._send("DELETE", f"/experiments/{_segment(experiment_id)}/runs/{_segment(run_id)}")

    def get_experiment_summary(self, experiment_id: str) -> Json:
        """How its runs differ from its baseline, by run and target."""
        return self._get(f"/experiments/{_segment(experiment_id)}/summary")

    def create_comparison(self, body: Json) -> Json:
        """Compare `{baseline {runId, targets?, prompts?}, comparison {…}, metric?, margin?, alpha?}`.

        Its `figures` are null until its job is completed; repeating the request returns the same comparison.
        """
        return self._call(self._request("POST", "/comparisons", body), is_repeatable=True)

    def plan_comparison(self, request: Json) -> Json:
        """How many scenarios and repeats detect a difference: `{effect, metric?, rate?, spread?, pilotScenarios?,
        targets?}`."""
        return self._send("POST", "/comparisons/plan", request)

    def list_profiles(self) -> Pages:
        """Newest first, without their operations."""
        return self._pages("/profiles")

    def create_profile(self, profile: Json) -> TaggedJson:
        """Create an operation profile from `{name, description?, enabled?, executionMode?, operations}`."""
        return self._send("POST", "/profiles", profile, is_repeatable=True)

    def get_profile(self, profile_id: str, *, version: int | None = None) -> TaggedJson:
        return self._get(f"/profiles/{_segment(profile_id)}", version=version)

    def update_profile(self, profile_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Other operations, or another mode, make the next version."""
        return self._send("PATCH", f"/profiles/{_segment(profile_id)}", changes, if_match=if_match)

    def delete_profile(self, profile_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/profiles/{_segment(profile_id)}", if_match=if_match)

    def reset_profile_session(self, profile_id: str, *, if_match: str | None = None) -> TaggedJson:
        """Later turns of all chats begin without the artifacts that its operations have stored."""
        return self._send("POST", f"/profiles/{_segment(profile_id)}/reset-session", if_match=if_match)

    def check_profile(self, profile: Json) -> Json:
        """`{errors, warnings, plan}` of a profile, which is not stored."""
        return self._send("POST", "/profiles/check", profile, is_idempotent=True)

    def list_chats(self) -> Pages:
        """Newest first."""
        return self._pages("/chats")

    def create_chat(self, chat: Json) -> TaggedJson:
        """Create a chat from `{target, title?, system?, profileId?, historyLimit?, metadata?}`."""
        return self._send("POST", "/chats", chat, is_repeatable=True)

    def get_chat(self, chat_id: str) -> TaggedJson:
        return self._get(f"/chats/{_segment(chat_id)}")

    def update_chat(self, chat_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Change settings, or `activeBranchId`; turns that have started are not changed."""
        return self._send("PATCH", f"/chats/{_segment(chat_id)}", changes, if_match=if_match)

    def delete_chat(self, chat_id: str) -> None:
        self._send("DELETE", f"/chats/{_segment(chat_id)}")

    def list_branches(self, chat_id: str) -> Pages:
        """Oldest first."""
        return self._pages(f"/chats/{_segment(chat_id)}/branches")

    def create_branch(self, chat_id: str, fork: Json) -> Json:
        """Fork a branch: `{name?, fromBranchId?, afterExchangeId?, includeAnswer?, artifacts?}`."""
        return self._send("POST", f"/chats/{_segment(chat_id)}/branches", fork, is_repeatable=True)

    def get_branch(self, chat_id: str, branch_id: str) -> Json:
        return self._get(_branch_path(chat_id, branch_id))

    def update_branch(self, chat_id: str, branch_id: str, name: str) -> Json:
        return self._send("PATCH", _branch_path(chat_id, branch_id), {"name": name})

    def delete_branch(self, chat_id: str, branch_id: str) -> None:
        self._send("DELETE", _branch_path(chat_id, branch_id))

    def list_exchanges(self, chat_id: str, branch_id: str, *, include: list[str] | None = None) -> Pages:
        """Newest first. `include` may have `hidden` and `deleted`."""
        return self._pages(f"{_branch_path(chat_id, branch_id)}/exchanges", include=include)

    def list_message_variants(self, chat_id: str, message_id: str) -> Pages:
        """In the order in which they were made."""
        return self._pages(f"/chats/{_segment(chat_id)}/messages/{_segment(message_id)}/variants")

    def update_message(self, chat_id: str, branch_id: str, message_id: str, change: Json) -> Json:
        """`change` is one of `{content}` (an edit), `{selected}` (a variant) and `{hidden}`, each with `revision?`."""
        return self._send("PATCH", f"{_branch_path(chat_id, branch_id)}/messages/{_segment(message_id)}", change)

    def delete_message(self, chat_id: str, branch_id: str, message_id: str) -> None:
        """Take a message out of a branch."""
        self._send("DELETE", f"{_branch_path(chat_id, branch_id)}/messages/{_segment(message_id)}")

    def start_turn(self, chat_id: str, turn: Json) -> Json:
        """Send `{content}`, or have the last message answered again with `{trigger: "regenerate"}`.

        Further fields: `branchId`, `profileId`, `model`, `clientRequestId`, `deadlineMs`. Repeating a `clientRequestId`
        starts nothing new.
        """
        return self._send("POST", f"/chats/{_segment(chat_id)}/turns", turn, is_repeatable=True)

    def list_turns(self, chat_id: str, *, branch_id: str | None = None, status: str | None = None) -> Pages:
        """Newest first, without what they ran."""
        return self._pages(f"/chats/{_segment(chat_id)}/turns", branchId=branch_id, status=status)

    def get_turn(self, chat_id: str, turn_id: str) -> Json:
        return self._get(_turn_path(chat_id, turn_id))

    def get_turn_prompt(self, chat_id: str, turn_id: str) -> Json:
        """`{hash, messages}`: what the model got, with the `operationId` of what operations have added."""
        return self._get(f"{_turn_path(chat_id, turn_id)}/prompt")

    def list_turn_events(self, chat_id: str, turn_id: str, *, after: int = 0, text: str = "0.0", wait: int = 0) -> Json:
        """`{items, text, status, phase}`: the events after a `seq` and what the model has written after a position,
        `<attempt>.<offset>`. Waits up to so many seconds for them."""
        return self._get(f"{_turn_path(chat_id, turn_id)}/events", after=after, text=text, wait=wait)

    def follow_turn(self, chat_id: str, turn_id: str, *, wait: int = 5) -> Iterator[Json]:
        """The events of a turn until it is over, as they occur, with events of type `main_llm.delta` for what the model
        writes: `{type, attempt, offset, text}`. A higher attempt voids the text of lower ones."""
        seq, position, is_over = 0, "0.0", False
        while not is_over:
            query = without_none(after=seq, text=position, wait=wait)
            request = self._http.build_request("GET", f"{_turn_path(chat_id, turn_id)}/events", params=query)
            response = self._respond(request, is_repeatable=True)
            feed = _body_or_problem(response)
            text, items = feed["text"], feed["items"]
            ended = (number for number, event in enumerate(items) if event["type"] == "main_llm.finished")
            end = next(ended, len(items))
            yield from items[:end]
            if text is not None:
                position = f"{text['attempt']}.{text['offset'] + len(text['text'])}"
                yield {"type": "main_llm.delta", **text}
            yield from items[end:]
            seq = items[-1]["seq"] if items else seq
            is_over = feed["status"] in ("done", "failed", "aborted")
            if pause := _retry_after_seconds(response):  # Too many requests wait already.
                self._sleep(pause)

    def abort_turn(self, chat_id: str, turn_id: str) -> Json:
        """A turn that is over is returned as it is."""
        return self._send("POST", f"{_turn_path(chat_id, turn_id)}/abort", is_idempotent=True)

    def list_branch_artifacts(
        self, chat_id: str, branch_id: str, *, profile_id: str | None = None, include: list[str] | None = None
    ) -> list[Json]:
        """What operations of a profile have stored, by default of the chat's; with `include=["internal"]` also what is
        meant for operations alone."""
        path = f"{_branch_path(chat_id, branch_id)}/artifacts"
        return list(self._get(path, profileId=profile_id, include=include)["items"])

    def get_branch_artifact(self, chat_id: str, branch_id: str, tag: str, *, profile_id: str | None = None) -> Json:
        """An artifact with its history; that of the chat's profile unless another is named."""
        return self._get(f"{_branch_path(chat_id, branch_id)}/artifacts/{_segment(tag)}", profileId=profile_id)

    def get_branch_session(self, chat_id: str, branch_id: str, *, profile_id: str | None = None) -> Json:
        """`{id, profileId, sessionId, createdAt, tags}`: the artifacts with which its next turn begins, and since when;
        of the chat's profile by default."""
        return self._get(f"{_branch_path(chat_id, branch_id)}/session", profileId=profile_id)

    def reset_branch_session(self, chat_id: str, branch_id: str) -> Json:
        """The next turn of the branch begins without artifacts."""
        return self._send("POST", f"{_branch_path(chat_id, branch_id)}/session/reset", is_idempotent=True)

    def list_comparisons(self, *, run_id: str | None = None, experiment_id: str | None = None) -> Pages:
        """Newest first, without their figures."""
        return self._pages("/comparisons", runId=run_id, experimentId=experiment_id)

    def get_comparison(self, comparison_id: str) -> Json:
        return self._get(f"/comparisons/{_segment(comparison_id)}")

    def delete_comparison(self, comparison_id: str) -> None:
        self._send("DELETE", f"/comparisons/{_segment(comparison_id)}")

    def list_comparison_scenarios(
        self, comparison_id: str, *, row: int | None = None, change: str | None = None
    ) -> Pages:
        """Iterate over the scenarios of one of the comparison's rows, or of all, most changed first."""
        number = None if row is None else str(row)
        return self._pages(f"/comparisons/{_segment(comparison_id)}/scenarios", row=number, change=change)

    def list_jobs(self, *, run_id: str | None = None, status: str | None = None) -> Pages:
        """Newest first."""
        return self._pages("/jobs", runId=run_id, status=status)

    def get_job(self, job_id: str) -> Json:
        return self._get(f"/jobs/{_segment(job_id)}")

    def get_run_results(self, run_id: str) -> Json:
        """The result table of a run, also while it goes on: a row per target and prompt."""
        return self._get(f"/runs/{_segment(run_id)}/results")

    def get_run_analysis(self, run_id: str, *, rescore_id: str | None = None) -> Json:
        """The newest analysis of a run, with its figures."""
        return self._get(f"/runs/{_segment(run_id)}/analysis", rescoreId=rescore_id)

    def get_deep_analysis(self, run_id: str, *, rescore_id: str | None = None) -> Json:
        """The newest deep analysis of a run, with its figures."""
        return self._get(f"/runs/{_segment(run_id)}/analysis/deep", rescoreId=rescore_id)

    def list_run_analyses(self, run_id: str) -> Pages:
        """Without their figures; newest first."""
        return self._pages(f"/runs/{_segment(run_id)}/analysis/history")

    def list_analyzed_scenarios(
        self,
        run_id: str,
        *,
        sort: str | None = None,
        ascending: bool | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        dimension: str | None = None,
        level: str | None = None,
        rescore_id: str | None = None,
    ) -> Pages:
        """List the result of each target for each scenario."""
        of = {"model": model, "promptId": prompt_id, "dimension": dimension, "level": level, "rescoreId": rescore_id}
        direction = None if ascending is None else str(ascending).lower()
        return self._pages(f"/runs/{_segment(run_id)}/analysis/scenarios", sort=sort, ascending=direction, **of)

    def analyze_run(
        self,
        run_id: str,
        *,
        kind: str = "basic",
        force: bool = False,
        narrative: bool = True,
        rescore_id: str | None = None,
    ) -> Json:
        """Analyze a run that has ended. `kind` is `basic` or `deep`.

        The workspace's `analysisModel`, if it has one, writes the narrative of a deep one unless `narrative` is false.
        Without `status` while a large run is analyzed in the background; `jobId` names the job of a deep analysis.
        """
        body = {
            "kind": kind,
            "force": force,
            **({} if narrative else {"narrative": False}),
            **({} if rescore_id is None else {"rescoreId": rescore_id}),
        }
        return self._send("POST", f"/runs/{_segment(run_id)}/analysis", body)

    def get_data_frame(self, run_id: str, *, rescore_id: str | None = None) -> Any:
        """Return a pandas.DataFrame with a row per probe that has an outcome, and the columns of that of an evaluation
        in process. Raises UsageError if pandas is not installed."""
        from cupel.data_frames import data_frame
        from cupel.exports.records import OutcomeReader, may_decide

        run = self.get_run(run_id)
        return data_frame(OutcomeReader(self, run, rescore_id).outcomes(), has_decisions=may_decide(run))

    def get_run_breakdown(self, run_id: str, by: str | None = None, *, rescore_id: str | None = None) -> Json:
        """Return figures by `persona`, by a dimension, or by a field of the scenarios' metadata. Without `by`, it
        returns only what the run can be grouped by."""
        return self._get(f"/runs/{_segment(run_id)}/analysis/breakdown", by=by, rescoreId=rescore_id)

    def get_run_scores(
        self,
        run_id: str,
        *,
        rescore_id: str | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        k: int | None = None,
    ) -> Json:
        """Statistics per target and prompt, of the run's own scoring or of a rescore. `k` is that of pass@k."""
        path = f"/runs/{_segment(run_id)}/scores"
        return self._get(path, rescoreId=rescore_id, model=model, promptId=prompt_id, k=k)

    def list_scenario_scores(
        self,
        run_id: str,
        *,
        rescore_id: str | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        k: int | None = None,
    ) -> Pages:
        """Statistics per scenario, target and prompt, of the run's own scoring or of a rescore."""
        path, trials = f"/runs/{_segment(run_id)}/scores/scenarios", None if k is None else str(k)
        return self._pages(path, rescoreId=rescore_id, model=model, promptId=prompt_id, k=trials)

    def read_decisions(self, pattern: str, answers: Sequence[str]) -> Json:
        """The decision that a pattern reads from each answer, as `items`; no model is called."""
        return self._send("POST", "/decisions", {"pattern": pattern, "answers": list(answers)})

    def judge_conversation(self, conversation: Json) -> Json:
        """Judge `{messages, successCriteria?, failureCriteria?, model?}`; returns a verdict and what it cost."""
        return self._send("POST", "/judge/criteria", conversation)

    def generate_persona_message(self, conversation: Json) -> Json:
        """Generate the simulated user's next message for `{messages, instructions?, personaId? | persona?, model?}`."""
        return self._send("POST", "/judge/persona-message", conversation)

    def list_models(self, *, provider: str | None = None) -> Pages:
        return self._pages("/models", provider=provider)

    def list_providers(self) -> Pages:
        return self._pages("/providers")

    def get_provider(self, name: str) -> TaggedJson:
        return self._get(f"/providers/{_segment(name)}")

    def update_provider(self, name: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PUT", f"/providers/{_segment(name)}", changes, if_match=if_match)

    def list_schedules(self) -> Pages:
        return self._pages("/schedules")

    def create_schedule(self, schedule: Json) -> TaggedJson:
        """`{name, expression, timezone?, run | evalRun, enabled?}`; `run` has the fields that `create_run` accepts.

        `evalRun` is `{evalId}` with the options of `create_eval_run`.
        """
        return self._send("POST", "/schedules", schedule, is_repeatable=True)

    def get_schedule(self, schedule_id: str) -> TaggedJson:
        """The schedule with its most recent firings."""
        return self._get(f"/schedules/{_segment(schedule_id)}")

    def update_schedule(self, schedule_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        return self._send("PATCH", f"/schedules/{_segment(schedule_id)}", changes, if_match=if_match)

    def delete_schedule(self, schedule_id: str, *, if_match: str | None = None) -> None:
        self._send("DELETE", f"/schedules/{_segment(schedule_id)}", if_match=if_match)

    def list_queues(self, *, provider: str | None = None) -> Pages:
        return self._pages("/queue", provider=provider)

    def pause_queues(self, provider: str | None = None) -> list[Json]:
        """Pause one provider's queue, or all; returns the status of each."""
        return list(self._send("POST", "/queue/pause", without_none(provider=provider))["items"])

    def resume_queues(self, provider: str | None = None) -> list[Json]:
        """Resume one provider's queue, or all; returns the status of each."""
        return list(self._send("POST", "/queue/resume", without_none(provider=provider))["items"])

    def list_dead_letters(self, *, provider: str | None = None) -> Pages:
        return self._pages("/queue/dead-letters", provider=provider)

    def redrive_dead_letters(self, *, provider: str | None = None, message_ids: list[str] | None = None) -> Json:
        """Send dead letters back to their queue, all or those listed; returns `{sent, dropped, runsToRetry, …}`."""
        body = without_none(provider=provider, messageIds=message_ids or None)
        return self._send("POST", "/queue/dead-letters/redrive", body)

    def get_webhook(self) -> Json:
        return self._get("/webhook")

    def set_webhook(self, webhook: Json, *, if_match: str | None = None) -> TaggedJson:
        """`{url, secret?, enabled?, probes?}`. The response has the `secret` if it is new and was not sent."""
        return self._send("PUT", "/webhook", webhook, if_match=if_match)

    def delete_webhook(self, *, if_match: str | None = None) -> None:
        self._send("DELETE", "/webhook", if_match=if_match)

    def test_webhook(self) -> Json:
        """Call the webhook once; `{delivered, httpStatus, error, durationMs}`."""
        return self._send("POST", "/webhook/test")

    def list_webhook_deliveries(self) -> Pages:
        """Newest first, of the last 14 days."""
        return self._pages("/webhook/deliveries")

    def create_workspace(self, name: str) -> Json:
        """The workspace with its first admin token; requires the role operator."""
        return self._send("POST", "/workspaces", {"name": name}, is_repeatable=True)

    def get_workspace(self, name: str) -> Json:
        return self._send("GET", f"/workspaces/{_segment(name)}")

    def list_workspaces(self) -> Pages:
        """Those that operators have created or erased, by name; requires the role operator."""
        return self._pages("/workspaces")

    def erase_workspace(self, name: str) -> None:
        """Erase it with everything in it; requires the role operator."""
        self._send("POST", f"/workspaces/{_segment(name)}/erase", {"confirm": name})

    def list_audit_records(self, *, token_id: str | None = None, operation: str | None = None) -> Pages:
        """Who did what in the last year, newest first; requires the role admin."""
        return self._pages("/audit", tokenId=token_id, operation=operation)

    def list_tokens(self) -> Pages:
        return self._pages("/tokens")

    def create_token(self, name: str, role: str, *, expires_at: str | None = None) -> Json:
        """The only response that contains the token itself. `expires_at` is a time in ISO 8601 with its offset."""
        body = without_none(name=name, role=role, expiresAt=expires_at)
        return self._send("POST", "/tokens", body, is_repeatable=True)

    def revoke_token(self, token_id: str) -> None:
        self._send("DELETE", f"/tokens/{_segment(token_id)}")

    def create_login_code(self) -> Json:
        """Opens a session of the web page, once and within 60 seconds: `{code, expiresAt}`."""
        return self._send("POST", "/login-codes")

    def redeem_login_code(self, code: str) -> Json:
        """The token of the session; the only response that contains it."""
        return self._send("POST", "/login-codes/redeem", {"code": code})

    def get_session(self) -> Json:
        """Who the token belongs to: workspace, role, name and when it expires."""
        return self._get("/session")

    def _delete_each(self, path: str, ids: list[str]) -> list[Json]:
        return list(self._send("POST", path, {"ids": ids})["items"])

    def _pages(self, path: str, **filters: str | list[str] | None) -> Pages:
        return Pages(lambda limit, cursor: self._get(path, limit=limit, cursor=cursor, **filters))

    def _get(self, path: str, **query: str | int | list[str] | None) -> TaggedJson:
        return self._call(self._http.build_request("GET", path, params=without_none(**query)), is_repeatable=True)

    def _send(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        is_repeatable: bool = False,
        is_idempotent: bool = False,
        if_match: str | None = None,
    ) -> TaggedJson:
        """`is_repeatable`: with an Idempotency-Key; `is_idempotent`: repeating it changes nothing anyway."""
        key = str(uuid.uuid4()) if is_repeatable else None
        headers = without_none(**{"Idempotency-Key": key, "If-Match": if_match})
        request = self._request(method, path, body, headers)
        return self._call(request, is_repeatable=is_repeatable or is_idempotent)

    def _request(
        self, method: str, path: str, body: Json | None, headers: Mapping[str, str] | None = None
    ) -> httpx.Request:
        try:
            return self._http.build_request(method, path, json=body, headers=headers)
        except ValueError:
            if (refused := unsendable_field(body)) is None:
                raise
            raise UsageError(f"{refused.field}: {refused.message}") from None

    def _put(self, url: str, content: bytes, headers: Mapping[str, str]) -> None:
        """To the bucket, whose address is the permission: the token is not sent."""
        request = httpx.Request("PUT", url, content=content, headers=dict(headers))
        response = self._respond(request, is_repeatable=True)
        if not response.is_success:
            reason = re.search(r"<Message>([^<]{1,300})", response.text)
            raise CupelError(
                f"the upload was refused with status {response.status_code}{f': {reason[1]}' if reason else ''}"
            )

    def _call(self, request: httpx.Request, *, is_repeatable: bool) -> TaggedJson:
        return _body_or_problem(self._respond(request, is_repeatable=is_repeatable))

    def _respond(self, request: httpx.Request, *, is_repeatable: bool) -> httpx.Response:
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            retry_after = 0.0
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                if last or not is_repeatable:
                    reason = f"{self.api_url} cannot be reached: {error or type(error).__name__}"
                    raise NotConnected(f"{reason}{self._remedy(error)}") from error
            else:
                if last or not _is_to_be_repeated(response, is_repeatable=is_repeatable):
                    return response
                retry_after = _retry_after_seconds(response)
            self._sleep(max(retry_after, FIRST_WAIT_SECONDS * 2 ** (attempt - 1)))
        raise AssertionError("the last attempt returns or raises")

    def _remedy(self, error: httpx.TransportError) -> str:
        """A local stack does not survive a reboot, or a kill of its processes."""
        has_stopped = isinstance(error, httpx.ConnectError) and Path(self.source).match(str(LOCAL_FILE))
        return "; the local stack has stopped, start it with `cupel up`" if has_stopped else ""


def _is_to_be_repeated(response: httpx.Response, *, is_repeatable: bool) -> bool:
    """Repeatable requests while the API is busy, possibly with the same request; all requests above the limit."""
    is_in_progress = response.status_code == IN_PROGRESS and "Retry-After" in response.headers
    is_busy = is_in_progress or response.status_code in TRANSIENT
    return response.status_code == LIMITED or (is_repeatable and is_busy)


def _retry_after_seconds(response: httpx.Response) -> float:
    """How long the API asks to wait; 0 if it does not say, or says it as a date."""
    value = response.headers.get("Retry-After", "")
    return min(float(value), MAX_WAIT_SECONDS) if value.isdecimal() else 0.0


def _trial_path(run_id: str, report_id: str) -> str:
    return f"/runs/{_segment(run_id)}/reports/{_segment(report_id)}/trial"


def _branch_path(chat_id: str, branch_id: str) -> str:
    return f"/chats/{_segment(chat_id)}/branches/{_segment(branch_id)}"


def _turn_path(chat_id: str, turn_id: str) -> str:
    return f"/chats/{_segment(chat_id)}/turns/{_segment(turn_id)}"


def _segment(text: str) -> str:
    """An id or a name as one segment of a path: `../tokens/tok_1` would call another operation."""
    if not re.fullmatch(r"[\w.:-]+", text, re.ASCII) or not text.strip("."):
        raise UsageError(f"{text!r} is not a valid id: use letters, digits, '_', '-', '.' and ':'")
    return text


def _is_local(url: str) -> bool:
    """Local addresses bypass the environment's proxy, which cannot reach them."""
    return httpx.URL(url).host in ("127.0.0.1", "::1", "localhost")


def _body_or_problem(response: httpx.Response) -> TaggedJson:
    body = _json(response)
    if response.is_success:
        return TaggedJson(body, response.headers.get("ETag"))
    raise ApiProblem(
        response.status_code,
        str(body.get("title") or response.reason_phrase),
        str(body.get("detail") or body.get("message") or ""),
        tuple(RefusedField(str(error.get("field")), str(error.get("message"))) for error in body.get("errors") or ()),
        response.headers.get("ETag"),
        body.get("estimate"),
    )


def _json(response: httpx.Response) -> Json:
    """The body, which must be a JSON object; an error may come from a gateway that answers in other formats."""
    if not response.content:
        return {}
    try:
        body = orjson.loads(response.content)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    if response.is_success:
        raise ApiProblem(502, "Not a response of the Cupel API", f"{response.request.url} did not return a JSON object")
    return {}
