"""From scenarios to cases: each scenario once with every persona of its own, or once with nobody in particular."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from cupel_core.domain.definitions.scenarios import Manifest, ScenarioPage
from cupel_core.domain.resources.personas import Persona
from cupel_core.errors import Invalid
from cupel_core.resources import personas as casting
from cupel_core.store import scenarios

_READERS = 16


class Cases(NamedTuple):
    """As a snapshot keeps them (shared/cupel_core/store/snapshots.py)."""

    selection: tuple[int, ...]
    personas: tuple[Persona, ...] = ()
    cast: tuple[int | None, ...] = ()


def cases(
    workspace: str,
    manifest: Manifest,
    positions: Sequence[int],
    chosen: tuple[str, ...] | None = None,
    before: Cases = Cases(()),  # noqa: B008 - a value that never changes
) -> Cases:
    """The cases of these scenarios after those there are; `chosen` personas instead of the scenarios' own.

    Invalid when a persona is gone. Only pages that name personas are read.
    """
    if chosen is not None:
        speakers: list[tuple[str, ...]] = [chosen] * len(positions)
    else:
        speakers = _own(manifest, positions)
    if not any(speakers) and not before.cast:
        return Cases((*before.selection, *positions))
    known = _known(workspace, before.personas, speakers)
    number = {persona_id: place for place, persona_id in enumerate(known)}
    pairs = [
        (position, None if speaker is None else number[speaker])
        for position, names in zip(positions, speakers, strict=True)
        for speaker in names or (None,)
    ]
    earlier = before.cast or (None,) * len(before.selection)
    return Cases(
        selection=(*before.selection, *(position for position, _ in pairs)),
        personas=tuple(known.values()),
        cast=(*earlier, *(speaker for _, speaker in pairs)),
    )


def _own(manifest: Manifest, positions: Sequence[int]) -> list[tuple[str, ...]]:
    """Page by page: the positions ascend."""
    if not any(page.cast != () for page in manifest.pages):
        return [()] * len(positions)
    places = [manifest.place(position) for position in positions]
    pages = _speakers_by_page({place.page for place in places})
    return [pages[place.page.key][place.offset] for place in places]


def _speakers_by_page(pages: Iterable[ScenarioPage]) -> dict[str, Sequence[tuple[str, ...]]]:
    listed = list(pages)
    with ThreadPoolExecutor(_READERS) as threads:
        return dict(zip((page.key for page in listed), threads.map(_speakers, listed), strict=True))


def _speakers(page: ScenarioPage) -> Sequence[tuple[str, ...]]:
    """The manifest tells, unless who speaks changes with nearly every scenario."""
    if page.cast is None:
        return scenarios.read_cast(page.key)
    return [run.persona_ids for run in page.cast for _ in range(run.length)] or [()] * page.count


def _known(workspace: str, before: Iterable[Persona], speakers: Iterable[tuple[str, ...]]) -> Mapping[str, Persona]:
    """Every persona that speaks, by id; those that were there keep their places."""
    known = {persona.id: persona for persona in before}
    wanted = [each for each in dict.fromkeys(name for names in speakers for name in names) if each not in known]
    found = casting.get_many(workspace, wanted)
    missing = [each for each in wanted if each not in found]
    if missing:
        raise Invalid.field("personaIds", f"there is no persona {missing[0]}; a scenario of this run names it")
    return known | {each: found[each] for each in wanted}
