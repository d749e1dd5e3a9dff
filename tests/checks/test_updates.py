"""What becomes of the resources of a deployed template when another takes its place."""

import pytest
from tests.checks.documents import document

from cdk_distributed_training.checks.examples import (
    association,
    file_system,
    group,
    in_vpc,
    lustre_job,
    merged,
    state_machine,
    subnet_in,
)
from cdk_distributed_training.checks.judge import judge

VPC = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
KEY = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {}}}
BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "amzn-s3-demo-bucket"}}
DELETE = {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}
RETAIN = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
EMPTIES = {"Type": "Custom::S3AutoDeleteObjects", "Properties": {"BucketName": {"Ref": "Bucket"}}}
UPDATES = ("DT160", "DT161", "DT28", "DT74")


def changes(before, after, **members):
    """Severity, rule and resource of what is said of a change."""
    deployed = {"Resources": before, **members.pop("deployed", {})}
    found = judge(document({"Resources": after, **members}, before=deployed)).judgements
    return {
        f"{item.finding.severity.value} {item.finding.rule} {item.logical_id}"
        for item in found
        if item.finding.rule.startswith(UPDATES)
    }


def test_nothing_changes():
    everything = {"Vpc": VPC, "Key": KEY, "Bucket": BUCKET, "FileSystem": file_system(), "Link": association()}
    assert changes(everything, everything) == set()
    assert changes({}, everything) == set()


def test_all_that_is_in_a_vpc_follows():
    vpc = {"Ref": "Vpc"}
    before = {
        "Vpc": VPC,
        "Subnet": subnet_in("us-east-1a", vpc=vpc),
        "Nodes": group(VpcId=vpc, GroupName="nodes"),
        "FileSystem": file_system(
            attributes=DELETE,
            SubnetIds=[{"Ref": "Subnet"}],
            SecurityGroupIds=[{"Fn::GetAtt": ["Nodes", "GroupId"]}],
        ),
        "Link": association(),
        "Job": lustre_job(VpcConfig=in_vpc(["Nodes"], [{"Ref": "Subnet"}])),
    }
    after = merged(before, {"Vpc": {"Properties": {"CidrBlock": "10.0.0.0/17"}}})
    assert changes(before, after) == {"warning DT160 Vpc", "error DT280 FileSystem"}


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        (DELETE, "error DT280"),
        ({}, "error DT280"),
        (RETAIN, "warning DT281"),
        ({"DeletionPolicy": "RetainExceptOnCreate"}, "warning DT281"),
    ],
)
@pytest.mark.parametrize("kind", ["FileSystem", "Key"])
def test_no_longer_in_the_template(kind, attributes, found):
    bare = {"Type": KEY["Type"], "Properties": KEY["Properties"]} if kind == "Key" else file_system()
    old = {key: value for key, value in bare.items() if not key.endswith("Policy")} | attributes
    assert changes({"Old": old}, {"New": old}) == {f"{found} Old"}


def test_policy_of_a_replacement_is_that_of_the_new_template():
    before, moved = file_system(attributes=DELETE), file_system(SubnetIds=["subnet-0fedcba9876543210"])
    assert changes({"A": before}, {"A": moved}) == {"warning DT281 A"}
    kept_only_when_removed = {**moved, "UpdateReplacePolicy": "Delete"}
    assert changes({"A": before}, {"A": kept_only_when_removed}) == {"error DT280 A"}
    unknown = {**moved, "UpdateReplacePolicy": {"Ref": "Policy"}}
    assert changes({"A": before}, {"A": unknown}, Parameters={"Policy": {"Type": "String"}}) == set()


@pytest.mark.parametrize(
    ("more", "found"),
    [({}, {"warning DT281 Bucket"}), ({"Empties": EMPTIES}, {"error DT280 Bucket"})],
    ids=["CloudFormation does not delete a full bucket", "emptied by CDK"],
)
def test_a_bucket(more, found):
    assert changes({"Bucket": BUCKET, **more}, {}) == found
    renamed = merged(BUCKET, {"Properties": {"BucketName": "amzn-s3-demo-other"}})
    assert changes({"Bucket": BUCKET, **more}, {"Bucket": renamed, **more}) == found


SIZE = {"Size": {"Type": "Number", "Default": 4800}}
SMALL = {"Size": {"Type": "Number", "Default": 2400}}


def test_a_parameter_keeps_its_value():
    by_parameter = {"A": file_system(StorageCapacity={"Ref": "Size"})}
    assert changes(by_parameter, by_parameter, Parameters=SMALL, deployed={"Parameters": SIZE}) == set()
    by_literal = {"A": file_system(StorageCapacity=4800)}
    assert changes(by_literal, by_parameter, Parameters=SMALL) == {"error DT283 A"}
    assert changes(by_literal, by_parameter, Parameters={"Size": {"Type": "Number"}}) == set()


