"""template.yaml has the properties that the code and the operation of a stack rely on."""

import json
import re
from dataclasses import MISSING, fields
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from typing import Any

import pytest

from cupel_core.domain.runs.run import Priority
from cupel_core.providers import QUEUES
from cupel_core.runs.probing.invocation import MARGIN_SECONDS
from cupel_core.store import object_names
from cupel_core.store.queues import MAX_DELAY_SECONDS
from cupel_core.store.settings import Lane, Settings
from cupel_core.workspace.sweeping.sweep import DeadLetterCounts
from tests.conftest import ROOT, template
from tests.in_one_test import in_one_test

FUNCTIONS = {path.parent.name for path in (ROOT / "functions").glob("*/__init__.py")}


def substitute(node: Any, name: str, value: str) -> Any:
    """`node` with the variable of a loop replaced by one value."""
    if isinstance(node, dict):
        if node == {"Ref": name}:
            return value
        return {substitute(key, name, value): substitute(each, name, value) for key, each in node.items()}
    if isinstance(node, list):
        return [substitute(each, name, value) for each in node]
    return node.replace(f"${{{name}}}", value) if isinstance(node, str) else node


def expand_loops(loops: dict[str, Any]) -> dict[str, Any]:
    expanded: dict[str, Any] = {}
    for key, body in loops.items():
        if key.startswith("Fn::ForEach::"):
            name, values, inner = body
            for value in loop_values(values):
                expanded |= expand_loops(substitute(inner, name, value))
        else:
            expanded[key] = resolve_mappings(body)
    return expanded


def loop_values(values: Any) -> list[str]:
    """Of a literal list, or of a parameter's default."""
    if isinstance(values, list):
        return values
    default: str = template()["Parameters"][values["Ref"]]["Default"]
    return default.split(",")


def resolve_mappings(node: Any) -> Any:
    """`node` with `!FindInMap` replaced where its keys are literal, and `!Sub` with its local variables."""
    if isinstance(node, list):
        return [resolve_mappings(each) for each in node]
    if not isinstance(node, dict):
        return node
    filled = {key: resolve_mappings(each) for key, each in node.items()}
    match filled:
        case {"Fn::FindInMap": [str(table), str(key), str(field)]}:
            return template()["Mappings"][table][key][field]
        case {"Fn::Sub": [str(text), dict(values)]}:
            for name, value in values.items():
                text = text.replace(f"${{{name}}}", value) if isinstance(value, str) else text
            return {"Fn::Sub": text}
    return filled


@cache
def resources() -> dict[str, Any]:
    """By logical id, with loops expanded."""
    return expand_loops(template()["Resources"])


def of_type(kind: str) -> dict[str, Any]:
    return {key: resource for key, resource in resources().items() if resource["Type"] == kind}


def functions() -> dict[str, Any]:
    """Properties by folder; the folder is the last part of the handler."""
    return {
        resource["Properties"]["Handler"].removeprefix("entry."): resource["Properties"]
        for resource in of_type("AWS::Serverless::Function").values()
    }


def queues() -> dict[str, Any]:
    return of_type("AWS::SQS::Queue")


def dead_letters() -> dict[str, Any]:
    return {key: queue for key, queue in queues().items() if key.endswith("DeadLetters")}


def target(reference: Any) -> str:
    """The logical id in a `!GetAtt X.Y`, in any of its spellings, or a `!Ref X`."""
    resource_name = reference["Fn::GetAtt"][0] if "Fn::GetAtt" in reference else reference["Ref"]
    return resource_name["Fn::Sub"] if isinstance(resource_name, dict) else resource_name


def statements() -> list[tuple[str, dict[str, Any]]]:
    """Every Allow statement of a policy, with the logical id of its resource."""
    allowed = []
    for key, resource in resources().items():
        properties = resource["Properties"]
        inline = [policy for policy in properties.get("Policies", []) if "Statement" in policy]
        documents = [*inline, *([properties["PolicyDocument"]] if "PolicyDocument" in properties else [])]
        allowed += [
            (key, each) for document in documents for each in document["Statement"] if each["Effect"] == "Allow"
        ]
    return allowed


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


