"""Descriptions and examples of the fields of chats, for the OpenAPI document."""

from typing import Any

CHAT_DESCRIPTIONS = {
    "Branch.parentBranchId": "The branch that it was forked from; null for the first",
    "Chat.activeBranchId": "The branch that turns go to by default",
    "Chat.branchCount": "How many branches it has",
    "Chat.historyLimit": "How many earlier exchanges are part of a prompt",
    "Chat.metadata": "Your own data about the chat, without effect on it",
    "Chat.system": "The system prompt",
    "Chat.target": "The model or connector that answers",
    "ChatTarget.callTimeoutSeconds": "Timeout of one call; null for the stack's",
    "ChatTarget.connectorId": "The connector; null for a model",
    "ChatTarget.maxAttempts": "Of one call, with the first; null for 4",
    "Chat.title": "What people call it",
    "ChatMessage.deleted": "Whether it was taken out of the branch",
    "ChatMessage.hidden": "Whether later prompts leave it out",
    "ChatMessage.variantCount": "How many wordings it has",
    "CreateBranch.name": "What people call it; its id if omitted",
    "CreateChat.target": "The model or connector that answers",
    "CreateChat.title": "What people call it",
    "Exchange.position": "Its place in the branch, from 0",
    "UpdateBranch.name": "What people call it",
    "UpdateChat.target": "The model or connector that answers",
    "UpdateChat.title": "What people call it",
    "BranchArtifact.tag": "Templates read the value as `art.<tag>.value`",
    "BranchArtifact.value": "The newest value",
    "BranchSession.profileId": "The profile whose operations have stored them",
    "PromptMessage.content": "The text",
    "StartTurn.trigger": "Whether a new message is answered, or the last one again",
    "TurnEvent.branchId": "The branch of the turn",
    "TurnEvent.chatId": "The chat of the turn",
    "TurnEvent.exchangeId": "The exchange whose answer the turn makes",
    "TurnEvent.trigger": "Whether a new message is answered, or the last one again",
    "TurnEvent.ts": "When it happened",
    "TurnEvent.turnId": "The turn",
    "TurnEvent.data": "What the event reports; its fields depend on `type`",
    "TurnEvent.seq": "Number of the event, from 1",
    "TurnEvent.type": "What has happened",
    "TurnEventList.phase": "Where the turn stands",
    "TurnFailure.errorMessage": "What went wrong",
    "TurnPrompt.messages": "As they were sent",
    "TurnProfile.enabled": "Whether its operations run",
    **{
        f"{schema}.{field}": text
        for schema in ("Turn", "TurnSummary")
        for field, text in {
            "abortReason": "`user` or `deadline`; null unless it was aborted",
            "branchId": "Its branch",
            "chatId": "Its chat",
            "clientRequestId": "As it was sent; null without one",
            "deadlineAt": "When it is aborted if it is not over",
            "exchangeId": "The exchange whose answer it makes",
            "failedDetails": "Why it failed; null unless it did",
            "failedType": "Where it failed: before the main call, in it, or after it; null unless it did",
            "finishedAt": "When it ended; null until then",
            "phase": "Where it stands",
            "profile": "The profile at the version that it runs; null without one",
            "startedAt": "When a worker began; null until then",
            "status": "`queued`, `running`, `done`, `failed` or `aborted`",
            "trigger": "Whether a new message is answered, or the last one again",
            "userMessageId": "The message that it answers",
        }.items()
    },
    **{
        f"{schema}.{field}": text
        for schema in ("ChatMessage", "Variant")
        for field, text in {
            "content": "The text",
            "kind": "`main` as it was sent or answered, `edit` of a person, `rewrite` of an operation",
            "number": "The number of the variant",
            "usage": "Tokens of the main call; null if there was none",
        }.items()
    },
}
"""By schema and field."""

