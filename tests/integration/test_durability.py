"""An emulator of its own, without a deployed stack, that is killed: what it had acknowledged is there after a start."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cupel.errors import CupelError
from cupel.stack import emulator
from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator
from cupel.stack.paths import StackPaths
from tests.eval_api import wait_until
from tests.stacks import ROOT

TABLE = "things"
TARGET = {"Arn": "arn:aws:lambda:us-east-1:000000000000:function:f", "RoleArn": "arn:aws:iam::000000000000:role/r"}


class KilledEmulator:
    def __init__(self, paths: StackPaths) -> None:
        self.paths = paths
        self.running: Emulator = emulator.start(paths, emulator.find_free_port())

    def client(self, service: str) -> Any:
        return make_client(service, self.running)

    @property
    def dynamodb(self) -> Any:
        return self.client("dynamodb")

    def create_table(self, name: str = TABLE) -> None:
        self.dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        )

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.running.pid, signal.SIGKILL)
        wait_until(lambda: emulator.find_running(self.paths) is None)

    def restart(self) -> None:
        self.kill()
        self.running = emulator.start(self.paths, None)

    def put(self, sort: str, value: str = "v") -> None:
        self.dynamodb.put_item(TableName=TABLE, Item=thing(sort, value))

    def values(self) -> dict[str, str]:
        """By sort key."""
        items = self.dynamodb.scan(TableName=TABLE, ConsistentRead=True)["Items"]
        return {item["sk"]["S"]: item["value"]["S"] for item in items}


def thing(sort: str, value: str = "v") -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": sort}, "value": {"S": value}}


def key(sort: str) -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": sort}}


@contextmanager
def full_disk(cloud: KilledEmulator, limit: int | None = None) -> Iterator[None]:
    """No file of the emulator may grow beyond the limit, or the journal's size and a little more."""
    journal = cloud.paths.state / "data" / "journal"
    size = limit or max(path.stat().st_size for path in journal.iterdir()) + 1_000
    before = resource.prlimit(cloud.running.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(cloud.running.pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(cloud.running.pid, resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def module_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledEmulator]:
    paths = StackPaths(ROOT, tmp_path_factory.mktemp("killed"))
    cloud = KilledEmulator(paths)
    try:
        yield cloud
    finally:
        emulator.stop(paths)


@pytest.fixture
def cloud(module_cloud: KilledEmulator) -> Iterator[KilledEmulator]:
    """With an empty table."""
    module_cloud.create_table()
    yield module_cloud
    module_cloud.dynamodb.delete_table(TableName=TABLE)


def test_items_written_by_every_operation_survive(cloud: KilledEmulator) -> None:
    dynamodb = cloud.dynamodb
    for sort in ("put", "updated", "deleted", "deleted in a batch", "deleted in a transaction"):
        cloud.put(sort)
    update = {
        "UpdateExpression": "SET #v = :v",
        "ExpressionAttributeNames": {"#v": "value"},
        "ExpressionAttributeValues": {":v": {"S": "new"}},
    }
    dynamodb.update_item(TableName=TABLE, Key=key("updated"), **update)
    dynamodb.delete_item(TableName=TABLE, Key=key("deleted"))
    batch = [{"PutRequest": {"Item": thing("batch")}}, {"DeleteRequest": {"Key": key("deleted in a batch")}}]
    dynamodb.batch_write_item(RequestItems={TABLE: batch})
    dynamodb.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": TABLE, "Item": thing("transaction")}},
            {"Update": {"TableName": TABLE, "Key": key("put"), **update}},
            {"Delete": {"TableName": TABLE, "Key": key("deleted in a transaction")}},
        ]
    )
    cloud.restart()
    assert cloud.values() == {"put": "new", "updated": "new", "batch": "v", "transaction": "v"}


def test_items_written_by_a_statement_survive(cloud: KilledEmulator) -> None:
    cloud.put("a")
    statement = f"INSERT INTO \"{TABLE}\" VALUE {{'pk': 'p', 'sk': 'b', 'value': 'v'}}"
    cloud.dynamodb.execute_statement(Statement=statement)
    cloud.restart()
    assert cloud.values() == {"a": "v", "b": "v"}


