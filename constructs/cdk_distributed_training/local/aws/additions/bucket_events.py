"""moto's CloudFormation forgets that a bucket is to send its events to EventBridge.

No new object starts anything then. Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.s3.models import FakeBucket


def install() -> None:
    """Read the property when a stack makes or updates a bucket."""
    create, update = FakeBucket.create_from_cloudformation_json, FakeBucket.update_from_cloudformation_json

    def create_and_send(
        cls: type[FakeBucket],
        /,
        resource_name: str,
        cloudformation_json: Any,
        *where: str,
        **kwargs: Any,
    ) -> FakeBucket:
        del cls
        bucket = create(resource_name, cloudformation_json, *where, **kwargs)
        _send_events(bucket, cloudformation_json.get("Properties", {}))
        return bucket

    def update_and_send(
        cls: type[FakeBucket],
        /,
        original_resource: FakeBucket,
        new_resource_name: str,
        cloudformation_json: Any,
        *where: str,
    ) -> FakeBucket:
        del cls
        bucket = update(original_resource, new_resource_name, cloudformation_json, *where)
        _send_events(bucket, cloudformation_json.get("Properties", {}))
        return bucket

    FakeBucket.create_from_cloudformation_json = classmethod(create_and_send)
    FakeBucket.update_from_cloudformation_json = classmethod(update_and_send)


def _send_events(bucket: FakeBucket, properties: Mapping[str, Any]) -> None:
    configuration = properties.get("NotificationConfiguration", {}).get("EventBridgeConfiguration", {})
    enabled = str(configuration.get("EventBridgeEnabled", True)).lower() == "true"
    if "NotificationConfiguration" in properties:
        bucket.set_notification_configuration({"EventBridgeConfiguration": {}} if configuration and enabled else None)
