"""What the rules over a file system's own properties are about that no template shows (DT213, DT218, DT246, DT290)."""

from cdk_distributed_training.checks.examples import Example, given
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import data_repositories, efs, lustre_options

_ASSOCIATION = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_CACHE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html"
_LOGS = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreLogCreateConfiguration.html"
_IMPORT = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html"
_SPEED = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html"
_METRICS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html"

rule(
    "DT213",
    title="A prefix that is an address",
    why="The association would link a prefix of that very spelling, which has no objects.",
    source=_ASSOCIATION,
    bad=given(prefix="s3://bucket/corpus/"),
    good=given(prefix="corpus/"),
)(data_repositories.repository_prefix)
rule(
    "DT218",
    title="Events of a bucket in another region",
    why="FSx refuses to create the association: events reach file systems of the bucket's own region only.",
    source=_IMPORT,
    bad=given(bucket="eu-west-1", file_system="us-east-1"),
    good=given(bucket="us-east-1", file_system="us-east-1"),
)(data_repositories.repository_region)
rule(
    "DT246",
    title="A read cache that does not fit the throughput",
    why="FSx refuses to create the file system.",
    source=_CACHE,
    bad=given(gibibytes=16, throughput=4000),
    good=given(gibibytes=32, throughput=4000),
)(lustre_options.read_cache_size)
rule(
    "DT290",
    title="A log group that FSx may not write to",
    why="FSx refuses to create the file system.",
    source=_LOGS,
    bad=given(name="/training/lustre"),
    good=given(name="/aws/fsx/training"),
)(lustre_options.log_group_name)
rule(
    "DT291",
    severity=Severity.WARNING,
    title="A file system in another zone than the nodes",
    why="It works, more slowly, and every byte between zones is billed.",
    source=_SPEED,
    bad=given(file_system="us-east-1a", nodes="us-east-1b"),
    good=given(file_system="us-east-1a", nodes="us-east-1a"),
)(lustre_options.same_zone)
rule(
    "DT292",
    severity=Severity.WARNING,
    title="A persistent file system that a change deletes with its data",
    why="A change of subnet, group or type replaces the file system, and DESTROY deletes the old one.",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html",
    bad=given(deployment="PERSISTENT_2"),
)(lustre_options.replaced_with_its_data)
rule(
    "DT293",
    title="An alarm on free space that has no measure",
    why="The alarm could never fire, or always would.",
    source=_METRICS,
    bad=given(tiered=True),
)(lustre_options.alarm_threshold)
rule(
    "DT295",
    title="A throughput that does not go with its mode",
    why="EFS refuses to create the file system.",
    source="https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html",
    bad=Example({"mode": "ELASTIC", "given": True}, is_document=False),
    good=Example({"mode": "PROVISIONED", "given": True}, is_document=False),
)(efs.throughput)
