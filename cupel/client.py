"""A client of the HTTP API: one method per operation, named after it. Lists are iterators over all items."""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from cupel.errors import ApiProblem, GraphqlError
from cupel.json_types import Json, TaggedJson, without_none
from cupel.operation_methods import OperationMethods
from cupel.pages import Pages
from cupel.transport import body_or_problem, json_of, retry_after_seconds, segment


class Client(OperationMethods):
    """Retries reads, and requests that create something, on network errors and when the API is busy. It also retries
    requests whose operation may be repeated, such as an estimate; no other writes.

    Every request is repeated if it exceeds the token's limit, after the time that the API asks for.

    Each call that creates something has its own Idempotency-Key, which all of its attempts carry.

    With `if_match`, the `etag` of what was read, a change is refused (ApiProblem 412) if that is no longer the state.
    """

    def graphql(self, query: str, variables: Json | None = None) -> Json:
        """Return the `data` of a query or of mutations. Raises GraphqlError if it was refused or a field of it failed.

        Queries are repeated like other reads; for a start that may be repeated, see `idempotencyKey` in its input.
        """
        body = {"query": query, "variables": variables}
        is_repeatable = re.search(r"\bmutation\b", query) is None
        response = self._respond(self._request("POST", "/graphql", body), is_repeatable=is_repeatable)
        answer = json_of(response)
        if "errors" in answer and "title" not in answer:  # Not a problem document.
            raise GraphqlError(answer["errors"], answer.get("data"))
        return dict(body_or_problem(response)["data"])

    def get_graphql_schema(self) -> str:
        """Return the schema in GraphQL's schema language, with descriptions."""
        response = self._respond(self._http.build_request("GET", "/graphql/schema"), is_repeatable=True)
        if not response.is_success:
            body_or_problem(response)
        return response.text

    def send_mcp_message(self, message: str, headers: Mapping[str, str], tools: str | None = None) -> Json | None:
        """Return the answer of the MCP server to a message in JSON; None without one. `tools` names groups of tools.

        Raises ApiProblem if what answers is not the MCP server, but a gateway before it.
        """
        params = without_none(tools=tools)
        sent = {"Content-Type": "application/json", **headers}
        request = self._http.build_request("POST", "/mcp", content=message.encode(), headers=sent, params=params)
        response = self._respond(request, is_repeatable=False)
        body = json_of(response)
        if body.get("jsonrpc") == "2.0":
            return body
        body_or_problem(response)
        if body:
            raise ApiProblem(502, "Not a response of the MCP server", "the answer is no message of JSON-RPC")
        return None

    def delete_definitions(self, ids: list[str]) -> list[Json]:
        """Delete up to 100 definitions; `{id, deleted, problem}` for each."""
        return self._delete_each("/definitions/bulk-delete", ids)

    def create_scenarios(self, definition_id: str, items: list[Json]) -> Json:
        """Add at most 1,000 scenarios per call; returns `{ids, total, definitionVersion}`."""
        return self._send("POST", f"/definitions/{segment(definition_id)}/scenarios", {"items": items}, has_key=True)

    def import_dataset(self, dataset_format: str, body: Json) -> Json:
        """`dataset_format` is inspect, openai-evals, csv or jsonl; returns the same shape as `import_promptfoo`."""
        return self._send("POST", f"/imports/{segment(dataset_format)}", body, has_key=True)

    def upload_file(self, content: bytes, name: str, media_type: str) -> Json:
        """Upload an image or a PDF, unless the workspace has it already; returns the file, whose `id` messages name."""
        digest = sha256(content).hexdigest()
        announced = self.create_file({"name": name, "type": media_type, "size": len(content), "sha256": digest})
        upload = announced["upload"]
        if upload is None:
            return dict(announced["file"])
        self._put(upload["url"], content, upload["headers"])
        return self.complete_file(announced["file"]["id"])

    def get_run_report(self, run_id: str) -> Json:
        """Return the newest completed report of a run."""
        return self._get(f"/runs/{segment(run_id)}/report")

    def get_run_report_text(self, run_id: str, report_format: str) -> str:
        """Return the newest completed report of a run as Markdown (`md`) or HTML (`html`)."""
        path = f"/runs/{segment(run_id)}/report"
        response = self._respond(
            self._http.build_request("GET", path, params={"format": report_format}), is_repeatable=True
        )
        if not response.is_success:
            body_or_problem(response)
        return response.text

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
        """List runs, the newest first unless `sort` is `createdAt`. `name` is a part of the name, ignoring case.

        All entries of `metadata` match: numbers and truth values as `812` and `true`.
        """
        return self._pages(
            "/runs",
            definitionId=definition_id,
            experimentId=experiment_id,
            scheduleId=schedule_id,
            evalId=eval_id,
            status=status,
            name=name,
            tag=tag,
            metadata=[f"{key}={value}" for key, value in (metadata or {}).items()] or None,
            createdAfter=created_after,
            createdBefore=created_before,
            sort=sort,
        )

    def update_run_budget(self, run_id: str, max_budget_usd: float, *, resume: bool = True) -> Json:
        """Raise or lower a run's budget. A run that is paused because of it resumes, unless `resume` is false."""
        changes = {"maxBudgetUsd": max_budget_usd, "resume": resume}
        return self._send("PATCH", f"/runs/{segment(run_id)}/budget", changes)

    def delete_runs(self, ids: list[str]) -> list[Json]:
        """Delete up to 100 runs; `{id, deleted, problem}` for each."""
        return self._delete_each("/runs/bulk-delete", ids)

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
            f"/runs/{segment(run_id)}/retry",
            without_none(model=model, probeIndex=probe_index, confirmedUsd=confirmed_usd),
            has_key=True,
        )

    def estimate_retry(self, run_id: str, *, model: str | None = None, probe_index: int | None = None) -> Json:
        """Estimate what a retry would cost and how long it would take; nothing is started."""
        path = f"/runs/{segment(run_id)}/retry/estimate"
        return self._send("POST", path, without_none(model=model, probeIndex=probe_index), is_repeatable=True)

    def expand_run(self, run_id: str, sample_percentage: int, *, confirmed_usd: float | None = None) -> Json:
        """Add scenarios to a sampled run that has ended; `confirmed_usd` as for a retry."""
        body = {"samplePercentage": sample_percentage, **without_none(confirmedUsd=confirmed_usd)}
        return self._send("POST", f"/runs/{segment(run_id)}/expand", body, has_key=True)

    def estimate_expansion(self, run_id: str, sample_percentage: int) -> Json:
        """Estimate what the added scenarios would cost and how long they would take; nothing is started."""
        path = f"/runs/{segment(run_id)}/expand/estimate"
        return self._send("POST", path, {"samplePercentage": sample_percentage}, is_repeatable=True)

    def list_run_events(self, run_id: str, *, after: int = 0) -> list[Json]:
        """List the events whose `seq` is greater than `after`."""
        return list(self._get(f"/runs/{segment(run_id)}/events", after=after)["items"])

    def find_probe_matches(self, run_id: str, query: str, *, first: int = 0) -> Json:
        """Return `{indexes, nextIndex}`: the conversations of these of the next 1,000 probes have all of the words."""
        return self._get(f"/runs/{segment(run_id)}/probe-matches", q=query, first=first)

    def correct_probe(self, probe_id: str, result: Json | None, *, if_match: str | None = None) -> TaggedJson:
        """Override the computed result with a human one; None restores the computed result."""
        return self._send("PATCH", f"/probes/{segment(probe_id)}", {"result": result}, if_match=if_match)

    def delete_probe_contents(self, ids: list[str]) -> list[Json]:
        """Delete the conversations of up to 100 probes; `{id, deleted, problem}` for each."""
        return self._delete_each("/probes/bulk-delete-content", ids)

    def update_rescore_budget(self, run_id: str, rescore_id: str, max_budget_usd: float) -> Json:
        """Raise the budget of a rescore that goes on, or was stopped by it; it grades what is left."""
        path = f"/runs/{segment(run_id)}/rescores/{segment(rescore_id)}/budget"
        return self._send("PATCH", path, {"maxBudgetUsd": max_budget_usd})

    def update_branch(self, chat_id: str, branch_id: str, name: str) -> Json:
        """Rename a branch."""
        path = f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}"
        return self._send("PATCH", path, {"name": name})

    def list_turn_events(self, chat_id: str, turn_id: str, *, after: int = 0, text: str = "0.0", wait: int = 0) -> Json:
        """Return `{items, text, status, phase}`: the events after a `seq`, and what the model has written after a
        position, `<attempt>.<offset>`. Waits up to so many seconds for them."""
        return self._get(f"{_turn_path(chat_id, turn_id)}/events", after=after, text=text, wait=wait)

    def follow_turn(self, chat_id: str, turn_id: str, *, wait: int = 5) -> Iterator[Json]:
        """Yield the events of a turn until it is over, as they occur.

        Events of type `main_llm.delta` have what the model writes: `{type, attempt, offset, text}`. A higher attempt
        voids the text of lower ones.
        """
        seq, position, is_over = 0, "0.0", False
        while not is_over:
            query = without_none(after=seq, text=position, wait=wait)
            request = self._http.build_request("GET", f"{_turn_path(chat_id, turn_id)}/events", params=query)
            response = self._respond(request, is_repeatable=True)
            feed = body_or_problem(response)
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
            if pause := retry_after_seconds(response):  # Too many requests wait already.
                self._sleep(pause)

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
        return self._send("POST", f"/runs/{segment(run_id)}/analysis", body)

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
        return self._get(f"/runs/{segment(run_id)}/analysis/breakdown", by=by, rescoreId=rescore_id)

    def read_decisions(self, pattern: str, answers: Sequence[str]) -> Json:
        """Return the decision that a pattern reads from each answer, as `items`; no model is called."""
        return self._send("POST", "/decisions", {"pattern": pattern, "answers": list(answers)}, is_repeatable=True)

    def pause_queues(self, provider: str | None = None) -> list[Json]:
        """Pause one provider's queue, or all; returns the status of each."""
        return list(self._send("POST", "/queue/pause", without_none(provider=provider), is_repeatable=True)["items"])

    def resume_queues(self, provider: str | None = None) -> list[Json]:
        """Resume one provider's queue, or all; returns the status of each."""
        return list(self._send("POST", "/queue/resume", without_none(provider=provider), is_repeatable=True)["items"])

    def redrive_dead_letters(self, *, provider: str | None = None, message_ids: list[str] | None = None) -> Json:
        """Send dead letters back to their queue, all or those listed; returns `{sent, dropped, runsToRetry, …}`."""
        body = without_none(provider=provider, messageIds=message_ids or None)
        return self._send("POST", "/queue/dead-letters/redrive", body)

    def create_workspace(self, name: str) -> Json:
        """Create a workspace, and return it with its first admin token; requires the role operator."""
        return self._send("POST", "/workspaces", {"name": name}, has_key=True)

    def erase_workspace(self, name: str) -> None:
        """Erase a workspace with everything in it; requires the role operator."""
        self._send("POST", f"/workspaces/{segment(name)}/erase", {"confirm": name})

    def create_token(self, name: str, role: str, *, expires_at: str | None = None) -> Json:
        """Create a token; only this response has its secret. `expires_at` is a time in ISO 8601 with its offset."""
        body = without_none(name=name, role=role, expiresAt=expires_at)
        return self._send("POST", "/tokens", body, has_key=True)

    def redeem_login_code(self, code: str) -> Json:
        """Return the token of the session; no other response contains it."""
        return self._send("POST", "/login-codes/redeem", {"code": code})

    def _delete_each(self, path: str, ids: list[str]) -> list[Json]:
        return list(self._send("POST", path, {"ids": ids})["items"])


def _turn_path(chat_id: str, turn_id: str) -> str:
    return f"/chats/{segment(chat_id)}/turns/{segment(turn_id)}"
