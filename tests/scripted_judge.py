"""A judge that answers by script, in the shape that it is asked for."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from cupel_core.domain.turns.model_request import Conversation, Reply, Usage
from cupel_core.providers.account import Account

VERDICT, CHOICE, GRADE = "successMet", "index", "pass"
"""By which word of its shape an answer is told."""


@dataclass
class ScriptedJudge:
    """Stands in for `complete`. `good` says which conversations pass; of several answers, the one at `best` is best."""

    good: Callable[[str], bool] = lambda read: "good" in read
    best: int = 0
    failure: Exception | None = None
    """Is raised instead."""
    asked: list[str] = field(default_factory=list)
    """The models, call by call."""

    async def __call__(self, _: Account, model: str, conversation: Conversation, __: float) -> Reply:
        self.asked.append(model)
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        answer = self._answer(conversation)
        return Reply(orjson.dumps(answer).decode(), f"{model}-1", Usage(10, 5), "stop")

    def _answer(self, conversation: Conversation) -> dict[str, Any]:
        schema: Any = conversation.json_schema
        good = self.good(conversation.messages[-1].content)
        if VERDICT in schema["properties"]:
            return {"successMet": good, "failureMet": False, "confidence": 0.9, "reasoning": "as it was said"}
        if CHOICE in schema["properties"]:
            return {"index": self.best, "reason": "it is the shortest"}
        return {"reason": "by the rubric", "pass": good, "score": float(good)}
