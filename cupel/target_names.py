"""Replaces ids of agents by names for people: `connector/Booking bot` for `connector/con_01jd3v…`."""

from collections.abc import Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from cupel.columns import RunColumn, column_of
from cupel.errors import ApiProblem
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client

_PREFIX = "connector/"


class TargetNames:
    """Reads each connector once, when its name is needed first. A deleted one is called by its id."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def of(self, target: str) -> str:
        if not target.startswith(_PREFIX):
            return target
        if target not in self._names:
            self._names[target] = self._read(target)
        return self._names[target]

    def named(self, items: Iterable[Json]) -> list[Json]:
        return [{**item, "column": self.of_column(column_of(item)).name} for item in items]

    def in_text(self, text: str, targets: Iterable[str]) -> str:
        for target in targets:
            text = text.replace(target, self.of(target))
        return text

    def in_figures(self, figures: Json) -> Json:
        rows = [self._in_row(row) for row in figures["rows"]]
        return {**figures, "rows": rows, "overall": figures["overall"] and self._in_row(figures["overall"])}

    def _in_row(self, row: Json) -> Json:
        sides = {name: row[name] for name in ("baseline", "comparison")}
        targets = {column["targetId"] for columns in sides.values() for column in columns}
        named = {
            name: [{**column, "targetId": self.of(column["targetId"])} for column in columns]
            for name, columns in sides.items()
        }
        return {**row, **named, "sentence": self.in_text(row["sentence"], targets)}

    def of_column(self, column: RunColumn) -> RunColumn:
        return replace(column, target=self.of(column.target))

    def _read(self, target: str) -> str:
        try:
            connector = self._client.get_connector(target.removeprefix(_PREFIX))
        except ApiProblem as problem:
            if problem.status != HTTPStatus.NOT_FOUND:
                raise
            return target
        return f"{_PREFIX}{connector['name']}"