def test_a_refused_write_is_not_there_after_a_kill(cloud: KilledEmulator) -> None:
    cloud.put("a")
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        cloud.dynamodb.put_item(TableName=TABLE, Item=thing("a", "b"), ConditionExpression="attribute_not_exists(pk)")
    cloud.restart()
    assert cloud.values() == {"a": "v"}


def test_the_items_of_a_deleted_table_do_not_return_with_its_name(cloud: KilledEmulator) -> None:
    cloud.put("a")
    cloud.dynamodb.delete_table(TableName=TABLE)
    cloud.create_table()
    cloud.put("b")
    cloud.restart()
    assert cloud.values() == {"b": "v"}


def test_a_second_kill_finds_what_was_written_before_and_after_the_first(cloud: KilledEmulator) -> None:
    cloud.put("a")
    cloud.restart()
    cloud.put("b")
    cloud.restart()
    assert cloud.values() == {"a": "v", "b": "v"}


def test_data_survives_a_clean_stop_too(cloud: KilledEmulator) -> None:
    cloud.put("a")
    emulator.stop(cloud.paths)
    cloud.running = emulator.start(cloud.paths, None)
    assert cloud.values() == {"a": "v"}


def test_a_deadline_of_items_survives(cloud: KilledEmulator) -> None:
    expiry = {"Enabled": True, "AttributeName": "expiresAt"}
    cloud.dynamodb.update_time_to_live(TableName=TABLE, TimeToLiveSpecification=expiry)
    cloud.restart()
    assert cloud.dynamodb.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "expiresAt",
    }


def test_secrets_survive(cloud: KilledEmulator) -> None:
    secrets = cloud.client("secretsmanager")
    secrets.create_secret(Name="provider", SecretString="first")
    secrets.put_secret_value(SecretId="provider", SecretString="second")
    cloud.restart()
    assert cloud.client("secretsmanager").get_secret_value(SecretId="provider")["SecretString"] == "second"


def test_schedules_and_their_groups_survive(cloud: KilledEmulator) -> None:
    scheduler = cloud.client("scheduler")
    scheduler.create_schedule_group(Name="group")
    more = {"GroupName": "group", "FlexibleTimeWindow": {"Mode": "OFF"}, "Target": TARGET}
    scheduler.create_schedule(Name="changed", ScheduleExpression="rate(1 day)", **more)
    scheduler.create_schedule(Name="deleted", ScheduleExpression="rate(1 day)", **more)
    scheduler.update_schedule(Name="changed", ScheduleExpression="rate(2 days)", **more)
    scheduler.delete_schedule(Name="deleted", GroupName="group")
    cloud.restart()
    scheduler = cloud.client("scheduler")
    assert [each["Name"] for each in scheduler.list_schedules(GroupName="group")["Schedules"]] == ["changed"]
    assert scheduler.get_schedule(Name="changed", GroupName="group")["ScheduleExpression"] == "rate(2 days)"


def test_a_one_time_schedule_that_has_fired_does_not_return(cloud: KilledEmulator) -> None:
    scheduler = cloud.client("scheduler")
    more = {"ActionAfterCompletion": "DELETE", "FlexibleTimeWindow": {"Mode": "OFF"}, "Target": TARGET}
    scheduler.create_schedule(Name="once", ScheduleExpression="at(2020-01-01T00:00:00)", **more)
    file = cloud.paths.state / "data" / "state" / "scheduler.json"
    wait_until(lambda: '"once"' not in file.read_text(), seconds=40)
    cloud.restart()
    assert cloud.client("scheduler").list_schedules(NamePrefix="once")["Schedules"] == []


def test_on_a_full_disk_writes_are_refused_undone_and_possible_again_later(cloud: KilledEmulator) -> None:
    cloud.put("a")
    with full_disk(cloud):
        for write in (
            lambda: cloud.put("a", "x" * 300_000),
            lambda: cloud.dynamodb.transact_write_items(
                TransactItems=[
                    {"Put": {"TableName": TABLE, "Item": thing("b", "x" * 300_000)}},
                    {"Delete": {"TableName": TABLE, "Key": key("a")}},
                ],
                ClientRequestToken="the same",
            ),
        ):
            with pytest.raises(ClientError, match="nothing was stored"):
                write()
        assert cloud.values() == {"a": "v"}
    cloud.dynamodb.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": TABLE, "Item": thing("b", "x" * 300_000)}},
            {"Delete": {"TableName": TABLE, "Key": key("a")}},
        ],
        ClientRequestToken="the same",
    )
    cloud.restart()
    assert list(cloud.values()) == ["b"]


