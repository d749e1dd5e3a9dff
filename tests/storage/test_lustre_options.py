"""EFA, elastic storage, metadata, backups, logging: what each becomes, and what FSx would refuse."""

import inspect

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt
from cdk_distributed_training.checks.rules.lustre_options import REPLACING

Kind = dt.LustreDeploymentType
Disks = dt.LustreStorageType
Metadata = dt.LustreMetadata
Cache = dt.LustreReadCache
GIB = cdk.Size.gibibytes
TIERED = {"storage_type": Disks.INTELLIGENT_TIERING}
EFA = {"efa": True, "storage_capacity": GIB(4800), "per_unit_storage_throughput": 1000}


def stack_with(**props) -> cdk.Stack:
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    dt.LustreFileSystem(stack, "Corpus", network=network, **props)
    return stack


def properties(stack) -> dict:
    (found,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    return found["Properties"]


def lustre(stack) -> dict:
    return properties(stack)["LustreConfiguration"]


def warnings_of(stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]


def rules_found(**props) -> list[str]:
    with pytest.raises(dt.ConfigurationError) as caught:
        stack_with(**props)
    return [finding.rule for finding in caught.value.findings]


def test_elastic_storage_needs_nothing_more():
    found = properties(stack_with(**TIERED))
    assert "StorageCapacity" not in found
    assert found["StorageType"] == "INTELLIGENT_TIERING"
    assert found["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "ThroughputCapacity": 1000,
        "DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"},
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "DataCompressionType": "NONE",
        "CopyTagsToBackups": True,
    }


def test_everything_of_elastic_storage():
    found = lustre(
        stack_with(
            **TIERED, throughput_capacity=8000, read_cache=Cache.of_size(GIB(64)), metadata=Metadata.provisioned(12000)
        )
    )
    assert found["ThroughputCapacity"] == 8000
    assert found["DataReadCacheConfiguration"] == {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64}
    assert found["MetadataConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 12000}
    assert lustre(stack_with(**TIERED, read_cache=Cache.none()))["DataReadCacheConfiguration"] == {
        "SizingMode": "NO_CACHE"
    }
    with_efa = lustre(stack_with(**TIERED, efa=True))
    assert (with_efa["ThroughputCapacity"], with_efa["EfaEnabled"]) == (4000, True)


@pytest.mark.parametrize(
    ("props", "rules"),
    [
        ({"storage_capacity": GIB(1200), "per_unit_storage_throughput": 125}, ["DT240", "DT240"]),
        ({"drive_cache": True}, ["DT240"]),
        ({"deployment_type": Kind.PERSISTENT_1}, ["DT241"]),
        ({"file_system_type_version": "2.12"}, ["DT241"]),
        ({"throughput_capacity": 3000}, ["DT243"]),
        ({"throughput_capacity": 2000, "efa": True}, ["DT243"]),
        ({"read_cache": Cache.of_size(GIB(4))}, ["DT246"]),
        ({"read_cache": Cache.of_size(GIB(40000))}, ["DT246"]),
        ({"metadata": Metadata.automatic()}, ["DT235"]),
        ({"metadata": Metadata.provisioned(3000)}, ["DT235"]),
    ],
)
def test_what_elastic_storage_does_not_have(props, rules):
    assert rules_found(**TIERED, **props) == rules


def test_elastic_storage_has_no_links_to_s3():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, **TIERED)
    with pytest.raises(dt.ConfigurationError, match="DT245"):
        corpus.add_data_repository(s3.Bucket.from_bucket_name(stack, "B", "books"), file_system_path="/books")


