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
    """The model or the connector that answers, as runs name their targets: exactly one of `model` and `connectorId`."""

    model_config = example({"model": "openai/gpt-6.1-terra", "params": {"temperature": 0.7}})

    model: ModelId | None = None
    connector_id: Annotated[
        Id | None, Field(description="An agent, which is sent the whole prompt in a new conversation each turn")
    ] = None
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
    model: Annotated[str, Field(description="`provider/name`, or `connector/<id>`")]
    connector_id: str | None
    params: Parameters
    max_attempts: int | None
    call_timeout_seconds: float | None


class _ChatFields(RequestModel):
    title: RunName | None = None
    target: ChatTargetInput | None = None
    system: Annotated[SystemText | None, Field(description="The system prompt")] = None
    profile_id: Annotated[Id | None, Field(description="Operation profile of its turns")] = None
    history_limit: Annotated[
        HistoryLimit | None, Field(description="How many earlier exchanges are part of a prompt")
    ] = DEFAULT_HISTORY_LIMIT
    metadata: Annotated[Metadata | None, Field(description="Without effect on the chat")] = None

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


class UpdateChat(_ChatFields):
    """Omitted fields keep their value. Turns that have started are not changed."""

    model_config = example({"title": "Refunds", "historyLimit": 20})

    active_branch_id: Annotated[Id | None, Field(description="The branch that turns go to by default")] = None

    _required_branch = field_validator("active_branch_id")(not_null)


class ChatResponse(ResponseModel):
    id: str
    title: Annotated[str | None, read_from("settings.title")]
    opening: Annotated[str | None, Field(description="The beginning of its first message; null before it")]
    target: Annotated[ChatTargetResponse, read_from("settings.parsed_target")]
    system: Annotated[str | None, read_from("settings.system")]
    profile_id: Annotated[str | None, read_from("settings.profile_id")]
    history_limit: Annotated[int, read_from("settings.history_limit")]
    metadata: Annotated[dict[str, Any], read_from("settings.metadata")]
    active_branch_id: str
    branch_count: int
    created_by: Annotated[str, Field(description="The id of the token that created it")]
    created_at: Time
    updated_at: Time
    expires_at: Annotated[Time | None, Field(description="When it is erased unless it is used before; null if never")]


class ChatPage(ResponseModel):
    items: list[ChatResponse]
    next_cursor: str | None


class CreateBranch(RequestModel):
    """A fork: it begins with the exchanges of another branch, and changes nothing there."""

    model_config = example({"name": "Shorter answers", "afterExchangeId": "ex_01k1f0aa", "includeAnswer": False})

    name: Label | None = None
    from_branch_id: Annotated[Id | None, Field(description="The active branch if omitted")] = None
    after_exchange_id: Annotated[
        Id | None, Field(description="The last exchange that the fork has; the last of the branch if omitted")
    ] = None
    include_answer: Annotated[
        Flag, Field(description="False leaves out the answers of that exchange, to have another one generated")
    ] = True
    artifacts: Annotated[
        Literal["carry", "fresh"],
        Field(description="Whether the fork has the artifacts that operations have stored up to there"),
    ] = "carry"


class UpdateBranch(RequestModel):
    model_config = example({"name": "Shorter answers"})

    name: Label


class BranchResponse(ResponseModel):
    id: str
    name: str
    parent_branch_id: Annotated[str | None, read_from("parent_id")]
    forked_after: Annotated[str | None, Field(description="The last exchange that it has in common with its parent")]
    length: Annotated[int, Field(description="In exchanges")]
    revision: Annotated[int, Field(description="Changes with every change of the branch")]
    open_turn_id: Annotated[
        str | None, Field(description="The turn in progress; no other is possible then"), read_from("open_turn")
    ]
    created_at: Time


class BranchPage(ResponseModel):
    items: list[BranchResponse]
    next_cursor: str | None


class UpdateMessage(RequestModel):
    """Exactly one of `content`, `selected` and `hidden`."""

    model_config = example({"content": "How long do I have to return it?"})

    content: Annotated[MessageText | None, Field(description="An edit: a new variant, which is selected")] = None
    selected: Annotated[int | None, Field(strict=True, ge=1, description="The number of a variant")] = None
    hidden: Annotated[Flag | None, Field(description="Whether the message is left out of later prompts")] = None
    revision: Revision = None

    @model_validator(mode="after")
    def _has_one_change(self) -> Self:
        if sum(each is not None for each in (self.content, self.selected, self.hidden)) != 1:
            raise ValueError("must have exactly one of content, selected and hidden")
        return self


class VariantResponse(ResponseModel):
    """One wording of a message. It never changes."""

    number: int
    kind: VariantKind
    content: str
    status: Annotated[VariantStatus, Field(description="Whether the call that wrote it was answered to its end")]
    based_on: Annotated[int | None, Field(description="The variant that was edited or rewritten")]
    branch_id: Annotated[str, Field(description="The branch in which it was made")]
    turn_id: Annotated[str | None, Field(description="The turn that made it")]
    model_id: Annotated[str | None, Field(description="Of an answer: the model that gave it")]
    usage: TokenUsageResponse | None
    cost_usd: Annotated[float | None, Field(description="Of the main call; null if it is unknown, or there was none")]
    annotations: Annotated[list[Any], Field(description="What operations have stored beside it")]
    created_at: Time


class VariantPage(ResponseModel):
    items: list[VariantResponse]
    next_cursor: str | None


class ChatMessageResponse(VariantResponse):
    """A message as a branch has it: its selected variant."""

    id: Annotated[str, read_from("message_id")]
    role: Annotated[str, Field(description="`user` or `assistant`")]
    variant_count: int
    hidden: bool
    deleted: bool

    @classmethod
    def of_shown(cls, message: ShownMessage) -> "ChatMessageResponse":
        return cls.from_value(
            message.variant, variant_count=message.variant_count, hidden=message.hidden, deleted=message.deleted
        )


class ExchangeResponse(ResponseModel):
    id: str
    position: int
    user: Annotated[ChatMessageResponse | None, Field(description="Null if it is hidden or deleted")]
    answer: Annotated[
        ChatMessageResponse | None, Field(description="Null while there is none, and if it is hidden or deleted")
    ]
    turn_id: Annotated[str | None, Field(description="The last turn here")]

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
    next_cursor: str | None
