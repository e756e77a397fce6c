"""Chats, their branches, and the exchanges in them."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from, require_one, with_defaults
from cupel_core.contract.fields import Flag, Id, Label, ModelId, not_blank, not_null
from cupel_core.contract.parameters import CallTimeout, MaxAttempts, ModelParametersInput, Parameters, target_of
from cupel_core.contract.results import TokenUsageResponse
from cupel_core.contract.run_labels import Metadata, RunName
from cupel_core.domain.chats.chats import DEFAULT_HISTORY_LIMIT, MAX_MESSAGE_LENGTH
from cupel_core.domain.chats.messages import ShownExchange, ShownMessage, VariantKind, VariantStatus
from cupel_core.domain.text.json_limits import json_limit_error

_NOT_OF_CHATS = ("tools", "toolChoice", "maxToolRounds", "toolConnectorId")


def _storable(text: str) -> str:
    if why := json_limit_error(text):
        raise ValueError(why)
    return text


MessageText = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MAX_MESSAGE_LENGTH),
    AfterValidator(not_blank),
    AfterValidator(_storable),
]
SystemText = Annotated[str, StringConstraints(strict=True, max_length=MAX_MESSAGE_LENGTH), AfterValidator(_storable)]
HistoryLimit = Annotated[int, Field(strict=True, ge=0, le=200)]
Revision = Annotated[
    int | None, Field(strict=True, ge=1, description="Of the branch that the change is based on; 409 for another")
]


class ChatTargetInput(RequestModel):
    """Model or connector that answers: exactly one of `model` and `connectorId`."""

    model_config = example({"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.7}})

    model: ModelId | None = None
    """Example: openai/gpt-6.1-terra"""
    connector_id: Id | None = None
    """An agent, which is sent the whole prompt in a new conversation each turn. Example: conn_01k1f0aa"""
    params: Parameters = with_defaults(ModelParametersInput)
    max_attempts: MaxAttempts | None = None
    call_timeout_seconds: CallTimeout | None = None

    @field_validator("params")
    @classmethod
    def _refuse_tools(cls, params: ModelParametersInput) -> ModelParametersInput:
        if unknown := [name for name in _NOT_OF_CHATS if name in params.fields()]:
            raise ValueError(f"must not have {', '.join(unknown)}: chats call no tools")
        return params

    @model_validator(mode="after")
    def _has_one_target(self) -> Self:
        require_one(self, "model", "connector_id")
        return self

    def stored(self) -> dict[str, Any]:
        fields = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"connector_id"})
        return {**fields, "model": target_of(self.model, self.connector_id).model}


class ChatTargetResponse(ResponseModel):
    model: str
    """`provider/name`, or `connector/<id>`. Example: connector/conn_01k1f0aa"""
    connector_id: str | None
    """The connector; null for a model. Example: conn_01k1f0aa"""
    params: Parameters
    """Example: {"temperature": 0.7}"""
    max_attempts: int | None
    """Attempts of one call, with the first; null for 4. Example: 4"""
    call_timeout_seconds: float | None
    """Timeout of one call; null for the stack's. Example: 60"""


class _ChatFields(RequestModel):
    title: RunName | None = None
    """Name for people."""
    target: ChatTargetInput | None = None
    """Model or connector that answers.

    Example: {"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.7}}
    """
    system: SystemText | None = None
    """The system prompt. Example: Be brief."""
    profile_id: Id | None = None
    """Operation profile of its turns."""
    history_limit: HistoryLimit | None = DEFAULT_HISTORY_LIMIT
    """Number of earlier exchanges in a prompt. Example: 50"""
    metadata: Metadata | None = None
    """Data without effect on the chat. Example: {"team": "search"}"""

    _required_fields = field_validator("target", "history_limit", "metadata")(not_null)

    def settings(self) -> dict[str, Any]:
        """Those that were given, as fields of ChatSettings."""
        given = self.model_fields_set & {"title", "system", "profile_id", "history_limit", "metadata"}
        fields = self.model_dump(include=given)
        if self.target is not None:
            fields["target"] = self.target.stored()
        return fields


