"""Examples of fields, for the OpenAPI document.

A field's example is, in this order: the one in the example of its request (`json_schema_extra` of the model), the one
of BY_SCHEMA, that of the schema it refers to, the one of BY_NAME. A schema's example consists of its fields' examples.
Like the descriptions, they are apart from the models because only the document needs them.
"""

from collections.abc import Iterator
from typing import Any

from cupel_core.contract.service import VERSION

_CREATED = "2026-11-20T09:30:00Z"
_STARTED = "2026-11-20T09:30:02Z"
_COMPLETED = "2026-11-20T09:34:10Z"
_LATER = "2026-11-20T10:00:00Z"
_MODEL = "openai/gpt-5-mini"
_JUDGE_MODEL = "anthropic/claude-sonnet-4-5"
_ASSERTION = {"type": "contains", "value": "30 days"}
_PROMPT = "I want my money back."
_ANSWER = "You can return it within 30 days."
_DEFINITION_NAME = "Refund policy"
_REASON = "The agent explains the 30-day limit."

ABSENT = frozenset(
    {
        "attempts",
        "disabledReason",
        "erasedAt",
        "erasureCompletedAt",
        "error",
        "evaluatorNote",
        "failure",
        "pauseCause",
        "pauseReason",
        "stopReason",
        "problem",
        "revokedAt",
        "summaryError",
        "suspendedModels",
        "suspendedUntil",
        "throttledUntil",
    }
)
"""Fields that are null or empty in the example of a schema, where they would contradict the others."""

_TOOL_CALL = {"id": "call_1", "name": "find_order", "arguments": '{"number":"A-17"}'}

