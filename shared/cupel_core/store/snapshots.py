"""Snapshots of what a run was started with: the definition's content, the scenario pages, the cases and the prices."""

from collections.abc import Iterable
from dataclasses import astuple, field, replace
from typing import Any, Self

import orjson

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import NotFound
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.resources.providers import ModelPrice, Prices
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.scoring.grader_config import GRADING_VERSION
from cupel_core.store import blobs, scenarios
from cupel_core.store.document_cache import DocumentCache

MAX_CACHED_BYTES = 16_000_000
"""The cache holds this much JSON. The snapshot of a run of a million cases has 7 MB."""


@dataclass(frozen=True)
class Snapshot:
    definition: dict[str, Any]
    manifest: Manifest
    scenario_positions: tuple[int, ...]
    """The scenario of each case, as a position in the manifest. Positions ascend within each segment of the plan."""
    personas: tuple[Persona, ...] = ()
    """The personas as they were at the start, without their headers."""
    case_personas: tuple[int | None, ...] = ()
    """The index in `personas` for each case. It is empty if no case has one."""
    profile: dict[str, Any] | None = None
    """`{id, name, version, enabled, content}` of the operation profile. It is None without one."""
    prices: Prices = field(kw_only=True)
    price_list: str = field(kw_only=True)
    """The price list that applied at the start to all other models."""
    grading_version: int = GRADING_VERSION
    """The version of the code that grades, as it was at the start."""

    def scenario(self, case: int) -> Scenario:
        return scenarios.get_scenario(self.manifest, self.scenario_positions[case])

    def persona(self, case: int) -> Persona | None:
        number = self.case_personas[case] if self.case_personas else None
        return None if number is None else self.personas[number]

    def of_cases(self, cases: Iterable[int]) -> Self:
        """Return the snapshot with only these cases, ascending."""
        chosen = sorted(cases)
        return replace(
            self,
            scenario_positions=tuple(self.scenario_positions[case] for case in chosen),
            case_personas=tuple(self.case_personas[case] for case in chosen) if self.case_personas else (),
        )

    def cases(self, scenario_id: str) -> tuple[int, ...]:
        """Return the cases of a scenario, ascending. There are none if it was not selected."""
        selected = scenarios.find_positions(self.manifest, [scenario_id]).get(scenario_id)
        return tuple(case for case, position in enumerate(self.scenario_positions) if position == selected)


def save(key: str, snapshot: Snapshot) -> None:
    blobs.put_json(
        key,
        {
            "definition": snapshot.definition,
            "manifest": encode(snapshot.manifest),
            "scenarioPositions": list(snapshot.scenario_positions),
            "personas": [persona.to_json() for persona in snapshot.personas],
            "casePersonas": list(snapshot.case_personas),
            "profile": snapshot.profile,
            "prices": _prices_to_json(snapshot.prices),
            "priceList": snapshot.price_list,
            "gradingVersion": snapshot.grading_version,
        },
    )


def _prices_to_json(prices: Prices) -> dict[str, list[Any]]:
    return {provider: list(map(astuple, of_models)) for provider, of_models in prices.items()}


def _from_json(body: dict[str, Any]) -> Snapshot:
    return Snapshot(
        definition=body["definition"],
        manifest=decode(Manifest, body["manifest"]),
        scenario_positions=tuple(body["scenarioPositions"]),
        personas=tuple(map(Persona.from_json, body["personas"])),
        case_personas=tuple(body["casePersonas"]),
        profile=body["profile"],
        prices=_prices_from_json(body["prices"]),
        price_list=body["priceList"],
        grading_version=body.get("gradingVersion", 1),
    )


def _prices_from_json(prices: dict[str, list[Any]]) -> Prices:
    return {provider: tuple(ModelPrice(*each) for each in of_models) for provider, of_models in prices.items()}


get = DocumentCache(lambda text: _from_json(orjson.loads(text)), MAX_CACHED_BYTES)
"""Return the snapshot. Snapshots never change, so a process reads each once. Raise NotFound."""


def find(key: str) -> Snapshot | None:
    """Return the snapshot, or None if it was deleted. The run's outcomes can be read even then."""
    try:
        return get(key)
    except NotFound:
        return None


def get_definition(key: str) -> dict[str, Any] | None:
    """Return the definition's content, or None if the snapshot was deleted."""
    snapshot = find(key)
    return snapshot.definition if snapshot else None


def get_case(key: str, case: int) -> CaseView:
    """Return a case. It is empty if the snapshot is gone, which may be why its probe is a dead letter."""
    try:
        snapshot = get(key)
        return CaseView.of(snapshot.scenario(case), snapshot.persona(case))
    except NotFound:
        return CaseView()
