"""Describes where the embedded cloud listens, and the key for its AWS APIs."""

import shlex
from typing import NamedTuple

from cupel.stack.access.signatures import AccessKey


class CloudAccess(NamedTuple):
    endpoint_url: str
    objects_url: str
    key: AccessKey

    def variables(self, region: str) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ENDPOINT_URL_S3": self.objects_url,
            "AWS_ACCESS_KEY_ID": self.key.key_id,
            "AWS_SECRET_ACCESS_KEY": self.key.secret,
            "AWS_DEFAULT_REGION": region,
        }

    def exports(self, region: str) -> list[str]:
        return [f"export {name}={shlex.quote(value)}" for name, value in self.variables(region).items()]
