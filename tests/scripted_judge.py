"""A judge with scripted replies that conform to the requested schema."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from cupel_core.domain.conversations.model_request import ModelRequest, Reply, Usage
from cupel_core.providers.account import Account

DECISION_TEXT = "It rates four."
VERDICT, CHOICE, GRADE, TEXT = "successMet", "index", "pass", "decisionText"
"""Properties that identify the requested schema."""


@dataclass
class ScriptedJudge:
    """Replaces `complete`. `passes` decides which conversations pass; `best_index` is the best of several replies."""

    passes: Callable[[str], bool] = lambda text: "good" in text
    best_index: int = 0
    error: Exception | None = None
    """Raised instead of a reply."""
    called_models: list[str] = field(default_factory=list)
    """The model of each call."""

    async def __call__(self, _: Account, model: str, conversation: ModelRequest, __: float) -> Reply:
        self.called_models.append(model)
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        reply = self._reply(conversation)
        return Reply(orjson.dumps(reply).decode(), f"{model}-1", Usage(10, 5), "stop")

    def _reply(self, conversation: ModelRequest) -> dict[str, Any]:
        schema: Any = conversation.json_schema
        passes = self.passes(conversation.messages[-1].content)
        if VERDICT in schema["properties"]:
            return {"successMet": passes, "failureMet": False, "confidence": 0.9, "reasoning": "by the conversation"}
        if CHOICE in schema["properties"]:
            return {"index": self.best_index, "reason": "it is the shortest"}
        if TEXT in schema["properties"]:
            return {TEXT: DECISION_TEXT}
        return {"reason": "by the rubric", "pass": passes, "score": float(passes)}