BY_NAME: dict[str, Any] = {
    "callTimeoutSeconds": 60.0,
    "frequencyPenalty": 0.1,
    "maxAttempts": 4,
    "maxOutputTokens": 500,
    "isError": True,
    "maxToolRounds": 5,
    "messagesByPrompt": {"polite": [{"role": "user", "content": _PROMPT}]},
    "params": {"temperature": 0.2},
    "presencePenalty": 0.1,
    "promptId": "polite",
    "promptIds": ["plain", "polite"],
    "stop": ["END"],
    "targetId": "sober",
    "toolCallId": "call_1",
    "toolRounds": 1,
    "toolCalls": [_TOOL_CALL],
    "topK": 40,
    "topP": 0.9,
    "assertions": [_ASSERTION],
    "at": _CREATED,
    "attemptedAt": _COMPLETED,
    "attempts": 1,
    "baseUrl": "https://agent.example.com/v1",
    "calls": 3,
    "cause": "ValidationError: indexes is missing",
    "completed": 58,
    "completedAt": _COMPLETED,
    "confidence": 0.9,
    "config": {"model": "support-agent"},
    "connectorId": "con_01",
    "connectorUrls": ["https://agent.example.com/v1"],
    "content": _ANSWER,
    "contentExpiresAt": "2027-11-20T09:34:10Z",
    "corrected": False,
    "costUsd": 0.0042,
    "count": 2,
    "createdAt": _CREATED,
    "createdIds": ["def_01"],
    "criteria": {"success": _REASON},
    "data": {"from": "PENDING", "to": "RUNNING"},
    "deadLetters": 0,
    "decided": 58,
    "decisionCode": "4",
    "decisionText": "Grants the refund, with a condition.",
    "definitionId": "def_01",
    "definitionName": _DEFINITION_NAME,
    "definitionSnapshot": {"system": "You are a support agent of an online shop."},
    "definitionVersion": 3,
    "deleted": True,
    "deletedIds": ["run_01k1f0aa", "run_01k1f0ab"],
    "delivered": True,
    "description": "Writes short messages and wants an answer at once.",
    "detail": "No such run",
    "dimensions": {"delay": 5},
    "disabledReason": "the receiver answered 410 Gone",
    "dropped": 0,
    "durationMs": 1840,
    "embeddingModel": "openai/text-embedding-3-small",
    "enabled": True,
    "erasedAt": _CREATED,
    "erasureCompletedAt": _LATER,
    "error": "401 Unauthorized",
    "errored": 2,
    "estimatedTokens": 0,
    "etaSeconds": 40.0,
    "etag": '"3"',
    "evalId": "evl_01",
    "evaluatorNote": "the evaluator returned no score",
    "evaluatorUrl": "https://evaluator.example.com/score",
    "executionId": 17,
    "experimentId": "exp-refunds",
    "expiresAt": "2027-01-01T00:00:00Z",
    "expression": "cron(0 3 * * ? *)",
    "failed": 2,
    "failure": "The agent promises a refund after the limit.",
    "failureCriteria": "The agent promises a refund after the limit.",
    "failureMet": False,
    "failures": 0,
    "field": "content.template",
    "finishReason": "stop",
    "firedAt": "2026-11-20T03:00:01Z",
    "folder": "support",
    "followUps": ["And if I have lost the receipt?"],
    "granted": 8,
    "hasKey": True,
    "headerNames": ["Authorization"],
    "headers": {"Authorization": "Bearer agent-key"},
    "httpStatus": 200,
    "id": "run_01k1f0aa",
    "ids": ["scn_01", "scn_02"],
    "imported": {"definitions": 1, "scenarios": 2},
    "index": 7,
    "indexes": [0, 1, 2],
    "inputTokens": 412,
    "inputUsdPerMillion": 0.25,
    "instructions": "Ask for a refund after two months.",
    "interval95": [0.81, 0.96],
    "isComplete": True,
    "jobCount": 60,
    "judgeModel": _JUDGE_MODEL,
    "judged": 58,
    "k": 3,
    "label": "two months",
    "lastAccessedAt": _LATER,
    "lastUsedAt": _LATER,
    "latencyMs": 620,
    "learnedLimit": 8,
    "limit": 20,
    "lostUsd": 0.0,
    "matchingRules": [{"pattern": "(?i)refund granted", "code": "5"}],
    "maxMessages": 8,
    "maxParallelRequests": 20,
    "maxTurns": 6,
    "mean": 0.9,
    "meanDecision": 3.8,
    "meanScore": 0.88,
    "message": "the provider answered 429: rate limit reached",
    "messageId": "5f0c6c0e-3d5b-4f0e-9d0a-0f5f6f7b8c9d",
    "metadata": {"commit": "6f1b2c9"},
    "metric": "brevity",
    "metrics": {"brevity": 0.95},
    "model": _MODEL,
    "modelId": _MODEL,
    "modelVersion": "gpt-5-mini-2025-08-07",
    "models": [_MODEL],
    "name": _DEFINITION_NAME,
    "needsKey": True,
    "nextAttemptAt": _LATER,
    "nextCursor": "eyJrIjoicnVuXzAxazFmMGFhIn0",
    "ok": True,
    "options": ["two months"],
    "output": {"answer": _ANSWER},
    "outputTokens": 96,
    "outputUsdPerMillion": 2.0,
    "parentId": "def_00",
    "parentVersion": 2,
    "parts": [],
    "passAtK": 0.97,
    "passHatK": 0.83,
    "passRate": 0.9,
    "passed": True,
    "pattern": "Decision: ([1-5])",
    "paused": False,
    "pending": 120,
    "personaId": "per_01",
    "personaIds": ["per_01"],
    "personaModel": _MODEL,
    "personaName": "Impatient customer",
    "playground": False,
    "pricedUsd": 0.0042,
    "probeIndex": 7,
    "probes": 60,
    "provider": "openai",
    "ratePerSecond": 4.5,
    "rawResponse": '{"successMet": true, "failureMet": false}',
    "readAt": _COMPLETED,
    "reason": _REASON,
    "reasoning": _REASON,
    "receivedCount": 5,
    "repeat": 0,
    "repeats": 3,
    "replace": True,
    "reply": _ANSWER,
    "requestId": "JKfFAhvroAMEPtA=",
    "requestsPerMinute": 500,
    "rerunOf": "run_01k1f0ab",
    "rescoreId": "scr_01",
    "revokedAt": _LATER,
    "rubric": "1 = refused, 5 = granted",
    "runId": "run_01k1f0aa",
    "running": 0,
    "runsToRetry": ["run_01k1f0aa"],
    "samplePercentage": 10,
    "sampleSeed": 17,
    "scenarioCount": 20,
    "scenarioId": "scn_01",
    "scenarioIds": ["scn_01", "scn_02"],
    "scenarioName": "late refund",
    "scenarioTotal": 200,
    "scheduleId": "sch_01",
    "scheduledTime": "2026-11-20T03:00:00Z",
    "score": 0.9,
    "secret": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3",
    "seed": 17,
    "sent": 2,
    "seq": 4,
    "simulated": False,
    "simulatedUserPrompt": "You are an impatient customer.",
    "source": "cupel",
    "standardError": 0.04,
    "startedAt": _STARTED,
    "status": 404,
    "success": True,
    "successCriteria": _REASON,
    "successMet": True,
    "successes": 52,
    "summarizedAt": "2026-11-20T09:34:08Z",
    "summaryError": "the judge's reply was unusable",
    "suspendedUntil": _LATER,
    "system": "You are a support agent of an online shop.",
    "systemPrompt": "You are an impatient customer.",
    "tag": "refunds",
    "tags": ["nightly"],
    "temperature": 0.7,
    "template": "A customer asks for a refund after [delay]. Answer the customer.",
    "threadId": "0b9a6f0e-6d3c-5c0e-9a55-3c1f9a7d2e41",
    "throttledUntil": _LATER,
    "ticket": "Zk3xq8w2",
    "timezone": "Europe/Berlin",
    "title": "Not Found",
    "token": "cupel_4bQm8x",
    "tokenCount": 508,
    "tokenId": "tok_01",
    "tokensPerMinute": 200_000,
    "total": 60,
    "ts": _STARTED,
    "turnCount": 1,
    "unknownMessageIds": [],
    "unscored": 0,
    "until": _LATER,
    "updatedAt": _COMPLETED,
    "url": "https://ci.example.com/cupel",
    "usable": True,
    "userName": "ada@example.com",
    "variables": {"delay": "two months"},
    "version": 3,
    "versionLabel": "v1.2",
    "weight": 1.0,
    "what": "tests.0.assert.1",
    "where": "summarize",
    "why": "code in JavaScript is never executed",
    "wordCount": 8,
    "workers": 2,
}

