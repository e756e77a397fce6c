from typing import NamedTuple

from cupel_core.base.errors import Invalid
from cupel_core.definitions import resolve
from cupel_core.definitions.generation.generations import check_matrix
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.domain.definitions.scenarios import Scenario


class ScenarioPreview(NamedTuple):
    total: int
    scenarios: tuple[Scenario, ...]
    """Some of the scenarios, from the first to the last one. They have no ids yet."""


def preview(
    workspace: str, definition_id: str, options: LevelOptionChoice, seed: int, count: int, version: int | None = None
) -> ScenarioPreview:
    """Return the preview. Raise Invalid for anything that cannot be generated, as the generation does, and NotFound."""
    content = resolve(workspace, definition_id, version).content
    if content.template is None:
        raise Invalid.field("definitionId", "has no template to generate scenarios from")
    matrix = Matrix(content, options, seed)
    check_matrix(matrix)
    shown = (matrix.scenario(index, matrix.text(index)) for index in _spread(matrix.size, count))
    return ScenarioPreview(matrix.size, tuple(shown))


def _spread(size: int, count: int) -> list[int]:
    """Return at most `count` indexes at equal distances, including the first and the last."""
    if size <= count:
        return list(range(size))
    return [0] if count == 1 else [number * (size - 1) // (count - 1) for number in range(count)]
