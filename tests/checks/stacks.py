"""Whole training stacks, generated: network, file system, role and job in one template, all of it right."""

from hypothesis import strategies as st

from cdk_distributed_training.checks import examples

ACCOUNT = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
ACTIONS = [
    "s3:GetObject",
    "s3:PutObject",
    "s3:ListBucket",
    "ecr:GetAuthorizationToken",
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:Describe*",
]
GPU_IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch:2.13.0-cu133-amzn2023-sagemaker"

FILE_SYSTEMS = st.one_of(
    st.fixed_dictionaries(
        {
            "deployment": st.just("PERSISTENT_2"),
            "throughput": st.sampled_from([125, 250, 500, 1000]),
            "capacity": st.sampled_from([1200, 2400, 4800, 48_000]),
            "version": st.sampled_from(["2.12", "2.15", None]),
        }
    ),
    st.fixed_dictionaries(
        {
            "deployment": st.just("PERSISTENT_1"),
            "throughput": st.sampled_from([50, 100, 200]),
            "capacity": st.sampled_from([1200, 2400, 7200]),
            "version": st.sampled_from(["2.12", "2.15"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "deployment": st.just("SCRATCH_2"),
            "throughput": st.none(),
            "capacity": st.sampled_from([1200, 2400, 9600]),
            "version": st.sampled_from(["2.12", "2.15"]),
        }
    ),
)
# texts where numbers are meant, as parameters give them, are the same
AS_WRITTEN = st.sampled_from([lambda value: value, str])


@st.composite
def stacks(draw):
    """A template with a multi-node training job, all of whose parts fit together."""
    instance_type = draw(st.sampled_from(["ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.g5.12xlarge"]))
    count = draw(st.integers(2, 32))
    return examples.template(
        {
            **_network(),
            **_groups(),
            **_storage(draw),
            "Role": _role(),
            "Job": _job(draw, instance_type, count),
        }
    ).content


def _network():
    vpc = {"Ref": "Vpc"}
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": vpc, "CidrBlock": "10.0.0.0/20", "AvailabilityZone": {"Ref": "Zone"}},
        },
        "Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": vpc}},
        "RoutesOfSubnet": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Routes"}},
        },
        "S3": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": vpc,
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
                "VpcEndpointType": "Gateway",
                "RouteTableIds": [{"Ref": "Routes"}],
            },
        },
    }


def _groups():
    found = examples.open_to_itself("Nodes")
    found["Storage"] = examples.group()
    for of, peer in (("Storage", "Storage"), ("Storage", "Nodes"), ("Nodes", "Storage")):
        for first, last in ((988, 988), (1018, 1023)):
            name = f"{of}From{peer}{first}"
            ports = {"IpProtocol": "tcp", "FromPort": first, "ToPort": last}
            found[name] = examples.group_rule("Ingress", of=of, peer=peer, **ports)
    found["NodesToStorage"] = examples.group_rule(
        "Egress", of="Nodes", peer="Storage", IpProtocol="tcp", FromPort=988, ToPort=1023
    )
    return found


def _storage(draw):
    chosen, written = draw(FILE_SYSTEMS), draw(AS_WRITTEN)
    policy = "Delete" if chosen["deployment"] == "SCRATCH_2" else draw(st.sampled_from(["Retain", "Delete"]))
    file_system = examples.file_system(
        attributes={"DeletionPolicy": policy, "UpdateReplacePolicy": policy},
        StorageCapacity=written(chosen["capacity"]),
        FileSystemTypeVersion=chosen["version"],
        SubnetIds=[{"Ref": "Subnet"}],
        SecurityGroupIds=[{"Fn::GetAtt": ["Storage", "GroupId"]}],
        LustreConfiguration={
            "DeploymentType": chosen["deployment"],
            "PerUnitStorageThroughput": None if chosen["throughput"] is None else written(chosen["throughput"]),
            "DataCompressionType": draw(st.sampled_from(["LZ4", "NONE"])),
        },
    )
    return {"FileSystem": file_system, "Corpus": examples.association()}


def _role():
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    statements = [{"Effect": "Allow", "Action": list(ACTIONS), "Resource": "*"}]
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Statement": [{**trust, "Condition": ACCOUNT}]},
            "Policies": [{"PolicyName": "Job", "PolicyDocument": {"Statement": statements}}],
        },
    }


def _job(draw, instance_type, count):
    spot = draw(st.booleans())
    runtime = draw(st.integers(1, 28 * 86_400 // 2))
    stopping = {"MaxRuntimeInSeconds": runtime, **({"MaxWaitTimeInSeconds": runtime * 2} if spot else {})}
    texts = st.text(st.characters(codec="ascii", min_codepoint=32), max_size=20)
    return examples.lustre_job(
        RoleArn={"Fn::GetAtt": ["Role", "Arn"]},
        AlgorithmSpecification={"TrainingImage": GPU_IMAGE},
        VpcConfig=examples.in_vpc(["Nodes"], [{"Ref": "Subnet"}]),
        ResourceConfig=examples.machines(instance_type, count),
        StoppingCondition=stopping,
        CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints/"},
        EnableManagedSpotTraining=spot,
        EnableInterContainerTrafficEncryption=draw(st.booleans()),
        HyperParameters=draw(st.dictionaries(st.from_regex(r"[a-z_]{1,10}", fullmatch=True), texts, max_size=5)),
        Environment=draw(st.dictionaries(st.from_regex(r"X_[A-Z]{1,8}", fullmatch=True), texts, max_size=5)),
    )