BY_SCHEMA: dict[str, Any] = {
    "CaseResults.index": 7,
    "CellResults.best": 1,
    "CellResults.completed": 3,
    "CellResults.decisions": {"4": 2, "5": 1},
    "CellResults.errors": {},
    "CellResults.judged": 3,
    "CellResults.meanScore": 0.66,
    "CellResults.missing": 0,
    "CellResults.passed": 2,
    "AssertionResult.type": "contains",
    "Estimate.basis": "default",
    "Estimate.priceList": "genai-prices 0.2.3",
    "Estimate.unpriced": [],
    "EstimateInterval.expected": 0.74,
    "EstimateInterval.high": 2.9,
    "EstimateInterval.low": 0.2,
    "GraderEstimate.role": "judge",
    "Target.id": "sober",
    "Target.label": "sober",
    "TargetProgress.target": "sober",
    "ToolCall.arguments": _TOOL_CALL["arguments"],
    "ToolCall.id": "call_1",
    "ToolCall.name": "find_order",
    "AuditRecord.operation": "deleteRuns",
    "AuditRecord.path": "/v1/runs/bulk-delete",
    "AuditRecord.status": 200,
    "Connector.id": "con_01",
    "Connector.name": "Support agent",
    "CriteriaInput.success": _REASON,
    "Definition.id": "def_01",
    "Definition.tags": ["refunds"],
    "DefinitionDimension.name": "delay",
    "DefinitionSummary.id": "def_01",
    "DefinitionSummary.tags": ["refunds"],
    "DimensionLevel.description": "Long after the limit",
    "DimensionLevel.score": 5,
    "Eval.id": "evl_01",
    "Eval.name": "Refunds, nightly",
    "EventTicket.path": "/v1/runs/run_01k1f0aa/events?ticket=Zk3xq8w2",
    "GenerationProgress.completed": 20,
    "GenerationProgress.total": 20,
    "Health.status": "ok",
    "Health.version": VERSION,
    "ImportedDefinition.content": {"template": "{{question}}"},
    "ImportedDefinition.id": "def_01",
    "ImportedDefinition.targets": [{"model": _MODEL, "label": "sober", "params": {"temperature": 0}}],
    "MessageInput.content": _PROMPT,
    "MessageInput.role": "user",
    "Model.contextLength": 272_000,
    "Model.id": _MODEL,
    "Model.inputModalities": ["text", "image", "pdf"],
    "Model.maxOutputTokens": 128_000,
    "Model.name": "gpt-5-mini",
    "Model.supportedParameters": ["tools", "toolChoice", "responseFormat", "reasoningEffort"],
    "ColumnScores.tags": {"polite": 12},
    "Persona.id": "per_01",
    "Persona.name": "Impatient customer",
    "PersonaInput.name": "Impatient customer",
    "PersonaMessage.content": _PROMPT,
    "Probe.id": "run_01k1f0aa-7",
    "ProbeDetail.id": "run_01k1f0aa-7",
    "ProbeDetail.messages": [{"role": "user", "content": _PROMPT}, {"role": "assistant", "content": _ANSWER}],
    "Problem.errors": [{"field": "models.1", "message": "unknown provider for model 'opnai/gpt-5'"}],
    "Problem.type": "urn:cupel:problem:not-found",
    "Provider.baseUrl": "https://api.openai.com/v1",
    "Provider.name": "openai",
    "Provider.title": "OpenAI",
    "Rescore.id": "scr_01",
    "Run.durationMs": 248_000,
    "Run.name": "Release candidate 2",
    "Scenario.id": "scn_01",
    "Scenario.name": "late refund",
    "ScenarioDetail.id": "scn_01",
    "ScenarioDetail.name": "late refund",
    "ScenarioGeneration.id": "gen_01",
    "Schedule.id": "sch_01",
    "Schedule.name": "Nightly refunds",
    "ScheduledEvalRun.name": "Nightly refunds",
    "ScheduledRun.name": "Nightly refunds",
    "StartedBy.id": "tok_01",
    "StartedBy.name": "nightly CI",
    "Token.id": "tok_01",
    "Token.name": "nightly CI",
    "TokenCreated.id": "tok_01",
    "TokenCreated.name": "nightly CI",
    "Transcript.id": "run_01k1f0aa-7",
    "TranscriptContent.messages": [{"role": "user", "content": _PROMPT}, {"role": "assistant", "content": _ANSWER}],
    "UpdateProvider.baseUrl": "https://api.openai.com/v1",
    "Webhook.probes": False,
    "WebhookDelivery.type": "run.finished",
    "WebhookSet.probes": False,
    "Workspace.name": "team-a",
}

