"""What the hosts find in input/data."""

import zipfile
from pathlib import Path

import pytest
from tests.local.conftest import PATH
from tests.local.handmade_app import request, s3_channel

from cdk_distributed_training.local.assembly import SynthesizedAsset
from cdk_distributed_training.local.channels import AssetSource, FolderSource, plan_channels
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Hosts

LUSTRE = {
    "ChannelName": "corpus",
    "DataSource": {"FileSystemDataSource": {"FileSystemId": "fs-1", "DirectoryPath": "/fsx/corpus"}},
}


def asset(path: Path, packaging: str) -> SynthesizedAsset:
    return SynthesizedAsset(path=path, packaging=packaging, object_key="assets/aaaa.zip")


def listing(hosts: Hosts, host: str) -> list[str]:
    script = 'cd "${SAGEMAKER_BASE_DIR:-/opt/ml}/input/data/train"; find . -type f | sort'
    return hosts.start(host, ["sh", "-c", script], PATH).communicate(timeout=30)[0].decode().split()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("data")
    (made / "deep").mkdir()
    for name in ("a", "b", "deep/c"):
        (made / name).write_text(name)
    (made / "b").chmod(0o755)
    return made


def test_a_folder_asset_lands_as_one_zip(hosts: Hosts, folder: Path) -> None:
    AssetSource(asset(folder, "zip")).place(hosts, "train")
    for host in hosts.names:
        file = hosts.opt_ml(host) / "input/data/train/aaaa.zip"
        with zipfile.ZipFile(file) as archive:
            assert archive.namelist() == ["a", "b", "deep/c"]
            assert archive.getinfo("b").external_attr >> 16 & 0o111
    assert listing(hosts, "algo-2") == ["./aaaa.zip"]


def test_a_file_asset_lands_as_it_is(hosts: Hosts, folder: Path) -> None:
    AssetSource(asset(folder / "a", "file")).place(hosts, "train")
    assert (hosts.opt_ml("algo-2") / "input/data/train/aaaa.zip").read_text() == "a"


def test_a_missing_asset_is_said(hosts: Hosts) -> None:
    with pytest.raises(LocalModeError, match="asset of channel train, /none, is missing"):
        AssetSource(asset(Path("/none"), "zip")).place(hosts, "train")


def test_a_folder_is_on_each_host(hosts: Hosts, folder: Path) -> None:
    FolderSource(folder).place(hosts, "train")
    assert listing(hosts, "algo-1") == listing(hosts, "algo-2") == ["./a", "./b", "./deep/c"]


def test_a_sharded_folder_is_spread(hosts: Hosts, folder: Path) -> None:
    FolderSource(folder).place(hosts, "train", sharded=True)
    assert listing(hosts, "algo-1") == ["./a", "./deep/c"]
    assert listing(hosts, "algo-2") == ["./b"]


def test_every_channel_finds_its_source(folder: Path) -> None:
    channels = [s3_channel("code", "s3://bucket/assets/aaaa.zip"), s3_channel("train", "s3://data/train"), LUSTRE]
    job = request(["true"], InputDataConfig=channels)
    assets = {"assets/aaaa.zip": asset(folder, "zip")}
    sources = plan_channels(job, assets, {"train": folder, "corpus": folder})
    assert [type(source) for source in sources.values()] == [AssetSource, FolderSource, FolderSource]
    own = plan_channels(job, assets, {"train": folder, "corpus": folder, "code": folder})
    assert isinstance(own["code"], FolderSource)


def test_all_problems_are_told_at_once(folder: Path) -> None:
    channels = [s3_channel("train", "s3://data/train"), s3_channel("val", "s3://data/val"), s3_channel("x", ""), LUSTRE]
    given = {"trian": folder, "val": folder / "none", "x": folder / "a"}
    with pytest.raises(LocalModeError) as caught:
        plan_channels(request(["true"], InputDataConfig=channels), {}, given)
    assert str(caught.value).splitlines() == [
        "--channel trian: the job has no channel trian; did you mean train?",
        "channel train reads s3://data/train, which is not on this machine: "
        "give it a folder with --channel train=FOLDER",
        f"--channel val={folder / 'none'}: {folder / 'none'} does not exist",
        f"--channel x={folder / 'a'}: {folder / 'a'} is a file, not a folder: give the folder {folder}",
        "channel corpus reads /fsx/corpus on file system fs-1, which is not on this machine: "
        "give it a folder with --channel corpus=FOLDER",
    ]