def test_functions_and_their_folders_correspond() -> None:
    assert set(functions()) == FUNCTIONS


def test_every_function_is_named_after_its_folder() -> None:
    assert {folder: each["FunctionName"]["Fn::Sub"] for folder, each in functions().items()} == {
        folder: f"${{AWS::StackName}}-{folder}" for folder in FUNCTIONS
    }


def test_every_provider_has_a_queue_of_each_priority() -> None:
    names = {queue["Properties"]["QueueName"]["Fn::Sub"] for queue in queues().values()}
    assert {f"${{AWS::StackName}}-probe_{Lane(*each).name}" for each in product(QUEUES, Priority)} == {
        name for name in names if "-probe_" in name and not name.endswith("-dlq")
    }


def test_the_providers_are_those_of_the_code() -> None:
    parameter = template()["Parameters"]["Providers"]
    assert parameter["AllowedPattern"].split("|") == parameter["Default"].split(",") == list(QUEUES)


@pytest.mark.parametrize("other", ["cupel-probe", "cupel-probe-openai", "cupel-probe-dispatch"])
def test_no_pattern_of_a_policy_matches_queues_of_a_stack_with_a_similar_name(other: str) -> None:
    """The name of a stack has letters, digits and hyphens."""
    names = [
        queue["Properties"]["QueueName"]["Fn::Sub"].replace("${AWS::StackName}", other) for queue in queues().values()
    ]
    patterns = {
        resource["Fn::Sub"].replace("${AWS::StackName}", "cupel").rpartition(":")[2]
        for _, statement in statements()
        for resource in as_list(statement["Resource"])
        if "Fn::Sub" in resource and ":sqs:" in resource["Fn::Sub"]
    }
    assert patterns == {"cupel-probe_*", "cupel-probe_*-dlq"}
    assert not [name for name, pattern in product(names, patterns) if fnmatchcase(name, pattern)]


