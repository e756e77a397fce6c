"""Labels of transcripts over HTTP: one by one, from files, and in label sets."""

from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.conversation import ConversationOutcome, Verdict
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.store import labels as stored_labels
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api.client import Client


def judged(index: int) -> Scoring:
    """Every fourth answer fails, and one is undecided."""
    if index == 7:
        cause = UnscoredCause(UnscoredCode.DELETED)
        return build_scoring(None, None, (AssertionResult.uncomputed("llm-rubric", "no reply", cause),))
    passed = index % 4 != 0
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), f"reason {index}"),))


def started(scenarios: int = 20, repeats: int = 2, **given: Any) -> Run:
    asked = tuple(
        Scenario("", f"Case {number}", (Message(MessageRole.USER, "?"),), metadata={"vars": {"number": number}})
        for number in range(scenarios)
    )
    fields = {"workspace": "acme", "scenarios": asked, "repeats": repeats, "scoring": judged, "models": ("sim/steady",)}
    return AnsweredRun(**{**fields, **given}).completed()


@pytest.fixture
def run(client: Client) -> Run:
    """Twenty scenarios, twice each: forty transcripts of one target."""
    return started()


@pytest.fixture
def labeller(client: Client) -> Client:
    return Client(client.issue(role=AccessRole.LABELLER))


def label(client: Client, run: Run, index: int, **fields: Any) -> Any:
    answer = client.put(f"/v1/probes/{run.id}-{index}/label", {"value": "pass", **fields})
    assert answer.status == 200, answer.text
    return answer.json()


def drawn(client: Client, run: Run, **fields: Any) -> Any:
    answer = client.post(f"/v1/runs/{run.id}/label-sets", {"seed": 1, **fields})
    assert answer.status == 201, answer.text
    return answer.json()


def labels_of(client: Client, run: Run, **query: Any) -> list[Any]:
    found: list[Any] = client.get(f"/v1/runs/{run.id}/labels", query={"limit": "100", **query}).json()["items"]
    return found


def test_a_label_is_stored_and_replaced(client: Client, run: Run) -> None:
    label(client, run, 3, note="short", labeller="ana")
    label(client, run, 3, value="fail", labeller="ana")
    label(client, run, 3, value="skip", labeller="ben")
    found = {each["labeller"]: each for each in labels_of(client, run)}
    assert {name: each["value"] for name, each in found.items()} == {"ana": "fail", "ben": "skip"}
    assert found["ana"]["blindValue"] == "fail"
    assert found["ana"]["note"] is None
    assert found["ana"]["probeId"] == f"{run.id}-3"


def test_what_was_said_blind_stays_once_the_verdict_was_shown(client: Client, run: Run) -> None:
    label(client, run, 4)
    shown = client.post(f"/v1/probes/{run.id}-4/label/verdict", {}).json()
    assert (shown["verdict"], shown["reason"]) == ("fail", "llm-rubric: reason 4")
    changed = label(client, run, 4, value="fail")
    assert (changed["value"], changed["blindValue"]) == ("fail", "pass")


def test_a_verdict_that_was_visible_never_counts(client: Client, run: Run) -> None:
    assert label(client, run, 1, verdictVisible=True)["blindValue"] is None
    assert label(client, run, 1, value="fail")["blindValue"] is None


def test_the_verdict_is_shown_only_after_labelling(client: Client, run: Run) -> None:
    refused = client.post(f"/v1/probes/{run.id}-4/label/verdict", {})
    assert refused.status == 409


def test_an_undecided_judge_has_no_verdict(client: Client, run: Run) -> None:
    label(client, run, 7, criterion="llm-rubric")
    shown = client.post(f"/v1/probes/{run.id}-7/label/verdict", {"criterion": "llm-rubric"}).json()
    assert shown["verdict"] is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"criterion": "tone"}, "criterion"),
        ({"criterion": "decision"}, "value"),
        ({"value": "4"}, "value"),
        ({"value": "good"}, "value"),
        ({"value": None}, "value"),
        ({"value": None, "note": ""}, "value"),
        ({"note": "x" * 2_001}, "note"),
        ({"labelSetId": "lbs_none"}, "labelSetId"),
        ({"labeller": "two\nlines"}, "labeller"),
    ],
)
def test_a_wrong_label_is_refused_with_its_field(client: Client, run: Run, fields: dict[str, Any], field: str) -> None:
    refused = client.put(f"/v1/probes/{run.id}-3/label", {"value": "pass", **fields})
    assert (refused.status, refused.fields()) == (422, [field])
    assert labels_of(client, run) == []


