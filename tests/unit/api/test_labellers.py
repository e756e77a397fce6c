"""Who a label is of: the API token or user, in whatever session of the web page it was given."""

from typing import Any

import pytest

from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from tests.unit.api.client import Client
from tests.unit.api.labelled import drawn, label, labels_of, started
from tests.unit.api.test_sessions import open_session


@pytest.fixture
def run(client: Client) -> Run:
    return started()


def session_of(key: str) -> Client:
    return Client(open_session(Client(key))["token"])


def pending(client: Client, run: Run, label_set: Any) -> list[str]:
    address = f"/v1/runs/{run.id}/label-sets/{label_set['id']}/items"
    items = client.get(address, query={"pending": "true", "limit": "100"}).json()["items"]
    return [each["probeId"] for each in items]


def test_two_sessions_of_one_key_are_one_labeller(client: Client, run: Run) -> None:
    key = client.issue(role=AccessRole.MEMBER)
    key_id = Client(key).get("/v1/session").json()["tokenId"]
    label(session_of(key), run, 3)
    label(session_of(key), run, 3, value="fail")
    label(Client(key), run, 4)
    found = labels_of(client, run)
    assert [(each["labeller"], each["value"]) for each in found] == [(key_id, "fail"), (key_id, "pass")]


def test_two_keys_are_two_labellers(client: Client, run: Run) -> None:
    for _ in range(2):
        label(session_of(client.issue(role=AccessRole.MEMBER)), run, 3)
    assert len({each["labeller"] for each in labels_of(client, run)}) == 2


def test_a_further_session_goes_on_where_the_first_ended(client: Client, run: Run) -> None:
    made = drawn(client, run, count=10)
    key = client.issue(role=AccessRole.LABELLER)
    first = session_of(key)
    for probe in pending(first, run, made)[:4]:
        first.put(f"/v1/probes/{probe}/label", {"value": "pass", "labelSetId": made["id"]})
    second = session_of(key)
    assert len(pending(second, run, made)) == 6
    progress = second.get(f"/v1/runs/{run.id}/label-sets/{made['id']}").json()["progress"]
    assert list(progress["byLabeller"].values()) == [4]
    assert progress["doubled"] == 0


def test_a_label_is_revealed_and_removed_in_another_session(client: Client, run: Run) -> None:
    key = client.issue(role=AccessRole.MEMBER)
    label(session_of(key), run, 3)
    label(session_of(key), run, 4)
    assert session_of(key).post(f"/v1/probes/{run.id}-4/label/verdict", {}).json()["verdict"] == "fail"
    assert session_of(key).delete(f"/v1/probes/{run.id}-3/label").status == 204
    assert [each["probeId"] for each in labels_of(client, run)] == [f"{run.id}-4"]


def test_a_session_keeps_the_id_that_it_had(client: Client) -> None:
    opened = open_session(client, client.issue(role=AccessRole.VIEWER))
    assert Client(opened["token"]).get("/v1/session").json()["tokenId"] == opened["id"]


def test_labellers_list_the_sets_of_a_run_without_strata(client: Client, run: Run) -> None:
    made = drawn(client, run, count=3)
    label(client, run, 3)
    labeller = session_of(client.issue(role=AccessRole.LABELLER))
    (found,) = labeller.get(f"/v1/runs/{run.id}/label-sets").json()["items"]
    assert (found["id"], found["strata"], found["progress"]["byLabeller"]) == (made["id"], [], {})
