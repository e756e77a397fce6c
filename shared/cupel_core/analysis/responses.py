from cupel_core.analysis.experiments import ExperimentSummary
from cupel_core.analysis.queries import AnalyzedScenario
from cupel_core.contract.analysis import AnalysisSummaryResponse, AnalyzeRun
from cupel_core.contract.analyzed_scenarios import AnalyzedScenarioResponse, ScenarioCellResponse
from cupel_core.contract.experiments import (
    ExperimentResponse,
    ExperimentRowResponse,
    ExperimentRunResponse,
    ExperimentSummaryResponse,
    PendingRunResponse,
)
from cupel_core.domain.analysis.jobs import Job

MAX_ROWS = 5_000
"""A summary has at most so many rows: 100 runs of 100 targets would exceed the 6 MB of a response."""


def scenario_response(found: AnalyzedScenario) -> AnalyzedScenarioResponse:
    return AnalyzedScenarioResponse(
        scenario_id=found.id,
        scenario_name=found.name,
        scores=found.scores,
        variance=found.variance,
        range=found.range,
        mean=found.mean,
        cells=[
            ScenarioCellResponse(
                column=each.column,
                decided=each.cell.decided,
                mean_decision=each.cell.mean_code,
                judged=each.cell.judged,
                passed=each.cell.passed,
                other=each.cell.other,
                errored=each.cell.errored,
                variance=each.variance,
            )
            for each in found.cells
        ],
    )


def pending_response(run_id: str, body: AnalyzeRun, job: Job | None) -> AnalysisSummaryResponse:
    return AnalysisSummaryResponse(
        id=None,
        run_id=run_id,
        kind=body.kind,
        rescore_id=body.rescore_id,
        status=None,
        algorithm_version=None,
        inputs_hash=None,
        created_at=None,
        is_current=False,
        is_stale=False,
        stale_reason=None,
        failure=None,
        job_id=job.id if job else None,
    )


def experiment_summary(summary: ExperimentSummary) -> ExperimentSummaryResponse:
    return ExperimentSummaryResponse(
        experiment=ExperimentResponse.of(summary.experiment, has_runs=bool(summary.runs)),
        runs=[ExperimentRunResponse.of(run) for run in summary.runs],
        rows=[ExperimentRowResponse.of(row) for row in summary.rows[-MAX_ROWS:]],
        row_count=len(summary.rows),
        pending_run_ids=[each.run_id for each in summary.pending],
        reasons=[PendingRunResponse(**each._asdict()) for each in summary.pending],
        varied=summary.varied,
        suggested_conclusion=summary.suggestion,
    )