def test_a_comment_counts_as_no_label(client: Client, run: Run) -> None:
    label_set = f"/v1/runs/{run.id}/label-sets/{drawn(client, run, count=20)['id']}"
    index = int(client.get(f"{label_set}/items").json()["items"][0]["probeId"].rpartition("-")[2])
    label(client, run, 3, labeller="ana")

    def counted() -> list[Any]:
        pending = client.get(f"{label_set}/items", query={"pending": "true"}).json()["items"]
        return [
            client.get(f"/v1/runs/{run.id}/calibration").json(),
            client.get(label_set).json(),
            [each["probeId"] for each in pending],
        ]

    before = counted()
    comment = label(client, run, index, value=None, note="Too long.", verdictVisible=True)
    assert (comment["value"], comment["blindValue"], comment["note"]) == (None, None, "Too long.")
    assert counted() == before
    assert "Too long." in [each["note"] for each in labels_of(client, run)]
    assert client.post(f"/v1/probes/{run.id}-{index}/label/verdict", {}).status == 409
    assert client.delete(f"/v1/probes/{run.id}-{index}/label").status == 204
    assert [each["labeller"] for each in labels_of(client, run)] == ["ana"]


def test_a_comment_leaves_the_label_as_it_is(client: Client, run: Run) -> None:
    label(client, run, 3, value="fail")
    label(client, run, 3, value=None, note="Names no limit.", verdictVisible=True)
    (found,) = labels_of(client, run)
    assert (found["value"], found["blindValue"], found["note"]) == ("fail", "fail", "Names no limit.")


def test_a_label_after_a_comment_is_dated_by_the_label() -> None:
    comment = Label(4, 1, "result", "ana", None, NOW, NOW, note="Hm.")
    later = NOW + timedelta(hours=1)
    given = comment.changed(Label(4, 1, "result", "ana", "pass", later, later, blind_value="pass"))
    assert (given.created_at, given.counted_value) == (later, "pass")


def test_an_answer_without_checks_can_be_commented_on(client: Client) -> None:
    run = started(scoring=lambda _: None)
    assert label(client, run, 3, value=None, note="Nice.")["note"] == "Nice."
    assert client.put(f"/v1/probes/{run.id}-3/label", {"value": "pass"}).status == 422


def test_an_unknown_criterion_is_answered_with_the_known_ones(client: Client, run: Run) -> None:
    refused = client.put(f"/v1/probes/{run.id}-3/label", {"value": "pass", "criterion": "tone"})
    assert "must be one of llm-rubric, result" in refused.json()["detail"]


def test_an_errored_probe_and_an_erased_one_cannot_be_labelled(client: Client) -> None:
    run = started(answer=lambda index: None if index == 0 else "yes")
    assert client.put(f"/v1/probes/{run.id}-0/label", {"value": "pass"}).status == 409
    assert client.delete(f"/v1/probes/{run.id}-1/content").status == 204
    assert client.put(f"/v1/probes/{run.id}-1/label", {"value": "pass"}).status == 409


def test_labels_of_another_workspace_do_not_exist(client: Client, run: Run) -> None:
    stranger = Client(client.issue("globex"))
    assert stranger.put(f"/v1/probes/{run.id}-3/label", {"value": "pass"}).status == 404
    assert stranger.get(f"/v1/runs/{run.id}/labels").status == 404
    assert stranger.get(f"/v1/runs/{run.id}/label-sets").status == 404


def test_erasing_a_conversation_erases_its_labels(client: Client, run: Run) -> None:
    label(client, run, 3)
    label(client, run, 30)
    assert client.delete(f"/v1/probes/{run.id}-3/content").status == 204
    assert [each["probeId"] for each in labels_of(client, run)] == [f"{run.id}-30"]


def test_labels_survive_a_correction_and_a_removal_of_another(client: Client, run: Run) -> None:
    label(client, run, 3, labeller="ana")
    label(client, run, 3, labeller="ben")
    assert client.patch(f"/v1/probes/{run.id}-3", {"result": {"success": False}}).status == 200
    assert client.delete(f"/v1/probes/{run.id}-3/label", query={"labeller": "ben"}).status == 204
    assert [each["labeller"] for each in labels_of(client, run)] == ["ana"]


