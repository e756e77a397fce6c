"""With what a run is evaluated: who judges, who plays the user, who embeds, and who is asked outside."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Evaluation:
    """Models are `provider/name`. Without a judge a conversation is not judged, and goes on by script alone."""

    judge_model: str | None = None
    persona_model: str | None = None
    """Plays the user; the judge does when None."""
    embedding_model: str | None = None
    evaluator_url: str | None = None
    """Is asked for results beside the assertions; its headers are secrets."""
    evaluator_headers_version: str | None = None
    """Of the stored headers; None when there are none."""

    def over(self, other: "Evaluation") -> "Evaluation":
        """This one, and where it says nothing the other. An evaluator's headers go nowhere but to that evaluator."""
        if self.evaluator_url is not None:
            other = replace(other, evaluator_headers_version=None)
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(other, **given)

    def to_json(self) -> dict[str, Any]:
        told = {
            "judgeModel": self.judge_model,
            "personaModel": self.persona_model,
            "embeddingModel": self.embedding_model,
            "evaluatorUrl": self.evaluator_url,
            "evaluatorHeadersVersion": self.evaluator_headers_version,
        }
        return {name: value for name, value in told.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Evaluation":
        return cls(
            data.get("judgeModel"),
            data.get("personaModel"),
            data.get("embeddingModel"),
            data.get("evaluatorUrl"),
            data.get("evaluatorHeadersVersion"),
        )
