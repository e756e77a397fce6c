"""Which target, asked by which prompt, something belongs to: a column of the run's results."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.runs.plan import Column

TargetId = Annotated[str, Field(description="The target's label, or its model if it has none")]
PromptId = Annotated[str | None, Field(description="The definition's prompt; null if the definition has none")]


class ColumnFields(ResponseModel):
    target_id: TargetId
    prompt_id: PromptId
    prompt_label: str | None = None
    """The prompt's name for people; null if it has none. Example: Polite"""
    label: str | None
    """The target's name; of an agent without one, `connector/` and the connector's name. Example: two months"""
    model_id: str
    """Model as `provider/name`, or `connector/<id>`. Example: openai/gpt-6.1-terra"""
    connector_id: str | None
    """Id of an agent under test; null for a model."""

    @staticmethod
    def fields_of_column(column: Column) -> dict[str, Any]:
        return {name: getattr(column, name) for name in ColumnFields.model_fields}


class TargetResponse(ResponseModel):
    """Model or agent under test. Exactly one of `model` and `connectorId` is set."""

    id: TargetId
    """Example: sober"""
    label: str | None
    """Example: sober"""
    model: Annotated[str | None, read_from("called_model")]
    connector_id: str | None
    agent_name: str | None
    """Name of the connector when its run started; null for a model, and outside of runs. Example: Booking agent"""
    params: dict[str, Any]
    """Its own; they take precedence over the run's."""
    max_attempts: int | None
    """Attempts of one call; null for the run's."""
    call_timeout_seconds: float | None
    """Timeout of one call; null for the run's."""
