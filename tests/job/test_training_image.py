"""Images: which one is chosen, and what is refused or warned of."""

import datetime

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam

import cdk_distributed_training as dt
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.data.tables import deep_learning_containers, image_accounts
from cdk_distributed_training.job.container_image import ContainerImage

CPU = dt.Instances("ml.c7i.xlarge")
GPU = dt.Instances("ml.p5.48xlarge")
TRAINIUM = dt.Instances("ml.trn1.32xlarge")
P6E = dt.Instances("ml.p6e-gb200.36xlarge")


@pytest.fixture
def stack(tmp_path):
    return make_stack(tmp_path, "us-east-1")


def make_stack(folder, region):
    app = cdk.App(analytics_reporting=False, outdir=str(folder))
    return cdk.Stack(app, "Training", env=None if region is None else cdk.Environment(region=region))


def bind(stack, image, instances=CPU):
    policy = iam.ManagedPolicy(stack, "Policy")
    uri = stack.resolve(image.bind(stack, instances=instances, grantee=policy))
    return uri, stack.resolve(policy.document)["Statement"]


def tail(uri):
    """What follows the registry's host."""
    return (uri if isinstance(uri, str) else uri["Fn::Join"][1][-1]).partition("/")[2]


@pytest.mark.parametrize(
    ("version", "instances", "expected"),
    [
        (None, CPU, "pytorch:2.13.0-cpu-amzn2023-sagemaker"),
        (None, GPU, "pytorch:2.13.0-cu133-amzn2023-sagemaker"),
        (None, P6E, "pytorch:2.13.0-cu133-amzn2023-sagemaker"),
        (None, TRAINIUM, "pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"),
        ("2.12", GPU, "pytorch:2.12.1-cu130-amzn2023-sagemaker"),
        ("2.12.1", CPU, "pytorch:2.12.1-cpu-amzn2023-sagemaker"),
        ("2.10", GPU, "pytorch-training:2.10.0-gpu-py313-cu130-ubuntu22.04-sagemaker"),
        ("2.7", TRAINIUM, "pytorch-training-neuronx:2.7.0-neuronx-py310-sdk2.25.0-ubuntu22.04"),
    ],
)
def test_the_image_fits(stack, version, instances, expected):
    uri, _ = bind(stack, dt.TrainingImage.from_deep_learning_container(version), instances)
    assert tail(uri) == expected


def test_the_accelerator_can_be_said(stack):
    image = dt.TrainingImage.from_deep_learning_container("2.13", accelerator="gpu")
    uri, _ = bind(stack, image, dt.Instances(cdk.Token.as_string({"Ref": "Type"})))
    assert tail(uri) == "pytorch:2.13.0-cu133-amzn2023-sagemaker"


@pytest.mark.parametrize(
    ("region", "account", "repository"),
    [
        ("us-east-1", "763104351884", "pytorch"),
        ("mx-central-1", "637423239942", "pytorch"),
        # the newer repository is not published outside of the commercial partition
        ("cn-north-1", "727897471807", "pytorch-training"),
        ("us-gov-west-1", "442386744353", "pytorch-training"),
    ],
)
def test_regions_have_accounts_of_their_own(tmp_path, region, account, repository):
    stack = make_stack(tmp_path, region)
    uri, statements = bind(stack, dt.TrainingImage.from_deep_learning_container())
    host, suffix, _ = uri["Fn::Join"][1]
    assert host == f"{account}.dkr.ecr.{region}."
    assert suffix == {"Ref": "AWS::URLSuffix"}
    assert tail(uri).startswith(f"{repository}:")
    assert statements[0]["Resource"] == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":ecr:{region}:{account}:repository/{repository}"]]
    }


def test_a_region_that_only_deployment_knows(tmp_path):
    stack = make_stack(tmp_path, None)
    uri, _ = bind(stack, dt.TrainingImage.from_deep_learning_container())
    account = {"Fn::FindInMap": ["DeepLearningContainerAccounts", {"Ref": "AWS::Region"}, "account"]}
    assert uri["Fn::Join"][1][0] == account
    template = assertions.Template.from_stack(stack)
    template.has_mapping("DeepLearningContainerAccounts", {"eu-central-2": {"account": "380420809688"}})
    (mapping,) = template.to_json()["Mappings"].values()
    assert {region: row["account"] for region, row in mapping.items()} == image_accounts()


@pytest.mark.parametrize(
    ("image", "instances", "rule"),
    [
        (dt.TrainingImage.from_deep_learning_container("1.13"), GPU, "DT501"),
        (dt.TrainingImage.from_deep_learning_container("2.1"), GPU, "DT501"),
        (dt.TrainingImage.from_deep_learning_container("2.13"), TRAINIUM, "DT501"),
        (dt.TrainingImage.from_deep_learning_container(accelerator="tpu"), CPU, "DT504"),
        (dt.TrainingImage.from_deep_learning_container(), dt.Instances(cdk.Token.as_string({"Ref": "T"})), "DT505"),
        (dt.TrainingImage.from_uri(""), CPU, "DT506"),
        (dt.TrainingImage.from_uri("a b"), CPU, "DT506"),
        (dt.TrainingImage.from_uri("x" * 256), CPU, "DT506"),
    ],
)
def test_images_that_are_not_there(stack, image, instances, rule):
    with pytest.raises(dt.ConfigurationError, match=rule):
        bind(stack, image, instances)