@in_one_test("queue", sorted(set(queues()) - set(dead_letters())))
def test_a_queue_has_dead_letters_named_after_it(queue: str) -> None:
    properties = queues()[queue]["Properties"]
    dead_letter_queue = dead_letters()[target(properties["RedrivePolicy"]["deadLetterTargetArn"])]["Properties"]
    assert dead_letter_queue["QueueName"]["Fn::Sub"] == properties["QueueName"]["Fn::Sub"] + "-dlq"
    assert properties["RedrivePolicy"]["maxReceiveCount"] == 5
    assert dead_letter_queue["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("queue", sorted(set(dead_letters()) - {key for key in queues() if "Probe" in key}))
def test_every_dead_letter_queue_has_an_alarm(queue: str) -> None:
    watched = [target(alarm["Dimensions"][0]["Value"]) for alarm in alarms().values() if "MetricName" in alarm]
    assert watched.count(queue) == 1


def test_one_alarm_watches_the_dead_letters_of_all_probe_queues() -> None:
    names = {name.removeprefix("Swept").lower() for name in metric_names("ProbeDeadLettersAlarm")}
    assert names == {field.name for field in fields(DeadLetterCounts)}


def test_an_alarm_per_provider_watches_the_age_of_messages_in_its_queues() -> None:
    watching = {key: metrics_of(key) for key in alarms() if key.endswith("OldProbeMessagesAlarm")}
    watched = [target(each["Dimensions"][0]["Value"]) for metrics in watching.values() for each in metrics]
    assert sorted(watched) == sorted(key for key in queues().keys() - dead_letters().keys() if "Probe" in key)
    assert {each["MetricName"] for metrics in watching.values() for each in metrics} == {
        "ApproximateAgeOfOldestMessage"
    }
    assert len(watching) == len(QUEUES)


def test_the_age_that_alarms_is_beyond_the_longest_delay_of_a_message() -> None:
    """A delayed message is as old as its delay when a worker receives it, and then at most an invocation older."""
    longest = MAX_DELAY_SECONDS + max(map(int, template()["Parameters"]["ProbeTimeoutSeconds"]["AllowedValues"]))
    thresholds = [alarms()[key]["Threshold"] for key in alarms() if key.endswith("OldProbeMessagesAlarm")]
    assert min(thresholds) > longest


def test_every_state_machine_has_an_alarm() -> None:
    watched = [alarm["Dimensions"][0]["Value"] for alarm in alarms().values() if alarm.get("Namespace") == "AWS/States"]
    assert [target(each) for each in watched] == list(of_type("AWS::Serverless::StateMachine"))


def test_an_alarm_watches_the_errors_of_every_function() -> None:
    own = [f"{function}ErrorsAlarm" for function in ("Analyze", "Graphql", "Mcp", "Page", "Turn")]
    watched = set.union(*map(dimension_values, ["FunctionErrorsAlarm", *own]))
    assert watched == {each["FunctionName"]["Fn::Sub"] for each in functions().values()}


def test_the_alarm_on_spend_watches_every_provider_that_costs_something() -> None:
    assert dimension_values("DailySpendAlarm") - {"AWS::StackName"} == set(QUEUES) - {"sim"}


def test_an_alarm_has_at_most_ten_metrics() -> None:
    """CloudWatch allows no more in an expression."""
    assert all(len(alarm.get("Metrics", [])) <= 11 for alarm in alarms().values())


def test_there_are_alarms_only_where_someone_is_notified() -> None:
    conditions = {resource["Condition"] for resource in of_type("AWS::CloudWatch::Alarm").values()}
    assert conditions == {"AlarmsAreSent", "SpendIsWatched"}
    assert template()["Conditions"]["SpendIsWatched"]["Fn::And"][0] == {"Condition": "AlarmsAreSent"}


def test_every_alarm_notifies_both_topics() -> None:
    topics = [[each["Fn::If"][1]["Ref"] for each in alarm["AlarmActions"]] for alarm in alarms().values()]
    assert {tuple(each) for each in topics} == {("AlarmTopicArn", "AlarmTopic")}


def alarms() -> dict[str, dict[str, Any]]:
    """Properties by logical id."""
    return {key: alarm["Properties"] for key, alarm in of_type("AWS::CloudWatch::Alarm").items()}


def metrics_of(alarm: str) -> list[dict[str, Any]]:
    return [each["MetricStat"]["Metric"] for each in alarms()[alarm]["Metrics"] if "MetricStat" in each]


def metric_names(alarm: str) -> set[str]:
    return {metric["MetricName"] for metric in metrics_of(alarm)}


def dimension_values(alarm: str) -> set[str]:
    values = [each["Value"] for metric in metrics_of(alarm) for each in metric["Dimensions"]]
    return {next(iter(value.values())) if isinstance(value, dict) else value for value in values}


def test_every_queue_is_encrypted() -> None:
    for queue in queues().values():
        assert queue["Properties"]["SqsManagedSseEnabled"] == {"Fn::If": ["UsesKey", {"Ref": "AWS::NoValue"}, True]}
        assert queue["Properties"]["KmsMasterKeyId"]["Fn::If"][:2] == ["UsesKey", {"Ref": "KmsKeyArn"}]


def test_every_work_queue_has_one_event_source() -> None:
    sources = [target(each["Properties"]["EventSourceArn"]) for each in of_type(SOURCE).values()]
    assert sorted(sources) == sorted(set(queues()) - set(dead_letters()))


SOURCE = "AWS::Lambda::EventSourceMapping"


@in_one_test("source", sorted(of_type(SOURCE)))
def test_a_source_reports_partial_failures_and_bounds_concurrency(source: str) -> None:
    properties = of_type(SOURCE)[source]["Properties"]
    assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "MaximumConcurrency" in properties["ScalingConfig"]


def test_allowed_numbers_of_probe_workers_match_the_mapping() -> None:
    allowed = template()["Parameters"]["ProbeWorkers"]["AllowedValues"]
    assert template()["Mappings"]["ProbeConcurrency"] == {each: {"Number": int(each)} for each in allowed}


@in_one_test("source", sorted(of_type(SOURCE)))
def test_visibility_timeouts_exceed_function_timeouts(source: str) -> None:
    properties = of_type(SOURCE)[source]["Properties"]
    timeout = resources()[target(properties["FunctionName"])]["Properties"]["Timeout"]
    for parameter, visible_after in visibility_seconds(queues()[target(properties["EventSourceArn"])]):
        assert visible_after > (parameter or timeout)


def may_be_queue(resource: dict[str, Any], queue: dict[str, Any]) -> bool:
    """A pattern may be any queue."""
    return "Fn::GetAtt" not in resource or target(resource) == target(queue)


def test_functions_that_requeue_to_their_own_queue_are_exempt_from_loop_detection() -> None:
    """Lambda stops such a chain after 16 invocations; here the protocol bounds it."""
    requeuing = {
        target(source["Properties"]["FunctionName"])
        for source in of_type(SOURCE).values()
        for owner, statement in statements()
        if owner == target(source["Properties"]["FunctionName"]) and "sqs:SendMessage" in as_list(statement["Action"])
        if any(may_be_queue(each, source["Properties"]["EventSourceArn"]) for each in as_list(statement["Resource"]))
    }
    exempt = {key for key, each in of_type(FUNCTION).items() if each["Properties"].get("RecursiveLoop") == "Allow"}
    assert requeuing == exempt == {"ProbeFunction", "DispatchFunction", "GenerateFunction", "NotifyFunction"}


FUNCTION = "AWS::Serverless::Function"


@pytest.mark.parametrize("probe_timeout", template()["Parameters"]["ProbeTimeoutSeconds"]["AllowedValues"])
def test_the_rules_leave_an_invocation_ten_seconds_for_new_calls(probe_timeout: str) -> None:
    selectable = template()["Parameters"]["CallTimeoutSeconds"]["AllowedValues"]
    for rule in template()["Rules"].values():
        if rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "ProbeTimeoutSeconds"}, probe_timeout]}:
            (assertion,) = rule["Assertions"]
            selectable, parameter = assertion["Assert"]["Fn::Contains"]
            assert parameter == {"Ref": "CallTimeoutSeconds"}
    usable_seconds = int(probe_timeout) - MARGIN_SECONDS
    every = template()["Parameters"]["CallTimeoutSeconds"]["AllowedValues"]
    assert selectable == [each for each in every if usable_seconds - int(each) >= 10]