def test_labels_are_listed_by_pages_and_filters(client: Client, run: Run) -> None:
    for index in (12, 3, 30):
        label(client, run, index, labeller="ana")
    label(client, run, 3, labeller="ben", criterion="llm-rubric")
    seen, cursor = [], None
    while True:
        page = client.get(
            f"/v1/runs/{run.id}/labels", query={"limit": "1"} | ({"cursor": cursor} if cursor else {})
        ).json()
        seen += [(each["probeId"].rpartition("-")[2], each["labeller"]) for each in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert sorted(seen) == [("12", "ana"), ("3", "ana"), ("3", "ben"), ("30", "ana")]
    assert [name for index, name in seen if index != "3"] == ["ana", "ana"]
    assert len(labels_of(client, run, criterion="llm-rubric")) == 1
    assert len(labels_of(client, run, labeller="ana")) == 3


def test_labels_of_one_conversation_are_listed(client: Client, run: Run) -> None:
    for index, labeller in ((1, "ana"), (1, "ben"), (1, "cyd"), (10, "ana"), (11, "ana")):
        fields = {"value": "fail", "labeller": labeller}
        assert client.put(f"/v1/probes/{run.id}-{index}/label", fields).status == 200
    path = f"/v1/runs/{run.id}/labels"
    first = client.get(path, query={"probeIndex": "1", "limit": "2"}).json()
    last = client.get(path, query={"probeIndex": "1", "limit": "2", "cursor": first["nextCursor"]}).json()
    listed = first["items"] + last["items"]
    assert {(each["probeId"], each["labeller"]) for each in listed} == {
        (f"{run.id}-1", labeller) for labeller in ("ana", "ben", "cyd")
    }
    assert (len(listed), last["nextCursor"]) == (3, None)
    assert client.get(path, query={"probeIndex": "2"}).json()["items"] == []
    refused = client.get(path, query={"probeIndex": "-1"})
    assert (refused.status, refused.json()["errors"][0]["field"]) == (422, "probeIndex")


def test_an_import_names_transcripts_by_id_or_scenario_and_is_idempotent(client: Client, run: Run) -> None:
    labels = [
        {"probeId": f"{run.id}-3", "value": "pass", "labeller": "ana"},
        {"scenario": "Case 7", "repeat": 1, "value": "fail", "labeller": "ana", "note": "wrong"},
        {"scenario": "Case 7", "repeat": 1, "value": "pass", "labeller": "ben"},
    ]
    address = f"/v1/runs/{run.id}/labels/import"
    assert client.post(address, {"labels": labels}).json() == {"created": 3, "changed": 0, "unchanged": 0}
    assert client.post(address, {"labels": labels}).json() == {"created": 0, "changed": 0, "unchanged": 3}
    labels[0]["value"] = "fail"
    assert client.post(address, {"labels": labels}).json() == {"created": 0, "changed": 1, "unchanged": 2}
    assert [each["probeId"] for each in labels_of(client, run)] == [f"{run.id}-3", f"{run.id}-15", f"{run.id}-15"]


def test_an_import_with_wrong_rows_stores_nothing_and_names_each(client: Client, run: Run) -> None:
    labels = [
        {"probeId": f"{run.id}-3", "value": "pass"},
        {"probeId": "run_other-3", "value": "pass"},
        {"scenario": "Case 7", "value": "pass"},
        {"scenario": "No such case", "value": "pass"},
        {"scenario": "Case 7", "repeat": 9, "value": "pass"},
        {"scenario": "Case 7", "repeat": 0, "model": "sim/none", "value": "pass"},
        {"scenario": "Case 7", "repeat": 0, "value": "3"},
    ]
    refused = client.post(f"/v1/runs/{run.id}/labels/import", {"labels": labels})
    assert refused.status == 422
    assert refused.fields() == [
        "labels.1.probeId",
        "labels.2.scenario",
        "labels.3.scenario",
        "labels.4.scenario",
        "labels.5.model",
        "labels.6.value",
    ]
    assert "say which with promptId or personaId or repeat" not in refused.json()["detail"]
    assert labels_of(client, run) == []


def test_a_row_names_its_transcript_in_one_way(client: Client, run: Run) -> None:
    both = {"probeId": f"{run.id}-3", "scenario": "Case 1", "value": "pass"}
    refused = client.post(f"/v1/runs/{run.id}/labels/import", {"labels": [both, {"value": "pass"}]})
    assert refused.status == 422
    assert {field.partition(".")[2][:1] for field in refused.fields()} == {"0", "1"}


def test_a_label_set_draws_one_transcript_per_scenario_and_more_failures(client: Client, run: Run) -> None:
    made = drawn(client, run, count=20, seed=1)
    assert made["count"] == 20
    strata = {each["name"]: (each["population"], each["drawn"]) for each in made["strata"]}
    assert {name: population for name, (population, _) in strata.items()} == {
        "sim/steady: passed": 29,
        "sim/steady: failed": 10,
        "sim/steady: undecided": 1,
    }
    assert strata["sim/steady: failed"][1] / 10 > strata["sim/steady: passed"][1] / 29
    items = client.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items", query={"limit": "100"}).json()["items"]
    assert len({each["scenarioId"] for each in items}) == 20
    assert made["toLabelTwice"] == 4


def test_items_have_no_verdict_of_a_judge_of_criteria(client: Client) -> None:
    verdict = Verdict(True, False, 0.9, "It names the limit.", "{}")
    run = started(scoring=lambda _: build_scoring(ConversationOutcome.PASSED, verdict, ()))
    assert "It names the limit." in client.get(f"/v1/runs/{run.id}/transcripts").text
    made = drawn(client, run, count=2)
    items = client.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items")
    assert "It names the limit." not in items.text
    names = {name for item in items.json()["items"] for message in item["messages"] for name in message}
    assert names == {"role", "content"}


def test_labellers_see_neither_strata_nor_the_counts_of_others(client: Client, labeller: Client, run: Run) -> None:
    made = drawn(client, run, count=3)
    for index in range(40):
        label(client, run, index)
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}"
    assert labeller.get(address).json()["strata"] == []
    assert labeller.get(address).json()["progress"]["byLabeller"] == {}
    assert client.get(address).json()["progress"]["byLabeller"] != {}