def test_a_region_without_images(tmp_path):
    with pytest.raises(dt.ConfigurationError, match="DT503"):
        bind(make_stack(tmp_path, "xx-nowhere-1"), dt.TrainingImage.from_deep_learning_container())


def test_an_image_past_its_patches_is_a_warning(stack):
    bind(stack, dt.TrainingImage.from_deep_learning_container("2.6"))
    warnings = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    assert any("DT502" in str(warning.entry.data) for warning in warnings)


@pytest.mark.parametrize(("today", "count"), [("2027-07-20", 0), ("2027-07-21", 1)])
def test_the_day_after_the_end_of_patch(today, count):
    (image,) = [i for i in deep_learning_containers() if i.version == "2.13.0" and i.accelerator == "cpu"]
    assert len(list(rules.end_of_patch(image, datetime.date.fromisoformat(today)))) == count


@pytest.mark.parametrize(
    ("uri", "repository"),
    [
        ("111122223333.dkr.ecr.eu-west-1.amazonaws.com/a/b:1", "eu-west-1:111122223333:repository/a/b"),
        ("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/a", "cn-north-1:111122223333:repository/a"),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/a@sha256:00", "us-east-1:111122223333:repository/a"),
    ],
)
def test_an_address_grants_its_repository(stack, uri, repository):
    bound, statements = bind(stack, dt.TrainingImage.from_uri(uri))
    assert bound == uri
    assert repository in str(statements)


@pytest.mark.parametrize("uri", ["registry.example.com/a:1", cdk.Token.as_string({"Ref": "Image"})])
def test_an_address_that_says_no_repository_is_a_warning(stack, uri):
    iam_policy = iam.ManagedPolicy(stack, "Policy")
    dt.TrainingImage.from_uri(uri).bind(stack, instances=CPU, grantee=iam_policy)
    assert iam_policy.document.is_empty
    iam_policy.add_statements(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))
    warnings = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    assert any("DT507" in str(warning.entry.data) for warning in warnings)


@pytest.mark.parametrize(("reference", "end"), [("1.2", ":1.2"), ("sha256:ab", "@sha256:ab")])
def test_a_repository_by_tag_or_digest(stack, reference, end):
    repository = ecr.Repository.from_repository_name(stack, "Images", "train")
    uri, _ = bind(stack, dt.TrainingImage.from_ecr_repository(repository, reference))
    assert uri["Fn::Join"][1][-1].endswith(f"/train{end}")


def test_the_neuron_sdk_can_be_chosen(stack):
    image = dt.TrainingImage.from_deep_learning_container("2.9", neuron_sdk="2.29.1")
    assert tail(bind(stack, image, TRAINIUM)[0]) == "pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.29.1-ubuntu24.04"


@pytest.mark.parametrize(("version", "sdk", "instances"), [("2.9", "2.23.0", TRAINIUM), (None, "2.29.1", GPU)])
def test_a_neuron_sdk_without_an_image(stack, version, sdk, instances):
    with pytest.raises(dt.ConfigurationError, match="DT510"):
        bind(stack, dt.TrainingImage.from_deep_learning_container(version, neuron_sdk=sdk), instances)


@pytest.mark.parametrize("token", [False, True])
def test_an_algorithm_is_named_and_grants_nothing(stack, token):
    name = cdk.Fn.import_value("algorithm") if token else "arn:aws:sagemaker:us-east-1:111122223333:algorithm/mine"
    image = dt.TrainingImage.from_algorithm(name)
    assert image.is_algorithm
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    assert stack.resolve(image.bind(stack, instances=CPU, grantee=role)) == stack.resolve(name)
    assertions.Template.from_stack(stack).resource_count_is("AWS::IAM::Policy", 0)
    assertions.Annotations.from_stack(stack).has_warning("*", assertions.Match.string_like_regexp("DT518"))


def test_an_algorithm_takes_the_place_of_the_image(stack, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("")
    source = dt.SourceCode.from_directory(tmp_path / "code", entry_script="train.py")

    def job(name):
        return dt.DistributedTrainingJob(
            stack, name, source=source, instances=CPU, image=dt.TrainingImage.from_algorithm(name)
        )

    specification = job("mine").request["AlgorithmSpecification"]
    assert specification["AlgorithmName"] == "mine"
    assert "TrainingImage" not in specification
    with pytest.raises(dt.ConfigurationError, match=r"- image: got '-mine'.*DT334"):
        job("-mine")


class OwnImage(ContainerImage):
    launcher_inside = True

    def bind(self, scope, *, instances, grantee):
        return f"registry.example.com/{instances.instance_type}:1"


def test_an_image_of_ones_own_kind(stack):
    image = dt.TrainingImage(OwnImage())
    assert (image.launcher_inside, image.is_algorithm, image.registry_access) == (True, False, None)
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    assert image.bind(stack, instances=CPU, grantee=role) == "registry.example.com/ml.c7i.xlarge:1"