def test_conditions_and_mappings():
    mapped = {"A": file_system(SubnetIds=[{"Fn::FindInMap": ["Subnets", "us-east-1", "Id"]}])}
    old, new = ({"Subnets": {"us-east-1": {"Id": f"subnet-{digit * 17}"}}} for digit in "12")
    assert changes(mapped, mapped, Mappings=new, deployed={"Mappings": old}) == {"warning DT281 A"}
    by_condition = {"A": {**file_system(), "Condition": "Wanted"}}
    wanted = {"Wanted": {"Fn::Equals": ["a", "a"]}}
    unwanted = {"Wanted": {"Fn::Equals": ["a", "b"]}}
    kept = {"deployed": {"Conditions": wanted}}
    assert changes(by_condition, by_condition, Conditions=wanted, **kept) == set()
    assert changes(by_condition, by_condition, Conditions=unwanted, **kept) == {"warning DT281 A"}
    unsettled = {"Wanted": {"Fn::Equals": [{"Ref": "AWS::AccountId"}, "b"]}}
    assert changes(by_condition, by_condition, Conditions=unsettled, **kept) == set()


def test_what_may_be_the_same():
    groups = [["sg-11111111111111111", "sg-22222222222222222"], ["sg-22222222222222222", "sg-11111111111111111"]]
    assert changes(*({"A": file_system(SecurityGroupIds=ids)} for ids in groups)) == set()
    nodes = {"Nodes": group()}
    spelled = [{"Ref": "Nodes"}, {"Fn::GetAtt": ["Nodes", "GroupId"]}]
    assert changes(*({**nodes, "A": file_system(SecurityGroupIds=[one])} for one in spelled)) == set()
    numbers = [{"A": file_system(StorageCapacity=size, StorageType="SSD")} for size in (2400, "2400")]
    assert changes(*numbers) == set()
    assert changes({"A": file_system()}, {"A": file_system(StorageType="SSD")}) == set()
    off = {"A": file_system(LustreConfiguration={"EfaEnabled": "false"})}
    assert changes({"A": file_system()}, off) == set()


def test_efa_and_throughput():
    fast = {"PerUnitStorageThroughput": 1000, "EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}
    before = {"A": file_system(StorageCapacity=38400, LustreConfiguration=fast)}
    slower = {"A": file_system(StorageCapacity=38400, LustreConfiguration={**fast, "PerUnitStorageThroughput": 500})}
    assert changes(before, slower) == {"error DT284 A"}
    plain = {"A": file_system(LustreConfiguration={"PerUnitStorageThroughput": 500})}
    assert changes({"A": file_system()}, plain) == {"warning DT282 A"}
    other = {"A": file_system(StorageType="HDD")}
    assert changes({"A": file_system()}, other) == {"error DT284 A"}


def test_elastic_file_system_shrinks():
    elastic = {"StorageType": "INTELLIGENT_TIERING", "StorageCapacity": None}
    systems = [
        {
            "A": file_system(
                **elastic, LustreConfiguration={"PerUnitStorageThroughput": None, "ThroughputCapacity": size}
            )
        }
        for size in (8000, 4000)
    ]
    assert changes(*systems) == {"error DT283 A"}
    assert changes(*systems[::-1]) == set()


def test_links():
    system = {"FileSystem": file_system()}
    other_bucket = association(DataRepositoryPath="s3://amzn-s3-demo-other/")
    assert changes({**system, "Link": association()}, {**system, "Link": other_bucket}) == {"error DT286 Link"}
    elsewhere = association(DataRepositoryPath="s3://amzn-s3-demo-other/", FileSystemPath="/other")
    assert changes({**system, "Link": association()}, {**system, "Link": elsewhere}) == {"warning DT285 Link"}
    assert changes({**system, "Link": association()}, system) == {"warning DT285 Link"}
    assert changes({**system, "Link": association()}, {}) == {"warning DT281 FileSystem"}


def test_names():
    nodes = group(GroupName="nodes")
    described = group(GroupName="nodes", GroupDescription="Other")
    assert changes({"Nodes": nodes}, {"Nodes": described}) == {"error DT161 Nodes"}
    renamed = group(GroupName="other", GroupDescription="Other")
    assert changes({"Nodes": nodes}, {"Nodes": renamed}) == {"warning DT160 Nodes"}
    machine = state_machine({"StartAt": "A", "States": {"A": {"Type": "Succeed"}}})
    assert changes({"Machine": machine}, {}) == {"warning DT740 Machine"}
    assert changes({"Machine": {**machine, **RETAIN}}, {}) == set()


def test_another_type_under_one_name():
    assert changes({"A": file_system()}, {"A": KEY}) == set()
