"""Label sets over the API: transcripts that are drawn for people to label."""

from typing import Any

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.conversation import ConversationOutcome, Verdict
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.scoring import build_scoring
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.labelled import drawn, judged, label, labels_of, started


@pytest.fixture
def run(client: Client) -> Run:
    """Twenty scenarios, twice each: forty transcripts of one target."""
    return started()


@pytest.fixture
def labeller(client: Client) -> Client:
    return Client(client.issue(role=AccessRole.LABELLER))


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


def test_labels_of_another_workspace_do_not_exist(client: Client, run: Run) -> None:
    stranger = Client(client.issue("globex"))
    assert stranger.put(f"/v1/probes/{run.id}-3/label", {"value": "pass"}).status == 404
    assert stranger.get(f"/v1/runs/{run.id}/labels").status == 404
    assert stranger.get(f"/v1/runs/{run.id}/label-sets").status == 404


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