def test_a_run_that_goes_on_has_no_label_sets(client: Client) -> None:
    run = AnsweredRun(workspace="acme", scoring=judged).start()
    refused = client.post(f"/v1/runs/{run.id}/label-sets", {})
    assert (refused.status, "draw when it has ended" in refused.text) == (409, True)


def test_an_import_refuses_labels_of_deleted_conversations(client: Client, run: Run) -> None:
    client.delete(f"/v1/probes/{run.id}-3/content")
    rows = [{"probeId": f"{run.id}-{index}", "value": "pass"} for index in (2, 3)]
    refused = client.post(f"/v1/runs/{run.id}/labels/import", {"labels": rows})
    assert (refused.status, refused.fields()) == (422, ["labels.1"])
    assert labels_of(client, run) == []


def test_a_visible_verdict_is_never_forgotten(client: Client, run: Run) -> None:
    label(client, run, 3, value="pass")
    label(client, run, 3, value="fail", verdictVisible=True)
    assert label(client, run, 3, value="fail")["blindValue"] == "pass"
    row = {"probeId": f"{run.id}-5", "value": "pass"}
    address = f"/v1/runs/{run.id}/labels/import"
    client.post(address, {"labels": [row]})
    assert client.post(address, {"labels": [row | {"verdictVisible": True}]}).json()["changed"] == 1


def test_transcripts_that_can_no_longer_be_read_are_not_pending(client: Client, run: Run) -> None:
    made = drawn(client, run, count=5)
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}/items"
    first = client.get(address, query={"pending": "true", "limit": "1"}).json()["items"][0]["probeId"]
    client.delete(f"/v1/probes/{first}/content")
    pending = client.get(address, query={"pending": "true"}).json()["items"]
    assert (len(pending), first in str(pending)) == (4, False)


def test_a_third_person_gets_what_two_disagree_on(client: Client, run: Run) -> None:
    made = drawn(client, run, count=40)
    people = [Client(client.issue(role=AccessRole.LABELLER)) for _ in range(3)]
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}/items"
    for person, value in zip(people[:2], ("pass", "fail"), strict=True):
        while items := person.get(address, query={"pending": "true", "limit": "100"}).json()["items"]:
            for item in items:
                body = {"value": value, "labelSetId": made["id"]}
                person.put(f"/v1/probes/{item['probeId']}/label", body)
    assert len(people[2].get(address, query={"pending": "true", "limit": "100"}).json()["items"]) == 8
    calibrated = client.get(f"/v1/runs/{run.id}/calibration").json()
    assert (len(calibrated["conflicts"]), calibrated["columns"][0]["agreement"]["skipped"]) == (8, 0)
    assert calibrated["people"]["ceiling"]["share"] == 0


