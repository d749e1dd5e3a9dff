"""Rules DT2xx over plain values; what tokens do is tested where the constructs filter them."""

import pytest

from cdk_distributed_training.checks.rules import data_repositories, file_system_channels
from cdk_distributed_training.checks.rules import storage as rules


def ids(findings) -> list[str]:
    return [finding.rule for finding in findings]


@pytest.mark.parametrize(
    ("deployment", "storage", "throughput", "gibibytes", "good"),
    [
        ("SCRATCH_1", "SSD", None, 1200, True),
        ("SCRATCH_1", "SSD", None, 2400, True),
        ("SCRATCH_1", "SSD", None, 7200, True),
        ("SCRATCH_1", "SSD", None, 4800, False),
        ("SCRATCH_2", "SSD", None, 4800, True),
        ("SCRATCH_2", "SSD", None, 3600, False),
        ("PERSISTENT_1", "SSD", 100, 2400, True),
        ("PERSISTENT_1", "SSD", 100, 3600, False),
        ("PERSISTENT_1", "HDD", 12, 6000, True),
        ("PERSISTENT_1", "HDD", 12, 1800, False),
        ("PERSISTENT_1", "HDD", 40, 1800, True),
        ("PERSISTENT_1", "HDD", 40, 1200, False),
        ("PERSISTENT_2", "SSD", 1000, 1228800, True),
        ("PERSISTENT_2", "SSD", None, 1200, True),
        ("PERSISTENT_2", "SSD", 125, 0, False),
        ("PERSISTENT_2", "SSD", 125, -2400, False),
        ("PERSISTENT_2", "SSD", 125, 1200.5, False),
        ("PERSISTENT_1", "HDD", 99, 1, True),  # the throughput is wrong, and only that is said
    ],
)
def test_capacity(deployment, storage, throughput, gibibytes, good):
    assert ids(rules.capacity(deployment, storage, throughput, gibibytes)) == ([] if good else ["DT203"])


def test_capacity_names_the_sizes_nearby():
    (finding,) = rules.capacity("SCRATCH_2", "SSD", None, 3600)
    assert finding.allowed == "1,200, multiples of 2,400 GiB"
    assert finding.fix == "choose 2,400 or 4,800 GiB"
    (finding,) = rules.capacity("PERSISTENT_2", "SSD", 125, -1)
    assert finding.fix == "choose 1,200 GiB"


@pytest.mark.parametrize(
    ("deployment", "storage", "given", "found"),
    [
        ("PERSISTENT_1", "SSD", 200, []),
        ("PERSISTENT_1", "SSD", 125, ["DT202"]),
        ("PERSISTENT_1", "HDD", 40, []),
        ("PERSISTENT_1", "HDD", 50, ["DT202"]),
        ("PERSISTENT_2", "SSD", 125, []),
        ("PERSISTENT_2", "SSD", 200, ["DT202"]),
        ("SCRATCH_2", "SSD", None, []),
        ("SCRATCH_2", "SSD", 200, ["DT202"]),
        ("SCRATCH_2", "HDD", 200, []),  # the disk is wrong, and only that is said
    ],
)
def test_throughput(deployment, storage, given, found):
    assert ids(rules.throughput(deployment, storage, given)) == found


@pytest.mark.parametrize(
    ("deployment", "storage", "found"),
    [("PERSISTENT_1", "HDD", []), ("PERSISTENT_2", "HDD", ["DT201"]), ("SCRATCH_2", "SSD", [])],
)
def test_storage_type(deployment, storage, found):
    assert ids(rules.storage_type(deployment, storage)) == found


@pytest.mark.parametrize(
    ("deployment", "version", "found"),
    [
        ("SCRATCH_1", "2.10", []),
        ("PERSISTENT_2", "2.12", []),
        ("PERSISTENT_2", "2.10", ["DT204"]),
        ("PERSISTENT_2", "2.15", []),
        ("SCRATCH_2", "9.9", ["DT204"]),
    ],
)
def test_version(deployment, version, found):
    assert ids(rules.version(deployment, version)) == found


@pytest.mark.parametrize(("deployment", "found"), [("PERSISTENT_1", []), ("SCRATCH_2", ["DT205"])])
def test_encryption_key(deployment, found):
    assert ids(rules.encryption_key(deployment)) == found


@pytest.mark.parametrize(
    ("deployment", "days", "found"),
    [
        ("PERSISTENT_2", 0, []),
        ("PERSISTENT_2", 90, []),
        ("PERSISTENT_2", 91, ["DT206"]),
        ("PERSISTENT_2", 1.5, ["DT206"]),
        ("SCRATCH_2", 0, []),
        ("SCRATCH_2", 1, ["DT206"]),
    ],
)
def test_backups(deployment, days, found):
    assert ids(rules.backups(deployment, days)) == found