def test_on_a_full_disk_a_secret_is_refused_and_the_earlier_one_remains(cloud: KilledEmulator) -> None:
    secrets = cloud.client("secretsmanager")
    secrets.create_secret(Name="full", SecretString="first")
    with full_disk(cloud, limit=10):
        with pytest.raises(ClientError, match="nothing was stored"):
            secrets.put_secret_value(SecretId="full", SecretString="second")
        assert secrets.get_secret_value(SecretId="full")["SecretString"] == "first"


def test_on_a_full_disk_an_object_is_refused(cloud: KilledEmulator) -> None:
    bucket = cloud.client("s3")
    bucket.create_bucket(Bucket="objects")
    with full_disk(cloud, limit=10), pytest.raises(ClientError, match="Internal Server Error"):
        bucket.put_object(Bucket="objects", Key="large", Body=b"x" * 1_000)


def test_damage_is_reported_by_the_start_and_its_advice_works(cloud: KilledEmulator) -> None:
    cloud.put("before")
    cloud.put("damaged")
    cloud.put("after")
    cloud.kill()
    log = max((cloud.paths.state / "data" / "journal").glob("*.log"))
    intact = log.read_bytes()
    log.write_bytes(intact.replace(b"damaged", b"DAMAGED"))
    with pytest.raises(CupelError, match=f"{log} is damaged at byte") as error:
        emulator.start(cloud.paths, None)
    advice = next(line for line in str(error.value).splitlines() if line.strip().startswith("mv "))
    subprocess.run(advice, shell=True, check=True)  # noqa: S602 - as printed
    cloud.restart()
    assert cloud.values() == {"before": "v"}


def test_a_damaged_file_of_a_service_is_reported(cloud: KilledEmulator) -> None:
    cloud.client("secretsmanager").create_secret(Name="damaged", SecretString="s")
    cloud.kill()
    file = cloud.paths.state / "data" / "state" / "secretsmanager.json"
    content = file.read_text()
    file.write_text(content[:-5])
    with pytest.raises(CupelError, match=f"{file} is damaged"):
        emulator.start(cloud.paths, None)
    file.write_text(content)
    cloud.restart()


def test_a_second_emulator_with_the_same_data_is_refused(cloud: KilledEmulator, tmp_path: Path) -> None:
    other = StackPaths(ROOT, tmp_path)
    (tmp_path / "data").symlink_to(cloud.paths.state / "data")
    with pytest.raises(CupelError, match=f"in use by process {cloud.running.pid}"):
        emulator.start(other, emulator.find_free_port())


def test_workers_that_outlive_the_emulator_are_killed_by_the_next_start(cloud: KilledEmulator) -> None:
    code = cloud.paths.state / "scratch" / "worker"
    code.mkdir()
    script = code / "worker.py"
    script.write_text("import time; time.sleep(600)")
    worker = subprocess.Popen([sys.executable, str(script)])
    cloud.restart()
    assert worker.wait(timeout=10) == -signal.SIGKILL


def test_the_workers_code_is_deleted_in_the_background(cloud: KilledEmulator) -> None:
    interrupted = cloud.paths.state / "deleted-before" / "worker"
    interrupted.mkdir(parents=True)
    cloud.restart()
    wait_until(lambda: not list(cloud.paths.state.glob("deleted-*")))


def test_down_after_a_kill_kills_the_workers(cloud: KilledEmulator) -> None:
    code = cloud.paths.state / "scratch" / "worker"
    code.mkdir()
    script = code / "worker.py"
    script.write_text("import time; time.sleep(600)")
    worker = subprocess.Popen([sys.executable, str(script)])
    cloud.kill()
    assert (emulator.stop(cloud.paths), worker.wait(timeout=10)) == (False, -signal.SIGKILL)
    cloud.restart()
