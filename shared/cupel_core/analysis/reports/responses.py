from cupel_core.analysis.reports import trial_results
from cupel_core.analysis.reports.requests import ReportView
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.contract.reports import ReportResponse, ReportTextsResponse
from cupel_core.contract.runs import FailureResponse


def report_response(view: ReportView) -> ReportResponse:
    record = view.record
    return ReportResponse(
        id=record.id,
        run_id=record.run_id,
        summarizer_model=record.summarizer_model,
        status=record.status,
        is_stale=view.is_stale,
        created_at=record.created_at,
        completed_at=record.completed_at,
        failure=FailureResponse.from_value(record.failure) if record.failure else None,
        content=ReportContentResponse.model_validate_json(view.content) if view.content else None,
        texts=ReportTextsResponse.model_validate_json(view.texts) if view.texts else None,
        trial=trial_results.to_response(view.trial) if view.trial else None,
        trial_refusal=None if record.trial else record.trial_refusal,
    )
