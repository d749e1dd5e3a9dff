"""A job's request as it would reach SageMaker, with plausible values for what only deployment knows."""

import json
from pathlib import Path

PSEUDO = {
    "AWS::AccountId": "111111111111",
    "AWS::Region": "us-east-1",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
# by CloudFormation attribute, or by type for a reference
ATTRIBUTES = {
    "Arn": "arn:aws:iam::111111111111:role/{id}",
    "GroupId": "sg-0123456789abcdef0",
    "LustreMountName": "abcdefgh",
}
REFERENCES = {
    "AWS::EC2::Subnet": "subnet-0123456789abcdef0",
    "AWS::EC2::SecurityGroup": "sg-0123456789abcdef0",
    "AWS::EFS::FileSystem": "fs-0123456789abcdef1",
    "AWS::FSx::FileSystem": "fs-0123456789abcdef0",
    "AWS::S3::Bucket": "bucket-{id}",
}


def request_of(assembly, stack_name, job="Job"):
    """The request that the job left in the cloud assembly, resolved."""
    data = metadata_of(assembly, stack_name, job)
    template = assembly.get_stack_by_name(stack_name).template
    return resolve(data["request"], template)


def metadata_of(assembly, stack_name, job="Job"):
    """The job's metadata as they stand in the cloud assembly."""
    artifact = assembly.get_stack_by_name(stack_name)
    file = Path(assembly.directory) / artifact.manifest.additional_metadata_file
    entries = json.loads(file.read_text(encoding="utf-8"))[f"/{stack_name}/{job}"]
    (data,) = [entry["data"] for entry in entries if entry["type"] == "cdk-distributed-training:training-job"]
    return data


def resolve(value, template):
    """A value without intrinsic functions."""
    if isinstance(value, list):
        return [resolve(item, template) for item in value]
    if not isinstance(value, dict):
        return value
    ((name, argument), *others) = value.items() or [("", None)]
    if not others and name in FUNCTIONS:
        return FUNCTIONS[name](argument, template)
    return {key: resolve(item, template) for key, item in value.items()}


def _reference(name, template):
    if name in PSEUDO:
        return PSEUDO[name]
    if name in template.get("Parameters", {}):
        return template["Parameters"][name]["Default"]
    return REFERENCES[template["Resources"][name]["Type"]].format(id=name.lower())


def _substitute(text, template):
    for pseudo, value in PSEUDO.items():
        text = text.replace(f"${{{pseudo}}}", value)
    return text


def _find_in_map(keys, template):
    table, first, second = resolve(keys, template)
    return template["Mappings"][table][first][second]


FUNCTIONS = {
    "Ref": _reference,
    "Fn::GetAtt": lambda path, template: ATTRIBUTES[path[1]].format(id=path[0]),
    "Fn::Join": lambda parts, template: parts[0].join(str(part) for part in resolve(parts[1], template)),
    "Fn::Sub": _substitute,
    "Fn::FindInMap": _find_in_map,
}
