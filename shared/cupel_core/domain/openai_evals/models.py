"""Names of models: `gpt-5-mini` is `openai/gpt-5-mini`; any other target has its provider in its name."""

_OPENAI = "openai/"


def to_target(model: str) -> str:
    return model if "/" in model else f"{_OPENAI}{model}"


def from_target(target: str) -> str:
    return target.removeprefix(_OPENAI)
