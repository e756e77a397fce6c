from dataclasses import dataclass, field

from cupel.json_types import Json
from cupel_core.domain.runs.plan import column_name


@dataclass(frozen=True)
class RunColumn:
    target: str
    """The target's id: its label, else its model."""
    model: str
    prompt: str | None = None
    prompt_label: str | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return column_name(self.target, self.prompt_label or self.prompt)


def column_of(item: Json) -> RunColumn:
    return RunColumn(item["targetId"], item["modelId"], item.get("promptId"), item.get("promptLabel"))


def columns_of(run: Json) -> list[RunColumn]:
    config = run["config"]
    prompts = (config.get("definitionSnapshot") or {}).get("prompts") or ()
    labels = {prompt["id"]: prompt.get("label") for prompt in prompts}
    return [
        RunColumn(target["id"], target["model"] or f"connector/{target['connectorId']}", prompt, labels.get(prompt))
        for target in config["targets"]
        for prompt in config["promptIds"] or [None]
    ]
