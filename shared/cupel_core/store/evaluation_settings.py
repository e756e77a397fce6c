"""A workspace's evaluation settings. The evaluator's headers are in shared/cupel_core/store/secrets.py."""

from typing import Any

from pynamodb.attributes import ListAttribute, NumberAttribute, UnicodeAttribute

from cupel_core.base.errors import Conflict
from cupel_core.domain.budgets.periods import DEFAULT_TIMEZONE, PeriodLimits
from cupel_core.domain.limits.open_runs import OpenRunLimits
from cupel_core.domain.limits.scale_runs import ScaleRunLimits
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.store import keys
from cupel_core.store.table import RevisedItem

_SORT_KEY = "evaluation"


class EvaluationSettingsItem(RevisedItem):
    judge_model = UnicodeAttribute(attr_name="judgeModel", null=True)
    persona_model = UnicodeAttribute(attr_name="personaModel", null=True)
    embedding_model = UnicodeAttribute(attr_name="embeddingModel", null=True)
    analysis_model = UnicodeAttribute(attr_name="analysisModel", null=True)
    evaluator_url = UnicodeAttribute(attr_name="evaluatorUrl", null=True)
    evaluator_headers_version = UnicodeAttribute(attr_name="evaluatorHeadersVersion", null=True)
    evaluator_header_names = ListAttribute(attr_name="evaluatorHeaderNames", of=UnicodeAttribute, null=True)
    open_runs_per_owner = NumberAttribute(attr_name="openRunsPerOwner", null=True)
    open_runs = NumberAttribute(attr_name="openRuns", null=True)
    max_scale_run_count = NumberAttribute(attr_name="maxScaleRunCount", null=True)
    max_scale_run_concurrency = NumberAttribute(attr_name="maxScaleRunConcurrency", null=True)
    budget_day_usd = NumberAttribute(attr_name="budgetDayUsd", null=True)
    budget_month_usd = NumberAttribute(attr_name="budgetMonthUsd", null=True)
    budget_timezone = UnicodeAttribute(attr_name="budgetTimezone", null=True)
    summarizer_model = UnicodeAttribute(attr_name="summarizerModel", null=True)


def get(workspace: str) -> EvaluationSettings:
    try:
        item = EvaluationSettingsItem.get(keys.workspace_settings(workspace), _SORT_KEY, consistent_read=True)
    except EvaluationSettingsItem.DoesNotExist:
        return EvaluationSettings(GraderConfig(), ())
    config = GraderConfig(
        item.judge_model,
        item.persona_model,
        item.embedding_model,
        item.evaluator_url,
        item.evaluator_headers_version,
        item.summarizer_model,
    )
    limits = OpenRunLimits(_integer(item.open_runs_per_owner), _integer(item.open_runs))
    names = tuple(map(str, item.evaluator_header_names or ()))
    budgets = PeriodLimits(item.budget_day_usd, item.budget_month_usd, item.budget_timezone or DEFAULT_TIMEZONE)
    scale_runs = ScaleRunLimits(_integer(item.max_scale_run_count), _integer(item.max_scale_run_concurrency))
    return EvaluationSettings(config, names, int(item.revision or 0), limits, item.analysis_model, budgets, scale_runs)


def get_budgets(workspace: str) -> PeriodLimits:
    return get(workspace).budgets


def _integer(stored: float | None) -> int | None:
    return None if stored is None else int(stored)


def update(workspace: str, changes: dict[str, Any], before: EvaluationSettings | None = None) -> None:
    """Set the named attributes; None removes one. Concurrent updates of other attributes do not conflict. With
    `before`, raise Conflict if anything was changed since."""
    item = EvaluationSettingsItem(keys.workspace_settings(workspace), _SORT_KEY)
    if not item.change(changes, None if before is None else before.revision):
        raise Conflict("the settings were changed at the same time; read them and try again")
