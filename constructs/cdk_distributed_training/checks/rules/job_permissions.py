"""What a training job's role may do, and who may take it (DT602, DT606 to DT611)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import Data, Example, group, in_vpc, job, template
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.policies import JobRole, Role, is_service
from cdk_distributed_training.checks.template.values import PartialText
from cdk_distributed_training.checks.template.view import NotJudgedError

_ROLES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html"
_DEPUTY = "https://docs.aws.amazon.com/sagemaker/latest/dg/security-confused-deputy-prevention.html"
_ECR_ACTIONS = ("ecr:GetAuthorizationToken", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
_VPC_ACTIONS = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeVpcs",
)
_SOURCE_KEYS = ("aws:SourceAccount", "aws:SourceArn", "aws:SourceOrgID", "aws:SourceOrgPaths")
_RIGHTS = ["s3:GetObject", "s3:PutObject", "s3:ListBucket", *_ECR_ACTIONS]
_OURS = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def _allow(actions: list[str], resource: Any = "arn:aws:s3:::amzn-s3-demo-bucket") -> Data:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}


def _role(*statements: Data, service: str = "sagemaker.amazonaws.com", condition: Any = _OURS, **more: Any) -> Data:
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [trust | ({"Condition": condition} if condition else {})]}
    policy = {"PolicyName": "Job", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {"AssumeRolePolicyDocument": document, "Policies": [policy], **more},
    }


def _job(role: Data, **changes: Any) -> Example:
    return template({"Role": role, "Job": job(RoleArn={"Fn::GetAtt": ["Role", "Arn"]}, **changes)})


_ENOUGH = _allow(_RIGHTS)


@rule(
    "DT602",
    on=JobRole,
    title="A role that SageMaker may not take",
    why="The API refuses the request: SageMaker cannot assume the role.",
    source=_ROLES,
    bad=_job(_role(_ENOUGH, service="ec2.amazonaws.com")),
    good=_job(_role(_ENOUGH)),
)
def trusted(subject: JobRole) -> Iterator[Finding]:
    """DT602: sagemaker.amazonaws.com is among the principals."""
    statements = [statement for statement in subject.role.trust if statement.allows]
    if any(statement.view.raw("Principal") == "*" for statement in statements):
        return
    services = subject.role.trusted_services
    if not any(is_service(service, "sagemaker") for service in services):
        if any(not isinstance(service, (str, PartialText)) for service in services):
            raise NotJudgedError(("AssumeRolePolicyDocument",))
        yield problem(
            "AssumeRolePolicyDocument",
            got=f"trust in {', '.join(map(str, services)) or 'no service'}",
            allowed="trust in sagemaker.amazonaws.com",
            fix="add that service to the trust policy",
        )


@rule(
    "DT606",
    on=JobRole,
    title="A role that may not pull the job's image",
    why="The job fails before it starts: SageMaker pulls the image from ECR with the job's role.",
    source=_ROLES,
    bad=_job(_role(_allow(["s3:GetObject", "s3:PutObject", "s3:ListBucket"]))),
    good=_job(_role(_ENOUGH)),
)
def pulls_image(subject: JobRole) -> Iterator[Finding]:
    """DT606: for images in ECR, unless they come through another registry's credentials."""
    image = subject.request.image
    text = str(image) if image is not None else ""
    if ".dkr.ecr" not in text or subject.request.view.has("AlgorithmSpecification", "TrainingImageConfig"):
        return
    yield from _missing(subject.role, _ECR_ACTIONS, "the job's image is in ECR")


@rule(
    "DT607",
    on=JobRole,
    title="A role that may not encrypt the job's results",
    why="The job trains to its end, and fails when it uploads the model: S3 asks for a data key as the job's role.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_OutputDataConfig.html",
    bad=_job(
        _role(_ENOUGH, _allow(["kms:Encrypt"], "arn:aws:kms:us-east-1:111122223333:key/data")),
        OutputDataConfig={"KmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/data"},
    ),
    good=_job(
        _role(_ENOUGH, _allow(["kms:GenerateDataKey"], "arn:aws:kms:us-east-1:111122223333:key/data")),
        OutputDataConfig={"KmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/data"},
    ),
)
def output_key(subject: JobRole) -> Iterator[Finding]:
    """DT607: kms:GenerateDataKey; a key policy could allow it too, but only for a key of this template."""
    key = subject.request.view.raw("OutputDataConfig", "KmsKeyId")
    if not key or subject.role.graph.target(key, "AWS::KMS::Key", "AWS::KMS::Alias") is not None:
        return
    if not isinstance(key, (str, PartialText)):
        raise NotJudgedError(("OutputDataConfig", "KmsKeyId"))
    yield from _missing(subject.role, ("kms:GenerateDataKey",), "the output has a key")


