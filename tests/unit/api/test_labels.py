"""Labels of transcripts over the API."""

from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.run import Run
from cupel_core.store import labels as stored_labels
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.labelled import label, labels_of, started


@pytest.fixture
def run(client: Client) -> Run:
    """Twenty scenarios, twice each: forty transcripts of one target."""
    return started()


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


def test_a_verdict_that_was_shown_is_visible_to_labels_of_other_criteria(client: Client, run: Run) -> None:
    """The reason of the result names the checks that failed."""
    label(client, run, 4)
    label(client, run, 4, criterion="llm-rubric", labeller="ben")
    client.post(f"/v1/probes/{run.id}-4/label/verdict", {})
    assert label(client, run, 4, criterion="llm-rubric", value="fail")["blindValue"] is None
    assert label(client, run, 4, criterion="llm-rubric", value="fail", labeller="ben")["blindValue"] == "fail"


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