def test_two_label_sets_count_each_label_by_the_chance_that_either_draws_it(client: Client, run: Run) -> None:
    """All are labelled, so the rate is that of the labels, whatever was drawn twice."""
    drawn(client, run, count=40)
    drawn(client, run, count=5)
    for index in range(40):
        label(client, run, index, value="fail" if index < 10 else "pass")
    (column,) = client.get(f"/v1/runs/{run.id}/calibration").json()["columns"]
    assert (column["corrected"]["method"], column["corrected"]["rate"]) == ("ALL_LABELLED", 0.75)


def test_labels_of_transcripts_that_were_not_drawn_are_reported(client: Client, run: Run) -> None:
    drawn(client, run, count=5, seed=1)
    for index in range(39):
        label(client, run, index)
    assert client.get(f"/v1/runs/{run.id}/calibration").json()["ignored"] >= 34


def test_the_same_seed_draws_the_same_transcripts(client: Client, run: Run) -> None:
    def positions(seed: int) -> list[str]:
        made = drawn(client, run, count=10, seed=seed)
        page = client.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items").json()
        return [each["probeId"] for each in page["items"]]

    assert positions(1) == positions(1)
    assert positions(1) != positions(2)


def test_items_show_neither_verdict_nor_target(client: Client, run: Run) -> None:
    made = drawn(client, run, count=2)
    (item, _) = client.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items").json()["items"]
    assert item["messages"][-1]["content"].startswith("answer")
    assert "sim/steady" not in str(item)
    assert "reason" not in str(item)
    assert item["label"] is None


def test_labellers_label_what_is_drawn_and_nothing_else(client: Client, labeller: Client, run: Run) -> None:
    made = drawn(client, run, count=3)
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}"
    items = labeller.get(f"{address}/items", query={"pending": "true"}).json()["items"]
    assert len(items) == 3
    first = items[0]["probeId"]
    body = {"value": "pass", "labelSetId": made["id"]}
    assert labeller.put(f"/v1/probes/{first}/label", body).status == 200
    assert len(labeller.get(f"{address}/items", query={"pending": "true"}).json()["items"]) == 2
    assert labeller.get(address).json()["progress"]["labelled"] == 1
    assert labeller.put(f"/v1/probes/{first}/label", {"value": "pass"}).status == 403
    assert labeller.put(f"/v1/probes/{first}/label", body | {"labeller": "ana"}).status == 403
    other = next(f"{run.id}-{index}" for index in range(40) if f"{run.id}-{index}" not in str(items))
    assert labeller.put(f"/v1/probes/{other}/label", body).status == 422
    for path in (f"/v1/runs/{run.id}", f"/v1/runs/{run.id}/transcripts", f"/v1/runs/{run.id}/labels", "/v1/runs"):
        assert labeller.get(path).status == 403
    assert labeller.get("/v1/session").json()["role"] == "labeller"


def test_a_labeller_cannot_remove_a_label_after_seeing_the_verdict(client: Client, labeller: Client, run: Run) -> None:
    made = drawn(client, run, count=1)
    (item,) = labeller.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items").json()["items"]
    address = f"/v1/probes/{item['probeId']}/label"
    labeller.put(address, {"value": "pass", "labelSetId": made["id"]})
    assert labeller.delete(address).status == 204
    labeller.put(address, {"value": "pass", "labelSetId": made["id"]})
    assert labeller.post(f"{address}/verdict", {}).status == 200
    assert labeller.delete(address).status == 409


def test_two_people_at_one_set_lose_nothing(client: Client, run: Run) -> None:
    first, second = (Client(client.issue(role=AccessRole.LABELLER)) for _ in range(2))
    made = drawn(client, run, count=10, seed=3)
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}"
    for _ in range(12):
        for person in (first, second):
            for item in person.get(f"{address}/items", query={"pending": "true", "limit": "1"}).json()["items"]:
                body = {"value": "fail", "labelSetId": made["id"]}
                assert person.put(f"/v1/probes/{item['probeId']}/label", body).status == 200
    progress = client.get(address).json()["progress"]
    assert (progress["labelled"], progress["doubled"]) == (10, made["toLabelTwice"])
    assert sum(progress["byLabeller"].values()) == 10 + made["toLabelTwice"]


