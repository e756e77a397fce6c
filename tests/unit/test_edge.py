"""deploy/edge.yaml fits the application stack."""

from typing import Any

import yaml

from cupel_core.interfaces.gateway.requests import EDGE_HEADER, VIEWER_HOST_HEADER
from tests.conftest import ROOT, CloudFormationLoader


def edge() -> dict[str, Any]:
    return yaml.load((ROOT / "deploy/edge.yaml").read_text(), Loader=CloudFormationLoader)["Resources"]  # noqa: S506


def test_the_secret_header_is_the_one_that_the_api_checks() -> None:
    (origin,) = edge()["Distribution"]["Properties"]["DistributionConfig"]["Origins"]
    assert origin["OriginCustomHeaders"] == [{"HeaderName": EDGE_HEADER, "HeaderValue": {"Ref": "EdgeSecret"}}]


def test_the_api_is_told_the_host_that_the_caller_knows() -> None:
    code = edge()["ViewerHost"]["Properties"]["FunctionCode"]
    assert f"request.headers['{VIEWER_HOST_HEADER}'] = {{value: request.headers.host.value}};" in code
    behaviour = edge()["Distribution"]["Properties"]["DistributionConfig"]["DefaultCacheBehavior"]
    (association,) = behaviour["FunctionAssociations"]
    assert association["EventType"] == "viewer-request"


def test_no_rule_of_the_firewall_reads_bodies() -> None:
    """Prompts under test may look like attacks; the rate and the address do not depend on them."""
    statements = [rule["Statement"] for rule in edge()["Firewall"]["Properties"]["Rules"]]
    groups = {each["ManagedRuleGroupStatement"]["Name"] for each in statements if "ManagedRuleGroupStatement" in each}
    assert groups == {"AWSManagedRulesAmazonIpReputationList"}
    assert {key for each in statements for key in each} == {"ManagedRuleGroupStatement", "RateBasedStatement"}


def test_nothing_is_cached_not_even_errors() -> None:
    distribution = edge()["Distribution"]["Properties"]["DistributionConfig"]
    assert distribution["DefaultCacheBehavior"]["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    assert {each["ErrorCachingMinTTL"] for each in distribution["CustomErrorResponses"]} == {0}
