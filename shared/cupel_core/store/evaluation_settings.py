"""A workspace's evaluation settings. The evaluator's headers are in shared/cupel_core/store/secrets.py."""

from typing import Any

from pynamodb.attributes import ListAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action

from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.store import keys
from cupel_core.store.table import Item

_SORT_KEY = "evaluation"


class EvaluationSettingsItem(Item):
    judge_model = UnicodeAttribute(attr_name="judgeModel", null=True)
    persona_model = UnicodeAttribute(attr_name="personaModel", null=True)
    embedding_model = UnicodeAttribute(attr_name="embeddingModel", null=True)
    evaluator_url = UnicodeAttribute(attr_name="evaluatorUrl", null=True)
    evaluator_headers_version = UnicodeAttribute(attr_name="evaluatorHeadersVersion", null=True)
    evaluator_header_names = ListAttribute(attr_name="evaluatorHeaderNames", of=UnicodeAttribute, null=True)


def get(workspace: str) -> tuple[GraderConfig, tuple[str, ...]]:
    """The settings, and the names of the evaluator's headers."""
    try:
        item = EvaluationSettingsItem.get(keys.workspace_settings(workspace), _SORT_KEY, consistent_read=True)
    except EvaluationSettingsItem.DoesNotExist:
        return GraderConfig(), ()
    config = GraderConfig(
        item.judge_model,
        item.persona_model,
        item.embedding_model,
        item.evaluator_url,
        item.evaluator_headers_version,
    )
    return config, tuple(map(str, item.evaluator_header_names or ()))


def update(workspace: str, changes: dict[str, Any]) -> None:
    """Set the named attributes; None removes one. Concurrent updates of other attributes do not conflict."""
    actions: list[Action] = []
    for field, value in changes.items():
        attribute = getattr(EvaluationSettingsItem, field)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    if actions:
        EvaluationSettingsItem(keys.workspace_settings(workspace), _SORT_KEY).update(actions)
