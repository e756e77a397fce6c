"""Operation profiles: what runs around the main call of every turn."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.fields import Flag, ResourceName, not_null
from cupel_core.contract.profile_operations import OperationInput
from cupel_core.domain.pipeline.operations import Hook, OperationKind, Trigger
from cupel_core.domain.pipeline.planning import OmissionReason, PipelinePlan
from cupel_core.domain.pipeline.profiles import (
    MAX_OPERATIONS,
    ExecutionMode,
    Profile,
    ProfileIssue,
)

Operations = Annotated[list[OperationInput], Field(max_length=MAX_OPERATIONS)]
Description = Annotated[str, StringConstraints(strict=True, max_length=2_000)]
_EXAMPLE: dict[str, Any] = {
    "name": "Guarded",
    "executionMode": "concurrent",
    "operations": [
        {
            "id": "tone",
            "name": "Tone",
            "kind": "template",
            "hooks": ["before_main_llm"],
            "order": 10,
            "params": {"template": "Answer politely, and in one sentence."},
            "artifact": {"tag": "tone"},
            "effects": [{"type": "prompt.system_update", "mode": "append"}],
        }
    ],
}


class UpdateProfile(RequestModel):
    """Omitted fields keep their value. Another mode or other operations make the next version."""

    model_config = example({"enabled": False})

    name: ResourceName | None = None
    description: Description | None = None
    enabled: Flag | None = True
    """True if turns with this profile run its operations."""
    execution_mode: ExecutionMode | None = ExecutionMode.CONCURRENT
    """Execution of operations: one at a time, or up to 8 together."""
    operations: Operations | None = None

    _required_fields = field_validator("name", "enabled", "execution_mode", "operations")(not_null)

    def head_fields(self) -> dict[str, Any]:
        return self.model_dump(include={"name", "description", "enabled"}, exclude_unset=True)

    def content(self) -> dict[str, Any]:
        """What was given of a version, as it is stored."""
        given = self.model_fields_set & {"execution_mode", "operations"}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, include=given)


class CreateProfile(UpdateProfile):
    """Names are unique within a workspace, ignoring case."""

    model_config = example(_EXAMPLE)

    name: ResourceName
    operations: Operations

    def content(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, include={"execution_mode", "operations"})


class CheckProfile(CreateProfile):
    """A profile as it would be created."""


class ProfileIssueResponse(ResponseModel):
    field: str
    """Path of the field, such as `content.template`. Example: operations.0.artifact"""
    message: str
    """Example: nothing uses art.tone: no effect, condition, template or inclusion"""


class ProfileSummaryResponse(ResponseModel):
    id: str
    name: str
    description: str | None
    version: int
    """The newest version; in a profile, the one that is shown. Example: 3"""
    enabled: bool
    session_id: str
    """Session of its operations' artifacts in chats; a new one begins without any. Example: session_01"""
    created_at: Time
    updated_at: Time


class ProfileResponse(ProfileSummaryResponse):
    execution_mode: ExecutionMode
    """Execution of operations: one at a time, or up to 8 together."""
    operations: list[OperationInput]
    warnings: list[ProfileIssueResponse]

    @classmethod
    def of_profile(cls, profile: Profile) -> "ProfileResponse":
        content = profile.version.content
        return cls.from_value(
            profile.head,
            version=profile.version.number,
            execution_mode=content["executionMode"],
            operations=content["operations"],
            warnings=profile.warnings,
        )


class ProfilePage(ResponseModel):
    items: list[ProfileSummaryResponse]
    next_cursor: str | None


class PlannedStepResponse(ResponseModel):
    operation_id: Annotated[str, read_from("id")]
    """Id of the operation. Example: tone"""
    name: str
    """Example: Tone"""
    kind: OperationKind
    """Source of the value."""
    hook: Hook
    """Place: before or after the main call."""
    required: bool
    """True if the turn fails unless the operation is done. Example: false"""
    order: float
    """Rank among independent operations; the lowest comes first. Example: 10"""
    depends_on: list[str]
    """Operations that must be done before it starts. Example: []"""
    tag: Annotated[str, read_from("artifact.tag")]
    """Tag under which its value is stored. Example: tone"""


class OmittedOperationResponse(ResponseModel):
    operation_id: str
    """Id of the operation. Example: notes"""
    reason: OmissionReason


class PipelinePlanResponse(ResponseModel):
    steps: list[PlannedStepResponse]
    """Steps in the order of their effects.

    Example: [{"operationId": "tone", "name": "Tone", "kind": "template", "hook": "before_main_llm", "required": false,
    "order": 10, "dependsOn": [], "tag": "tone"}]
    """
    omitted: list[OmittedOperationResponse]
    """Operations that do not run, and why."""

    @classmethod
    def of(cls, plan: PipelinePlan) -> "PipelinePlanResponse":
        steps = [
            PlannedStepResponse.from_value(operation, hook=hook)
            for hook, operations in plan.steps.items()
            for operation in operations
        ]
        return cls.from_value(plan, steps=steps)


class TurnPlansResponse(ResponseModel):
    generate: PipelinePlanResponse
    """Plan for a new user message.

    Example: {"steps": [{"operationId": "tone", "name": "Tone", "kind": "template", "hook": "before_main_llm",
    "required": false, "order": 10, "dependsOn": [], "tag": "tone"}], "omitted": []}
    """
    regenerate: PipelinePlanResponse
    """Plan for another answer to the last message.

    Example: {"steps": [{"operationId": "tone", "name": "Tone", "kind": "template", "hook": "before_main_llm",
    "required": false, "order": 10, "dependsOn": [], "tag": "tone"}], "omitted": []}
    """


class ProfileCheckResponse(ResponseModel):
    errors: list[ProfileIssueResponse]
    """Empty if the profile can be created. Example: []"""
    warnings: list[ProfileIssueResponse]
    plan: TurnPlansResponse | None
    """Operations that turns would run; null with errors.

    Example: {"generate": {"steps": [{"operationId": "tone", "name": "Tone", "kind": "template", "hook":
    "before_main_llm", "required": false, "order": 10, "dependsOn": [], "tag": "tone"}], "omitted": []}, "regenerate":
    {"steps": [{"operationId": "tone", "name": "Tone", "kind": "template", "hook": "before_main_llm", "required": false,
    "order": 10, "dependsOn": [], "tag": "tone"}], "omitted": []}}
    """

    @classmethod
    def of(
        cls, errors: tuple[ProfileIssue, ...], warnings: tuple[ProfileIssue, ...], plans: dict[Trigger, PipelinePlan]
    ) -> "ProfileCheckResponse":
        return cls(
            errors=list(map(ProfileIssueResponse.from_value, errors)),
            warnings=list(map(ProfileIssueResponse.from_value, warnings)),
            plan=TurnPlansResponse(**{each: PipelinePlanResponse.of(plan) for each, plan in plans.items()})
            if plans
            else None,
        )
