"""docs/interop.md says of every provider of promptfoo what becomes of it."""

import re
from pathlib import Path

from cupel_core.interop.imports.promptfoo import provider_services
from cupel_core.interop.imports.promptfoo.provider_services import REFUSED, SERVICES, convert

PAGE = Path(__file__).parents[4] / "docs" / "interop.md"


def tables() -> list[list[list[str]]]:
    """The cells of the three tables."""
    section = PAGE.read_text().split("#### promptfoo's providers")[1].split("\n### ")[0]
    found = [block for block in section.split("\n\n") if block.startswith("| in promptfoo")]
    return [
        [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.strip().splitlines()[2:]]
        for block in found
    ]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def documented_services() -> set[str]:
    ids = [identifier for table in tables() for row in table for identifier in quoted(row[0])]
    return {identifier.partition(":")[0] for identifier in ids} - {"<service>", "provider.mjs"}


def test_every_service_is_documented() -> None:
    known = {*SERVICES, *REFUSED, *provider_services.SYNONYMS, "echo", "file"}
    assert documented_services() == known


def test_models_are_as_documented() -> None:
    taken, _, _ = tables()
    wrong = {id_: convert(id_) for ids, model in taken for id_ in quoted(ids) if convert(id_).model != quoted(model)[0]}
    assert wrong == {}


def test_addresses_of_own_servers_are_as_documented() -> None:
    _, own, _ = tables()
    documented = {quoted(ids)[0].rstrip(":"): "".join(quoted(address)) for ids, address in own}
    assert documented == {name: service.base_url for name, service in SERVICES.items() if not service.provider}
    for ids, _ in own:
        first = quoted(ids)[0].rstrip(":")
        assert {convert(f"{id_}x").model for id_ in quoted(ids)} == {f"custom-{first}/x"}


def test_reasons_are_as_documented() -> None:
    _, _, refused = tables()
    for ids, reason in refused:
        for written in quoted(ids):
            for service in ("openai", "google", "xai", "azure", "mistral"):
                identifier = written.replace("<service>", service)
                assert convert(identifier + "x" if identifier.endswith(":") else identifier) == (None, reason)


def test_every_kind_that_is_refused_is_documented() -> None:
    _, _, refused = tables()
    documented = {id_ for ids, _ in refused for id_ in quoted(ids)}
    kinds = {f"<service>:{kind}:" for kind in provider_services._OTHER_KINDS}
    kinds |= {f"{name}:{kind}:" for name, service in SERVICES.items() for kind in service.refused}
    assert kinds <= documented
