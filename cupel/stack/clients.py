"""Makes boto3 clients of the embedded cloud's services. They never use the user's AWS account."""

from typing import Any, Protocol

from cupel.stack.access.cloud import CloudAccess
from cupel.stack.paths import REGION


class Accessible(Protocol):
    @property
    def access(self) -> CloudAccess: ...


def make_client(service: str, cloud: Accessible) -> Any:
    import boto3  # It takes half a second, which a stack that is already up avoids.
    from botocore.config import Config

    access = cloud.access
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=access.objects_url if service == "s3" else access.endpoint_url,
        region_name=REGION,
        aws_access_key_id=access.key.key_id,
        aws_secret_access_key=access.key.secret,
        config=Config(proxies={}, read_timeout=120, retries={"total_max_attempts": 1}),
    )