@pytest.mark.parametrize(
    ("props", "rules"),
    [
        ({"throughput_capacity": 4000}, ["DT244"]),
        ({"read_cache": Cache.none()}, ["DT244"]),
        ({"storage_capacity": None}, ["DT232"]),
        ({"deployment_type": Kind.PERSISTENT_1, "metadata": Metadata.automatic()}, ["DT234"]),
        ({"metadata": Metadata.provisioned(5000)}, ["DT235"]),
        ({"metadata": Metadata.provisioned(204_000)}, ["DT235"]),
        ({"metadata": Metadata.automatic(), "file_system_type_version": "2.12"}, ["DT204"]),
        ({"efa": True}, ["DT237"]),
        ({"efa": True, "deployment_type": Kind.PERSISTENT_1}, ["DT236"]),
        ({**EFA, "file_system_type_version": "2.12"}, ["DT236"]),
        ({"daily_automatic_backup_start_time": "03:00"}, ["DT250"]),
        (
            {"daily_automatic_backup_start_time": "3 am", "automatic_backup_retention": cdk.Duration.days(1)},
            ["DT250"],
        ),
        (
            {"daily_automatic_backup_start_time": "03:00", "automatic_backup_retention": cdk.Duration.days(0)},
            ["DT250"],
        ),
    ],
)
def test_what_disks_do_not_have(props, rules):
    assert rules_found(**{"storage_capacity": GIB(1200), **props}) == rules


@pytest.mark.parametrize("iops", [1500, 3000, 6000, 12000, 24000, 192_000])
def test_metadata_operations(iops):
    found = lustre(stack_with(storage_capacity=GIB(1200), metadata=Metadata.provisioned(iops)))
    assert found["MetadataConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": iops}


@pytest.mark.parametrize(("throughput", "size"), [(125, 38_400), (250, 19_200), (500, 9_600), (1000, 4_800)])
def test_sizes_with_efa(throughput, size):
    found = properties(stack_with(efa=True, storage_capacity=GIB(size), per_unit_storage_throughput=throughput))
    assert found["StorageCapacity"] == size
    assert found["LustreConfiguration"]["EfaEnabled"] is True
    assert found["LustreConfiguration"]["MetadataConfiguration"] == {"Mode": "AUTOMATIC"}


def test_with_efa_all_traffic_is_open_both_ways_and_no_ports_besides():
    template = Template.from_stack(stack_with(**EFA))
    for kind in ("Ingress", "Egress"):
        rules = template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()
        # nodes to themselves, servers to themselves, and each side to the other
        assert [rule["Properties"]["IpProtocol"] for rule in rules] == ["-1"] * 4
    (found,) = template.find_resources("AWS::FSx::FileSystem").values()
    assert len(found["DependsOn"]) == 4


def test_tokens_are_not_judged():
    stack = cdk.Stack(cdk.App(), "S")
    number = cdk.CfnParameter(stack, "Number", type="Number").value_as_number
    text = cdk.CfnParameter(stack, "Text").value_as_string
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    dt.LustreFileSystem(
        stack,
        "Tiered",
        network=network,
        **TIERED,
        throughput_capacity=number,
        read_cache=Cache.of_size(GIB(number)),
        metadata=Metadata.provisioned(number),
        file_system_type_version=text,
    )
    dt.LustreFileSystem(
        stack,
        "Disks",
        network=network,
        efa=True,
        storage_capacity=GIB(number),
        per_unit_storage_throughput=number,
        backup_id=text,
        automatic_backup_retention=cdk.Duration.days(number),
        daily_automatic_backup_start_time=text,
        log_level=dt.LustreLogLevel.ERROR_ONLY,
        log_group=logs.LogGroup.from_log_group_name(stack, "Group", text),
    )
    found = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    tiered, disks = sorted((one["Properties"] for one in found), key=lambda one: one["StorageType"])
    assert tiered["LustreConfiguration"]["ThroughputCapacity"] == {"Ref": "Number"}
    assert tiered["LustreConfiguration"]["DataReadCacheConfiguration"]["SizeGiB"] == {"Ref": "Number"}
    assert disks["BackupId"] == {"Ref": "Text"}
    assert disks["LustreConfiguration"]["DailyAutomaticBackupStartTime"] == {"Ref": "Text"}


