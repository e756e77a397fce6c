"""template.yaml keeps what the rest of the repository relies on, and what an account should not have to find out."""

import json
import re
from functools import cache
from itertools import product
from typing import Any

import pytest

from cupel_core.domain.runs.run import Priority
from cupel_core.providers import PROVIDERS
from cupel_core.settings import Lane, Settings
from tests.conftest import ROOT, template

FUNCTIONS = {path.parent.name for path in (ROOT / "functions").glob("*/__init__.py")}
README = ROOT / "README.md"


def substitute(node: Any, name: str, value: str) -> Any:
    """`node` as it is in one round of a loop."""
    if isinstance(node, dict):
        if node == {"Ref": name}:
            return value
        return {substitute(key, name, value): substitute(each, name, value) for key, each in node.items()}
    if isinstance(node, list):
        return [substitute(each, name, value) for each in node]
    return node.replace(f"${{{name}}}", value) if isinstance(node, str) else node


def written_out(loops: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, body in loops.items():
        if key.startswith("Fn::ForEach::"):
            name, values, inner = body
            for value in values:
                found |= written_out(substitute(inner, name, value))
        else:
            found[key] = filled_in(body)
    return found


def filled_in(node: Any) -> Any:
    """`node` with what the template's mappings say for keys that are known, and `!Sub` texts with what that gives."""
    if isinstance(node, list):
        return [filled_in(each) for each in node]
    if not isinstance(node, dict):
        return node
    filled = {key: filled_in(each) for key, each in node.items()}
    match filled:
        case {"Fn::FindInMap": [str(table), str(key), str(field)]}:
            return template()["Mappings"][table][key][field]
        case {"Fn::Sub": [str(text), dict(values)]}:
            for name, value in values.items():
                text = text.replace(f"${{{name}}}", value)
            return {"Fn::Sub": text}
    return filled


@cache
def resources() -> dict[str, Any]:
    """By logical id, loops written out."""
    return written_out(template()["Resources"])


def of_type(kind: str) -> dict[str, Any]:
    return {key: resource for key, resource in resources().items() if resource["Type"] == kind}


def functions() -> dict[str, Any]:
    """Properties by folder; the folder is the first part of the handler."""
    return {
        resource["Properties"]["Handler"].split(".")[0]: resource["Properties"]
        for resource in of_type("AWS::Serverless::Function").values()
    }


def queues() -> dict[str, Any]:
    return of_type("AWS::SQS::Queue")


def dead_letters() -> dict[str, Any]:
    return {key: queue for key, queue in queues().items() if key.endswith("DeadLetters")}


def target(reference: Any) -> str:
    """The logical id that `!GetAtt X.Y` in any of its spellings, or `!Ref X`, names."""
    named = reference["Fn::GetAtt"][0] if "Fn::GetAtt" in reference else reference["Ref"]
    return named["Fn::Sub"] if isinstance(named, dict) else named


def statements() -> list[tuple[str, dict[str, Any]]]:
    """Every statement of a policy that grants something, with the logical id it belongs to."""
    found = []
    for key, resource in resources().items():
        properties = resource["Properties"]
        inline = [policy for policy in properties.get("Policies", []) if "Statement" in policy]
        documents = [*inline, *([properties["PolicyDocument"]] if "PolicyDocument" in properties else [])]
        found += [(key, each) for document in documents for each in document["Statement"] if each["Effect"] == "Allow"]
    return found


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def visibility_seconds(queue: dict[str, Any]) -> set[tuple[int, int]]:
    """(timeout of its function, visibility of the queue), for every allowed parameter."""
    timeout = queue["Properties"]["VisibilityTimeout"]
    if isinstance(timeout, int):
        return {(0, timeout)}
    table, parameter, field = timeout["Fn::FindInMap"]
    assert parameter == {"Ref": "ProbeTimeoutSeconds"}
    allowed = template()["Parameters"]["ProbeTimeoutSeconds"]["AllowedValues"]
    return {(int(each), template()["Mappings"][table][each][field]) for each in allowed}


def test_every_function_folder_is_deployed_and_every_function_has_its_folder() -> None:
    assert set(functions()) == FUNCTIONS


def test_every_function_is_named_after_its_folder() -> None:
    assert {folder: each["FunctionName"]["Fn::Sub"] for folder, each in functions().items()} == {
        folder: f"${{AWS::StackName}}-{folder}" for folder in FUNCTIONS
    }


def test_every_provider_has_a_queue_of_each_priority() -> None:
    names = {queue["Properties"]["QueueName"]["Fn::Sub"] for queue in queues().values()}
    assert {f"${{AWS::StackName}}-probe-{Lane(*each).name}" for each in product(PROVIDERS, Priority)} == {
        name for name in names if "-probe-" in name and not name.endswith("-dlq")
    }


@pytest.mark.parametrize("queue", sorted(set(queues()) - set(dead_letters())))
def test_a_queue_has_dead_letters_named_after_it(queue: str) -> None:
    properties = queues()[queue]["Properties"]
    dead = dead_letters()[target(properties["RedrivePolicy"]["deadLetterTargetArn"])]["Properties"]
    assert dead["QueueName"]["Fn::Sub"] == properties["QueueName"]["Fn::Sub"] + "-dlq"
    assert properties["RedrivePolicy"]["maxReceiveCount"] == 5
    assert dead["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("queue", sorted(dead_letters()))
def test_dead_letters_raise_an_alarm(queue: str) -> None:
    watched = [target(alarm["Properties"]["Dimensions"][0]["Value"]) for alarm in alarms("AWS/SQS")]
    assert watched.count(queue) == 1


def test_a_failed_execution_raises_an_alarm() -> None:
    watched = [target(alarm["Properties"]["Dimensions"][0]["Value"]) for alarm in alarms("AWS/States")]
    assert watched == list(of_type("AWS::Serverless::StateMachine"))


def alarms(namespace: str) -> list[dict[str, Any]]:
    every = of_type("AWS::CloudWatch::Alarm").values()
    return [alarm for alarm in every if alarm["Properties"]["Namespace"] == namespace]


def test_every_queue_is_encrypted() -> None:
    assert all(queue["Properties"]["SqsManagedSseEnabled"] for queue in queues().values())


def test_every_queue_with_work_has_one_source() -> None:
    sources = [target(each["Properties"]["EventSourceArn"]) for each in of_type(SOURCE).values()]
    assert sorted(sources) == sorted(set(queues()) - set(dead_letters()))


SOURCE = "AWS::Lambda::EventSourceMapping"


@pytest.mark.parametrize("source", sorted(of_type(SOURCE)))
def test_a_source_reports_partial_failures_and_bounds_concurrency(source: str) -> None:
    properties = of_type(SOURCE)[source]["Properties"]
    assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "MaximumConcurrency" in properties["ScalingConfig"]


def test_every_number_of_probe_workers_is_a_number() -> None:
    allowed = template()["Parameters"]["ProbeWorkers"]["AllowedValues"]
    assert template()["Mappings"]["ProbeConcurrency"] == {each: {"Number": int(each)} for each in allowed}


@pytest.mark.parametrize("source", sorted(of_type(SOURCE)))
def test_a_message_stays_hidden_longer_than_its_function_may_run(source: str) -> None:
    properties = of_type(SOURCE)[source]["Properties"]
    timeout = resources()[target(properties["FunctionName"])]["Properties"]["Timeout"]
    for parameter, visible_after in visibility_seconds(queues()[target(properties["EventSourceArn"])]):
        assert visible_after > (parameter or timeout)


@pytest.mark.parametrize("folder", sorted(FUNCTIONS))
def test_logs_of_a_function_are_kept_for_the_days_of_the_parameter(folder: str) -> None:
    group = resources()[functions()[folder]["LoggingConfig"]["LogGroup"]["Ref"]]
    assert group["Properties"] == {
        "LogGroupName": {"Fn::Sub": f"/aws/lambda/${{AWS::StackName}}-{folder}"},
        "RetentionInDays": {"Ref": "LogRetentionDays"},
    }


def test_logs_of_machines_are_kept_for_the_days_of_the_parameter() -> None:
    assert {str(group["Properties"]["RetentionInDays"]) for group in of_type("AWS::Logs::LogGroup").values()} == {
        str({"Ref": "LogRetentionDays"})
    }


def test_no_policy_allows_every_action_of_a_service() -> None:
    for owner, statement in statements():
        assert not [action for action in as_list(statement["Action"]) if "*" in action], owner


def test_only_log_deliveries_are_allowed_on_every_resource() -> None:
    on_all = {
        action for _, each in statements() if "*" in as_list(each["Resource"]) for action in as_list(each["Action"])
    }
    assert {action.split(":")[0] for action in on_all} <= {"logs"}


def test_nothing_may_scan() -> None:
    assert not [owner for owner, each in statements() if "dynamodb:Scan" in as_list(each["Action"])]


def test_the_authorizer_may_only_read_tokens() -> None:
    (statement,) = [each for owner, each in statements() if owner == "AuthorizeFunction"]
    assert statement["Action"] == "dynamodb:GetItem"
    assert statement["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["token#*"]}}
    assert len(functions()["authorize"]["Policies"]) == 1


def test_environment_variables_are_the_settings() -> None:
    variables = template()["Globals"]["Function"]["Environment"]["Variables"]
    ours = {name for name in variables if not name.startswith("POWERTOOLS_")}
    assert ours == {name.upper() for name in Settings.model_fields}
    assert not [folder for folder, each in functions().items() if "Environment" in each]


def test_outputs_name_the_settings_that_the_first_token_needs() -> None:
    words = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() for name in template()["Outputs"]}
    required = {name.upper() for name, field in Settings.model_fields.items() if field.is_required()}
    assert required <= words


def test_the_bucket_is_private_and_encrypted() -> None:
    properties = resources()["Bucket"]["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert properties["BucketEncryption"]
    (statement,) = resources()["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_transcripts_leave_the_bucket_after_the_days_of_the_parameter() -> None:
    rules = {rule["Id"]: rule for rule in resources()["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert rules["transcripts"]["Prefix"] == "transcripts/"
    assert rules["transcripts"]["ExpirationInDays"]["Fn::If"][1] == {"Ref": "TranscriptRetentionDays"}


def test_the_table_can_be_restored_and_forgets_by_ttl() -> None:
    properties = resources()["Table"]["Properties"]
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_data_outlives_the_stack_unless_asked() -> None:
    assert template()["Parameters"]["DataDeletionPolicy"]["Default"] == "Retain"
    for key in ("Table", "Bucket"):
        assert (
            resources()[key]["DeletionPolicy"]
            == resources()[key]["UpdateReplacePolicy"]
            == {"Ref": "DataDeletionPolicy"}
        )


def test_only_health_preflight_and_the_api_document_need_no_token() -> None:
    routes = [route["Properties"] for route in of_type("AWS::ApiGatewayV2::Route").values()]
    assert {each["RouteKey"] for each in routes if each.get("AuthorizationType") != "CUSTOM"} == {
        "GET /v1/health",
        "GET /v1/openapi.json",
        "OPTIONS /v1/{proxy+}",
    }


def test_the_authorizer_is_asked_every_time_also_without_a_token() -> None:
    (authorizer,) = [each["Properties"] for each in of_type("AWS::ApiGatewayV2::Authorizer").values()]
    assert authorizer["AuthorizerResultTtlInSeconds"] == 0
    assert authorizer["IdentitySource"] == ["$context.identity.sourceIp"]


def machines() -> dict[str, Any]:
    """By the name of its file."""
    uris = [resource["Properties"]["DefinitionUri"] for resource in of_type("AWS::Serverless::StateMachine").values()]
    return {(ROOT / uri).name.partition(".")[0]: json.loads((ROOT / uri).read_text()) for uri in uris}


MACHINES = ["finish", "score"]
"""Each calls the function of its name."""


def test_every_machine_is_named_after_its_file() -> None:
    names = {each["Properties"]["Name"]["Fn::Sub"] for each in of_type("AWS::Serverless::StateMachine").values()}
    assert names == {f"${{AWS::StackName}}-{name}" for name in MACHINES}
    assert set(machines()) == set(MACHINES)
    assert {path.name for path in (ROOT / "statemachines").iterdir()} == {f"{name}.asl.json" for name in MACHINES}


def states(definition: dict[str, Any]) -> dict[str, Any]:
    """By name, those inside a Map included."""
    found = dict(definition["States"])
    for state in definition["States"].values():
        if "ItemProcessor" in state:
            found |= states(state["ItemProcessor"])
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_of_a_machine_leads_to_one_that_exists(name: str) -> None:
    known = states(machines()[name])
    for state in known.values():
        branches = [*state.get("Choices", []), *state.get("Catch", [])]
        named = [state.get("Next"), state.get("Default"), *(branch["Next"] for branch in branches)]
        assert {name for name in named if name} <= set(known)


@pytest.mark.parametrize("name", MACHINES)
def test_every_task_of_a_machine_is_retried(name: str) -> None:
    tasks = [state for state in states(machines()[name]).values() if state["Type"] == "Task"]
    assert all(task["Retry"][0]["ErrorEquals"] == ["States.ALL"] for task in tasks)


@pytest.mark.parametrize(
    ("name", "phases"), [("finish", "Settle Summarize Complete"), ("score", "Begin Score Complete")]
)
def test_whatever_fails_in_a_machine_is_told_by_its_last_task(name: str, phases: str) -> None:
    outer = machines()[name]["States"]
    caught = {name for name, state in outer.items() for each in state.get("Catch", []) if each["Next"] == "Fail"}
    assert caught == set(phases.split())


@pytest.mark.parametrize(("name", "which"), [("finish", "epoch.$"), ("score", "scoringId.$")])
def test_a_task_knows_what_it_is_for(name: str, which: str) -> None:
    for state in states(machines()[name]).values():
        for given in (state.get("Parameters"), state.get("ItemSelector")):
            assert given is None or {"op", "workspace.$", "runId.$", which} <= set(given)


def test_the_readme_lists_the_functions() -> None:
    table = re.search(
        r"^\| function \| trigger \| does \|\n\|[-| ]+\|\n((?:\|.*\n)+)", README.read_text(), re.MULTILINE
    )
    assert table, "README.md has no table of functions"
    assert {line.split("|")[1].strip(" `") for line in table[1].splitlines()} == FUNCTIONS


def dashboard_metrics() -> list[list[Any]]:
    """Of all widgets, with the shorthand "..." written out."""
    (dashboard,) = of_type("AWS::CloudWatch::Dashboard").values()
    found: list[list[Any]] = []
    for widget in json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])["widgets"]:
        for metric in widget["properties"]["metrics"]:
            found.append([*found[-1][:3], metric[1]] if metric[0] == "..." else metric)
    return found


def test_the_dashboard_searches_our_metrics_by_provider_of_this_stack() -> None:
    searches = [metric[0]["expression"] for metric in dashboard_metrics() if isinstance(metric[0], dict)]
    pattern = (
        r"SEARCH\('\{Cupel,(code,)?provider,service\} service=\"\$\{AWS::StackName\}\" MetricName=\"\w+\"', 'Sum', 60\)"
    )
    assert searches
    assert all(re.fullmatch(pattern, search) for search in searches)


def test_the_dashboard_shows_every_queue_with_work_and_every_function() -> None:
    shown = {(metric[2], metric[3]) for metric in dashboard_metrics() if len(metric) == 4}
    working = [queue for key, queue in queues().items() if key not in dead_letters()]
    named = {("QueueName", queue["Properties"]["QueueName"]["Fn::Sub"]) for queue in working}
    assert shown == named | {("FunctionName", each["FunctionName"]["Fn::Sub"]) for each in functions().values()}
