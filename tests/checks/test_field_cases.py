"""Real failures of people who deploy distributed training: each is found, and its nearest good neighbour is not.

A row names what went wrong for whom; what constructs refuse by themselves is tested with the constructs.
"""

import pytest
from tests.checks.documents import rules

from cdk_distributed_training.checks import examples as e
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.document import read_text

SUBNET = {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.0.0/20"}
P5 = e.machines("ml.p5.48xlarge", 2)
SPOT = {
    "EnableManagedSpotTraining": True,
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200},
    "CheckpointConfig": {"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints"},
}
HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
ALL_OUT = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


def subnets(**zones):
    """Subnets by logical id, each with its zone."""
    return {
        name: {"Type": "AWS::EC2::Subnet", "Properties": {**SUBNET, "AvailabilityZone": zone}}
        for name, zone in zones.items()
    }


def on(*names, **changes):
    """A multi-node job on subnets of the template."""
    vpc = e.in_vpc(["Nodes"], [{"Ref": name} for name in names])
    return {**e.open_to_itself("Nodes"), "Job": e.job(**{"ResourceConfig": P5, "VpcConfig": vpc, **changes})}


def mounted(directory="/abcdefgh/data", **changes):
    """A request that reads a file system of elsewhere."""
    source = {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemType": "FSxLustre",
        "FileSystemAccessMode": "ro",
        "DirectoryPath": directory,
    }
    return e.request(
        InputDataConfig=[{"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}], **changes
    )


def zone(index):
    return {"Fn::Select": [index, {"Fn::GetAZs": ""}]}


def with_group(*rules_of_group, **group):
    return e.template({"Nodes": e.group(**group), "Job": on()["Job"], **dict(rules_of_group)})


IN = ("In", e.group_rule("Ingress", of="Nodes", peer="Nodes"))
OUT = ("Out", e.group_rule("Egress", of="Nodes", peer="Nodes"))
FROM_RANGE = ("In", e.group_rule("Ingress", of="Nodes", CidrIp="10.0.0.0/16"))
VPC = {"VpcConfig": {"SecurityGroupIds": ["sg-0123456789"], "Subnets": ["subnet-0123456789"]}}

CASES = {
    "C01 EFA without a rule out to itself": (
        with_group(IN, SecurityGroupEgress=[ALL_OUT]),
        with_group(IN, OUT, SecurityGroupEgress=[HTTPS]),
        "DT121",
    ),
    "C02 in from itself, out to anywhere": (
        with_group(IN, SecurityGroupEgress=[HTTPS, ALL_OUT]),
        with_group(IN, OUT, SecurityGroupEgress=[HTTPS]),
        "DT121",
    ),
    "C04 rules that name a range instead of the group": (
        with_group(FROM_RANGE, OUT, SecurityGroupEgress=[HTTPS]),
        with_group(IN, OUT, SecurityGroupEgress=[HTTPS]),
        "DT120",
    ),
    "C08 several nodes, and nobody comes in": (
        e.template({"Nodes": e.group(), "Job": on(ResourceConfig=e.machines("ml.g5.xlarge", 2))["Job"]}),
        e.template({"Nodes": e.group(), "In": IN[1], "Job": on(ResourceConfig=e.machines("ml.g5.xlarge", 2))["Job"]}),
        "DT123",
    ),
    "C11 a file system's group without its ports": (
        e.lustre(SecurityGroupIds=[{"Ref": "Storage"}], resources={"Storage": e.group()}),
        e.lustre(
            SecurityGroupIds=[{"Ref": "Storage"}],
            resources={"Storage": e.group(), "In": e.group_rule("Ingress", of="Storage", peer="Storage")},
        ),
        "DT270",
    ),
    "C13 EFA nodes in two zones": (
        e.template({**subnets(A=zone(0), B=zone(1)), **on("A", "B")}),
        e.template({**subnets(A=zone(0), B=zone(0)), **on("A")}),
        "DT130",
    ),
    "C28 a zone by an index that a region may lack": (
        e.template({**subnets(A=zone(2)), **on("A")}),
        e.template({**subnets(A=zone(1)), **on("A")}),
        "DT141",
    ),
    "C30 3,600 GiB of the newer scratch type": (
        e.scratch(StorageCapacity=3600),
        e.scratch(
            StorageCapacity=3600, FileSystemTypeVersion=None, LustreConfiguration={"DeploymentType": "SCRATCH_1"}
        ),
        "DT203",
    ),
    "C31 a persistent type without throughput": (
        e.lustre(LustreConfiguration={"PerUnitStorageThroughput": None}),
        e.lustre(LustreConfiguration={"PerUnitStorageThroughput": 125}),
        "DT230",
    ),
    "C31 a throughput of the older persistent type": (
        e.lustre(LustreConfiguration={"PerUnitStorageThroughput": 50}),
        e.lustre(LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50}),
        "DT202",
    ),
    "C32 an import path on PERSISTENT_2": (
        e.lustre(LustreConfiguration={"ImportPath": {"Fn::Sub": "s3://${Bucket}/corpus"}}),
        e.lustre(resources={"Corpus": e.association()}),
        "DT263",
    ),
    "C35 an import path and an association": (
        e.lustre(
            resources={"Corpus": e.association()},
            LustreConfiguration={
                "DeploymentType": "PERSISTENT_1",
                "PerUnitStorageThroughput": 100,
                "ImportPath": "s3://amzn-s3-demo-bucket",
            },
        ),
        e.lustre(
            resources={"Corpus": e.association()},
            LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100},
        ),
        "DT264",
    ),
    "C38 a change of subnet deletes the data": (
        e.lustre(attributes={"UpdateReplacePolicy": None}),
        e.lustre(attributes={"UpdateReplacePolicy": "Retain"}),
        "DT253",
    ),
    "C39 a scratch file system that stays": (
        e.scratch().__class__(
            e.merged(e.scratch().content, {"Resources": {"FileSystem": {"DeletionPolicy": "Retain"}}})
        ),
        e.scratch(),
        "DT255",
    ),
    "C41 a path that begins with /fsx": (
        e.template({"FileSystem": e.file_system(), "Nodes": e.group(), "Job": e.lustre_job(directory="/fsx/data")}),
        e.template({"FileSystem": e.file_system(), "Nodes": e.group(), "Job": e.lustre_job()}),
        "DT221",
    ),
    "C41 a path without its slash": (mounted("abcdefgh/data", **VPC), mounted(**VPC), "DT220"),
    "C43 a file system's job without a VPC": (mounted(), mounted(**VPC), "DT360"),
    "C43 a file system of another zone": (
        e.template(
            {
                **subnets(A="us-east-1a", B="us-east-1b"),
                "FileSystem": e.file_system(SubnetIds=[{"Ref": "A"}]),
                "Nodes": e.group(),
                "Job": e.lustre_job(VpcConfig=e.in_vpc(["Nodes"], [{"Ref": "B"}])),
            }
        ),
        e.template(
            {
                **subnets(A="us-east-1a"),
                "FileSystem": e.file_system(SubnetIds=[{"Ref": "A"}]),
                "Nodes": e.group(),
                "Job": e.lustre_job(VpcConfig=e.in_vpc(["Nodes"], [{"Ref": "A"}])),
            }
        ),
        "DT132",
    ),
    "C46 automatic import from nowhere": (
        e.scratch(LustreConfiguration={"AutoImportPolicy": "NEW"}),
        e.scratch(LustreConfiguration={"AutoImportPolicy": "NONE"}),
        "DT265",
    ),
    "C48 backups of scratch": (
        e.scratch(LustreConfiguration={"AutomaticBackupRetentionDays": 3}),
        e.scratch(LustreConfiguration={"AutomaticBackupRetentionDays": 0}),
        "DT206",
    ),
    "C48 a key for scratch": (e.scratch(KmsKeyId={"Ref": "Key"}), e.lustre(KmsKeyId={"Ref": "Key"}), "DT205"),
    "C50 over a petabyte": (e.lustre(StorageCapacity=1_228_800), e.lustre(StorageCapacity=9600), "DT256"),
    "C51 140 labels in one hyperparameter": (
        e.request(HyperParameters={"labels": "label-of-a-class, " * 140}),
        e.request(HyperParameters={"labels": "label-of-a-class, " * 138}),
        "DT303",
    ),
    "C63 a variable's name with a hyphen": (
        e.request(Environment={"MY-KEY": "1"}),
        e.request(Environment={"MY_KEY": "1"}),
        "DT302",
    ),
    "C63 a variable of 600 characters": (
        e.request(Environment={"KEY": "x" * 600}),
        e.request(Environment={"KEY": "x" * 512}),
        "DT303",
    ),
    "C64 underscores in a name": (
        e.request(TrainingJobName="my_exp_1"),
        e.request(TrainingJobName="my-exp-1"),
        "DT334",
    ),
    "C64 70 characters of a name": (
        e.request(TrainingJobName="a" * 70),
        e.request(TrainingJobName="a" * 63),
        "DT335",
    ),
    "C72 ml. twice": (
        e.request(ResourceConfig=e.machines("ml.ml.p5.48xlarge")),
        e.request(ResourceConfig=e.machines("ml.p5.48xlarge")),
        "DT357",
    ),
    "C73 spot without checkpoints": (
        e.request(**{key: value for key, value in SPOT.items() if key != "CheckpointConfig"}),
        e.request(**SPOT),
        "DT342",
    ),
    "C73 spot that waits less than it runs": (
        e.request(**{**SPOT, "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 60}}),
        e.request(**SPOT),
        "DT312",
    ),
    "C76 the data parallel library on P5": (
        e.request(HyperParameters={"sagemaker_distributed_dataparallel_enabled": "true"}, ResourceConfig=P5),
        e.request(HyperParameters={"sagemaker_torch_distributed_enabled": "true"}, ResourceConfig=P5),
        "DT421",
    ),
    "C81 a warm pool on spot": (
        e.request(**SPOT, ResourceConfig={"KeepAlivePeriodInSeconds": 60}),
        e.request(ResourceConfig={"KeepAlivePeriodInSeconds": 60}),
        "DT343",
    ),
    "C81 a warm pool for two hours": (
        e.request(ResourceConfig={"KeepAlivePeriodInSeconds": 7200}),
        e.request(ResourceConfig={"KeepAlivePeriodInSeconds": 3600}),
        "DT344",
    ),
    "C87 a profiler outside of the encryption": (
        e.request(
            EnableInterContainerTrafficEncryption=True,
            ResourceConfig={"InstanceCount": 2},
            ProfilerRuleConfigurations=[{"RuleConfigurationName": "r", "RuleEvaluatorImage": "i"}],
        ),
        e.request(EnableInterContainerTrafficEncryption=True, ResourceConfig={"InstanceCount": 2}),
        "DT375",
    ),
    "C88 an image of another region's account": (
        e.request(
            AlgorithmSpecification={
                "TrainingImage": "763104351884.dkr.ecr.us-gov-west-1.amazonaws.com/pytorch-training:2.9.0-cpu"
            }
        ),
        e.request(
            AlgorithmSpecification={
                "TrainingImage": "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com/pytorch-training:2.9.0-cpu"
            },
            ResourceConfig=e.machines("ml.m5.xlarge"),
        ),
        "DT510",
    ),
    "C89 an image built on an ARM laptop": (
        e.request(AlgorithmSpecification={"TrainingImage": "111122223333.dkr.ecr.us-east-1.amazonaws.com/t:1-arm64"}),
        e.request(AlgorithmSpecification={"TrainingImage": "111122223333.dkr.ecr.us-east-1.amazonaws.com/t:1-amd64"}),
        "DT517",
    ),
    "C90 isolation, and packages from the internet": (
        e.request(
            EnableNetworkIsolation=True,
            AlgorithmSpecification={"ContainerEntrypoint": ["bash", "-c", "pip install -r requirements.txt; ./train"]},
        ),
        e.request(
            EnableNetworkIsolation=True,
            AlgorithmSpecification={
                "ContainerEntrypoint": ["bash", "-c", "pip install --no-index -f wheels -r requirements.txt; ./train"]
            },
        ),
        "DT371",
    ),
    "C111 a member in the wrong place": (
        e.request(ResourceConfig={"EnableManagedSpotTraining": False}),
        e.request(EnableManagedSpotTraining=False),
        "DT330",
    ),
}

# these are told by the rules' own examples
TOLD_BY_RULES = {
    "C14 no route to S3": "DT135",
    "C16 an endpoint without private DNS": "DT137",
    "C64 one name for all runs": "DT710",
    "C66 a retry under the same name": "DT711",
    "C68 no rule to wait by": "DT605",
    "C68 no right to tag": "DT612",
    "C68 no right to pass the role": "DT603",
    "C69 an execution that ends when the job begins": "DT714",
    "C70 no data key for the output": "DT607",
    "C88 no right to pull": "DT606",
}
CASES |= {name: (all_rules()[rule].bad, all_rules()[rule].good, rule) for name, rule in TOLD_BY_RULES.items()}


def found(example):
    return rules(example.content, read_text(example.text()).kind)


@pytest.mark.parametrize(("bad", "good", "rule"), CASES.values(), ids=CASES)
def test_field_case(bad, good, rule):
    assert rule in found(bad)
    assert rule not in found(good)
