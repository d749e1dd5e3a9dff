"""Parameters and conditions: defaults count, other uses that a file names warn, nothing is a cross product."""

import pytest

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.template.document import read_text

TEMPLATE = """
Parameters:
{parameters}
Conditions:
{conditions}
Resources:
  Fs:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    {condition}
    Properties:
      FileSystemType: LUSTRE
      SubnetIds: [subnet-0123456789]
      StorageCapacity: {capacity}
      LustreConfiguration:
        DeploymentType: {deployment}
        PerUnitStorageThroughput: {throughput}
"""


def judged(
    *,
    parameters="  None: {Type: String}",
    conditions="  Unused: !Equals [a, b]",
    condition="",
    capacity="1200",
    deployment="PERSISTENT_2",
    throughput="125",
):
    text = TEMPLATE.format(
        parameters=parameters,
        conditions=conditions,
        condition=condition,
        capacity=capacity,
        deployment=deployment,
        throughput=throughput,
    )
    return [(item.finding.rule, item.finding.severity, item.choice) for item in judge(read_text(text)).judgements]


def test_default_counts():
    found = judged(parameters="  Size: {Type: Number, Default: 1300}", capacity="!Ref Size")
    assert found == [("DT203", Severity.ERROR, "")]


def test_text_and_number_are_the_same():
    assert judged(parameters='  Size: {Type: Number, Default: "1200"}', capacity="!Ref Size") == []
    assert judged(capacity="'1200'", throughput="'125'") == []


def test_parameter_without_default_is_unknown():
    assert judged(parameters="  Size: {Type: Number}", capacity="!Ref Size") == []


def test_allowed_value_warns():
    found = judged(
        parameters="  Size: {Type: Number, Default: 1200, AllowedValues: [1200, 1300, 2400]}", capacity="!Ref Size"
    )
    assert found == [("DT203", Severity.WARNING, "if Size is 1300")]


def test_each_choice_is_tried_with_all_else_at_its_default():
    parameters = """
  Kind: {Type: String, Default: PERSISTENT_2, AllowedValues: [PERSISTENT_1, PERSISTENT_2]}
  Speed: {Type: Number, Default: 125, AllowedValues: [50, 125]}"""
    found = judged(parameters=parameters, deployment="!Ref Kind", throughput="!Ref Speed")
    assert found == [("DT202", Severity.WARNING, "if Kind is 'PERSISTENT_1' or Speed is 50")]


ON = "  On: {Type: String, AllowedValues: ['yes', 'no']}"
IS_ON = "  IsOn: !Equals [!Ref On, 'yes']"


def test_two_ifs_on_one_condition_are_judged_together():
    found = judged(
        parameters=ON,
        conditions=IS_ON,
        deployment="!If [IsOn, PERSISTENT_1, PERSISTENT_2]",
        throughput="!If [IsOn, 50, 125]",
    )
    assert found == []


def test_one_branch_warns_with_its_condition():
    found = judged(
        parameters=ON,
        conditions=IS_ON,
        deployment="!If [IsOn, PERSISTENT_1, PERSISTENT_2]",
        throughput="!If [IsOn, 125, 125]",
    )
    assert found == [("DT202", Severity.WARNING, "if IsOn is true or On is 'yes'")]


def test_opposite_conditions_are_one():
    found = judged(
        parameters=ON,
        conditions=f"{IS_ON}\n  IsOff: !Not [Condition: IsOn]",
        deployment="!If [IsOn, PERSISTENT_1, PERSISTENT_2]",
        throughput="!If [IsOff, 125, 50]",
    )
    assert found == []


def test_no_value_is_absent():
    found = judged(
        parameters=ON,
        conditions=IS_ON,
        deployment="!If [IsOn, SCRATCH_2, PERSISTENT_2]",
        throughput="!If [IsOn, !Ref 'AWS::NoValue', 125]",
    )
    assert {rule for rule, _, _ in found} == {"DT255"}  # a kept scratch file system: information


@pytest.mark.parametrize(
    ("default", "severity"), [(" Default: 'yes',", Severity.ERROR), (" Default: 'no',", Severity.WARNING)]
)
def test_resource_under_a_condition(default, severity):
    found = judged(
        parameters=f"  On: {{Type: String,{default} AllowedValues: ['yes', 'no']}}",
        conditions=IS_ON,
        condition="Condition: IsOn",
        capacity="1300",
    )
    assert [(rule, seen) for rule, seen, _ in found] == [("DT203", severity)]