@rule(
    "DT608",
    on=JobRole,
    severity=Severity.INFORMATION,
    title="A role that SageMaker takes for anyone's job",
    why="Without a condition on the source, a job of another account could be made to use the role (confused deputy).",
    source=_DEPUTY,
    bad=_job(_role(_ENOUGH, condition=None)),
    good=_job(_role(_ENOUGH)),
)
def confused_deputy(subject: JobRole) -> Iterator[Finding]:
    """DT608: aws:SourceAccount or aws:SourceArn in the trust policy."""
    for statement in subject.role.trust:
        principal = statement.view.raw("Principal")
        services = principal.get("Service") if isinstance(principal, dict) else None
        names = services if isinstance(services, list) else [services]
        if any(is_service(name, "sagemaker") for name in names) and not statement.has_condition_on(*_SOURCE_KEYS):
            yield problem(
                "AssumeRolePolicyDocument",
                got="trust in SageMaker without a condition on the source",
                allowed="a condition on aws:SourceAccount or aws:SourceArn",
                fix='add StringEquals {"aws:SourceAccount": your account}',
            )
            return


@rule(
    "DT609",
    on=JobRole,
    severity=Severity.WARNING,
    title="A role that may do everything",
    why="Whatever runs in the container, packages of others included, has the account.",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html#grant-least-privilege",
    bad=_job(_role(_allow(["*"], "*"))),
    good=_job(_role(_ENOUGH)),
)
def everything(subject: JobRole) -> Iterator[Finding]:
    """DT609: `*` on `*`, or AWS's administrator policies."""
    for policy in subject.role.managed_policies:
        if isinstance(policy, (str, PartialText)) and str(policy).endswith(
            ("/AdministratorAccess", "/PowerUserAccess")
        ):
            yield _too_much("ManagedPolicyArns", str(policy).rpartition("/")[2])
            return
    for statement in subject.role.statements:
        if statement.allows and "*" in statement.actions and "*" in statement.resources:
            yield _too_much("Policies", "all actions on all resources")
            return


def _too_much(member: str, got: str) -> Finding:
    return problem(member, got=got, allowed="what the job needs", fix="name actions and resources")


@rule(
    "DT610",
    on=JobRole,
    title="A role that may not put the job into its VPC",
    why="The API refuses the request, or the job fails before it starts: SageMaker makes the network interfaces with"
    " the job's role.",
    source=_ROLES,
    bad=template(
        {
            "Role": _role(_ENOUGH),
            "Nodes": group(),
            "Job": job(RoleArn={"Fn::GetAtt": ["Role", "Arn"]}, VpcConfig=in_vpc(["Nodes"])),
        }
    ),
    good=template(
        {
            "Role": _role(_ENOUGH, _allow(list(_VPC_ACTIONS), "*")),
            "Nodes": group(),
            "Job": job(RoleArn={"Fn::GetAtt": ["Role", "Arn"]}, VpcConfig=in_vpc(["Nodes"])),
        }
    ),
)
def network_interfaces(subject: JobRole) -> Iterator[Finding]:
    """DT610: the actions that the guide names for jobs in a VPC."""
    if subject.request.view.has("VpcConfig"):
        yield from _missing(subject.role, _VPC_ACTIONS, "the job has a VpcConfig")


@rule(
    "DT611",
    on=JobRole,
    severity=Severity.INFORMATION,
    title="AWS's wide policy on a training job's role",
    why="AmazonSageMakerFullAccess lets the container start and stop anything in SageMaker, and read many buckets.",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol.html",
    bad=_job(_role(_ENOUGH, ManagedPolicyArns=["arn:aws:iam::aws:policy/AmazonSageMakerFullAccess"])),
    good=_job(_role(_ENOUGH)),
)
def full_access(subject: JobRole) -> Iterator[Finding]:
    """DT611: good for a notebook, more than a job needs."""
    for policy in subject.role.managed_policies:
        text = str(policy) if isinstance(policy, (str, PartialText)) else ""
        if text.endswith(("/AmazonSageMakerFullAccess", "/AmazonS3FullAccess", "/AmazonEC2FullAccess")):
            yield problem(
                "ManagedPolicyArns",
                got=text.rpartition("/")[2],
                allowed="policies that name the job's buckets, keys and repositories",
                fix="replace it by statements for what the job reads and writes",
            )
            return


def _missing(role: Role, actions: tuple[str, ...], because: str) -> Iterator[Finding]:
    lacking = [action for action in actions if not role.may(action)]
    if lacking:
        yield problem(
            "Policies", got=f"no {', '.join(lacking)}, and {because}", allowed=", ".join(actions), fix="allow them"
        )