def test_viewers_read_label_sets_and_label_nothing(client: Client, run: Run) -> None:
    viewer = Client(client.issue(role=AccessRole.VIEWER))
    made = drawn(client, run, count=1)
    assert viewer.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items").status == 200
    assert viewer.put(f"/v1/probes/{run.id}-1/label", {"value": "pass"}).status == 403


def test_a_label_set_can_be_of_one_target_and_is_deleted(client: Client) -> None:
    run = started(models=("sim/steady", "sim/bold"), repeats=1)
    made = drawn(client, run, count=5, model="sim/bold", instructions="Exact limits only.", adjudicator="ana")
    assert all(each["name"].startswith("sim/bold") for each in made["strata"])
    assert (made["instructions"], made["adjudicator"]) == ("Exact limits only.", "ana")
    label(client, run, 3)
    for _ in range(2):
        assert client.delete(f"/v1/runs/{run.id}/label-sets/{made['id']}").status == 204
    assert client.get(f"/v1/runs/{run.id}/label-sets").json()["items"] == []
    assert len(labels_of(client, run)) == 1


def test_a_label_set_whose_probabilities_weight_labels_is_kept(client: Client, run: Run) -> None:
    made = drawn(client, run, count=5)
    address = f"/v1/runs/{run.id}/label-sets/{made['id']}"
    probe = client.get(f"{address}/items").json()["items"][0]["probeId"]
    client.put(f"/v1/probes/{probe}/label", {"value": "skip"})
    refused = client.delete(address)
    assert (refused.status, "1 of its transcripts are labelled" in refused.text) == (409, True)
    client.delete(f"/v1/probes/{probe}/label")
    assert client.delete(address).status == 204


def test_a_verdict_that_was_shown_is_visible_to_labels_of_other_criteria(client: Client, run: Run) -> None:
    """The reason of the result names the checks that failed."""
    label(client, run, 4)
    label(client, run, 4, criterion="llm-rubric", labeller="ben")
    client.post(f"/v1/probes/{run.id}-4/label/verdict", {})
    assert label(client, run, 4, criterion="llm-rubric", value="fail")["blindValue"] is None
    assert label(client, run, 4, criterion="llm-rubric", value="fail", labeller="ben")["blindValue"] == "fail"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"criterion": "tone"}, "criterion"),
        ({"count": 0}, "count"),
        ({"count": 2_001}, "count"),
        ({"model": "sim/none"}, "model"),
        ({"rescoreId": "rsc_none"}, "rescoreId"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_wrong_label_set_is_refused_with_its_field(
    client: Client, run: Run, fields: dict[str, Any], field: str
) -> None:
    refused = client.post(f"/v1/runs/{run.id}/label-sets", fields)
    assert (refused.status, refused.fields()) == (422, [field])


def test_only_criteria_that_were_checked_are_offered(client: Client) -> None:
    summary = Summary("4", "Grants the refund.", NOW)
    run = started(scoring=lambda _: build_scoring(None, None, ()), summary=summary)
    refused = client.post(f"/v1/runs/{run.id}/label-sets", {})
    assert refused.json()["detail"] == "criterion: must be one of decision"
    assert drawn(client, run, criterion="decision", count=3)["count"] == 3


def test_labels_survive_a_retry_of_errors(client: Client) -> None:
    run = started(answer=lambda index: None if index == 5 else f"answer {index}")
    label(client, run, 3, labeller="ana")
    assert client.post(f"/v1/runs/{run.id}/retry").status == 200
    assert [each["probeId"] for each in labels_of(client, run)] == [f"{run.id}-3"]


def test_a_label_of_a_transcript_that_a_retry_replaced_is_kept_apart(client: Client, run: Run) -> None:
    """A label of round 2, while the transcript that is read is of round 1."""
    label(client, run, 3, labeller="ana")
    other = Label(4, 2, "result", "ana", "pass", NOW, NOW, blind_value="pass")
    stored_labels.save(RunRef("acme", run.id), other)
    assert len(labels_of(client, run)) == 2
    (column,) = client.get(f"/v1/runs/{run.id}/calibration").json()["columns"]
    assert column["agreement"]["labels"] == 1
    assert client.get(f"/v1/transcripts/{run.id}-4").json()["retryRound"] == 1