def test_from_a_backup_it_takes_the_backups_size_and_throughput():
    found = properties(stack_with(backup_id="backup-0123456789abcdef0"))
    assert found["BackupId"] == "backup-0123456789abcdef0"
    assert "StorageCapacity" not in found
    assert "PerUnitStorageThroughput" not in found["LustreConfiguration"]


def test_backups_at_a_time_of_day():
    found = lustre(
        stack_with(
            storage_capacity=GIB(1200),
            automatic_backup_retention=cdk.Duration.days(7),
            daily_automatic_backup_start_time="03:30",
        )
    )
    assert (found["AutomaticBackupRetentionDays"], found["DailyAutomaticBackupStartTime"]) == (7, "03:30")


def test_logs_go_to_a_group_whose_name_fsx_may_write_to():
    stack = cdk.Stack(cdk.App(), "S")
    key = kms.Key(stack, "Key")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    for name in ("One", "Two"):
        dt.LustreFileSystem(
            stack,
            name,
            network=network,
            storage_capacity=GIB(1200),
            encryption_key=key,
            log_level=dt.LustreLogLevel.WARN_ERROR,
        )
    template = Template.from_stack(stack)
    groups = [found["Properties"] for found in template.find_resources("AWS::Logs::LogGroup").values()]
    assert len({group["LogGroupName"] for group in groups}) == 2
    assert all(group["LogGroupName"].startswith("/aws/fsx/") for group in groups)
    assert all(group["KmsKeyId"] == stack.resolve(key.key_arn) for group in groups)
    found = next(iter(template.find_resources("AWS::FSx::FileSystem").values()))["Properties"]["LustreConfiguration"]
    assert found["LogConfiguration"]["Level"] == "WARN_ERROR"
    assert ":log-group:" in str(found["LogConfiguration"]["Destination"])


def test_a_brought_log_group():
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    good = logs.LogGroup.from_log_group_name(stack, "Good", "/aws/fsx/mine")
    bad = logs.LogGroup.from_log_group_name(stack, "Bad", "/mine")
    level = dt.LustreLogLevel.WARN_ONLY
    given = {"network": network, "storage_capacity": GIB(1200)}
    dt.LustreFileSystem(stack, "A", **given, log_level=level, log_group=good)
    with pytest.raises(dt.ConfigurationError, match="/aws/fsx/"):
        dt.LustreFileSystem(stack, "B", **given, log_level=level, log_group=bad)
    with pytest.raises(dt.ConfigurationError, match="without log_level"):
        dt.LustreFileSystem(stack, "C", **given, log_group=good)


@pytest.mark.parametrize(
    ("props", "rule"),
    [
        ({"removal_policy": cdk.RemovalPolicy.DESTROY}, "DT292"),
        ({"storage_capacity": GIB(1_228_800)}, "DT256"),
    ],
)
def test_what_is_allowed_and_dear(props, rule):
    (warning,) = warnings_of(stack_with(**{"storage_capacity": GIB(1200), **props}))
    assert rule in warning


@pytest.mark.parametrize(
    "props",
    [
        {},
        {"removal_policy": cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE},
        {"deployment_type": Kind.SCRATCH_2, "removal_policy": cdk.RemovalPolicy.DESTROY},
    ],
)
def test_nothing_to_warn_of(props):
    assert not warnings_of(stack_with(storage_capacity=GIB(1200), **props))


def test_the_values_that_replace_a_file_system_are_its_properties():
    assert set(REPLACING) <= set(inspect.signature(dt.LustreFileSystem.__init__).parameters)
    assert not [prop for prop in REPLACING if f"`{prop}`" not in dt.LustreFileSystem.__doc__ and prop != "network"]


def test_the_root_squash_that_cloudformation_lacks_is_told_of():
    assert "root squash" in dt.LustreFileSystem.__doc__
    with pytest.raises(TypeError, match="root_squash"):
        stack_with(storage_capacity=GIB(1200), root_squash="65534:65534")