def test_backups_of_linked():
    assert not ids(rules.backups_of_linked(0))
    assert ids(rules.backups_of_linked(1)) == ["DT209"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("1:00:00", []), ("7:23:59", []), ("0:00:00", ["DT207"]), ("1:24:00", ["DT207"]), ("sun:03:00", ["DT207"])],
)
def test_weekly_start(text, found):
    assert ids(rules.weekly_start(text)) == found


@pytest.mark.parametrize(("storage", "found"), [("HDD", []), ("SSD", ["DT208"])])
def test_drive_cache(storage, found):
    assert ids(rules.drive_cache(storage)) == found


@pytest.mark.parametrize(("policy", "found"), [("RETAIN", []), ("DESTROY", []), ("SNAPSHOT", ["DT217"])])
def test_removal_policy(policy, found):
    assert ids(rules.removal_policy(policy)) == found


@pytest.mark.parametrize(
    ("deployment", "version", "found"),
    [
        ("SCRATCH_2", "2.15", []),
        ("PERSISTENT_1", None, []),
        ("PERSISTENT_1", "2.10", ["DT210"]),
        ("SCRATCH_1", "2.15", ["DT210"]),
    ],
)
def test_repository_support(deployment, version, found):
    assert ids(data_repositories.repository_support(deployment, version)) == found


@pytest.mark.parametrize(("count", "found"), [(8, []), (9, ["DT211"])])
def test_repository_count(count, found):
    assert ids(data_repositories.repository_count(count)) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [("/", []), ("/a/b/", []), ("/a..b", []), ("a", ["DT212"]), ("/a/..", ["DT212"]), ("/" + "a" * 4096, ["DT212"])],
)
def test_repository_path(path, found):
    assert ids(data_repositories.repository_path(path)) == found


@pytest.mark.parametrize(("prefix", "found"), [("", []), ("a/b/", []), ("/a", ["DT213"]), ("s3://bucket/a", ["DT213"])])
def test_repository_prefix(prefix, found):
    assert ids(data_repositories.repository_prefix(prefix)) == found


@pytest.mark.parametrize(
    ("path", "others", "found"),
    [
        ("/a", [], []),
        ("/a", ["/b", "/ab"], []),
        ("/a", ["/a"], ["DT214"]),
        ("/a/b", ["/a"], ["DT214"]),
        ("/a", ["/a/b", "/a/c"], ["DT214", "DT214"]),
        ("/", ["/a"], ["DT214"]),
        ("/a", ["/"], ["DT214"]),
    ],
)
def test_repository_overlap(path, others, found):
    assert ids(data_repositories.repository_overlap(path, others)) == found


def test_repository_twice():
    assert not ids(data_repositories.repository_twice("s3://a/", ["s3://b/"]))
    assert ids(data_repositories.repository_twice("s3://a/", ["s3://a/"])) == ["DT215"]


@pytest.mark.parametrize(
    ("mebibytes", "found"), [(1, []), (512_000, []), (0, ["DT216"]), (512_001, ["DT216"]), (1.5, ["DT216"])]
)
def test_chunk_size(mebibytes, found):
    assert ids(data_repositories.chunk_size(mebibytes)) == found


@pytest.mark.parametrize(
    ("path", "found"), [("/", []), ("/a/b", []), ("a", ["DT220"]), ("/../a", ["DT220"]), ("/" * 4001, ["DT220"])]
)
def test_directory_path(path, found):
    assert ids(file_system_channels.directory_path(path)) == found


@pytest.mark.parametrize(
    ("path", "mount_name", "repositories", "fix"),
    [
        ("/corpus", None, [], None),
        ("/", "abc", [], None),
        ("/fsx/corpus", None, [], "write '/corpus'"),
        ("/fsx", None, [], "write '/'"),
        ("/abc/corpus", "abc", [], "write '/corpus'"),
        ("/fsx/corpus", None, ["/fsx"], None),
    ],
)
def test_mount_name_in_path(path, mount_name, repositories, fix):
    found = list(file_system_channels.mount_name_in_path(path, mount_name=mount_name, repositories=repositories))
    assert [finding.fix for finding in found] == ([] if fix is None else [fix])


@pytest.mark.parametrize(("mode", "found"), [("ro", []), ("rw", []), ("r", ["DT222"])])
def test_access_mode(mode, found):
    assert ids(file_system_channels.access_mode(mode)) == found


@pytest.mark.parametrize(
    ("identifier", "found"), [("fs-01234567", []), ("fs-0123456789abcdef0", []), ("corpus", ["DT223"])]
)
def test_file_system_id(identifier, found):
    assert ids(file_system_channels.file_system_id(identifier)) == found
