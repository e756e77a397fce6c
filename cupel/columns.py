"""The columns of a run in the API's fields: each is a target, asked by one of the definition's prompts."""

from dataclasses import dataclass

from cupel.json_types import Json
from cupel_core.domain.runs.plan import column_name


@dataclass(frozen=True)
class RunColumn:
    target: str
    """The target's id: its label, else its model."""
    model: str
    prompt: str | None = None
    """The id of the definition's prompt; None if it has none."""

    @property
    def name(self) -> str:
        return column_name(self.target, self.prompt)


def column_of(item: Json) -> RunColumn:
    """Of a probe, a transcript, a score or the like."""
    return RunColumn(item["targetId"], item["modelId"], item.get("promptId"))


def columns_of(run: Json) -> list[RunColumn]:
    """In the order of the run's results."""
    config = run["config"]
    return [
        RunColumn(target["id"], target["model"] or f"connector/{target['connectorId']}", prompt)
        for target in config["targets"]
        for prompt in config["promptIds"] or [None]
    ]
