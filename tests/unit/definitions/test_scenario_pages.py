"""Pages and manifest, on moto."""

from dataclasses import replace

import pytest

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Manifest, Scenario
from cupel_core.store import blobs, scenarios
from cupel_core.store.settings import Settings

EMPTY = Manifest()
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


def append(
    definition_id: str, scenario_list: list[Scenario], current: Manifest = EMPTY, *, replace: bool = False
) -> Manifest:
    return scenarios.write_pages("ws", definition_id, current, scenario_list, replace=replace)


def names(manifest: Manifest) -> list[str]:
    return [scenarios.get_scenario(manifest, position).name for position in range(manifest.total)]


def test_scenarios_are_found_by_position_across_pages() -> None:
    manifest = append("def_abcdefgh", cases(2_300))
    assert manifest.total == 2_300
    assert [scenarios.get_scenario(manifest, position).name for position in (0, 999, 1_000, 2_299)] == [
        "case 0", "case 999", "case 1000", "case 2299",
    ]  # fmt: skip


def test_a_position_past_the_end_is_an_index_error() -> None:
    manifest = append("def_1", cases(3))
    with pytest.raises(IndexError):
        scenarios.get_scenario(manifest, 3)


def test_a_scenario_keeps_all_it_was_given_and_gets_an_id() -> None:
    manifest = append("def_abcdefgh", cases(1, first=7))
    assert scenarios.get_scenario(manifest, 0) == Scenario(
        "scn_abcdefgh_000001", "case 7", (Message(MessageRole.USER, "prompt 7"),), {"risk": 7}, {"n": 7}
    )


def test_a_scenario_without_a_name_is_named_by_its_number() -> None:
    manifest = append("def_1", [Scenario("", "", (Message(MessageRole.USER, "hello"),))])
    assert scenarios.get_scenario(manifest, 0).name == "Scenario 1"


def test_appending_fills_the_last_page_first() -> None:
    manifest = append("def_1", cases(600, first=600), append("def_1", cases(600)))
    assert [page.count for page in manifest.pages] == [1_000, 200]
    assert [scenarios.get_scenario(manifest, position).name for position in (599, 600, 1_199)] == [
        "case 599", "case 600", "case 1199",
    ]  # fmt: skip


def test_an_earlier_manifest_reads_what_it_read_before() -> None:
    before = append("def_1", cases(10))
    append("def_1", cases(10, first=10), before, replace=True)
    assert scenarios.get_scenario(before, 9).name == "case 9"


def test_replacing_leaves_only_the_new_ones_and_never_reuses_an_id() -> None:
    manifest = append("def_abcdefgh", cases(2), append("def_abcdefgh", cases(10)), replace=True)
    assert [scenarios.get_scenario(manifest, n).id for n in range(manifest.total)] == [
        "scn_abcdefgh_000011",
        "scn_abcdefgh_000012",
    ]


