"""A workspace's default graders.

The most specific setting takes precedence: that of the run, then of its eval, then of the workspace. Null in the
`config` of a run means none.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from cupel_core.base.errors import Conflict, FieldError, Invalid
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.budgets.periods import PeriodLimitChanges
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings, EvaluatorEndpoint, SettingsChanges
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import chat_model_error
from cupel_core.resources import headers as secret_headers
from cupel_core.resources.grader_models import grader_config_errors
from cupel_core.store import evaluation_settings

SECRET_OWNER = "evaluator"  # noqa: S105 - the name of a secret
_NO_HEADERS = {"evaluator_headers_version": None, "evaluator_header_names": None}
_MODELS = ("judge_model", "persona_model", "embedding_model", "summarizer_model")
_ANALYSIS_MODEL = "analysis_model"
_LIMITS = ("open_runs_per_owner", "open_runs", "max_scale_run_count", "max_scale_run_concurrency")


def workspace_grader_config(workspace: str) -> GraderConfig:
    return get_settings(workspace).grader_config


def evaluator_headers(workspace: str, grader_config: GraderConfig) -> Mapping[str, str]:
    """Return the header values of the configuration's version of them, even if they were set again since."""
    return secret_headers.load(workspace, SECRET_OWNER, grader_config.evaluator_headers_version)


def get_settings(workspace: str) -> EvaluationSettings:
    return evaluation_settings.get(workspace)


def update_settings(
    workspace: str, changes: SettingsChanges, precondition: Precondition = UNCONDITIONAL
) -> EvaluationSettings:
    """Update the settings. Raise Invalid, naming each unknown model, and Conflict if the evaluator changed
    concurrently."""
    requested: Mapping[str, Any] = changes
    stored = {name: requested[name] for name in _MODELS if name in requested}
    errors = list(grader_config_errors(GraderConfig(**stored)))
    analysis_model = requested.get(_ANALYSIS_MODEL)
    if analysis_model is not None and (error := chat_model_error(analysis_model)):
        errors.append(FieldError("analysisModel", error))
    if errors:
        raise Invalid.fields(errors)
    stored |= {name: requested[name] for name in (*_LIMITS, _ANALYSIS_MODEL) if name in requested}
    if "budgets" in changes:
        stored |= _budget_changes(changes["budgets"])
    before = get_settings(workspace)
    precondition.check(etag(before.revision))
    if "evaluator" in changes:
        stored |= _evaluator_changes(workspace, before, changes["evaluator"])
    with precondition.guard_write():
        is_based_on_read = precondition.is_set or "evaluator" in changes
        evaluation_settings.update(workspace, stored, before if is_based_on_read else None)
    if before.header_names and not get_settings(workspace).header_names:
        secret_headers.delete(workspace, SECRET_OWNER)
        _forget_lost_headers(workspace)
    return get_settings(workspace)


def _budget_changes(budgets: PeriodLimitChanges | None) -> dict[str, Any]:
    """Return the changed attributes. None for `budgets` unsets all of them."""
    names = PeriodLimitChanges.__optional_keys__
    changes: Mapping[str, Any] = dict.fromkeys(names) if budgets is None else budgets
    return {f"budget_{name}": value for name, value in changes.items()}


def _forget_lost_headers(workspace: str) -> None:
    stored = get_settings(workspace)
    if secret_headers.is_lost(workspace, SECRET_OWNER, stored.grader_config.evaluator_headers_version):
        with suppress(Conflict):  # The headers were set once more.
            evaluation_settings.update(workspace, _NO_HEADERS, stored)


def _evaluator_changes(
    workspace: str, before: EvaluationSettings, evaluator: EvaluatorEndpoint | None
) -> dict[str, Any]:
    if evaluator is not None and evaluator.headers is None:
        if before.header_names:
            url = before.grader_config.evaluator_url or ""
            secret_headers.check_same_address("evaluator.headers", url, evaluator.url)
        return {"evaluator_url": evaluator.url}
    stored = secret_headers.save(workspace, SECRET_OWNER, (evaluator and evaluator.headers) or {})
    return {
        "evaluator_url": evaluator and evaluator.url,
        "evaluator_headers_version": stored["headersVersion"],
        "evaluator_header_names": stored["headerNames"] or None,
    }
