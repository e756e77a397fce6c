from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cupel.columns import RunColumn
from cupel.counts import count_of
from cupel.data_frames import data_frame
from cupel.gates import pass_rate
from cupel.in_process.event_loops import run_in_new_loop
from cupel.in_process.probes import ProbeResult, as_json
from cupel.in_process.tables import html_table, matrix_rows
from cupel.json_types import Json
from cupel.results import ModelResults, tabulate, to_json
from cupel_core.contract.columns import TargetResponse
from cupel_core.contract.common import same_fields
from cupel_core.contract.runs import RunConfigResponse, RunProgressResponse
from cupel_core.domain.analysis.extrapolation import RunSample
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import prompt_labels
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.plan import Column, Plan
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.runs.settings import RunSettings
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.derived_metrics import WeightedMetrics, metrics_of
from cupel_core.domain.text.figures import format_percent

if TYPE_CHECKING:
    from cupel.in_process.analysis import AnalyzedEvaluation, Narrator


@dataclass(frozen=True)
class Evaluation:
    """Holds the `results` in the order of the plan: by target, prompt, scenario, persona and repeat."""

    id: str
    name: str
    columns: tuple[Column, ...]
    results: tuple[ProbeResult, ...]
    seed: int
    sample_percentage: int
    sample: RunSample
    content: Content
    params: ParameterFields = field(default_factory=dict)
    settings: RunSettings = field(default_factory=RunSettings)
    labels: RunLabels = field(default_factory=RunLabels)
    why_stopped: str | None = None
    """Says why the last probes were not run, which is that the judge gave no usable reply. It is None if all were
    run."""
    narrator: "Narrator | None" = field(default=None, repr=False, compare=False)

    @property
    def repeats(self) -> int:
        return self.settings.repeats

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the names of its targets: their labels, else their models."""
        return tuple(target.id for target in self._run_targets)

    @property
    def _run_targets(self) -> tuple[Target, ...]:
        return tuple({column.target.id: column.target for column in self.columns}.values())

    def __repr__(self) -> str:
        """Return one line: the results of thousands of conversations would fill a notebook."""
        rate = "nothing judged" if self.pass_rate is None else f"pass rate {format_percent(self.pass_rate)}"
        probes, errors = count_of(len(self.results), "probe"), len(self.errors)
        return f"<Evaluation {self.name!r} of {', '.join(self.targets)}: {probes}, {errors:,} errored, {rate}>"

    def _repr_html_(self) -> str:
        """Return the table of a notebook: a row per target."""
        return html_table(self.labels.name or self.name, self.models)

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row per probe: its result, answer, duration, tokens and cost.

        It has a column `decision` if the definition has a decision rule, and a column for each dimension, variable and
        field of metadata. pandas is not a dependency of Cupel; UsageError is raised if it is not installed.
        """
        outcomes = (result.to_json(self.id) for result in self.results)
        return data_frame(outcomes, has_decisions=self.content.decision is not None)

    @cached_property
    def total_spend(self) -> Spend:
        """Return the spend of all calls. Calls that a cache answered (`cached_calls`) cost nothing in this
        evaluation."""
        return sum((result.outcome.spending.total for result in self.results), Spend())

    @property
    def completed(self) -> tuple[ProbeResult, ...]:
        return tuple(result for result in self.results if result.transcript)

    @property
    def errors(self) -> tuple[ProbeResult, ...]:
        return tuple(result for result in self.results if result.error)

    @property
    def status(self) -> RunStatus:
        """Return FAILED if no probe completed, as for a run, and if the evaluation was stopped because of its judge."""
        return RunStatus.COMPLETED if self.completed and self.why_stopped is None else RunStatus.FAILED

    @property
    def pass_rate(self) -> float | None:
        """Return the share of passed ones among the judged probes; None if there are none. Errored probes are not
        counted."""
        return pass_rate(self.models)

    @cached_property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Return by target the mean of each metric of its results, and the definition's derived metrics."""
        return {target: metrics_of(self._scored(target), self.content.derived_metrics) for target in self.targets}

    def _scored(self, target: str) -> list[WeightedMetrics]:
        scorings = (result.scoring for result in self.completed if result.target == target)
        return [WeightedMetrics(each.metrics, each.metric_weights) if each else WeightedMetrics() for each in scorings]

    def matrix(self) -> list[Json]:
        """Return a row per scenario and persona, with a cell per target and prompt, as in `GET /runs/{id}/cases`."""
        return [as_json(row) for row in matrix_rows(self.plan, self.results)]

    @property
    def plan(self) -> Plan:
        prompt_ids = tuple(prompt.id for prompt in self.content.prompts)
        cases = len(self.results) // (len(self.columns) * self.repeats)
        return Plan(self._run_targets, (cases,), self.repeats, prompt_ids, prompt_labels(self.content.prompts))

    @cached_property
    def models(self) -> list[ModelResults]:
        """Return statistics per target, as in `cupel show`."""
        transcripts = (result.to_json(self.id) for result in self.completed)
        errored = (result.to_json(self.id) for result in self.errors)
        columns = [
            RunColumn(each.target.id, each.target.model, each.prompt_id, each.prompt_label) for each in self.columns
        ]
        models = tabulate(columns, len(self.results), transcripts, errored)
        if not self.sample.is_partial:
            return models
        analyzed = self.analysis()["columns"]
        return [replace(each, extrapolated=row["extrapolated"]) for each, row in zip(models, analyzed, strict=True)]

    def sample_json(self) -> Json:
        """Return the fields of `sample` of `GET /runs/{id}/results`."""
        return {
            "scenarios": self.sample.scenarios,
            "total": self.sample.total,
            "seed": self.sample.seed,
            "isDrawn": self.sample.is_drawn,
            "probesToAdd": self.sample.probes_to_add,
            "note": self.sample.note,
        }

    def analysis(self) -> Json:
        """Return estimates, agreement, outliers, dimensions and contested scenarios.

        `GET /runs/{id}/analysis` has the same in `figures`.
        """
        from cupel.in_process.analysis import analysis_of

        return analysis_of(self._analyzed)

    def breakdown(self, by: str | None = None) -> Json:
        """Return figures by `persona`, by a dimension or by a field of the scenarios' metadata, with 95 % intervals, as
        `GET /runs/{id}/analysis/breakdown` does. Without `by`, it returns only the `fields` that can be named."""
        from cupel.in_process.analysis import breakdown_of

        return breakdown_of(self._analyzed, by)

    def calibration(self, labels: Path | str | Iterable[Mapping[str, object]], criterion: str = "result") -> Json:
        """Measure the judge on labels of people, as `GET /runs/{id}/calibration` does.

        `labels` are the path of a CSV file, or mappings with the columns of one (docs/judges.md). Raises UsageError for
        a label that names no transcript of the evaluation, or several.
        """
        from cupel.in_process.calibration import JudgedEvaluation, calibrated

        judged = JudgedEvaluation(self.id, self.plan, self.content, self.settings.grader_config, self.results)
        return calibrated(judged, labels, criterion)

    def deep_analysis(self, *, narrative: bool = True) -> Json:
        """Return components, outliers, effects, interactions and sources of differences. This needs `cupel[analysis]`.

        `GET /runs/{id}/analysis/deep` has the same in `figures`. If the evaluation has an `analysis_model`, that writes
        the narrative, unless `narrative` is False. Raises UsageError for this within a running event loop.
        """
        if self.narrator is not None and narrative:
            return run_in_new_loop(self.deep_analysis_async, "await evaluation.deep_analysis_async()")
        from cupel.in_process.analysis import deep_analysis_of

        return deep_analysis_of(self._analyzed)

    async def deep_analysis_async(self, *, narrative: bool = True) -> Json:
        """Return the same as `deep_analysis`, within a running event loop."""
        from cupel.in_process.analysis import deep_analysis_of, narrated_analysis_of

        if self.narrator is None or not narrative:
            return deep_analysis_of(self._analyzed)
        return await narrated_analysis_of(self._analyzed, self.narrator)

    @property
    def _analyzed(self) -> "AnalyzedEvaluation":
        from cupel.in_process.analysis import AnalyzedEvaluation

        return AnalyzedEvaluation(self.id, self.columns, self.results, self.repeats, self.content, self.sample)

    def to_json(self) -> Json:
        """Return `{run, results, sample, passRate, metrics, probes}`.

        The first three are as in `cupel show --json`; metrics by target and every probe follow.
        """
        return {
            "run": self.run_json(),
            "results": to_json(self.models),
            "sample": self.sample_json(),
            "passRate": self.pass_rate,
            "metrics": self.metrics,
            "cachedCalls": self.total_spend.cached_calls,
            "probes": [result.to_json(self.id) for result in self.results],
        }

    def run_json(self) -> Json:
        from cupel_core.providers.prices import price_list_version

        shown = RunConfigResponse.model_fields
        copied = {**same_fields(self.settings, shown), **same_fields(self.settings.grader_config, shown)}
        own = {
            "models": list(dict.fromkeys(target.model for target in self._run_targets)),
            "targets": [TargetResponse.from_value(target) for target in self._run_targets],
            "prompt_ids": [prompt.id for prompt in self.content.prompts],
            "sample_percentage": self.sample_percentage,
            "sample_seed": self.seed,
            "temperature": self.params.get("temperature"),
            "params": dict(self.params),
            "evaluators": {},
            "definition_snapshot": self.content.to_json(),
            "price_list": price_list_version(),
        }
        config = RunConfigResponse.model_validate({**copied, **own})
        progress = RunProgressResponse(total=len(self.results), completed=len(self.completed), failed=len(self.errors))
        return {
            "id": self.id,
            **encode(self.labels),
            "definitionName": self.name,
            "scenarioCount": len({result.probe.scenario.id for result in self.results}),
            "status": str(self.status),
            "config": as_json(config),
            "progress": as_json(progress),
            "failure": {"where": "judge", "why": self.why_stopped} if self.why_stopped else None,
        }