def test_and_settles_both_sides():
    found = judged(
        parameters="  A: {Type: String}\n  B: {Type: String}",
        conditions="  Both: !And [!Equals [!Ref A, x], !Equals [!Ref B, y]]\n  IsA: !Equals [!Ref A, x]",
        deployment="!If [Both, PERSISTENT_1, PERSISTENT_2]",
        throughput="!If [IsA, 50, 125]",
    )
    # with Both, IsA holds too: 50 is right for PERSISTENT_1; IsA alone leaves the type open
    assert found == []


def test_condition_that_contains_itself():
    assert judged(conditions="  Loop: !Not [Condition: Loop]", throughput="!If [Loop, 125, 250]") == []


def test_lists_and_maps():
    text = """
Parameters:
  Subnets: {Type: List<AWS::EC2::Subnet::Id>, Default: "subnet-a,subnet-b"}
Mappings:
  Sizes: {dev: {size: 1300}}
Resources:
  Fs:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Delete
    Properties:
      FileSystemType: LUSTRE
      SubnetIds: !Ref Subnets
      StorageCapacity: !FindInMap [Sizes, dev, size]
      LustreConfiguration: {DeploymentType: SCRATCH_2}
"""
    assert {item.finding.rule for item in judge(read_text(text)).judgements} == {"DT203", "DT251"}


def test_pending_lookups_are_never_judged():
    """What CDK writes until a lookup is made: two subnets of two zones that do not exist."""
    text = """
Resources:
  Fs:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Delete
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: dummy-value-for-/size
      SubnetIds: [p-12345]
      LustreConfiguration: {DeploymentType: SCRATCH_2}
  A: {Type: AWS::EC2::Subnet, Properties: {VpcId: vpc-12345, AvailabilityZone: dummy1a, CidrBlock: 10.0.0.0/24}}
  B: {Type: AWS::EC2::Subnet, Properties: {VpcId: vpc-12345, AvailabilityZone: dummy1b, CidrBlock: 10.0.1.0/24}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups: [{InstanceType: ml.p5.48xlarge, InstanceCount: 2}]
      VpcConfig: {SecurityGroupIds: [sg-12345678], Subnets: [!Ref A, !Ref B]}
"""
    assert [str(item.finding) for item in judge(read_text(text)).judgements] == []


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        ("2", ("DT121", Severity.ERROR, "")),
        ("!Ref Count", ("DT121", Severity.WARNING, "if there are several machines")),
        ("1", None),
    ],
)
def test_a_number_of_machines_that_others_choose(count, expected):
    text = f"""
Parameters: {{Count: {{Type: Number}}}}
Resources:
  Group: {{Type: AWS::EC2::SecurityGroup, Properties: {{VpcId: v, GroupDescription: d}}}}
  In:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {{GroupId: !Ref Group, IpProtocol: -1, SourceSecurityGroupId: !Ref Group}}
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups: [{{InstanceType: ml.p5.48xlarge, InstanceCount: {count}}}]
      VpcConfig: {{SecurityGroupIds: [!Ref Group], Subnets: [a]}}
"""
    found = [(item.finding.rule, item.finding.severity, item.choice) for item in judge(read_text(text)).judgements]
    assert found == ([expected] if expected else [])


SPEED = "  Key: {Type: String, Default: ''}\n  Speed: {Type: String, Default: '', AllowedValues: ['', '125']}"
HAS_KEY = "  HasKey: !Not [!Equals [!Ref Key, '']]"


def test_an_empty_default_means_that_nothing_is_given():
    # who gives a key must give a speed too, as the template's description may say
    found = judged(parameters=SPEED, conditions=HAS_KEY, throughput="!If [HasKey, !Ref Speed, 125]")
    assert found == []
    wrong = judged(parameters=SPEED, conditions=HAS_KEY, throughput="!If [HasKey, 50, 125]")
    assert wrong == [("DT202", Severity.WARNING, "if HasKey is true")]


def test_conditions_apart_from_the_choice_stay_as_they_are_by_default():
    parameters = f"{SPEED}\n  Kind: {{Type: String, Default: ''}}"
    conditions = f"{HAS_KEY}\n  Fast: !Not [!Equals [!Ref Kind, '']]"
    found = judged(
        parameters=parameters,
        conditions=conditions,
        deployment="!If [HasKey, PERSISTENT_1, PERSISTENT_2]",
        throughput="!If [Fast, !If [HasKey, 50, 125], 125]",
    )
    assert found == [("DT202", Severity.WARNING, "if HasKey is true")]
