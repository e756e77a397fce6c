"""Rewords errors of the AWS client: what AWS refused, and what a person without credentials does."""

import re

_REFUSED = re.compile(
    r"An error occurred \((?P<code>\w+)\) when calling the (?P<operation>\w+) operation"
    r"(?: \(reached max retries: \d+\))?: (?P<message>.*)",
    re.DOTALL,
)
_CREDENTIALS = "sign in with the AWS command (`aws configure` or `aws sso login`), or set AWS_PROFILE"
_REMEDIES = {
    "NoCredentialsError": f"there are no AWS credentials: {_CREDENTIALS}",
    "PartialCredentialsError": f"the AWS credentials are incomplete: {_CREDENTIALS}",
    "NoRegionError": "no AWS region is set: set AWS_REGION, such as eu-central-1",
    "ProfileNotFound": "there is no AWS profile of the name in AWS_PROFILE: correct it, or unset it",
    "EndpointConnectionError": "AWS cannot be reached: check the network, AWS_REGION and AWS_ENDPOINT_URL",
    "ConnectTimeoutError": "AWS cannot be reached: check the network, AWS_REGION and AWS_ENDPOINT_URL",
}


def aws_problem(error: Exception) -> str:
    """Return `AWS refused DescribeStacks (AccessDenied): …`, or what to do if no request was sent."""
    if remedy := _REMEDIES.get(type(error).__name__):
        return remedy
    if match := _REFUSED.fullmatch(str(error)):
        return f"AWS refused {match['operation']} ({match['code']}): {match['message']}"
    return f"the AWS request failed: {error}"