@pytest.mark.parametrize("folder", sorted(FUNCTIONS))
def test_log_retention_of_functions_is_the_parameter(folder: str) -> None:
    group = resources()[functions()[folder]["LoggingConfig"]["LogGroup"]["Ref"]]
    assert group["Properties"] == {
        "LogGroupName": {"Fn::Sub": f"/aws/lambda/${{AWS::StackName}}-{folder}"},
        "RetentionInDays": {"Ref": "LogRetentionDays"},
        "KmsKeyId": {"Fn::If": ["UsesKey", {"Ref": "KmsKeyArn"}, {"Ref": "AWS::NoValue"}]},
    }


def test_log_retention_of_every_group_is_the_parameter() -> None:
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


def test_no_policy_allows_scans() -> None:
    assert not [owner for owner, each in statements() if "dynamodb:Scan" in as_list(each["Action"])]


def test_the_authorizer_may_only_read_tokens_and_erasures_and_note_the_use_of_tokens() -> None:
    by_secret, by_name = [each for owner, each in statements() if owner == "AuthorizeFunction"]
    assert by_secret["Action"] == ["dynamodb:GetItem", "dynamodb:UpdateItem"]
    assert by_secret["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["token#*"]}}
    assert by_name["Action"] == "dynamodb:GetItem"
    assert by_name["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["workspaces"]}}
    own = [policy for policy in functions()["authorize"]["Policies"] if "Fn::If" not in policy]
    assert len(own) == 1


def test_environment_variables_are_the_settings() -> None:
    variables = template()["Globals"]["Function"]["Environment"]["Variables"]
    own = {name for name in variables if not name.startswith("POWERTOOLS_")}
    assert own == {each.name.upper() for each in fields(Settings)}
    others = {folder: each["Environment"]["Variables"] for folder, each in functions().items() if "Environment" in each}
    assert others == {"analyze": {"OPENBLAS_NUM_THREADS": "1"}}, "a library reads it, and a thread per processor"


def test_numpy_and_graphql_core_are_in_layers_of_the_functions_that_need_them() -> None:
    assert {folder: each["Layers"] for folder, each in functions().items() if "Layers" in each} == {
        "analyze": [{"Ref": "NumericLayer"}],
        "graphqlapi": [{"Ref": "GraphqlLayer"}],
        "mcpserver": [{"Ref": "GraphqlLayer"}],
    }


def test_outputs_include_the_required_settings() -> None:
    words = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() for name in template()["Outputs"]}
    required = {each.name.upper() for each in fields(Settings) if each.default is MISSING}
    assert required <= words


def test_the_bucket_is_private_and_encrypted() -> None:
    properties = resources()["Bucket"]["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert properties["BucketEncryption"]
    (statement,) = resources()["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_bucket_expires_transcripts_after_the_days_of_the_parameter() -> None:
    rules = {rule["Id"]: rule for rule in resources()["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert rules["transcripts"]["Prefix"] == "transcripts/"
    assert rules["transcripts"]["ExpirationInDays"]["Fn::If"][1] == {"Ref": "TranscriptRetentionDays"}


def unconditional_mentions(node: Any, key: str) -> list[Any]:
    """Every place that names the stack's own table or bucket without the choice of an existing one."""
    if isinstance(node, list):
        return [mention for each in node for mention in unconditional_mentions(each, key)]
    if not isinstance(node, dict):
        return [node] if isinstance(node, str) and f"${{{key}." in node else []
    if node in ({"Ref": key}, {"Fn::GetAtt": [key, "Arn"]}):
        return [node]
    if node.get("Fn::If", [""])[0] == f"Adopts{key}":
        return []
    return [mention for each in node.values() for mention in unconditional_mentions(each, key)]


@pytest.mark.parametrize("key", ["Table", "Bucket"])
def test_an_existing_table_or_bucket_takes_the_place_of_the_stacks_own_everywhere(key: str) -> None:
    used = {part: content for part, content in template().items() if part in ("Globals", "Outputs")}
    used["Resources"] = {name: each for name, each in resources().items() if each.get("Condition") != f"Creates{key}"}
    assert unconditional_mentions(used, key) == []


@pytest.mark.parametrize("key", ["Table", "Bucket"])
def test_a_stack_with_an_existing_table_or_bucket_creates_none(key: str) -> None:
    assert resources()[key]["Condition"] == f"Creates{key}"
    created, adopted = (template()["Conditions"][f"{verb}{key}"] for verb in ("Creates", "Adopts"))
    assert adopted == {"Fn::Not": [created]}


def test_a_retained_table_is_protected_from_deletion() -> None:
    protected = resources()["Table"]["Properties"]["DeletionProtectionEnabled"]
    assert protected == {"Fn::If": ["DataIsRetained", True, False]}


def test_every_role_has_the_boundary_and_the_path() -> None:
    boundary = {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundaryArn"}, {"Ref": "AWS::NoValue"}]}
    path = {"Fn::If": ["HasRolePath", {"Ref": "RolePath"}, {"Ref": "AWS::NoValue"}]}
    roles = [template()["Globals"]["Function"]]
    roles += [each["Properties"] for each in of_type("AWS::Serverless::StateMachine").values()]
    assert {str(role["PermissionsBoundary"]) for role in roles} == {str(boundary)}
    assert {str(role["RolePath"]) for role in roles} == {str(path)}
    own = resources()["ScheduleRole"]["Properties"]
    assert (own["PermissionsBoundary"], own["Path"]) == (boundary, path)
    assert all(each["Properties"]["Path"] == path for each in of_type("AWS::IAM::ManagedPolicy").values())


def test_every_function_may_use_the_customer_managed_key() -> None:
    policy = {"Fn::If": ["UsesKey", {"Ref": "KeyPolicy"}, {"Ref": "AWS::NoValue"}]}
    assert [folder for folder, each in functions().items() if policy not in each["Policies"]] == []


def test_every_function_belongs_to_a_group_of_reserved_concurrency() -> None:
    groups = {folder: each["ReservedConcurrentExecutions"]["Fn::If"][0] for folder, each in functions().items()}
    assert {folder for folder, group in groups.items() if group == "ReservesApi"} == {
        "api",
        "authorize",
        "graphqlapi",
        "mcpserver",
        "page",
    }
    assert {folder for folder, group in groups.items() if group == "ReservesProbe"} == {"probe"}
    assert set(groups.values()) == {"ReservesApi", "ReservesProbe", "ReservesWork"}


def test_access_logs_have_no_query_strings_and_no_headers() -> None:
    logged = resources()["ApiStage"]["Properties"]["AccessLogSettings"]["Format"]
    assert set(json.loads(logged)) >= {"requestId", "path", "status"}
    assert not re.search(r"queryString|\$context\.(request)?header|authorization", logged, re.IGNORECASE)


def test_records_of_deletions_outlive_every_backup() -> None:
    rules = {rule["Id"]: rule for rule in resources()["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert rules["deletions"]["Prefix"] == object_names.DELETIONS
    assert rules["deletions"]["ExpirationInDays"] > template()["Parameters"]["RecoveryPeriodInDays"]["MaxValue"]


def test_versions_of_the_bucket_are_erased_within_the_recovery_period_and_without_versioning_within_a_day() -> None:
    bucket = resources()["Bucket"]["Properties"]
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}
    assert template()["Parameters"]["BucketVersioning"]["Default"] == "Suspended"
    assert bucket["VersioningConfiguration"]["Fn::If"][0] == "BucketIsVersioned"
    days = rules["noncurrent-versions"]["NoncurrentVersionExpiration"]["NoncurrentDays"]
    assert days == {"Fn::If": ["BucketIsVersioned", {"Ref": "RecoveryPeriodInDays"}, 1]}


def test_the_table_has_point_in_time_recovery_and_ttl() -> None:
    properties = resources()["Table"]["Properties"]
    recovery = properties["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": {"Ref": "RecoveryPeriodInDays"}}
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_data_is_retained_after_deletion_of_the_stack_by_default() -> None:
    assert template()["Parameters"]["DataDeletionPolicy"]["Default"] == "Retain"
    for key in ("Table", "Bucket"):
        assert (
            resources()[key]["DeletionPolicy"]
            == resources()[key]["UpdateReplacePolicy"]
            == {"Ref": "DataDeletionPolicy"}
        )


def test_only_the_page_health_preflight_signing_in_and_public_documents_need_no_token() -> None:
    routes = [route["Properties"] for route in of_type("AWS::ApiGatewayV2::Route").values()]
    assert {each["RouteKey"] for each in routes if each.get("AuthorizationType") != "CUSTOM"} == {
        "$default",
        "GET /.well-known/oauth-protected-resource/v1/mcp",
        "GET /v1/health",
        "GET /v1/openapi.json",
        "OPTIONS /openai/v1/{proxy+}",
        "OPTIONS /v1/{proxy+}",
        "POST /v1/login-codes/redeem",
    }


def test_the_authorizer_is_not_cached_and_runs_without_a_token() -> None:
    (authorizer,) = [each["Properties"] for each in of_type("AWS::ApiGatewayV2::Authorizer").values()]
    assert authorizer["AuthorizerResultTtlInSeconds"] == 0
    assert authorizer["IdentitySource"] == ["$context.identity.sourceIp"]


def machines() -> dict[str, Any]:
    """State machine definitions by file name."""
    uris = [resource["Properties"]["DefinitionUri"] for resource in of_type("AWS::Serverless::StateMachine").values()]
    return {(ROOT / uri).name.partition(".")[0]: json.loads((ROOT / uri).read_text()) for uri in uris}


MACHINES = ["finish", "score"]
"""Each calls the function of the same name."""


def test_every_machine_is_named_after_its_file() -> None:
    names = {each["Properties"]["Name"]["Fn::Sub"] for each in of_type("AWS::Serverless::StateMachine").values()}
    assert names == {f"${{AWS::StackName}}-{name}" for name in MACHINES}
    assert set(machines()) == set(MACHINES)
    assert {path.name for path in (ROOT / "statemachines").iterdir()} == {f"{name}.asl.json" for name in MACHINES}


def states(definition: dict[str, Any]) -> dict[str, Any]:
    """States by name, including those inside a Map."""
    by_name = dict(definition["States"])
    for state in definition["States"].values():
        if "ItemProcessor" in state:
            by_name |= states(state["ItemProcessor"])
    return by_name


@pytest.mark.parametrize("name", MACHINES)
def test_every_next_state_exists(name: str) -> None:
    known = states(machines()[name])
    for state in known.values():
        branches = [*state.get("Choices", []), *state.get("Catch", [])]
        resource_name = [state.get("Next"), state.get("Default"), *(branch["Next"] for branch in branches)]
        assert {name for name in resource_name if name} <= set(known)


@pytest.mark.parametrize("name", MACHINES)
def test_every_task_of_a_machine_is_retried(name: str) -> None:
    tasks = [state for state in states(machines()[name]).values() if state["Type"] == "Task"]
    assert all(task["Retry"][0]["ErrorEquals"] == ["States.ALL"] for task in tasks)


@pytest.mark.parametrize(
    ("name", "phases"), [("finish", "Settle Summarize Complete"), ("score", "Begin Score Compare Complete")]
)
def test_every_failure_leads_to_the_fail_task(name: str, phases: str) -> None:
    outer = machines()[name]["States"]
    caught = {name for name, state in outer.items() for each in state.get("Catch", []) if each["Next"] == "Fail"}
    assert caught == set(phases.split())


@pytest.mark.parametrize(("name", "id_parameter"), [("finish", "fencingToken.$"), ("score", "rescoreId.$")])
def test_every_task_gets_operation_and_ids(name: str, id_parameter: str) -> None:
    for state in states(machines()[name]).values():
        for parameters in (state.get("Parameters"), state.get("ItemSelector")):
            assert parameters is None or {"op", "workspace.$", "runId.$", id_parameter} <= set(parameters)


def dashboard_metrics() -> list[list[Any]]:
    """The metrics of all widgets, with the shorthand "..." expanded."""
    (dashboard,) = of_type("AWS::CloudWatch::Dashboard").values()
    metrics: list[list[Any]] = []
    for widget in json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])["widgets"]:
        for metric in widget["properties"].get("metrics", []):
            metrics.append([*metrics[-1][:3], metric[1]] if metric[0] == "..." else metric)
    return metrics


def test_the_dashboard_searches_the_metrics_of_this_stack_by_provider() -> None:
    searches = [metric[0]["expression"] for metric in dashboard_metrics() if isinstance(metric[0], dict)]
    dimensions = r"\{Cupel,((code,)?provider,)?service\}"
    pattern = rf"SEARCH\('{dimensions} service=\"\$\{{AWS::StackName\}}\" MetricName=\"\w+\"', 'Sum', \d+\)"
    assert searches
    assert all(re.fullmatch(pattern, search) for search in searches)


def test_the_dashboard_shows_every_work_queue_and_function() -> None:
    displayed = {(metric[2], metric[3]) for metric in dashboard_metrics() if metric[0] in ("AWS/SQS", "AWS/Lambda")}
    work_queues = [queue for key, queue in queues().items() if key not in dead_letters()]
    resource_name = {("QueueName", queue["Properties"]["QueueName"]["Fn::Sub"]) for queue in work_queues}
    assert displayed == resource_name | {
        ("FunctionName", each["FunctionName"]["Fn::Sub"]) for each in functions().values()
    }