def test_too_many_scenarios_are_refused() -> None:
    page = append("def_1", cases(1_000)).pages[0]
    full = Manifest(2, (page,) * (MAX_SCENARIOS // 1_000), MAX_SCENARIOS + 1)
    with pytest.raises(Invalid):
        append("def_1", cases(1), full)


def test_a_changed_scenario_is_in_a_new_page_and_all_other_pages_stay() -> None:
    before = append("def_1", cases(2_300))
    changed = replace(scenarios.get_scenario(before, 1_500), name="changed")
    after = scenarios.replace_scenario("ws", "def_1", before, 1_500, changed)
    assert (scenarios.get_scenario(before, 1_500).name, scenarios.get_scenario(after, 1_500)) == ("case 1500", changed)
    assert [one == other for one, other in zip(before.pages, after.pages, strict=True)] == [True, False, True]
    assert (after.total, after.next_ordinal, after.first_ordinals) == (2_300, 2_301, ())


def test_every_other_scenario_is_found_after_some_were_deleted() -> None:
    manifest = append("def_abcdefgh", cases(2_300))
    ids = [scenarios.get_scenario(manifest, position).id for position in range(manifest.total)]
    deleted = [0, 7, 999, 1_000, 2_299]
    for name in [ids[number] for number in deleted]:
        position = scenarios.find_positions(manifest, [name])[name]
        manifest = scenarios.remove_scenario("ws", "def_abcdefgh", manifest, position)
    remaining = [name for number, name in enumerate(ids) if number not in deleted]
    assert scenarios.find_positions(manifest, ids) == {name: position for position, name in enumerate(remaining)}
    assert decode(Manifest, encode(manifest)) == manifest


def test_ids_of_deleted_scenarios_are_not_reused() -> None:
    manifest = append("def_abcdefgh", cases(2))
    manifest = append("def_abcdefgh", cases(1), scenarios.remove_scenario("ws", "def_abcdefgh", manifest, 1))
    assert [scenarios.get_scenario(manifest, position).id for position in range(2)] == [
        "scn_abcdefgh_000001",
        "scn_abcdefgh_000003",
    ]


def test_the_last_scenario_can_be_deleted() -> None:
    manifest = scenarios.remove_scenario("ws", "def_1", append("def_1", cases(1)), 0)
    assert (manifest.total, manifest.pages) == (0, ())
    assert names(append("def_1", cases(1, first=5), manifest)) == ["case 5"]


def test_pages_that_fit_into_one_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "PAGE_SIZE", 3)
    manifest = append("def_1", cases(9))
    for _ in range(3):
        manifest = scenarios.remove_scenario("ws", "def_1", manifest, 4)
    assert [page.count for page in manifest.pages] == [3, 3]
    assert names(manifest) == ["case 0", "case 1", "case 2", "case 3", "case 7", "case 8"]


def long_case(number: int, length: int) -> Scenario:
    return replace(case(number), messages=(Message(MessageRole.USER, "x" * length),))


def counts(manifest: Manifest) -> list[int]:
    return [page.count for page in manifest.pages]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two scenarios with texts of 1,000 characters."""
    monkeypatch.setattr(scenarios, "MAX_PAGE_BYTES", 2_500)
    monkeypatch.setattr(scenarios, "MAX_PAGES", 4)


@pytest.mark.usefixtures("small_pages")
def test_a_page_ends_before_its_texts_are_too_long_and_a_longer_one_has_a_page_of_its_own() -> None:
    lengths = [1_000, 1_000, 1_000, 9_000, 10, 10]
    manifest = append("def_1", [long_case(number, length) for number, length in enumerate(lengths)])
    assert counts(manifest) == [2, 1, 1, 2]
    assert names(manifest) == [f"case {number}" for number in range(6)]


@pytest.mark.usefixtures("small_pages")
def test_appending_fills_the_last_page_up_to_the_same_size() -> None:
    manifest = append("def_1", [long_case(0, 1_000)])
    for number in (1, 2, 3):
        manifest = append("def_1", [long_case(number, 1_000)], manifest)
    assert (counts(manifest), names(manifest)) == ([2, 2], ["case 0", "case 1", "case 2", "case 3"])


@pytest.mark.usefixtures("small_pages")
def test_a_page_is_divided_when_a_scenario_grows_and_merged_when_it_shrinks() -> None:
    before = append("def_abcdefgh", cases(3))
    first, *_ = ids = [scenarios.get_scenario(before, position).id for position in range(3)]
    grown = replace(long_case(1, 9_000), id=ids[1])
    divided = scenarios.replace_scenario("ws", "def_abcdefgh", before, 1, grown)
    assert (counts(divided), names(divided)) == ([1, 1, 1], names(before))
    assert scenarios.find_positions(divided, ids) == dict(zip(ids, range(3), strict=True))
    merged = scenarios.replace_scenario("ws", "def_abcdefgh", divided, 1, replace(case(1), id=ids[1]))
    assert (counts(merged), names(merged)) == ([1, 2], names(before))
    without_first = scenarios.remove_scenario("ws", "def_abcdefgh", merged, 0)
    assert scenarios.find_positions(without_first, [first, ids[2]]) == {ids[2]: 1}


@pytest.mark.usefixtures("small_pages")
def test_a_page_is_merged_with_the_one_before_if_the_next_is_too_long() -> None:
    manifest = append("def_1", [long_case(0, 1_000), long_case(1, 2_000), long_case(2, 9_000)])
    assert counts(manifest) == [1, 1, 1]
    assert counts(scenarios.replace_scenario("ws", "def_1", manifest, 1, case(1))) == [2, 1]


@pytest.mark.usefixtures("small_pages")
def test_a_neighbor_is_not_read_if_both_do_not_fit_into_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = append("def_1", [long_case(number, 2_000) for number in range(3)])
    read, reads = scenarios.read_page, list[str]()
    monkeypatch.setattr(scenarios, "read_page", lambda key: reads.append(key) or read(key))
    changed = scenarios.replace_scenario("ws", "def_1", manifest, 1, long_case(7, 2_000))
    assert reads == [manifest.pages[1].key]
    assert names(changed) == ["case 0", "case 7", "case 2"]


@pytest.mark.usefixtures("small_pages")
def test_more_pages_than_a_manifest_holds_are_refused() -> None:
    full = append("def_1", [long_case(number, 9_000) for number in range(4)])
    with pytest.raises(Invalid, match="the scenarios of a definition take at most"):
        append("def_1", [long_case(4, 9_000)], full)
    with pytest.raises(Invalid, match="the scenarios of a definition take at most"):
        append("def_1", [long_case(number, 9_000) for number in range(5)], replace=True)
    assert names(scenarios.remove_scenario("ws", "def_1", full, 3)) == ["case 0", "case 1", "case 2"]
    smaller = append("def_1", [*(long_case(number, 9_000) for number in range(3)), *cases(2, first=3)])
    with pytest.raises(Invalid, match="the scenarios of a definition take at most"):
        scenarios.replace_scenario("ws", "def_1", smaller, 3, long_case(3, 9_000))


@pytest.mark.usefixtures("small_pages")
def test_a_scenario_of_a_larger_page_of_an_earlier_release_can_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(scenarios, "MAX_PAGE_BYTES", 1_000_000)
        (page,) = append("def_1", [long_case(number, 2_000) for number in range(9)]).pages
    manifest = Manifest(1, (replace(page, size=None),), 10)
    after = scenarios.remove_scenario("ws", "def_1", manifest, 0)
    assert (counts(after), names(after)) == ([1] * 8, [f"case {number}" for number in range(1, 9)])
    with pytest.raises(Invalid):
        append("def_1", [long_case(9, 2_000)], after)
    shorter = scenarios.replace_scenario("ws", "def_1", after, 0, case(1))
    assert counts(shorter) == [2, 1, 1, 1, 1, 1, 1]


def test_the_size_of_a_page_is_stored_with_it() -> None:
    manifest = append("def_1", cases(3))
    [page] = manifest.pages
    assert page.size > 0
    assert encode(manifest)["pages"] == [[page.key, 3, [], False, False, [], [], page.size]]
    assert decode(Manifest, encode(manifest)).size_at(0) == page.size / 3


def test_summaries_are_read_in_order_and_each_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = append("def_abcdefgh", cases(2_300))
    reads: list[str] = []
    read = blobs.get_json
    monkeypatch.setattr(blobs, "get_json", lambda key: reads.append(key) or read(key))
    found = list(scenarios.read_summaries(manifest, [5, 999, 1_000, 2_299]))
    assert [position for position, _ in found] == [5, 999, 1_000, 2_299]
    assert found[1][1] == scenarios.ScenarioSummary("scn_abcdefgh_001000", "case 999", {"risk": 999})
    assert sorted(reads) == sorted(page.key for page in manifest.pages)


def test_only_pages_with_scenarios_that_need_models_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = replace(case(1_500), criteria=Criteria("is polite"))
    manifest = append("def_a", [*cases(1_500), judged, *cases(1_499, first=1_501)])
    reads: list[str] = []
    read = scenarios.read_page
    monkeypatch.setattr(scenarios, "read_page", lambda key: reads.append(key) or read(key))
    found = list(scenarios.iterate_with_models(manifest, range(3_000)))
    assert [scenario.name for scenario in found] == ["case 1500"]
    assert set(reads) == {manifest.pages[1].key}
