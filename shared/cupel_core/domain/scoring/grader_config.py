from collections.abc import Iterable
from dataclasses import asdict, replace

from cupel_core.base.deferred import dataclass

GRADING_VERSION = 1
"""Version of everything about judges that Cupel's code decides: prompts, temperature, the rendering of transcripts, the
schemas of replies and how they are read. A verdict is one reply; there is no vote of several."""


@dataclass(frozen=True)
class GraderConfig:
    """Models are `provider/name`. Without a judge, conversations are not judged and follow their script only."""

    judge_model: str | None = None
    persona_model: str | None = None
    """The model simulates the user; None stands for the judge model."""
    embedding_model: str | None = None
    evaluator_url: str | None = None
    """The external evaluator's results are added to the assertions'; its headers are secrets."""
    evaluator_headers_version: str | None = None
    """None if no headers are stored."""
    summarizer_model: str | None = None
    """The model writes the summaries of reports and grades nothing; None stands for the judge model."""
    judge_max_output_tokens: int | None = None

    @property
    def report_model(self) -> str | None:
        """Return the model that summarizes a report unless its request names another; None for no summary."""
        return self.summarizer_model or self.judge_model

    def with_defaults(self, defaults: "GraderConfig") -> "GraderConfig":
        """Return this configuration with unset fields from `defaults`. An evaluator's headers are never used with
        another URL."""
        if self.evaluator_url is not None:
            defaults = replace(defaults, evaluator_headers_version=None)
        overrides = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(defaults, **overrides)

    def without(self, fields: Iterable[str]) -> "GraderConfig":
        removed = dict.fromkeys(fields)
        if "evaluator_url" in removed:
            removed["evaluator_headers_version"] = None
        return replace(self, **removed)