class CreateChat(_ChatFields):
    """A conversation with one model, which is asked by turns."""

    model_config = example({"title": "Refund policy", "target": {"model": "sim/steady"}, "system": "Be brief."})

    target: ChatTargetInput
    """Model or connector that answers."""
    playground: Flag = False
    """True if it is a column of the page's playground: it is not in the list of chats by default, and is erased when
    it has not been used for a week. Example: false"""


class UpdateChat(_ChatFields):
    """Omitted fields keep their value. Turns that have started are not changed."""

    model_config = example({"title": "Refunds", "historyLimit": 20})

    active_branch_id: Id | None = None
    """The branch that turns go to by default. Example: br_01k1f0aa"""

    _required_branch = field_validator("active_branch_id")(not_null)


class ChatResponse(ResponseModel):
    id: str
    """Example: chat_01k1f0aa"""
    title: Annotated[str | None, read_from("settings.title")]
    """Name for people. Example: Refund policy"""
    opening: str | None
    """The beginning of its first message; null before it. Example: Within how many days may I return it?"""
    target: Annotated[ChatTargetResponse, read_from("settings.parsed_target")]
    """Model or connector that answers.

    Example: {"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.7}, "connectorId": null, "maxAttempts": 4,
    "callTimeoutSeconds": 60}
    """
    system: Annotated[str | None, read_from("settings.system")]
    """The system prompt. Example: Be brief."""
    profile_id: Annotated[str | None, read_from("settings.profile_id")]
    """Example: prof_01"""
    history_limit: Annotated[int, read_from("settings.history_limit")]
    """Number of earlier exchanges in a prompt. Example: 50"""
    metadata: Annotated[dict[str, Any], read_from("settings.metadata")]
    """Your own data about the chat, without effect on it. Example: {}"""
    playground: bool
    """True if it is a column of the page's playground. Example: false"""
    active_branch_id: str
    """The branch that turns go to by default. Example: br_01k1f0aa"""
    branch_count: int
    """Number of branches. Example: 1"""
    created_by: str
    """The id of the token that created it. Example: tok_01k1f0aa"""
    created_at: Time
    """Example: 2026-11-20T09:30:00Z"""
    updated_at: Time
    """Example: 2026-11-20T09:30:00Z"""
    expires_at: Time | None
    """Time of its erasure unless it is used before; null if never. Example: 2027-11-20T09:30:00Z"""


class ChatPage(ResponseModel):
    items: list[ChatResponse]
    """Example: [{"id": "chat_01k1f0aa", "title": "Refund policy", "opening": "Within how many days may I return it?",
    "target": {"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.7}, "connectorId": null, "maxAttempts":
    4, "callTimeoutSeconds": 60}, "system": "Be brief.", "profileId": "prof_01", "historyLimit": 50, "metadata": {},
    "playground": false, "activeBranchId": "br_01k1f0aa", "branchCount": 1, "createdBy": "tok_01k1f0aa", "createdAt":
    "2026-11-20T09:30:00Z", "updatedAt": "2026-11-20T09:30:00Z", "expiresAt": "2027-11-20T09:30:00Z"}]"""
    next_cursor: str | None


class CreateBranch(RequestModel):
    """A fork: it begins with the exchanges of another branch, and changes nothing there."""

    model_config = example({"name": "Shorter answers", "afterExchangeId": "ex_01k1f0aa", "includeAnswer": False})

    name: Label | None = None
    """Name for people; its id if omitted."""
    from_branch_id: Id | None = None
    """The active branch if omitted. Example: br_01k1f0aa"""
    after_exchange_id: Id | None = None
    """The last exchange that the fork has; the last of the branch if omitted."""
    include_answer: Flag = True
    """False leaves out the answers of that exchange, to have another one generated."""
    artifacts: Literal["carry", "fresh"] = "carry"
    """Artifacts of the fork: those stored up to there, or none. Example: carry"""


