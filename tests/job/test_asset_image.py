"""Images that are built at deployment, and those with the model parallel library."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

import cdk_distributed_training as dt

CPU = dt.Instances("ml.c7i.xlarge")
GRAVITON = dt.Instances("ml.c7g.xlarge")
TOKEN = dt.Instances("${Token[TOKEN.1]}")


@pytest.fixture
def folder(tmp_path):
    context = tmp_path / "image"
    context.mkdir()
    (context / "Dockerfile").write_text("FROM scratch\n")
    (context / "train.dockerfile").write_text("FROM scratch AS training\n")
    return context


def new_stack(outdir, region="us-east-1"):
    app = cdk.App(analytics_reporting=False, outdir=str(outdir))
    return cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region=region) if region else None)


def built(stack, image, instances=CPU):
    """The image's entry in the assembly, its address and the statements."""
    policy = iam.ManagedPolicy(stack, "Policy")
    uri = stack.resolve(image.bind(stack, instances=instances, grantee=policy))
    statements = stack.resolve(policy.document)["Statement"]
    directory = Path(cdk.App.of(stack).synth().directory)
    images = json.loads((directory / "Training.assets.json").read_text())["dockerImages"]
    return next(iter(images.values()))["source"], uri, statements


@pytest.mark.parametrize(
    ("instances", "given", "platform"),
    [
        (CPU, None, "linux/amd64"),
        (dt.Instances("ml.p5.48xlarge"), None, "linux/amd64"),
        (dt.Instances("ml.p99.48xlarge"), None, "linux/amd64"),
        (TOKEN, None, "linux/amd64"),
        (TOKEN, "linux/arm64", "linux/arm64"),
        (CPU, "linux/arm64", "linux/arm64"),
    ],
)
def test_the_platform_is_the_machines_and_not_the_builders(folder, tmp_path, instances, given, platform):
    source, _, _ = built(new_stack(tmp_path / "out"), dt.TrainingImage.from_asset(folder, platform=given), instances)
    assert source["platform"] == platform


def test_machines_of_arm_get_images_of_arm(folder, tmp_path, monkeypatch):
    facts = type("Facts", (), {"architecture": "arm64"})()
    monkeypatch.setattr(dt.Instances, "facts", property(lambda _: facts))
    source, _, _ = built(new_stack(tmp_path / "out"), dt.TrainingImage.from_asset(folder), GRAVITON)
    assert source["platform"] == "linux/arm64"


def test_what_is_built_and_who_may_pull(folder, tmp_path):
    image = dt.TrainingImage.from_asset(
        folder, file="train.dockerfile", build_args={"VERSION": "1"}, target="training", exclude=["data"]
    )
    source, uri, statements = built(new_stack(tmp_path / "out"), image)
    assert source["dockerFile"] == "train.dockerfile"
    assert source["dockerBuildArgs"] == {"VERSION": "1"}
    assert source["dockerBuildTarget"] == "training"
    assert "dkr.ecr.us-east-1" in json.dumps(uri)
    assert "ecr:BatchGetImage" in json.dumps(statements)
    assert not image.launcher_inside


def test_the_launcher_over_another_image(tmp_path):
    image = dt.TrainingImage.with_launcher("public.ecr.aws/docker/library/python:3.12-slim")
    assert image.launcher_inside
    source, _, _ = built(new_stack(tmp_path / "out"), image)
    assert source["dockerBuildArgs"] == {"BASE_IMAGE": "public.ecr.aws/docker/library/python:3.12-slim"}
    staged = tmp_path / "out" / source["directory"]
    assert (staged / "Dockerfile").is_file()
    assert (staged / "src" / "__main__.py").is_file()
    assert not list(staged.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("props", "rule", "prop"),
    [
        ({"file": "Dockerfile.gpu"}, "DT508", "file"),
        ({"directory": "no-such-folder"}, "DT508", "directory"),
        ({"platform": "amd64"}, "DT509", "platform"),
    ],
)
def test_what_cannot_be_built(folder, props, rule, prop):
    with pytest.raises(dt.ConfigurationError) as raised:
        dt.TrainingImage.from_asset(props.pop("directory", folder), **props)
    assert [(finding.rule, finding.prop) for finding in raised.value.findings] == [(rule, prop)]


def bind(stack, image):
    policy = iam.ManagedPolicy(stack, "Policy")
    uri = image.bind(stack, instances=dt.Instances("ml.p5.48xlarge"), grantee=policy)
    return stack.resolve(uri), json.dumps(stack.resolve(policy.document))


@pytest.mark.parametrize(
    ("version", "tag"),
    [(None, "2.5.1-gpu-py311-cu124"), ("2.4", "2.4.1-gpu-py311-cu121"), ("2.3.1", "2.3.1-gpu-py311-cu121")],
)
def test_images_with_the_model_parallel_library(tmp_path, version, tag):
    uri, statements = bind(new_stack(tmp_path), dt.TrainingImage.from_model_parallel_container(version))
    assert uri["Fn::Join"][1][-1] == f"/smdistributed-modelparallel:{tag}" if isinstance(uri, dict) else tag in uri
    assert "658645717510:repository/smdistributed-modelparallel" in statements


@pytest.mark.parametrize(("version", "region", "rule"), [("1.13", "us-east-1", "DT501"), (None, "af-south-1", "DT503")])
def test_there_is_no_such_image(tmp_path, version, region, rule):
    with pytest.raises(dt.ConfigurationError, match=rule):
        bind(new_stack(tmp_path, region), dt.TrainingImage.from_model_parallel_container(version))


def test_a_stack_for_any_region(tmp_path):
    uri, _ = bind(new_stack(tmp_path, None), dt.TrainingImage.from_model_parallel_container())
    assert {"Ref": "AWS::Region"} in uri["Fn::Join"][1]


@pytest.mark.parametrize("uri", ["", "registry example/t", "x" * 256])
def test_an_address_of_no_registry(tmp_path, uri):
    with pytest.raises(dt.ConfigurationError, match="DT506"):
        bind(new_stack(tmp_path), dt.TrainingImage.from_private_registry(uri))


def test_a_registry_without_a_password(tmp_path):
    image = dt.TrainingImage.from_private_registry("registry.example.com/t:1", launcher_inside=True)
    assert image.registry_access.render() == {"TrainingRepositoryAccessMode": "Vpc"}
    assert image.launcher_inside
    assert bind(new_stack(tmp_path), image)[0] == "registry.example.com/t:1"