_CREATED = "2026-11-20T09:30:00Z"
_BRANCH_ID = "br_01k1f0aa"
_EXCHANGE_ID = "ex_01k1f0aa"
_USAGE = {"inputTokens": 12, "outputTokens": 9, "cachedInputTokens": 0, "cacheWriteTokens": 0}
_VARIANT = {
    "number": 2,
    "kind": "edit",
    "content": "You can return it within 30 days.",
    "status": "done",
    "basedOn": 1,
    "branchId": _BRANCH_ID,
    "turnId": "turn_01k1f0aa",
    "modelId": "openai/gpt-5-mini",
    "usage": _USAGE,
    "costUsd": 0.00002,
    "annotations": [],
    "createdAt": _CREATED,
}
_ANSWER = {
    **_VARIANT,
    "id": f"{_EXCHANGE_ID}.answer",
    "role": "assistant",
    "variantCount": 2,
    "hidden": False,
    "deleted": False,
}
_USER = {
    **_ANSWER,
    "id": f"{_EXCHANGE_ID}.user",
    "role": "user",
    "content": "I want my money back.",
    "turnId": None,
    "modelId": None,
    "usage": None,
    "costUsd": None,
}
_TARGET = {"model": "openai/gpt-5-mini", "params": {"temperature": 0.7}}
_SHOWN_TARGET = {**_TARGET, "connectorId": None, "maxAttempts": 4, "callTimeoutSeconds": 60}
_CHAT = {
    "id": "chat_01k1f0aa",
    "title": "Refund policy",
    "target": _SHOWN_TARGET,
    "system": "Be brief.",
    "profileId": "prof_01",
    "historyLimit": 50,
    "metadata": {},
    "activeBranchId": _BRANCH_ID,
    "branchCount": 1,
    "createdBy": "tok_01k1f0aa",
    "createdAt": _CREATED,
    "updatedAt": _CREATED,
    "expiresAt": "2027-11-20T09:30:00Z",
}
_BRANCH = {
    "id": _BRANCH_ID,
    "name": "Shorter answers",
    "parentBranchId": "br_01k1f0ab",
    "forkedAfter": _EXCHANGE_ID,
    "length": 1,
    "revision": 3,
    "openTurnId": "turn_01k1f0ab",
    "createdAt": _CREATED,
}
_EXCHANGE = {"id": _EXCHANGE_ID, "position": 0, "user": _USER, "answer": _ANSWER, "turnId": "turn_01k1f0aa"}
_TURN: dict[str, Any] = {
    "id": "turn_01k1f0aa",
    "chatId": "chat_01k1f0aa",
    "branchId": _BRANCH_ID,
    "exchangeId": _EXCHANGE_ID,
    "userMessageId": f"{_EXCHANGE_ID}.user",
    "trigger": "generate",
    "initiator": "tok_01k1f0aa",
    "clientRequestId": "5c0f9e1a",
    "profile": {"id": "prof_01", "version": 2, "enabled": True, "sessionId": "session_01"},
    "model": "openai/gpt-5-mini",
    "status": "failed",
    "phase": "finished",
    "failedType": "before_barrier",
    "failedDetails": {"operationId": "tone", "errorCode": "timeout", "errorMessage": "no response within 60 s"},
    "abortReason": "user",
    "createdAt": _CREATED,
    "startedAt": _CREATED,
    "finishedAt": _CREATED,
    "deadlineAt": "2026-11-20T09:32:00Z",
    "durationMs": 1200,
}
_EVENT = {
    "seq": 2,
    "type": "turn.phase_changed",
    "ts": _CREATED,
    "turnId": "turn_01k1f0aa",
    "chatId": "chat_01k1f0aa",
    "branchId": _BRANCH_ID,
    "exchangeId": _EXCHANGE_ID,
    "trigger": "generate",
    "data": {"phase": "main_llm"},
}
_ARTIFACT = {
    "tag": "summary",
    "value": "The customer wants a refund.",
    "history": ["A customer writes."],
    "updatedAt": _CREATED,
}
_TEXT = {"attempt": 1, "offset": 18, "text": "within 30 days."}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "TurnSummary": _TURN,
    "Turn": {
        **_TURN,
        "leftOut": [{"operationId": "notes", "reason": "trigger_mismatch"}],
        "operations": [{"operationId": "tone", "name": "Tone", "hook": "before_main_llm", "status": "error"}],
        "main": {"performed": False, "model": "openai/gpt-5-mini"},
        "commits": [{"operationId": "tone", "effectIndex": 0, "status": "applied"}],
        "uncertainUsd": 0.0002,
    },
    "TurnProfile": _TURN["profile"],
    "TurnFailure": _TURN["failedDetails"],
    "TurnEvent": _EVENT,
    "TurnText": _TEXT,
    "BranchArtifact": _ARTIFACT,
    "BranchSession": {
        "id": "4be1a0f2c3d49e57",
        "profileId": "prof_01",
        "sessionId": "01k1f0aa",
        "createdAt": _CREATED,
        "tags": ["summary"],
    },
    "PromptMessage": {"role": "user", "content": "I want my money back."},
    "Chat": _CHAT,
    "ChatTarget": {**_SHOWN_TARGET, "model": "connector/conn_01k1f0aa", "connectorId": "conn_01k1f0aa"},
    "Branch": _BRANCH,
    "Exchange": _EXCHANGE,
    "ChatMessage": _ANSWER,
    "Variant": _VARIANT,
}

CHAT_EXAMPLES: dict[str, Any] = {
    **{f"{schema}.{field}": value for schema, fields in _SCHEMAS.items() for field, value in fields.items()},
    "ChatPage.items": [_CHAT],
    "BranchPage.items": [_BRANCH],
    "ExchangePage.items": [_EXCHANGE],
    "VariantPage.items": [_VARIANT],
    "BranchArtifactList.items": [_ARTIFACT],
    "TurnPage.items": [_TURN],
    "TurnEventList.items": [_EVENT],
    "TurnEventList.phase": "main_llm",
    "TurnEventList.status": "running",
    "TurnEventList.text": _TEXT,
    "TurnPrompt.messages": [{"role": "user", "content": "I want my money back."}],
    "StartTurn.branchId": _BRANCH_ID,
    "StartTurn.deadlineMs": 120_000,
    "StartTurn.profileId": "prof_01",
    "StartTurn.trigger": "generate",
    "ChatTargetInput.model": "openai/gpt-5-mini",
    "ChatTargetInput.connectorId": "conn_01k1f0aa",
    "CreateBranch.artifacts": "carry",
    "CreateBranch.fromBranchId": _BRANCH_ID,
    "CreateChat.metadata": {"team": "search"},
    "CreateChat.historyLimit": 50,
    "UpdateChat.activeBranchId": _BRANCH_ID,
    "UpdateChat.metadata": {"team": "search"},
    "UpdateChat.system": "Be brief.",
    "UpdateChat.target": _TARGET,
    "UpdateMessage.hidden": False,
    "UpdateMessage.revision": 3,
    "UpdateMessage.selected": 1,
}
"""By schema and field."""
