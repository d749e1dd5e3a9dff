"""The code channel, unpacked."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from training_launcher.entry import parse_entry, require_entry
from training_launcher.problems import Problem
from training_launcher.requirements import pip_command, pip_environment, pip_error
from training_launcher.source import unpack_source


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    (tmp_path / "channel").mkdir()
    return tmp_path / "channel"


def zip_with(channel: Path, *members: tuple[str | zipfile.ZipInfo, str]) -> None:
    with zipfile.ZipFile(channel / "0f.zip", "w") as archive:
        for name, content in members:
            archive.writestr(name, content)


def member(name: str, mode: int) -> zipfile.ZipInfo:
    information = zipfile.ZipInfo(name)
    information.external_attr = mode << 16
    return information


def test_a_zip_with_folders_modes_and_links(channel: Path, tmp_path: Path) -> None:
    zip_with(
        channel,
        ("train.py", "1"),
        ("pkg/deep/x.py", "2"),
        (member("run", stat.S_IFREG | 0o755), "3"),
        (member("link.py", stat.S_IFLNK | 0o777), "pkg/deep/x.py"),
    )
    unpack_source(str(channel), str(tmp_path / "code"))
    assert (tmp_path / "code/pkg/deep/x.py").read_text() == (tmp_path / "code/link.py").read_text() == "2"
    assert (tmp_path / "code/run").stat().st_mode & 0o111
    assert not (tmp_path / "code/train.py").stat().st_mode & 0o111


@pytest.mark.parametrize(
    "bad",
    [
        ("../evil.py", "x"),
        ("a/../../evil.py", "x"),
        ("/tmp/evil.py", "x"),
        (member("link", stat.S_IFLNK | 0o777), "/etc/passwd"),
        (member("link", stat.S_IFLNK | 0o777), "../../evil"),
    ],
)
def test_nothing_is_written_elsewhere(channel: Path, tmp_path: Path, bad: tuple[str, str]) -> None:
    zip_with(channel, ("train.py", "1"), bad)
    with pytest.raises(Problem, match="leads out of"):
        unpack_source(str(channel), str(tmp_path / "code"))
    assert not (tmp_path / "evil.py").exists()


def test_a_write_through_a_link_is_refused(channel: Path, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/out").symlink_to(tmp_path)
    zip_with(channel, ("out/evil.py", "x"))
    with pytest.raises(Problem, match="leads out of"):
        unpack_source(str(channel), str(tmp_path / "code"))


def test_a_tar_as_the_sagemaker_sdk_makes(channel: Path, tmp_path: Path) -> None:
    with tarfile.open(channel / "sourcedir.tar.gz", "w:gz") as archive:
        for name, content, mode in (("train.py", b"1", 0o644), ("bin/run", b"2", 0o755)):
            information = tarfile.TarInfo(name)
            information.size, information.mode = len(content), mode
            archive.addfile(information, io.BytesIO(content))
    unpack_source(str(channel), str(tmp_path / "code"))
    assert (tmp_path / "code/train.py").read_text() == "1"
    assert (tmp_path / "code/bin/run").stat().st_mode & 0o111


def test_plain_files_are_copied(channel: Path, tmp_path: Path) -> None:
    (channel / "pkg").mkdir()
    (channel / "pkg/x.py").write_text("1")
    (channel / "data.zip").write_bytes(b"a file among others")
    unpack_source(str(channel), str(tmp_path / "code"))
    assert (tmp_path / "code/pkg/x.py").read_text() == "1"
    assert (tmp_path / "code/data.zip").exists()


def test_without_a_channel_the_images_own_code_stays(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_text("built in")
    unpack_source(str(tmp_path / "none"), str(tmp_path / "code"))
    assert (tmp_path / "code/train.py").read_text() == "built in"


@pytest.mark.parametrize("name", ["0f.zip", "sourcedir.tar.gz"])
def test_a_broken_archive_is_named(channel: Path, tmp_path: Path, name: str) -> None:
    (channel / name).write_bytes(b"nothing of the kind")
    with pytest.raises(Problem, match=f"{name} is broken"):
        unpack_source(str(channel), str(tmp_path / "code"))


def test_entries(tmp_path: Path) -> None:
    def command(*words: str) -> tuple[str, ...]:
        return parse_entry(words).command("python3", str(tmp_path))

    (tmp_path / "tool").write_text("")
    assert command("train.py", "a b") == ("python3", "-u", "train.py", "a b")
    assert command("-m", "pkg.train", "x") == ("python3", "-u", "-m", "pkg.train", "x")
    assert command("run.sh", "x")[1:] == ("run.sh", "x")
    assert command("run.sh")[0] in ("/bin/bash", "/bin/sh")
    assert command("tool", "x") == (f"{tmp_path}/tool", "x")
    assert command("hostname") == ("hostname",)


def test_entries_that_are_not_there(tmp_path: Path) -> None:
    for name in ("tool", "b.py", "a.py"):
        (tmp_path / name).write_text("")
    require_entry(parse_entry(["tool"]), str(tmp_path))
    assert (tmp_path / "tool").stat().st_mode & 0o111
    require_entry(parse_entry(["sh"]), str(tmp_path))
    require_entry(parse_entry(["-m", "installed.somewhere"]), str(tmp_path))
    with pytest.raises(Problem, match=r"entry script x/c.py is not in .*, which holds a.py, b.py, tool"):
        require_entry(parse_entry(["x/c.py"]), str(tmp_path))
    with pytest.raises(Problem, match="entry script no-such-program is not in"):
        require_entry(parse_entry(["no-such-program"]), str(tmp_path))
    (tmp_path / "pkg").mkdir()
    with pytest.raises(Problem, match=r"module pkg.train is not in .*neither pkg/train.py nor pkg/train/__main__.py"):
        require_entry(parse_entry(["-m", "pkg.train"]), str(tmp_path))


def test_requirements(tmp_path: Path) -> None:
    assert pip_command("python3", str(tmp_path)) is None
    (tmp_path / "requirements.txt").write_text("# nothing\n\n")
    assert pip_command("python3", str(tmp_path)) is None
    (tmp_path / "requirements.txt").write_text("einops\n")
    command = pip_command("python3", str(tmp_path))
    assert command
    assert command[:5] == ("python3", "-u", "-m", "pip", "install")
    assert command[-2:] == ("-r", "requirements.txt")
    assert "PIP_ROOT_USER_ACTION" not in pip_environment({"PIP_ROOT_USER_ACTION": "warn"})
    assert pip_error("Collecting x\nERROR: No matching distribution found for x\n\n") == (
        "No matching distribution found for x"
    )
    assert pip_error("/usr/bin/python3: No module named pip\n") == "/usr/bin/python3: No module named pip"
    assert pip_error("") == "pip said nothing"
