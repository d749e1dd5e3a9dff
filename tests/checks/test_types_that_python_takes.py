"""Values that Python takes without a word, and that mean something else: nothing, text for a list, and so on."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

import cdk_distributed_training as dt
from cdk_distributed_training.checks.keywords import WrongTypeError


@pytest.fixture
def stack(tmp_path):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out")), "Stack")


@pytest.fixture
def network(stack):
    return dt.TrainingNetwork.from_ids(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=["sg-1"]
    )


@pytest.fixture
def job(stack, tmp_path, network):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_text("")

    def make(**props):
        source = dt.SourceCode.from_directory(tmp_path / "code", entry_script="train.py")
        options = {"network": network, "source": source, "instances": dt.Instances("ml.g5.2xlarge")}
        return dt.DistributedTrainingJob(stack, "Job", **{**options, **props})

    return make


def found(error):
    return [(finding.rule, finding.prop) for finding in error.value.findings]


def test_nothing_is_given_where_something_must_be(stack):
    with pytest.raises(WrongTypeError, match="max_instances: got None, of type NoneType; allowed: float") as error:
        dt.TrainingQueue(stack, "Queue", max_instances=None)
    assert found(error) == [("DT901", "max_instances")]
    with pytest.raises(WrongTypeError, match="scope: got None"):
        dt.TrainingQueue(None, "Queue", max_instances=1)
    with pytest.raises(WrongTypeError, match=r"job: got None.*make one with DistributedTrainingJob"):
        dt.TrainingPipeline(stack, "Pipeline", job=None)


def test_nothing_may_be_given_where_that_means_the_default(job):
    job(distribution=None, role=None, max_runtime=None, tags=None)


def test_a_list_is_given_as_text(stack, job):
    with pytest.raises(WrongTypeError, match=r"got 'sg-1', of type str; .*write a list, such as \['sg-1'\]"):
        dt.TrainingNetwork.from_ids(stack, "One", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids="sg-1")
    with pytest.raises(WrongTypeError, match=r"errors: got 'Step\.THROTTLING', of type str"):
        dt.StepRetry(errors="Step.THROTTLING")
    with pytest.raises(WrongTypeError, match="values: got 'adam', of type str"):
        dt.CategoricalRange("adam")
    with pytest.raises(WrongTypeError, match="profiler_rules: got 'LowGPUUtilization', of type str"):
        job(profiler_rules="LowGPUUtilization")


def test_text_may_stand_for_a_list_where_the_type_says_so():
    assert dt.Instances("ml.g5.2xlarge").types == ("ml.g5.2xlarge",)


def test_elements_of_a_list_may_be_tokens(stack):
    groups = [cdk.Fn.import_value("group")]
    dt.TrainingNetwork.from_ids(stack, "Imported", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=groups)


def test_types_inside_of_mappings_and_lists_are_judged(stack, job):
    with pytest.raises(WrongTypeError, match=r"tags: got \{'team': 1\}.*allowed: Mapping\[str, str\]"):
        job(tags={"team": 1})
    with pytest.raises(WrongTypeError, match=r"shares\[0\]\.weight: got '1', of type str; allowed: float"):
        dt.TrainingQueue(stack, "Queue", max_instances=8, shares=[dt.FairShare(name="a", weight="1")])


def test_an_object_without_the_members_of_the_interface_is_refused(stack, job):
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(WrongTypeError, match=r"network: got .*Vpc.*allowed: ITrainingNetwork; make one with Training"):
        job(network=vpc)
    with pytest.raises(WrongTypeError, match=r"vpc: got .*CfnVPC.*allowed: ec2.IVpc; make one with ec2.Vpc.from_"):
        dt.TrainingNetwork(stack, "Raw", vpc=ec2.CfnVPC(stack, "RawVpc", cidr_block="10.0.0.0/16"))
    with pytest.raises(WrongTypeError, match=r"vpc_subnets: got <SubnetType.PUBLIC.*allowed: ec2.SubnetSelection"):
        dt.TrainingNetwork(stack, "Kind", vpc=vpc, vpc_subnets=ec2.SubnetType.PUBLIC)


def test_an_imported_role_has_whatever_the_interface_asks_for(stack, job):
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::111111111111:role/train", mutable=False)
    assert job(role=role).role is role
