"""moto's CloudFormation leaves endpoints and route tables of a VPC behind, and managed policies of roles.

The VPC and the roles cannot be deleted then, and with them the stack.
Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.route_tables import RouteTable
from moto.ec2.models.vpcs import VPCEndPoint
from moto.iam.models import ManagedPolicy, Role, iam_backends


def install() -> None:
    """Delete them with their stack."""
    VPCEndPoint.delete_from_cloudformation_json = classmethod(_delete_endpoint)
    RouteTable.delete_from_cloudformation_json = classmethod(_delete_table)
    ManagedPolicy.delete_from_cloudformation_json = classmethod(_delete_policy)
    delete_role = Role.delete_from_cloudformation_json

    def detach_and_delete(
        cls: type[Role], resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        del cls
        role = iam_backends[account_id]["aws"].get_role(resource_name)
        for policy in list(role.managed_policies.values()):
            policy.detach_from(role)
        delete_role(resource_name, cloudformation_json, account_id, region_name)

    Role.delete_from_cloudformation_json = classmethod(detach_and_delete)


def _delete_endpoint(
    cls: type[VPCEndPoint], resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
) -> None:
    del cls, cloudformation_json
    backend = ec2_backends[account_id][region_name]
    endpoint = backend.vpc_end_points.get(resource_name)
    if endpoint is not None:
        # a table may have gone before its endpoint
        endpoint.route_table_ids = [table for table in endpoint.route_table_ids or [] if table in backend.route_tables]
        backend.delete_vpc_endpoints([resource_name])


def _delete_table(
    cls: type[RouteTable], resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
) -> None:
    del cls, cloudformation_json
    backend = ec2_backends[account_id][region_name]
    table = backend.route_tables.get(resource_name)
    if table is not None:
        table.associations.clear()
        backend.delete_route_table(resource_name)


def _delete_policy(
    cls: type[ManagedPolicy], resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
) -> None:
    del cls, cloudformation_json, region_name
    backend = iam_backends[account_id]["aws"]
    backend.managed_policies.pop(resource_name, None)
    for role in backend.roles.values():
        role.managed_policies.pop(resource_name, None)
