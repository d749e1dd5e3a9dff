"""Networks and file systems among other people's constructs: stages, stacks, tags, aspects, mixins, injectors."""

import inspect

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

import cdk_distributed_training as dt

SIZE = cdk.Size.gibibytes(1200)


def both(scope, **props) -> tuple[dt.TrainingNetwork, dt.LustreFileSystem]:
    network = dt.TrainingNetwork(scope, "Network", interface_endpoints=[], **props)
    return network, dt.LustreFileSystem(scope, "Corpus", network=network, storage_capacity=SIZE)


def test_in_stages_with_equal_templates():
    app = cdk.App()
    templates = []
    for name in ("Beta", "Production"):
        stage = cdk.Stage(app, name)
        both(cdk.Stack(stage, "Training"))
        (artifact,) = stage.synth().stacks
        templates.append(artifact.template)
    first, second = (set(template["Resources"]) for template in templates)
    assert first == second


def test_a_network_of_one_stage_stack_used_by_two_others():
    app = cdk.App()
    stage = cdk.Stage(app, "Beta")
    base = cdk.Stack(stage, "Base")
    network = dt.TrainingNetwork(base, "Network", interface_endpoints=[])
    for name in ("A", "B"):
        dt.LustreFileSystem(cdk.Stack(stage, name), "Corpus", network=network, storage_capacity=SIZE)
    stage.synth()
    assert not base.dependencies


def test_a_file_systems_group_of_the_base_stack_closes_no_circle():
    app = cdk.App()
    base, data = cdk.Stack(app, "Base"), cdk.Stack(app, "Data")
    vpc = ec2.Vpc(base, "Vpc", max_azs=1)
    servers = ec2.SecurityGroup(base, "Servers", vpc=vpc, allow_all_outbound=False)
    network = dt.TrainingNetwork(data, "Network", vpc=vpc)
    dt.LustreFileSystem(data, "Corpus", network=network, storage_capacity=SIZE, security_group=servers)
    app.synth()
    assert not base.dependencies


def test_consumers_before_and_after():
    app = cdk.App()
    base, data, jobs = (cdk.Stack(app, name) for name in ("Base", "Data", "Jobs"))
    # a role of a stack that is made first, and used last
    role = iam.Role(jobs, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    network = dt.TrainingNetwork(base, "Network", interface_endpoints=[])
    corpus = dt.LustreFileSystem(data, "Corpus", network=network, storage_capacity=SIZE)
    entry = corpus.channel("train").bind(role)
    cdk.CfnOutput(jobs, "Mount", value=jobs.to_json_string(entry))
    app.synth()
    assert {stack.node.id for stack in jobs.dependencies} == {"Data"}


def test_in_two_regions_with_physical_names():
    app = cdk.App()
    for region in ("us-east-1", "eu-west-1"):
        stack = cdk.Stack(app, region, env=cdk.Environment(account="111111111111", region=region))
        both(stack)
    names = [
        found["Properties"].get("LogGroupName")
        for artifact in app.synth().stacks
        for found in artifact.template["Resources"].values()
        if found["Type"] == "AWS::Logs::LogGroup"
    ]
    assert names == [None, None]


@pytest.fixture(scope="module")
def tagged() -> Template:
    stack = cdk.Stack(cdk.App(), "S")
    network, corpus = both(stack, internet=dt.InternetAccess.nat_gateway())
    corpus.add_data_repository(s3.Bucket.from_bucket_name(stack, "B", "books"), file_system_path="/books")
    cdk.Tags.of(network).add("team", "speech")
    cdk.Tags.of(corpus).add("team", "speech")
    return Template.from_stack(stack)


@pytest.mark.parametrize(
    "kind",
    [
        "EC2::VPC",
        "EC2::Subnet",
        "EC2::RouteTable",
        "EC2::NatGateway",
        "EC2::SecurityGroup",
        "EC2::FlowLog",
        "FSx::FileSystem",
        "FSx::DataRepositoryAssociation",
        "Logs::LogGroup",
    ],
)
def test_tags_reach_everything_that_can_have_them(tagged, kind):
    found = tagged.find_resources(f"AWS::{kind}")
    assert found
    for resource in found.values():
        assert {"Key": "team", "Value": "speech"} in resource["Properties"]["Tags"]


@jsii.implements(cdk.IAspect)
class Compress:
    def visit(self, node):
        if isinstance(node, fsx.CfnFileSystem):
            node.add_property_override("LustreConfiguration.DataCompressionType", "LZ4")


def test_aspects_reach_the_resources():
    stack = cdk.Stack(cdk.App(), "S")
    both(stack)
    cdk.Aspects.of(stack).add(Compress())
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::FileSystem", {"LustreConfiguration": {"DataCompressionType": "LZ4"}}
    )


class Named(cdk.Mixin):
    def apply_to(self, construct):
        cdk.Tags.of(construct).add("mixin", "seen")

    def supports(self, construct):
        return isinstance(construct, dt.TrainingNetwork)


def test_mixins_apply():
    stack = cdk.Stack(cdk.App(), "S")
    network, _ = both(stack)
    network.with_(Named())
    (found,) = Template.from_stack(stack).find_resources("AWS::EC2::VPC").values()
    assert {"Key": "mixin", "Value": "seen"} in found["Properties"]["Tags"]


@jsii.implements(cdk.IPropertyInjector)
class ShortLogs:
    @property
    def construct_unique_id(self):
        return logs.LogGroup.PROPERTY_INJECTION_ID

    def inject(self, original_props, *, id, scope):
        return {**original_props, "retention": logs.RetentionDays.ONE_DAY}


def test_property_injectors_reach_what_is_made_inside():
    stack = cdk.Stack(cdk.App(), "S", property_injectors=[ShortLogs()])
    both(stack)
    Template.from_stack(stack).has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 1})


def test_they_connect_to_what_others_made():
    stack = cdk.Stack(cdk.App(), "S")
    network, corpus = both(stack)
    login = ec2.SecurityGroup(stack, "Login", vpc=network.vpc, allow_all_outbound=False)
    corpus.connections.allow_from(login, ec2.Port.tcp(988), "Login node")
    login.connections.allow_to(network, ec2.Port.tcp(22))
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": 22})
    template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": 988, "Description": "Login node"})


def test_construct_ids_are_the_documented_ones():
    stack = cdk.Stack(cdk.App(), "S")
    network, corpus = both(stack, internet=dt.InternetAccess.nat_gateway(), secondary_cidr="100.64.0.0/16")
    network.add_calls(dt.TrainingCall.SAGEMAKER_API)
    made = {child.node.id for child in network.node.children} - {"Attributes"}
    words = set(dt.TrainingNetwork.__doc__.replace("`", " ").replace(",", " ").split())
    assert {name for name in made if name not in words} <= {
        "PublicRouteTableAssociation",
        "RouteTableAssociation",
    }
    documented = set(dt.LustreFileSystem.__doc__.replace("`", " ").replace(",", " ").split())
    own = {child.node.id for child in corpus.node.children if not isinstance(child, ec2.CfnSecurityGroupIngress)}
    own -= {child.node.id for child in corpus.node.children if isinstance(child, ec2.CfnSecurityGroupEgress)}
    assert own <= documented


def test_no_public_signature_names_a_cloudformation_type():
    for kind in (dt.TrainingNetwork, dt.LustreFileSystem, dt.EfsFileSystem, dt.InternetAccess):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") or name == "__init__":
                assert ".Cfn" not in str(inspect.signature(member)), f"{kind.__name__}.{name}"