class UpdateBranch(RequestModel):
    model_config = example({"name": "Shorter answers"})

    name: Label
    """Name for people."""


class BranchResponse(ResponseModel):
    id: str
    """Example: br_01k1f0aa"""
    name: str
    """Example: Shorter answers"""
    parent_branch_id: Annotated[str | None, read_from("parent_id")]
    """The branch that it was forked from; null for the first. Example: br_01k1f0ab"""
    forked_after: str | None
    """The last exchange that it has in common with its parent. Example: ex_01k1f0aa"""
    length: int
    """Number of exchanges. Example: 1"""
    revision: int
    """Changes with every change of the branch. Example: 3"""
    open_turn_id: Annotated[str | None, read_from("open_turn")]
    """The turn in progress; no other is possible then. Example: turn_01k1f0ab"""
    created_at: Time
    """Example: 2026-11-20T09:30:00Z"""


class BranchPage(ResponseModel):
    items: list[BranchResponse]
    """Example: [{"id": "br_01k1f0aa", "name": "Shorter answers", "parentBranchId": "br_01k1f0ab", "forkedAfter":
    "ex_01k1f0aa", "length": 1, "revision": 3, "openTurnId": "turn_01k1f0ab", "createdAt": "2026-11-20T09:30:00Z"}]"""
    next_cursor: str | None


class UpdateMessage(RequestModel):
    """Exactly one of `content`, `selected` and `hidden`."""

    model_config = example({"content": "How long do I have to return it?"})

    content: MessageText | None = None
    """An edit: a new variant, which is selected."""
    selected: Annotated[int | None, Field(strict=True, ge=1)] = None
    """The number of a variant. Example: 1"""
    hidden: Flag | None = None
    """True if the message is left out of later prompts. Example: false"""
    revision: Revision = None
    """Example: 3"""

    @model_validator(mode="after")
    def _has_one_change(self) -> Self:
        if sum(each is not None for each in (self.content, self.selected, self.hidden)) != 1:
            raise ValueError("must have exactly one of content, selected and hidden")
        return self


class VariantResponse(ResponseModel):
    """One wording of a message. It never changes."""

    number: int
    """The number of the variant. Example: 2"""
    kind: VariantKind
    """`main` as it was sent or answered, `edit` of a person, `rewrite` of an operation. Example: edit"""
    content: str
    """The text. Example: You can return it within 30 days."""
    status: VariantStatus
    """Completeness of the answer that wrote it. Example: done"""
    based_on: int | None
    """The variant that was edited or rewritten. Example: 1"""
    branch_id: str
    """The branch in which it was made. Example: br_01k1f0aa"""
    turn_id: str | None
    """The turn that made it. Example: turn_01k1f0aa"""
    model_id: str | None
    """The model that gave an answer. Example: openai/gpt-6.1-terra"""
    usage: TokenUsageResponse | None
    """Tokens of the main call; null if there was none.

    Example: {"inputTokens": 12, "outputTokens": 9, "cachedInputTokens": 0, "cacheWriteTokens": 0}
    """
    cost_usd: float | None
    """Cost of the main call; null if it is unknown, or there was none. Example: 2e-05"""
    annotations: list[Any]
    """Values that operations stored beside it. Example: []"""
    created_at: Time
    """Example: 2026-11-20T09:30:00Z"""


class VariantPage(ResponseModel):
    items: list[VariantResponse]
    """Example: [{"number": 2, "kind": "edit", "content": "You can return it within 30 days.", "status": "done",
    "basedOn": 1, "branchId": "br_01k1f0aa", "turnId": "turn_01k1f0aa", "modelId": "openai/gpt-6.1-terra", "usage":
    {"inputTokens": 12, "outputTokens": 9, "cachedInputTokens": 0, "cacheWriteTokens": 0}, "costUsd": 2e-05,
    "annotations": [], "createdAt": "2026-11-20T09:30:00Z"}]"""
    next_cursor: str | None


