"""The machines that AWS Batch starts for a multi-node parallel job, and the queue that leads to them."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.data.tables import InstanceType
from cdk_distributed_training.engines.multi_node.network_interfaces import network_interfaces
from cdk_distributed_training.engines.multi_node.user_data import LustreMount, user_data

# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/instance_IAM_role.html, without what only the console
# needs; images and logs are the execution role's
_OF_CLUSTER = ("ecs:DeregisterContainerInstance", "ecs:RegisterContainerInstance")
_OF_INSTANCE = (
    "ecs:Poll",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
)


class Machines(Construct):
    """A compute environment of one instance type in one subnet and one cluster placement group, and its queue.

    No machine runs while no job does. Batch works by its service-linked role, `AWSServiceRoleForBatch`: who deploys the
    account's first compute environment needs `iam:CreateServiceLinkedRole`.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        facts: InstanceType,
        subnet_ids: Sequence[str],
        security_group_ids: Sequence[str],
        max_instances: float,
        volume_gib: float,
        mounts: Sequence[LustreMount],
        machine_image_id: str | None,
        capacity_reservation_id: str | None,
    ) -> None:
        """Make the machines.

        Args:
            scope: The parent construct.
            id: The construct id.
            facts: What EC2 says of the instance type.
            subnet_ids: The subnet.
            security_group_ids: The groups of every interface.
            max_instances: Most machines at a time.
            volume_gib: Size of the root volume.
            mounts: Directories of file systems.
            machine_image_id: The machine image; AWS Batch's choice for the type if `None`.
            capacity_reservation_id: Reserved capacity to use; none if `None`.
        """
        super().__init__(scope, id)
        template = self._launch_template(
            interfaces=network_interfaces(facts, security_group_ids),
            volume_gib=volume_gib,
            started_by=user_data(mounts),
            capacity_reservation_id=capacity_reservation_id,
        )
        # burstable types can be in none
        group = None if facts.name.startswith("ml.t") else ec2.CfnPlacementGroup(self, "Placement", strategy="cluster")
        environment = batch.CfnComputeEnvironment(
            self,
            "Environment",
            type="MANAGED",
            state="ENABLED",
            replace_compute_environment=False,
            compute_resources=batch.CfnComputeEnvironment.ComputeResourcesProperty(
                type="EC2",
                allocation_strategy="BEST_FIT_PROGRESSIVE",
                instance_types=[facts.name.removeprefix("ml.")],
                minv_cpus=0,
                maxv_cpus=facts.vcpu * max_instances,
                subnets=list(subnet_ids),
                placement_group=None if group is None else group.ref,
                instance_role=self._instance_profile().instance_profile_arn,
                ec2_configuration=[
                    batch.CfnComputeEnvironment.Ec2ConfigurationObjectProperty(
                        image_type="ECS_AL2023_NVIDIA" if facts.gpu_count else "ECS_AL2023",
                        image_id_override=machine_image_id,
                    )
                ],
                launch_template=batch.CfnComputeEnvironment.LaunchTemplateSpecificationProperty(
                    launch_template_id=template.ref, version=template.attr_latest_version_number
                ),
            ),
        )
        self._queue = batch.CfnJobQueue(
            self,
            "Queue",
            priority=1,
            state="ENABLED",
            compute_environment_order=[
                batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                    order=1, compute_environment=environment.attr_compute_environment_arn
                )
            ],
        )

    @property
    def job_queue_arn(self) -> str:
        """The queue's ARN."""
        return self._queue.attr_job_queue_arn

    def _launch_template(
        self,
        *,
        interfaces: Sequence[ec2.CfnLaunchTemplate.NetworkInterfaceProperty],
        volume_gib: float,
        started_by: str,
        capacity_reservation_id: str | None,
    ) -> ec2.CfnLaunchTemplate:
        template = ec2.CfnLaunchTemplate
        reservation = None
        if capacity_reservation_id is not None:
            reservation = template.CapacityReservationSpecificationProperty(
                capacity_reservation_target=template.CapacityReservationTargetProperty(
                    capacity_reservation_id=capacity_reservation_id
                )
            )
        return template(
            self,
            "Template",
            launch_template_data=template.LaunchTemplateDataProperty(
                network_interfaces=list(interfaces),
                # no container goes this way: their credentials come from ECS
                metadata_options=template.MetadataOptionsProperty(
                    http_tokens="required", http_put_response_hop_limit=1
                ),
                block_device_mappings=[
                    template.BlockDeviceMappingProperty(
                        device_name="/dev/xvda",
                        ebs=template.EbsProperty(
                            encrypted=True, volume_type="gp3", volume_size=volume_gib, delete_on_termination=True
                        ),
                    )
                ],
                user_data=cdk.Fn.base64(started_by),
                capacity_reservation_specification=reservation,
            ),
        )

    def _instance_profile(self) -> iam.InstanceProfile:
        stack = cdk.Stack.of(self)
        clusters, instances = (
            stack.format_arn(service="ecs", resource=kind, resource_name="AWSBatch-*")
            for kind in ("cluster", "container-instance")
        )
        policy = iam.ManagedPolicy(
            self,
            "InstancePolicy",
            description="What a machine of AWS Batch must do to take containers",
            statements=[
                iam.PolicyStatement(actions=["ecs:DiscoverPollEndpoint"], resources=["*"]),
                iam.PolicyStatement(actions=list(_OF_CLUSTER), resources=[clusters]),
                iam.PolicyStatement(actions=list(_OF_INSTANCE), resources=[clusters, instances]),
            ],
        )
        acknowledge_wildcards(
            policy, "Batch makes up the name of its cluster, which begins with AWSBatch-, and finding ECS knows none"
        )
        role = iam.Role(
            self,
            "InstanceRole",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            managed_policies=[policy],
        )
        return iam.InstanceProfile(self, "InstanceProfile", role=role)
