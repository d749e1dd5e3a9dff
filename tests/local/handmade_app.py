"""A small cloud assembly, written by hand: what `cdk synth` leaves of an app with training jobs."""

import json
import os
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
LAUNCHER = REPOSITORY / "container" / "src"
BUCKET = {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}"}

# finds the launcher's zip wherever the base folder is, as the job construct's own entry point does
ENTRYPOINT = [
    "sh",
    "-c",
    'zip=$(find "${SAGEMAKER_BASE_DIR:-/opt/ml}/input/data/launcher" -name "*.zip"); exec python3 -u "$zip" "$@"',
    "launcher",
]


def s3_channel(name: str, uri: Any, **members: Any) -> dict[str, Any]:
    """An `InputDataConfig` entry."""
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, **members}


def asset_uri(key: str) -> Any:
    """The address of an asset as an environment-agnostic stack writes it."""
    return {"Fn::Join": ["", ["s3://", BUCKET, f"/{key}"]]}


def request(entrypoint: list[str], arguments: list[str] | None = None, **members: Any) -> dict[str, Any]:
    """A request with intrinsics, as a construct leaves it."""
    algorithm: dict[str, Any] = {"TrainingImage": "image:1", "TrainingInputMode": "File"}
    return {
        "RoleArn": {"Fn::GetAtt": ["Role1ABC", "Arn"]},
        "AlgorithmSpecification": {
            **algorithm,
            "ContainerEntrypoint": entrypoint,
            "ContainerArguments": arguments or [],
        },
        "OutputDataConfig": {"S3OutputPath": {"Fn::Join": ["", ["s3://", {"Ref": "Bucket83908E77"}, "/out"]]}},
        "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.c5.xlarge", "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        **members,
    }


def write_app(folder: Path, jobs: dict[str, dict[str, Any]], assets: dict[str, Path] | None = None) -> Path:
    """Write an assembly with one stack, `Training`.

    Args:
        folder: Where; made if missing.
        jobs: Construct path -> request.
        assets: Object key -> file, or folder to be zipped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    template = {
        "Parameters": {"Epochs": {"Type": "String", "Default": "3"}},
        "Resources": {
            "Role1ABC": {"Type": "AWS::IAM::Role"},
            "Bucket83908E77": {"Type": "AWS::S3::Bucket"},
            "Machine5": {"Type": "AWS::StepFunctions::StateMachine"},
        },
    }
    metadata = {
        f"/{path}": [
            {"type": "aws:cdk:logicalId", "data": "Machine5"},
            {
                "type": "cdk-distributed-training:training-job",
                "data": {"schema": 1, "job_name": path.replace("/", "-").lower(), "request": one},
            },
        ]
        for path, one in jobs.items()
    }
    files = {
        key: {
            "displayName": key,
            "source": {"path": os.path.relpath(path, folder), "packaging": "zip" if path.is_dir() else "file"},
            "destinations": {"any": {"bucketName": "cdk-assets-${AWS::AccountId}", "objectKey": key}},
        }
        for key, path in (assets or {}).items()
    }
    manifest = {
        "version": "48.0.0",
        "artifacts": {
            "Training.assets": {"type": "cdk:asset-manifest", "properties": {"file": "Training.assets.json"}},
            "Training": {
                "type": "aws:cloudformation:stack",
                "environment": "aws://unknown-account/unknown-region",
                "properties": {"templateFile": "Training.template.json"},
                "additionalMetadataFile": "Training.metadata.json",
            },
            "Tree": {"type": "cdk:tree", "properties": {"file": "tree.json"}},
        },
    }
    for name, content in {
        "manifest.json": manifest,
        "Training.template.json": template,
        "Training.metadata.json": metadata,
        "Training.assets.json": {"version": "48.0.0", "files": files},
    }.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def write_launcher_app(
    folder: Path,
    source: Path,
    script: str,
    *,
    options: tuple[str, ...] = ("--nproc-per-node", "1"),
    channels: tuple[str, ...] = (),
    **members: Any,
) -> Path:
    """An app with one job, `Training/Job`, that brings the real launcher and a folder of source code."""
    data = [
        s3_channel("launcher", asset_uri("aaaa.zip")),
        s3_channel("code", asset_uri("bbbb.zip")),
        *(s3_channel(name, {"Fn::Sub": f"s3://${{Bucket83908E77}}/{name}"}) for name in channels),
    ]
    job = request(ENTRYPOINT, ["torchrun", *options, "--", script], InputDataConfig=data, **members)
    return write_app(folder, {"Training/Job": job}, {"aaaa.zip": LAUNCHER, "bbbb.zip": source})