class ChatMessageResponse(VariantResponse):
    """A message as a branch has it: its selected variant."""

    id: Annotated[str, read_from("message_id")]
    """Example: ex_01k1f0aa.answer"""
    role: str
    """`user` or `assistant`. Example: assistant"""
    variant_count: int
    """Number of wordings. Example: 2"""
    hidden: bool
    """True if later prompts leave it out. Example: false"""
    deleted: bool
    """True if it was taken out of the branch. Example: false"""

    @classmethod
    def of_shown(cls, message: ShownMessage) -> "ChatMessageResponse":
        return cls.from_value(
            message.variant, variant_count=message.variant_count, hidden=message.hidden, deleted=message.deleted
        )


class ExchangeResponse(ResponseModel):
    id: str
    """Example: ex_01k1f0aa"""
    position: int
    """Its place in the branch, from 0. Example: 0"""
    user: ChatMessageResponse | None
    """Null if it is hidden or deleted.

    Example: {"number": 2, "kind": "edit", "content": "I want my money back.", "status": "done", "basedOn": 1,
    "branchId": "br_01k1f0aa", "turnId": null, "modelId": null, "usage": null, "costUsd": null, "annotations": [],
    "createdAt": "2026-11-20T09:30:00Z", "id": "ex_01k1f0aa.user", "role": "user", "variantCount": 2, "hidden": false,
    "deleted": false}
    """
    answer: ChatMessageResponse | None
    """Null while there is none, and if it is hidden or deleted.

    Example: {"number": 2, "kind": "edit", "content": "You can return it within 30 days.", "status": "done", "basedOn":
    1, "branchId": "br_01k1f0aa", "turnId": "turn_01k1f0aa", "modelId": "openai/gpt-6.1-terra", "usage": {"inputTokens":
    12, "outputTokens": 9, "cachedInputTokens": 0, "cacheWriteTokens": 0}, "costUsd": 2e-05, "annotations": [],
    "createdAt": "2026-11-20T09:30:00Z", "id": "ex_01k1f0aa.answer", "role": "assistant", "variantCount": 2, "hidden":
    false, "deleted": false}
    """
    turn_id: str | None
    """The last turn here. Example: turn_01k1f0aa"""

    @classmethod
    def of(cls, exchange: ShownExchange) -> "ExchangeResponse":
        user, answer = exchange.user, exchange.answer
        return cls.from_value(
            exchange,
            user=ChatMessageResponse.of_shown(user) if user is not None else None,
            answer=ChatMessageResponse.of_shown(answer) if answer is not None else None,
        )


class ExchangePage(ResponseModel):
    items: list[ExchangeResponse]
    """Example: [{"id": "ex_01k1f0aa", "position": 0, "user": {"number": 2, "kind": "edit", "content": "I want my money
    back.", "status": "done", "basedOn": 1, "branchId": "br_01k1f0aa", "turnId": null, "modelId": null, "usage":
    null, "costUsd": null, "annotations": [], "createdAt": "2026-11-20T09:30:00Z", "id": "ex_01k1f0aa.user", "role":
    "user", "variantCount": 2, "hidden": false, "deleted": false}, "answer": {"number": 2, "kind": "edit", "content":
    "You can return it within 30 days.", "status": "done", "basedOn": 1, "branchId": "br_01k1f0aa", "turnId":
    "turn_01k1f0aa", "modelId": "openai/gpt-6.1-terra", "usage": {"inputTokens": 12, "outputTokens": 9,
    "cachedInputTokens": 0, "cacheWriteTokens": 0}, "costUsd": 2e-05, "annotations": [], "createdAt":
    "2026-11-20T09:30:00Z", "id": "ex_01k1f0aa.answer", "role": "assistant", "variantCount": 2, "hidden": false,
    "deleted": false}, "turnId": "turn_01k1f0aa"}]"""
    next_cursor: str | None
