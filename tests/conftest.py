"""Shared by all tests: an environment without access to AWS, the template, and moto's services built from it."""

import gc
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
    POWERTOOLS_SERVICE_NAME="cupel",
    POWERTOOLS_METRICS_NAMESPACE="Cupel",
)
for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_CA_BUNDLE"):
    os.environ.pop(name, None)
gc.disable()  # until the tests are collected, of which it took a fifth of the time

import pytest
import yaml
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from moto import mock_aws
from moto.core import DEFAULT_ACCOUNT_ID
from typer import testing
from xdist.scheduler import LoadScopeScheduling

from cupel_core.accounts import keys as accounts
from cupel_core.base import event_loop
from cupel_core.providers import http, safe_http
from cupel_core.resources import headers
from cupel_core.store import analyses, clients, scenarios, snapshots
from cupel_core.store.settings import Settings, settings
from tests import moto_services
from tests.effort import EXAMPLES, IS_SEARCHING

pytest_plugins = ["tests.stacks"]
_LENIENT = hypothesis_settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.register_profile("repeatable", _LENIENT, derandomize=True)
hypothesis_settings.register_profile("searching", _LENIENT)
hypothesis_settings.load_profile("searching" if IS_SEARCHING else "repeatable")

ROOT = Path(__file__).parent.parent
_CACHED = (settings, snapshots.get, scenarios.read_page, analyses.documents, headers.load)
"""As they are before a test replaces one of them."""


@pytest.fixture(scope="session", autouse=True)
def _moto_is_changed() -> None:
    moto_services.save_only_the_items_of_a_transaction()
    moto_services.answer_sooner()
    moto_services.handle_one_request_at_a_time()


@pytest.fixture(scope="session", autouse=True)
def _commands_are_built_once() -> None:
    """Typer builds all commands of `cupel` again for each call of its test runner: half of the time of such a call."""
    testing._get_command = cache(testing._get_command)  # type: ignore[misc]


@pytest.fixture(scope="session", autouse=True)
def _connections_are_closed() -> Iterator[None]:
    """Functions keep the process's event loop and its connections from one invocation to the next."""
    yield
    event_loop.run(safe_http.close())
    event_loop.run(http.close())


_GROUPS = {
    "tests/e2e": "second stack",
    "tests/integration/test_fuzzing.py": "second stack",
    "tests/integration": "stack",
    "tests/web/test_other_sites.py": "stack",
    "tests/web/test_stack_flows.py": "stack",
    "tests/interop": "interop",
    "tests/packaging": "packaging",
    "tests/simulation/test_chats.py": "simulated chats",
    "tests/web": "browser",
}
"""By folder or file, the first that fits: a shared resource that takes longer to start than most of its tests run. Two
processes have a stack of their own, because tests of a stack mostly wait."""


_ON_REQUEST = ("faults", "hostile", "statistics", "web")
"""Folders whose tests take minutes: they run with `make faults` and so on, or `pytest tests/faults/...`."""
_BROWSED = ("test_browser.py", "test_compare.py", "test_matrix.py", "test_other_sites.py", "test_stack_flows.py")
"""Of the files in `web`, those that run with all tests, in one process: 75 s, and another 75 s beside a stack."""


_MUTATIONS = ("test_mutations.py", "test_chat_mutations.py")
"""These files of `simulation` run with `make mutations` only: they show that it finds known bugs."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    folder = collection_path.parent.name
    name = collection_path.name
    is_slow = (folder in _ON_REQUEST and name.startswith("test_") and name not in _BROWSED) or name in _MUTATIONS
    is_requested = any(f"tests/{folder}" in argument for argument in config.args)
    return True if is_slow and not is_requested else None


_LONGEST_FIRST = (*_GROUPS, "tests/simulation")
"""Folders and files to begin with, so that no process is left with a long test when the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return next((n for n, part in enumerate(_LONGEST_FIRST) if item.nodeid.startswith(part)), len(_LONGEST_FIRST))

    items.sort(key=rank)


class _GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that share a resource run in one process; simulations are distributed one by one, the others by file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        alone = nodeid if file.startswith(("tests/simulation", "tests/statistics")) else file
        return next((group for part, group in _GROUPS.items() if file.startswith(part)), alone)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _GroupScheduling:
    """For `pytest -n 4`. The marks of `--dist loadgroup` have no effect with pytest 9.2 and xdist 3.8."""
    config.option.loadscopereorder = False  # else files with many tests come first
    gc.enable()  # this process collects no tests
    return _GroupScheduling(config, log)


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector took a seventh of the suite's time to walk it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


class CloudFormationLoader(yaml.CSafeLoader):
    """Reads `!Ref X` as `{"Ref": "X"}` and `!Sub ...` as `{"Fn::Sub": ...}`."""


def _intrinsic(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


CloudFormationLoader.add_multi_constructor("!", _intrinsic)


@cache
def template() -> dict[str, Any]:
    return yaml.load((ROOT / "template.yaml").read_text(), Loader=CloudFormationLoader)  # noqa: S506


def create_table(name: str) -> None:
    properties = dict(template()["Resources"]["Table"]["Properties"])
    copied = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")
    request = {"TableName": name, **{key: properties[key] for key in copied}}
    moto_services.create_table(name, lambda: clients.dynamodb().create_table(**request))


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """The stack's table, bucket and queues in moto, and the settings that name them.

    The clients are reused by all tests, because creating them took most of the suite's time; moto resets its own state.
    """
    with mock_aws():
        moto_services.create_queues()
        create_table("cupel-test")
        moto_services.create_bucket_and_schedules("cupel-test")
        environment = {
            "STACK_NAME": "cupel-test",
            "TABLE_NAME": "cupel-test",
            "BUCKET_NAME": "cupel-test",
            "DISPATCH_QUEUE_URL": _queue_url("dispatch"),
            "GENERATE_QUEUE_URL": _queue_url("generate"),
            "SCHEDULE_FUNCTION_ARN": "arn:aws:lambda:us-east-1:123456789012:function:cupel-test-schedule",
            "SCHEDULE_ROLE_ARN": "arn:aws:iam::123456789012:role/cupel-test-schedule",
            "SCHEDULE_DEAD_LETTERS_ARN": "arn:aws:sqs:us-east-1:123456789012:cupel-test-schedule-dlq",
            "ALLOWED_ORIGINS": "http://localhost:5173",
        }
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        _clear_caches()
        yield settings()
    _clear_caches()


def _queue_url(name: str) -> str:
    return f"https://sqs.us-east-1.amazonaws.com/{DEFAULT_ACCOUNT_ID}/cupel-test-{name}"


def _clear_caches() -> None:
    accounts.clear_key_cache()
    for cached in _CACHED:
        cached.cache_clear()