_ENUMS = {
    "AccessRole": "member",
    "CallbackStatus": "DELIVERED",
    "GenerationStatus": "COMPLETED",
    "MessageRole": "assistant",
    "Priority": "NORMAL",
    "ProbeStatus": "COMPLETED",
    "RescoreStatus": "COMPLETED",
    "RunStatus": "COMPLETED",
}
"""Of the other enumerations, the first value is the example."""


class SchemaExamples:
    """The examples of the fields of an OpenAPI document's schemas."""

    def __init__(self, schemas: dict[str, Any]):
        self._schemas = schemas

    def of_field(self, schema: str, field: str) -> Any:
        """The example of a field; None if there is none."""
        for example in self._schemas[schema].get("examples", ()):
            if field in example:
                return example[field]
        if (example := BY_SCHEMA.get(f"{schema}.{field}")) is not None:
            return example
        described = self._schemas[schema]["properties"][field]
        for choice in (described, *described.get("anyOf", ())):
            if "$ref" in choice:
                return self._of_schema(_name(choice))
            if "$ref" in choice.get("items", ()):
                return [self._of_schema(_name(choice["items"]))]
        return BY_NAME.get(field)

    def _of_schema(self, name: str) -> Any:
        schema = self._schemas[name]
        if choices := schema.get("enum"):
            return _ENUMS.get(name, choices[0])
        if examples := schema.get("examples"):
            return examples[0]
        return dict(self._fields_of(name))

    def _fields_of(self, name: str) -> Iterator[tuple[str, Any]]:
        for field, described in self._schemas[name]["properties"].items():
            if field not in ABSENT:
                yield field, self.of_field(name, field)
            elif described.get("type") == "array":
                yield field, []
            elif {"type": "null"} in described.get("anyOf", ()):
                yield field, None
            else:
                yield field, self.of_field(name, field)


def _name(reference: dict[str, Any]) -> str:
    name: str = reference["$ref"].rpartition("/")[2]
    return name
