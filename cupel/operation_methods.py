"""A method for each operation of the HTTP API, as `python -m tools.client --update` writes them."""

from cupel.json_types import Json, TaggedJson
from cupel.pages import Pages
from cupel.transport import Transport, segment


class OperationMethods(Transport):
    """The methods whose parameters are those of their operations; `Client` adds the others."""

    def get_run_analysis(self, run_id: str, *, rescore_id: str | None = None) -> TaggedJson:
        """Get the newest analysis of a run.

        A run is analyzed when it completes. `isStale` says whether outcomes have changed since; docs/statistics.md
        explains the figures. Has an `ETag`; a request with `If-None-Match` is answered with 304.
        """
        return self._get(f"/runs/{segment(run_id)}/analysis", rescoreId=rescore_id)

    def get_deep_analysis(self, run_id: str, *, rescore_id: str | None = None) -> TaggedJson:
        """Get the newest deep analysis of a run.

        A run is deeply analyzed on request (`analyzeRun` with the kind `deep`). `isStale` says whether outcomes have
        changed since; docs/statistics.md explains the figures. Has an `ETag`; a request with `If-None-Match` is
        answered with 304.
        """
        return self._get(f"/runs/{segment(run_id)}/analysis/deep", rescoreId=rescore_id)

    def list_run_analyses(self, run_id: str) -> Pages:
        """List the analyses of a run."""
        return self._pages(f"/runs/{segment(run_id)}/analysis/history")

    def list_analyzed_scenarios(
        self,
        run_id: str,
        *,
        sort: str | None = None,
        ascending: bool | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        dimension: str | None = None,
        level: float | None = None,
        rescore_id: str | None = None,
    ) -> Pages:
        """List the scenarios of a run with what each target made of them."""
        return self._pages(
            f"/runs/{segment(run_id)}/analysis/scenarios",
            sort=sort,
            ascending=ascending,
            model=model,
            promptId=prompt_id,
            dimension=dimension,
            level=level,
            rescoreId=rescore_id,
        )

    def get_run_results(self, run_id: str) -> TaggedJson:
        """Get the result table of a run, also while it goes on.

        No transcript is read. Its `ETag` changes with the figures; `If-None-Match` is answered with 304.
        """
        return self._get(f"/runs/{segment(run_id)}/results")

    def list_audit_records(self, *, token_id: str | None = None, operation: str | None = None) -> Pages:
        """List the requests of the last year that changed something, newest first.

        Requests that were refused because of their role are among them. With a filter, a page may have fewer items than
        `limit`.
        """
        return self._pages("/audit", tokenId=token_id, operation=operation)

    def list_chats(self, *, playground: bool | None = None) -> Pages:
        """List the chats, newest first."""
        return self._pages("/chats", playground=playground)

    def create_chat(self, chat: Json) -> TaggedJson:
        """Create a chat."""
        return self._send("POST", "/chats", chat, has_key=True)

    def delete_chat(self, chat_id: str) -> None:
        """Delete a chat and everything that was said in it.

        Unreadable at once, and erased within a day.
        """
        self._send("DELETE", f"/chats/{segment(chat_id)}")

    def get_chat(self, chat_id: str) -> TaggedJson:
        """Get a chat."""
        return self._get(f"/chats/{segment(chat_id)}")

    def update_chat(self, chat_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update a chat."""
        return self._send("PATCH", f"/chats/{segment(chat_id)}", changes, if_match=if_match)

    def list_branches(self, chat_id: str) -> Pages:
        """List the branches of a chat, oldest first."""
        return self._pages(f"/chats/{segment(chat_id)}/branches")

    def create_branch(self, chat_id: str, fork: Json) -> Json:
        """Fork a branch.

        The branch shares all messages up to the fork. A later change in one branch does not appear in others.
        """
        return self._send("POST", f"/chats/{segment(chat_id)}/branches", fork, has_key=True)

    def delete_branch(self, chat_id: str, branch_id: str) -> None:
        """Delete a branch.

        409 for the active branch, and while a turn is in progress on it. Other branches keep what they share.
        """
        self._send("DELETE", f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}")

    def get_branch(self, chat_id: str, branch_id: str) -> Json:
        """Get a branch."""
        return self._get(f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}")

    def list_branch_artifacts(
        self, chat_id: str, branch_id: str, *, profile_id: str | None = None, include: list[str] | None = None
    ) -> list[Json]:
        """List the artifacts that operations have stored.

        Returns the artifacts of the chat's profile unless another is named. Artifacts with the usage `internal` are
        left out unless `include` names them.
        """
        return list(
            self._get(
                f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/artifacts",
                profileId=profile_id,
                include=include,
            )["items"]
        )

    def get_branch_artifact(self, chat_id: str, branch_id: str, tag: str, *, profile_id: str | None = None) -> Json:
        """Get an artifact that operations have stored.

        The artifact is that of the chat's profile unless another is named.
        """
        return self._get(
            f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/artifacts/{segment(tag)}", profileId=profile_id
        )

    def list_exchanges(self, chat_id: str, branch_id: str, *, include: list[str] | None = None) -> Pages:
        """List the exchanges of a branch, newest first."""
        return self._pages(f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/exchanges", include=include)

    def delete_message(self, chat_id: str, branch_id: str, message_id: str) -> None:
        """Take a message out of a branch.

        Other branches keep it; deleting the chat erases it. 409 while a turn is in progress on the branch.
        """
        self._send("DELETE", f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/messages/{segment(message_id)}")

    def update_message(self, chat_id: str, branch_id: str, message_id: str, change: Json) -> Json:
        """Edit or hide a message, or select another variant.

        Later turns of this branch read it so; other branches do not change. 409 while a turn is in progress on it.
        """
        return self._send(
            "PATCH", f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/messages/{segment(message_id)}", change
        )

    def get_branch_session(self, chat_id: str, branch_id: str, *, profile_id: str | None = None) -> Json:
        """Get the session of a profile on a branch.

        The session is that of the chat's profile unless another is named. It begins with the first artifact, and lasts
        until a reset.
        """
        return self._get(f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/session", profileId=profile_id)

    def reset_branch_session(self, chat_id: str, branch_id: str) -> Json:
        """Forget the artifacts of a branch."""
        return self._send(
            "POST", f"/chats/{segment(chat_id)}/branches/{segment(branch_id)}/session/reset", is_repeatable=True
        )

    def list_message_variants(self, chat_id: str, message_id: str) -> Pages:
        """List the variants of a message."""
        return self._pages(f"/chats/{segment(chat_id)}/messages/{segment(message_id)}/variants")

    def list_turns(self, chat_id: str, *, branch_id: str | None = None, status: str | None = None) -> Pages:
        """List the turns of a chat, newest first."""
        return self._pages(f"/chats/{segment(chat_id)}/turns", branchId=branch_id, status=status)

    def start_turn(self, chat_id: str, turn: Json) -> Json:
        """Send a message, or have the last one answered again.

        The same `clientRequestId` and body start one turn within a day. 409 while a turn is in progress on the branch,
        and while the provider is paused.
        """
        return self._send("POST", f"/chats/{segment(chat_id)}/turns", turn, has_key=True)

    def get_turn(self, chat_id: str, turn_id: str) -> Json:
        """Get a turn."""
        return self._get(f"/chats/{segment(chat_id)}/turns/{segment(turn_id)}")

    def abort_turn(self, chat_id: str, turn_id: str) -> Json:
        """Abort a turn.

        A turn that is over is returned as it is.
        """
        return self._send("POST", f"/chats/{segment(chat_id)}/turns/{segment(turn_id)}/abort", is_repeatable=True)

    def get_turn_prompt(self, chat_id: str, turn_id: str) -> Json:
        """Get the prompt of a turn.

        409 if it was not called.
        """
        return self._get(f"/chats/{segment(chat_id)}/turns/{segment(turn_id)}/prompt")

    def list_comparisons(self, *, run_id: str | None = None, experiment_id: str | None = None) -> Pages:
        """List the comparisons, newest first."""
        return self._pages("/comparisons", runId=run_id, experimentId=experiment_id)

    def create_comparison(self, body: Json) -> Json:
        """Compare two runs, or targets or prompts of one run.

        A job computes it: 202 is returned if this request queued it, 200 if the same comparison of the same results
        exists, and 409 while a run is going on.
        """
        return self._send("POST", "/comparisons", body, is_repeatable=True)

    def plan_comparison(self, request: Json) -> Json:
        """Plan a comparison: how many scenarios and repeats detect a difference.

        Nothing is written. A spread that was estimated from `pilotScenarios` counts with its upper 80 % bound.
        Scenarios that are added because a comparison was inconclusive are a second look; see docs/comparing.md.
        """
        return self._send("POST", "/comparisons/plan", request, is_repeatable=True)

    def delete_comparison(self, comparison_id: str) -> None:
        """Delete a comparison.

        Deleting a run deletes its comparisons too.
        """
        self._send("DELETE", f"/comparisons/{segment(comparison_id)}")

    def get_comparison(self, comparison_id: str) -> Json:
        """Get a comparison with its figures."""
        return self._get(f"/comparisons/{segment(comparison_id)}")

    def list_comparison_scenarios(
        self, comparison_id: str, *, row: int | None = None, change: str | None = None
    ) -> Pages:
        """List the scenarios of a comparison, most changed first.

        Lists at most 10,000, of one pair of columns or of all together. Of equal changes, those with the smallest q
        come first, then decreases. The largest of many changes overstate themselves.
        """
        return self._pages(f"/comparisons/{segment(comparison_id)}/scenarios", row=row, change=change)

    def list_jobs(self, *, run_id: str | None = None, status: str | None = None) -> Pages:
        """List the jobs, newest first.

        Jobs that are over are listed for 30 days.
        """
        return self._pages("/jobs", runId=run_id, status=status)

    def get_job(self, job_id: str) -> Json:
        """Get a job and its progress."""
        return self._get(f"/jobs/{segment(job_id)}")

    def list_connectors(self) -> Pages:
        """List the connectors, newest first."""
        return self._pages("/connectors")

    def create_connector(self, connector: Json) -> TaggedJson:
        """Create a connector."""
        return self._send("POST", "/connectors", connector, has_key=True)

    def delete_connector(self, connector_id: str, *, if_match: str | None = None) -> None:
        """Delete a connector; runs in progress keep using it."""
        self._send("DELETE", f"/connectors/{segment(connector_id)}", if_match=if_match)

    def get_connector(self, connector_id: str) -> TaggedJson:
        """Get a connector."""
        return self._get(f"/connectors/{segment(connector_id)}")

    def update_connector(self, connector_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update a connector."""
        return self._send("PATCH", f"/connectors/{segment(connector_id)}", changes, if_match=if_match)

    def test_connector(self, connector_id: str) -> Json:
        """Send a test message to the agent.

        Returns 200 even if the agent cannot be reached; `error` then says why.
        """
        return self._send("POST", f"/connectors/{segment(connector_id)}/test")

    def list_definitions(
        self,
        *,
        folder: str | None = None,
        include_children: bool | None = None,
        search: str | None = None,
        tag: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        sort: str | None = None,
    ) -> Pages:
        """List the definitions, newest first."""
        return self._pages(
            "/definitions",
            folder=folder,
            includeChildren=include_children,
            search=search,
            tag=tag,
            createdAfter=created_after,
            createdBefore=created_before,
            sort=sort,
        )

    def create_definition(self, definition: Json) -> TaggedJson:
        """Create a definition."""
        return self._send("POST", "/definitions", definition, has_key=True)

    def delete_definition(self, definition_id: str, *, if_match: str | None = None) -> None:
        """Delete a definition; keep its runs and forks."""
        self._send("DELETE", f"/definitions/{segment(definition_id)}", if_match=if_match)

    def get_definition(self, definition_id: str, *, version: int | None = None) -> TaggedJson:
        """Get a definition, at its latest or a given version."""
        return self._get(f"/definitions/{segment(definition_id)}", version=version)

    def update_definition(self, definition_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update a definition.

        New content becomes the next version; earlier versions never change.
        """
        return self._send("PATCH", f"/definitions/{segment(definition_id)}", changes, if_match=if_match)

    def list_definition_ancestors(self, definition_id: str) -> Pages:
        """List the ancestors that a definition was forked from, nearest first."""
        return self._pages(f"/definitions/{segment(definition_id)}/ancestors")

    def list_definition_descendants(self, definition_id: str) -> Pages:
        """List the forks of a definition and their forks, level by level."""
        return self._pages(f"/definitions/{segment(definition_id)}/descendants")

    def erase_definition(self, definition_id: str) -> None:
        """Erase a definition with its scenarios, its runs and everything said in them.

        A definition that was deleted before can be erased, too. 409 while it has forks, which use its versions.
        """
        self._send("POST", f"/definitions/{segment(definition_id)}/erase")

    def fork_definition(self, definition_id: str, changes: Json) -> Json:
        """Fork a definition.

        A fork inherits every field of its parent's content that it does not override, and shares its scenarios.
        """
        return self._send("POST", f"/definitions/{segment(definition_id)}/fork", changes, has_key=True)

    def list_evals(self) -> Pages:
        """List the evals, newest first."""
        return self._pages("/evals")

    def create_eval(self, body: Json) -> TaggedJson:
        """Create an eval."""
        return self._send("POST", "/evals", body, has_key=True)

    def delete_eval(self, eval_id: str, *, if_match: str | None = None) -> None:
        """Delete an eval; keep its runs."""
        self._send("DELETE", f"/evals/{segment(eval_id)}", if_match=if_match)

    def get_eval(self, eval_id: str) -> TaggedJson:
        """Get an eval."""
        return self._get(f"/evals/{segment(eval_id)}")

    def update_eval(self, eval_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update an eval."""
        return self._send("PATCH", f"/evals/{segment(eval_id)}", changes, if_match=if_match)

    def create_eval_run(self, eval_id: str, options: Json | None = None) -> Json:
        """Start a run of an eval."""
        return self._send("POST", f"/evals/{segment(eval_id)}/runs", options or {}, has_key=True)

    def estimate_eval_run(self, eval_id: str, options: Json | None = None) -> Json:
        """Estimate what a run of an eval would cost and how long it would take.

        Takes the body of a start, checks all that a start checks, and writes nothing.
        """
        return self._send("POST", f"/evals/{segment(eval_id)}/runs/estimate", options or {}, is_repeatable=True)

    def create_playground_run(self, playground_run: Json) -> Json:
        """Start a playground run: one scenario against one target."""
        return self._send("POST", "/playground/runs", playground_run, has_key=True)

    def list_experiments(self) -> Pages:
        """List the experiments, newest first."""
        return self._pages("/experiments")

    def create_experiment(self, experiment: Json) -> TaggedJson:
        """Create an experiment."""
        return self._send("POST", "/experiments", experiment, has_key=True)

    def delete_experiment(self, experiment_id: str, *, if_match: str | None = None) -> None:
        """Delete an experiment; keep its runs."""
        self._send("DELETE", f"/experiments/{segment(experiment_id)}", if_match=if_match)

    def get_experiment(self, experiment_id: str) -> TaggedJson:
        """Get an experiment."""
        return self._get(f"/experiments/{segment(experiment_id)}")

    def update_experiment(self, experiment_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update or conclude an experiment.

        Another baseline queues the comparisons of all runs with it.
        """
        return self._send("PATCH", f"/experiments/{segment(experiment_id)}", changes, if_match=if_match)

    def remove_experiment_run(self, experiment_id: str, run_id: str) -> None:
        """Remove a run from an experiment; keep the run."""
        self._send("DELETE", f"/experiments/{segment(experiment_id)}/runs/{segment(run_id)}")

    def add_experiment_run(self, experiment_id: str, run_id: str) -> None:
        """Add a run to an experiment.

        The run leaves the experiment that it belonged to. If it is over, its comparison with the baseline is queued.
        """
        self._send("PUT", f"/experiments/{segment(experiment_id)}/runs/{segment(run_id)}")

    def get_experiment_summary(self, experiment_id: str) -> Json:
        """Get how the runs of an experiment differ from its baseline."""
        return self._get(f"/experiments/{segment(experiment_id)}/summary")

    def list_files(self) -> Pages:
        """List the files, newest first."""
        return self._pages("/files")

    def create_file(self, file: Json) -> Json:
        """Announce a file and get the address for its upload.

        The id follows from the content: announcing it again changes nothing, and stored content needs no upload. Send
        the content to `upload.url`, then complete the file.
        """
        return self._send("POST", "/files", file, is_repeatable=True)

    def delete_file(self, file_id: str) -> None:
        """Delete a file; its content is left to runs in progress for up to 23 hours.

        Probes that start without it end with the error `file_not_found`.
        """
        self._send("DELETE", f"/files/{segment(file_id)}")

    def get_file(self, file_id: str) -> Json:
        """Get a file with a short-lived address of its content."""
        return self._get(f"/files/{segment(file_id)}")

    def complete_file(self, file_id: str) -> Json:
        """Check an uploaded file and make it usable.

        Its content must be what was announced: an intact PNG, JPEG, WebP, GIF or PDF with this size and checksum.
        """
        return self._send("POST", f"/files/{segment(file_id)}/complete", is_repeatable=True)

    def import_promptfoo(self, body: Json) -> Json:
        """Import a promptfoo configuration."""
        return self._send("POST", "/imports/promptfoo", body, has_key=True)

    def judge_conversation(self, conversation: Json) -> Json:
        """Judge a conversation against success and failure criteria."""
        return self._send("POST", "/judge/criteria", conversation)

    def generate_persona_message(self, conversation: Json) -> Json:
        """Generate the next message of a simulated user."""
        return self._send("POST", "/judge/persona-message", conversation)

    def delete_label(self, probe_id: str, *, criterion: str | None = None, labeller: str | None = None) -> None:
        """Remove a label."""
        self._send("DELETE", f"/probes/{segment(probe_id)}/label", criterion=criterion, labeller=labeller)

    def save_label(self, probe_id: str, label: Json) -> Json:
        """Label a transcript.

        A person has one label per transcript and criterion, which a later one replaces. What was said before the
        judge's verdict was shown is kept as `blindValue`. 409 for a probe without a transcript.
        """
        return self._send("PUT", f"/probes/{segment(probe_id)}/label", label, is_repeatable=True)

    def reveal_verdict(self, probe_id: str, verdict: Json) -> Json:
        """Show the judge's verdict on a transcript that the caller has labelled.

        The label keeps its `blindValue` from then on. 409 before the caller has labelled the transcript.
        """
        return self._send("POST", f"/probes/{segment(probe_id)}/label/verdict", verdict, is_repeatable=True)

    def get_calibration(
        self,
        run_id: str,
        *,
        criterion: str | None = None,
        rescore_id: str | None = None,
        confidence: float | None = None,
        calibration_run: str | None = None,
    ) -> Json:
        """Measure a run's judge on the labels of people.

        Labels count if they were given before the judge's verdict was shown; where a label set drew transcripts, only
        those of the drawn ones. Runs of more than 20,000 probes are refused. 409 if the fingerprint of `calibrationRun`
        differs.
        """
        return self._get(
            f"/runs/{segment(run_id)}/calibration",
            criterion=criterion,
            rescoreId=rescore_id,
            confidence=confidence,
            calibrationRun=calibration_run,
        )

    def compare_judges(self, run_id: str, rescore_ids: list[str], *, criterion: str | None = None) -> Json:
        """Compare judges on the labelled transcripts of a run.

        Transcripts count if all judges have graded them. 409 for a rescore that is not completed.
        """
        return self._get(f"/runs/{segment(run_id)}/judge-comparison", rescoreIds=rescore_ids, criterion=criterion)

    def get_label_plan(
        self, run_id: str, half_width: float, *, criterion: str | None = None, rescore_id: str | None = None
    ) -> Json:
        """Plan how many labels corrected pass rates need."""
        return self._get(
            f"/runs/{segment(run_id)}/label-plan", halfWidth=half_width, criterion=criterion, rescoreId=rescore_id
        )

    def list_label_sets(self, run_id: str) -> Pages:
        """List the label sets of a run, oldest first.

        Labellers see neither the strata, which show verdicts, nor who else has labelled.
        """
        return self._pages(f"/runs/{segment(run_id)}/label-sets")

    def create_label_set(self, run_id: str, label_set: Json) -> Json:
        """Draw transcripts for labelling.

        Scenarios are drawn first, and one transcript of each, with known probabilities. The verdicts that decide them
        are those at this moment.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/label-sets", label_set, has_key=True)

    def delete_label_set(self, run_id: str, label_set_id: str) -> None:
        """Delete a label set without labels.

        409 if one of its transcripts has a label, because the probabilities of the set weight it.
        """
        self._send("DELETE", f"/runs/{segment(run_id)}/label-sets/{segment(label_set_id)}")

    def get_label_set(self, run_id: str, label_set_id: str) -> Json:
        """Get a label set.

        Labellers see neither the strata, which show verdicts, nor who else has labelled.
        """
        return self._get(f"/runs/{segment(run_id)}/label-sets/{segment(label_set_id)}")

    def list_label_set_items(self, run_id: str, label_set_id: str, *, pending: bool | None = None) -> Pages:
        """List the transcripts of a label set, without the judge's verdicts."""
        return self._pages(f"/runs/{segment(run_id)}/label-sets/{segment(label_set_id)}/items", pending=pending)

    def list_labels(
        self, run_id: str, *, criterion: str | None = None, labeller: str | None = None, probe_index: int | None = None
    ) -> Pages:
        """List the labels of a run."""
        return self._pages(
            f"/runs/{segment(run_id)}/labels", criterion=criterion, labeller=labeller, probeIndex=probe_index
        )

    def add_labels(self, run_id: str, labels: Json) -> Json:
        """Import up to 2,500 labels.

        All labels are checked before the first is stored. Importing them again changes nothing.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/labels/import", labels, is_repeatable=True)

    def get_judge_drift(self, run_id: str, rescore_id: str, *, criterion: str | None = None) -> Json:
        """Find out whether a run's judge has changed since.

        409 unless the rescore is completed, with `judgeAgain` and the run's judge and rubric.
        """
        return self._get(f"/runs/{segment(run_id)}/rescores/{segment(rescore_id)}/drift", criterion=criterion)

    def list_personas(self) -> Pages:
        """List the personas, newest first."""
        return self._pages("/personas")

    def create_persona(self, persona: Json) -> TaggedJson:
        """Create a persona."""
        return self._send("POST", "/personas", persona, has_key=True)

    def delete_persona(self, persona_id: str, *, if_match: str | None = None) -> None:
        """Delete a persona; runs in progress keep using it."""
        self._send("DELETE", f"/personas/{segment(persona_id)}", if_match=if_match)

    def get_persona(self, persona_id: str) -> TaggedJson:
        """Get a persona."""
        return self._get(f"/personas/{segment(persona_id)}")

    def update_persona(self, persona_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update a persona."""
        return self._send("PATCH", f"/personas/{segment(persona_id)}", changes, if_match=if_match)

    def list_probes(
        self,
        *,
        eval_id: str | None = None,
        scenario_id: str | None = None,
        persona_id: str | None = None,
        status: str | None = None,
        order: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
    ) -> Pages:
        """List probes across all runs."""
        return self._pages(
            "/probes",
            evalId=eval_id,
            scenarioId=scenario_id,
            personaId=persona_id,
            status=status,
            order=order,
            createdAfter=created_after,
            createdBefore=created_before,
        )

    def get_probe(self, probe_id: str) -> TaggedJson:
        """Get a probe with its messages."""
        return self._get(f"/probes/{segment(probe_id)}")

    def delete_probe_content(self, probe_id: str) -> None:
        """Delete the content of a probe's conversation; keep the probe and its result."""
        self._send("DELETE", f"/probes/{segment(probe_id)}/content")

    def list_profiles(self) -> Pages:
        """List the operation profiles, newest first."""
        return self._pages("/profiles")

    def create_profile(self, profile: Json) -> TaggedJson:
        """Create an operation profile.

        All rules that it breaks are named together.
        """
        return self._send("POST", "/profiles", profile, has_key=True)

    def check_profile(self, profile: Json) -> Json:
        """Check an operation profile without storing it."""
        return self._send("POST", "/profiles/check", profile, is_repeatable=True)

    def delete_profile(self, profile_id: str, *, if_match: str | None = None) -> None:
        """Delete an operation profile."""
        self._send("DELETE", f"/profiles/{segment(profile_id)}", if_match=if_match)

    def get_profile(self, profile_id: str, *, version: int | None = None) -> TaggedJson:
        """Get an operation profile."""
        return self._get(f"/profiles/{segment(profile_id)}", version=version)

    def update_profile(self, profile_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update an operation profile.

        Other operations, or another mode, make the next version.
        """
        return self._send("PATCH", f"/profiles/{segment(profile_id)}", changes, if_match=if_match)

    def reset_profile_session(self, profile_id: str, *, if_match: str | None = None) -> TaggedJson:
        """Forget the artifacts that a profile's operations have stored in chats."""
        return self._send("POST", f"/profiles/{segment(profile_id)}/reset-session", if_match=if_match)

    def list_models(self, *, provider: str | None = None) -> Pages:
        """List the known models.

        Models that are not in the list are accepted too; their cost is then unknown.
        """
        return self._pages("/models", provider=provider)

    def list_providers(self) -> Pages:
        """List the providers."""
        return self._pages("/providers")

    def get_provider(self, name: str) -> TaggedJson:
        """Get a provider."""
        return self._get(f"/providers/{segment(name)}")

    def update_provider(self, name: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update a provider's settings."""
        return self._send("PUT", f"/providers/{segment(name)}", changes, if_match=if_match)

    def list_served_models(self) -> list[Json]:
        """List the models that the workspace's own servers offer.

        Sends each enabled server `GET /models`, at most once a minute, and waits up to 3 s. Others may be used too.
        """
        return list(self._get("/served-models")["items"])

    def list_queues(self, *, provider: str | None = None) -> Pages:
        """List the provider queues with their depth and limits."""
        return self._pages("/queue", provider=provider)

    def list_dead_letters(self, *, provider: str | None = None) -> Pages:
        """List dead letters: messages that failed too often, whose probes are recorded as errored."""
        return self._pages("/queue/dead-letters", provider=provider)

    def list_reports(self, run_id: str) -> list[Json]:
        """List the reports of a run, newest first."""
        return list(self._get(f"/runs/{segment(run_id)}/reports")["items"])

    def create_report(self, run_id: str, options: Json | None = None) -> Json:
        """Make a report of a run that has ended.

        A job makes it: 202 is returned if this request queued it, 200 if the same report of the same outcomes exists,
        and 409 while the run is going on.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/reports", options or {}, is_repeatable=True)

    def get_report(self, run_id: str, report_id: str) -> Json:
        """Get a report."""
        return self._get(f"/runs/{segment(run_id)}/reports/{segment(report_id)}")

    def list_report_conversations(self, run_id: str, report_id: str) -> Pages:
        """List the completed conversations of the run, with their failure tags."""
        return self._pages(f"/runs/{segment(run_id)}/reports/{segment(report_id)}/conversations")

    def get_trial(self, run_id: str, report_id: str) -> Json:
        """Get the trial of a report's revised prompt."""
        return self._get(f"/runs/{segment(run_id)}/reports/{segment(report_id)}/trial")

    def create_trial(self, run_id: str, report_id: str, options: Json | None = None) -> Json:
        """Try the revised system prompt of a report against the original.

        Both prompts are run anew on the same scenarios, first those that the summarizer has not read, and their pass
        rates are compared. A report has one trial: 201 is returned if this request started it, 200 if it exists, and
        409 without a revised prompt or if the expected cost must be confirmed.
        """
        return self._send(
            "POST", f"/runs/{segment(run_id)}/reports/{segment(report_id)}/trial", options or {}, is_repeatable=True
        )

    def estimate_trial(self, run_id: str, report_id: str, options: Json | None = None) -> Json:
        """Say how large a trial would be, what it could find and what it would cost."""
        return self._send(
            "POST",
            f"/runs/{segment(run_id)}/reports/{segment(report_id)}/trial/estimate",
            options or {},
            is_repeatable=True,
        )

    def list_grader_agreement(self, run_id: str) -> list[Json]:
        """List how far a run's scoring agrees with its rescores.

        Runs of more than 20,000 probes are refused: their reports have the agreement.
        """
        return list(self._get(f"/runs/{segment(run_id)}/grader-agreement")["items"])

    def list_rescores(self, run_id: str) -> Pages:
        """List the rescores of a run, newest first."""
        return self._pages(f"/runs/{segment(run_id)}/rescores")

    def create_rescore(self, run_id: str, overrides: Json | None = None) -> Json:
        """Rescore a run's transcripts without calling its targets again.

        The run must be COMPLETED, FAILED or CANCELLED. Its own scoring and earlier rescores are kept.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/rescores", overrides or {}, has_key=True)

    def get_rescore(self, run_id: str, rescore_id: str) -> Json:
        """Get a rescore."""
        return self._get(f"/runs/{segment(run_id)}/rescores/{segment(rescore_id)}")

    def list_rescore_results(
        self, run_id: str, rescore_id: str, *, model: str | None = None, prompt_id: str | None = None
    ) -> Pages:
        """List a rescore's result for each probe."""
        return self._pages(
            f"/runs/{segment(run_id)}/rescores/{segment(rescore_id)}/results", model=model, promptId=prompt_id
        )

    def get_run_scores(
        self,
        run_id: str,
        *,
        rescore_id: str | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        k: int | None = None,
    ) -> Json:
        """Get pass rates by model, with standard errors and confidence intervals.

        Computed from the run's count files. While a large run that goes on is counted, 503 asks to try again.
        """
        return self._get(f"/runs/{segment(run_id)}/scores", rescoreId=rescore_id, model=model, promptId=prompt_id, k=k)

    def list_scenario_scores(
        self,
        run_id: str,
        *,
        rescore_id: str | None = None,
        model: str | None = None,
        prompt_id: str | None = None,
        k: int | None = None,
    ) -> Pages:
        """List pass rates by scenario and model."""
        return self._pages(
            f"/runs/{segment(run_id)}/scores/scenarios", rescoreId=rescore_id, model=model, promptId=prompt_id, k=k
        )

    def create_run(self, specification: Json) -> Json:
        """Start a run."""
        return self._send("POST", "/runs", specification, has_key=True)

    def estimate_run(self, specification: Json) -> Json:
        """Estimate what a run would cost and how long it would take.

        Takes the body of a start, checks all that a start checks, and writes nothing.
        """
        return self._send("POST", "/runs/estimate", specification, is_repeatable=True)

    def delete_run(self, run_id: str) -> None:
        """Delete a run."""
        self._send("DELETE", f"/runs/{segment(run_id)}")

    def get_run(self, run_id: str) -> TaggedJson:
        """Get a run."""
        return self._get(f"/runs/{segment(run_id)}")

    def update_run(self, run_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Change a run's name, tags and metadata, whatever its status."""
        return self._send("PATCH", f"/runs/{segment(run_id)}", changes, if_match=if_match)

    def get_run_budget(self, run_id: str) -> Json:
        """Get what is used of a run's budget, and by whom."""
        return self._get(f"/runs/{segment(run_id)}/budget")

    def cancel_run(self, run_id: str) -> Json:
        """Cancel a run; keep the transcripts it has."""
        return self._send("POST", f"/runs/{segment(run_id)}/cancel", is_repeatable=True)

    def get_case_names(self, run_id: str, *, first: int = 0) -> TaggedJson:
        """Get the names and dimensions of up to 1,000 cases of a run.

        Its `ETag` stays the same unless the run is expanded; `If-None-Match` is answered with 304.
        """
        return self._get(f"/runs/{segment(run_id)}/case-names", first=first)

    def get_case_texts(self, run_id: str, *, first: int = 0, limit: int = 100) -> TaggedJson:
        """Get the input, expected answer and variables of up to 1,000 cases of a run.

        Its `ETag` stays the same unless the run is expanded; `If-None-Match` is answered with 304.
        """
        return self._get(f"/runs/{segment(run_id)}/case-texts", first=first, limit=limit)

    def list_run_cases(self, run_id: str, *, model: str | None = None, prompt_id: str | None = None) -> Pages:
        """List the results of a run by case: a row per scenario and persona, a cell per target and prompt.

        A page may have fewer rows than `limit` if the run has many targets, prompts and repeats.
        """
        return self._pages(f"/runs/{segment(run_id)}/cases", model=model, promptId=prompt_id)

    def create_event_ticket(self, run_id: str) -> Json:
        """Create a ticket by which a browser's EventSource reads the events of a run.

        A ticket may be used as often as necessary for 15 minutes, for the events of this run only. It expires by
        itself, so it needs no Idempotency-Key.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/event-tickets")

    def pause_run(self, run_id: str) -> Json:
        """Pause a run: start no new model calls."""
        return self._send("POST", f"/runs/{segment(run_id)}/pause", is_repeatable=True)

    def get_probe_columns(self, run_id: str, block: int) -> TaggedJson:
        """Get the figures of 1,000 probes of a run, as columns.

        Tables and plots of large runs are drawn from them; no text is read. They can be read while the run goes on. The
        `ETag` changes with the figures; `If-None-Match` is answered with 304, for a run that has ended without reading
        outcomes.
        """
        return self._get(f"/runs/{segment(run_id)}/probe-columns", block=block)

    def list_probe_excerpts(self, run_id: str, indexes: list[int], *, characters: int = 280) -> list[Json]:
        """Get the beginning of the answers of up to 100 probes, and why they passed or failed."""
        return list(
            self._get(f"/runs/{segment(run_id)}/probe-excerpts", indexes=indexes, characters=characters)["items"]
        )

    def list_run_probes(
        self, run_id: str, *, status: str | None = None, model: str | None = None, prompt_id: str | None = None
    ) -> Pages:
        """List the probes of a run, with their status and errors."""
        return self._pages(f"/runs/{segment(run_id)}/probes", status=status, model=model, promptId=prompt_id)

    def get_run_progress(self, run_id: str) -> Json:
        """Get how far each target of a run is, and what holds it up.

        Takes a bounded number of reads for a run of any size, so that it may be called every few seconds.
        """
        return self._get(f"/runs/{segment(run_id)}/progress")

    def rerun_run(self, run_id: str, overrides: Json | None = None) -> Json:
        """Start a run that repeats another one, with other models, repeats or configuration if given.

        Has the same definition version, scenarios and personas, even if they were changed or deleted since.
        """
        return self._send("POST", f"/runs/{segment(run_id)}/rerun", overrides or {}, has_key=True)

    def resume_run(self, run_id: str) -> Json:
        """Resume a paused run."""
        return self._send("POST", f"/runs/{segment(run_id)}/resume")

    def create_scale_run(self, scale_run: Json) -> Json:
        """Start a scale run: many conversations with one system prompt.

        Start a run of a definition that is found by its content, or created. Default evaluators check each
        conversation; see docs/agents.md.
        """
        return self._send("POST", "/scale-runs", scale_run, has_key=True)

    def estimate_scale_run(self, scale_run: Json) -> Json:
        """Estimate what a scale run would cost and how long it would take.

        Takes the body of a start, checks all that a start checks, and writes nothing.
        """
        return self._send("POST", "/scale-runs/estimate", scale_run, is_repeatable=True)

    def list_scenarios(self, definition_id: str, *, version: int | None = None) -> Pages:
        """List the scenarios of a definition, in order."""
        return self._pages(f"/definitions/{segment(definition_id)}/scenarios", version=version)

    def generate_scenarios(self, definition_id: str, generation: Json) -> Json:
        """Generate one scenario for each combination of dimension levels.

        The scenarios exist when the response arrives (201) in mode `matrix`. They are generated in the background (202)
        in mode `llm`; poll the generation for its status.
        """
        return self._send("POST", f"/definitions/{segment(definition_id)}/scenarios/generate", generation, has_key=True)

    def get_scenario_generation(self, definition_id: str, generation_id: str) -> Json:
        """Get the status of a scenario generation."""
        return self._get(f"/definitions/{segment(definition_id)}/scenarios/generations/{segment(generation_id)}")

    def import_scenarios(self, definition_id: str, body: Json) -> Json:
        """Import scenarios from CSV or JSONL."""
        return self._send("POST", f"/definitions/{segment(definition_id)}/scenarios/import", body, has_key=True)

    def delete_scenario(self, definition_id: str, scenario_id: str, *, if_match: str | None = None) -> None:
        """Delete a scenario in the next version of its definition.

        Earlier versions and their runs keep it.
        """
        self._send(
            "DELETE", f"/definitions/{segment(definition_id)}/scenarios/{segment(scenario_id)}", if_match=if_match
        )

    def get_scenario(self, definition_id: str, scenario_id: str, *, version: int | None = None) -> TaggedJson:
        """Get a scenario, in the latest or a given version of its definition."""
        return self._get(f"/definitions/{segment(definition_id)}/scenarios/{segment(scenario_id)}", version=version)

    def update_scenario(
        self, definition_id: str, scenario_id: str, changes: Json, *, if_match: str | None = None
    ) -> TaggedJson:
        """Update a scenario in the next version of its definition.

        Its id stays. Earlier versions and their runs keep the previous content.
        """
        return self._send(
            "PATCH",
            f"/definitions/{segment(definition_id)}/scenarios/{segment(scenario_id)}",
            changes,
            if_match=if_match,
        )

    def list_schedules(self) -> Pages:
        """List the schedules, newest first."""
        return self._pages("/schedules")

    def create_schedule(self, schedule: Json) -> TaggedJson:
        """Create a schedule."""
        return self._send("POST", "/schedules", schedule, has_key=True)

    def delete_schedule(self, schedule_id: str, *, if_match: str | None = None) -> None:
        """Delete a schedule."""
        self._send("DELETE", f"/schedules/{segment(schedule_id)}", if_match=if_match)

    def get_schedule(self, schedule_id: str) -> TaggedJson:
        """Get a schedule and its most recent firings."""
        return self._get(f"/schedules/{segment(schedule_id)}")

    def update_schedule(self, schedule_id: str, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Change, enable or disable a schedule."""
        return self._send("PATCH", f"/schedules/{segment(schedule_id)}", changes, if_match=if_match)

    def get_health(self) -> Json:
        """Check that the API is up."""
        return self._get("/health")

    def get_open_api_document(self, *, tags: list[str] | None = None) -> Json:
        """Get this OpenAPI document.

        `servers` names the address that the request was sent to.
        """
        return self._get("/openapi.json", tags=tags)

    def create_login_code(self) -> Json:
        """Create a code that opens a session of the web page, once.

        A code is valid for 60 seconds and expires by itself, so it needs no Idempotency-Key. 409 for users of an
        identity provider, who sign in there.
        """
        return self._send("POST", "/login-codes")

    def get_session(self) -> Json:
        """Get who the caller is: workspace, role and the end of the session."""
        return self._get("/session")

    def get_budgets(self) -> Json:
        """Get what is used of the workspace's budgets for the day and the month.

        The limits are `budgets` of the settings. Calls are counted while there is a limit.
        """
        return self._get("/budgets")

    def get_settings(self) -> TaggedJson:
        """Get the workspace's evaluation settings."""
        return self._get("/settings")

    def update_settings(self, changes: Json, *, if_match: str | None = None) -> TaggedJson:
        """Update the workspace's evaluation settings."""
        return self._send("PUT", "/settings", changes, if_match=if_match)

    def list_tokens(self) -> Pages:
        """List the tokens, newest first."""
        return self._pages("/tokens")

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token, effective with the next request."""
        self._send("DELETE", f"/tokens/{segment(token_id)}")

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
        """List the transcripts of a run."""
        return self._pages(
            f"/runs/{segment(run_id)}/transcripts",
            page_size=500,
            model=model,
            promptId=prompt_id,
            scenarioId=scenario_id,
            result=result,
            decision=decision,
            tag=tag,
        )

    def get_transcript(self, transcript_id: str) -> Json:
        """Get a transcript."""
        return self._get(f"/transcripts/{segment(transcript_id)}")

    def delete_webhook(self, *, if_match: str | None = None) -> None:
        """Delete the webhook."""
        self._send("DELETE", "/webhook", if_match=if_match)

    def get_webhook(self) -> TaggedJson:
        """Get the workspace's webhook."""
        return self._get("/webhook")

    def set_webhook(self, webhook: Json, *, if_match: str | None = None) -> TaggedJson:
        """Set the workspace's webhook.

        It is called for the runs that start while it is enabled.
        """
        return self._send("PUT", "/webhook", webhook, if_match=if_match)

    def list_webhook_deliveries(self) -> Pages:
        """List the calls of the webhook in the last 14 days, newest first."""
        return self._pages("/webhook/deliveries")

    def test_webhook(self) -> Json:
        """Call the webhook once with a test message."""
        return self._send("POST", "/webhook/test")

    def list_workspaces(self) -> Pages:
        """List the workspaces that operators have created or erased, by name.

        Those of tokens written by `cupel tokens bootstrap`, and of JWTs, are not known.
        """
        return self._pages("/workspaces")

    def get_workspace(self, name: str) -> Json:
        """Get a workspace that an operator has created or erased."""
        return self._get(f"/workspaces/{segment(name)}")
