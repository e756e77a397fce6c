"""Pages and manifest, on moto."""

from dataclasses import replace

import pytest

from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Manifest, Scenario
from cupel_core.domain.turns.conversation import Criteria
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.errors import Conflict, Invalid, NotFound
from cupel_core.settings import Settings
from cupel_core.store import blobs, scenarios

pytestmark = pytest.mark.usefixtures("cloud")


def case(number: int) -> Scenario:
    return Scenario(
        "", f"case {number}", (Message(MessageRole.USER, f"prompt {number}"),), {"risk": number}, {"n": number}
    )


def cases(count: int, first: int = 0) -> list[Scenario]:
    return [case(number) for number in range(first, first + count)]


def test_a_document_is_read_as_written() -> None:
    blobs.put_json("ws/some.json.gz", {"text": "ä", "numbers": [1, 2.5, None]})
    assert blobs.get_json("ws/some.json.gz") == {"text": "ä", "numbers": [1, 2.5, None]}


def test_a_document_lies_compressed_in_the_bucket(cloud: Settings) -> None:
    blobs.put_json("ws/some.json.gz", ["again"] * 1_000)
    head = scenarios.blobs.clients.s3().head_object(Bucket=cloud.bucket_name, Key="ws/some.json.gz")
    assert head["ContentLength"] < 500


def test_a_missing_document_is_not_found() -> None:
    with pytest.raises(NotFound):
        blobs.get_json("ws/none.json.gz")


def test_a_definition_without_scenarios_has_an_empty_manifest() -> None:
    assert scenarios.get_manifest("ws", "def_1") == Manifest()


def test_scenarios_are_found_by_position_across_pages() -> None:
    scenarios.append("ws", "def_abcdefgh", cases(2_300))
    manifest = scenarios.get_manifest("ws", "def_abcdefgh")
    assert manifest.total == 2_300
    assert [scenarios.get_scenario(manifest, position).name for position in (0, 999, 1_000, 2_299)] == [
        "case 0", "case 999", "case 1000", "case 2299",
    ]  # fmt: skip


def test_a_position_past_the_end_is_an_index_error() -> None:
    manifest = scenarios.append("ws", "def_1", cases(3))
    with pytest.raises(IndexError):
        scenarios.get_scenario(manifest, 3)


def test_a_scenario_keeps_all_it_was_given_and_gets_an_id() -> None:
    manifest = scenarios.append("ws", "def_abcdefgh", cases(1, first=7))
    assert scenarios.get_scenario(manifest, 0) == Scenario(
        "scn_abcdefgh_000001", "case 7", (Message(MessageRole.USER, "prompt 7"),), {"risk": 7}, {"n": 7}
    )


def test_a_scenario_without_a_name_is_named_by_its_number() -> None:
    manifest = scenarios.append("ws", "def_1", [Scenario("", "", (Message(MessageRole.USER, "hello"),))])
    assert scenarios.get_scenario(manifest, 0).name == "Scenario 1"


def test_appending_fills_the_last_page_first() -> None:
    scenarios.append("ws", "def_1", cases(600))
    manifest = scenarios.append("ws", "def_1", cases(600, first=600))
    assert [page.count for page in manifest.pages] == [1_000, 200]
    assert [scenarios.get_scenario(manifest, position).name for position in (599, 600, 1_199)] == [
        "case 599", "case 600", "case 1199",
    ]  # fmt: skip


def test_an_earlier_manifest_reads_what_it_read_before() -> None:
    before = scenarios.append("ws", "def_1", cases(10))
    scenarios.append("ws", "def_1", cases(10, first=10), replace=True)
    assert scenarios.get_scenario(before, 9).name == "case 9"


def test_replacing_leaves_only_the_new_ones_and_never_reuses_an_id() -> None:
    scenarios.append("ws", "def_abcdefgh", cases(10))
    manifest = scenarios.append("ws", "def_abcdefgh", cases(2), replace=True)
    assert [scenarios.get_scenario(manifest, n).id for n in range(manifest.total)] == [
        "scn_abcdefgh_000011",
        "scn_abcdefgh_000012",
    ]


def test_the_second_of_two_concurrent_changes_is_refused() -> None:
    current = scenarios.append("ws", "def_1", cases(1))
    mine = scenarios.write_pages("ws", "def_1", current, cases(1))
    scenarios.append("ws", "def_1", cases(1))
    with pytest.raises(Conflict):
        scenarios.commit_manifest("ws", "def_1", mine)


def test_too_many_scenarios_are_refused_and_change_nothing() -> None:
    page = scenarios.append("ws", "def_1", cases(1_000)).pages[0]
    full = Manifest(2, (page,) * (MAX_SCENARIOS // 1_000), MAX_SCENARIOS + 1)
    scenarios.commit_manifest("ws", "def_1", full)
    with pytest.raises(Invalid):
        scenarios.append("ws", "def_1", cases(1))
    assert scenarios.get_manifest("ws", "def_1") == full


def test_another_workspace_sees_nothing_of_it() -> None:
    scenarios.append("ws", "def_1", cases(1))
    assert scenarios.get_manifest("other", "def_1").total == 0


def test_only_pages_with_scenarios_that_need_models_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = replace(case(1_500), criteria=Criteria("is polite"))
    manifest = scenarios.append("ws_a", "def_a", [*cases(1_500), judged, *cases(1_499, first=1_501)])
    reads: list[str] = []
    read = scenarios.read_page
    monkeypatch.setattr(scenarios, "read_page", lambda key: reads.append(key) or read(key))
    found = list(scenarios.iterate_with_models(manifest, range(3_000)))
    assert [scenario.name for scenario in found] == ["case 1500"]
    assert set(reads) == {manifest.pages[1].key}
