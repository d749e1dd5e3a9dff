"""The Dockerfile builds: what is in the image, and that it is the same twice. Buildah on a Debian root file system."""

import os
import shutil
from pathlib import Path

import pytest
from built_images import BASE, IMAGE, Images

INSTALLED = "/opt/training-launcher"


def tree(root: Path) -> dict[str, int]:
    """Bytes of every file, link and folder below a root, by path."""
    paths = (Path(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files))
    return {f"/{path.relative_to(root)}": path.lstat().st_size if not path.is_dir() else 0 for path in paths}


def test_adds_the_launcher_and_nothing_else(images: Images) -> None:
    base, image = tree(images.base_files), tree(images.files)
    added = {path: size for path, size in image.items() if base.get(path) != size}
    assert base.keys() <= image.keys()
    assert {path for path in added if not path.startswith(INSTALLED)} <= {"/opt"}
    assert f"{INSTALLED}/training_launcher/main.py" in added
    assert sum(added.values()) < 5_000_000


def test_is_byte_compiled_for_its_own_python_and_free_of_leftovers(images: Images) -> None:
    installed = images.files / INSTALLED.lstrip("/")
    sources = {path.relative_to(installed) for path in installed.rglob("*.py")}
    compiled = {path.parent.parent / f"{path.name.split('.')[0]}.py" for path in installed.rglob("*.pyc")}
    assert {path.relative_to(installed) for path in compiled} == sources
    assert {path.suffix for path in installed.rglob("*") if path.is_file()} == {".py", ".pyc", ".typed"}


def test_configuration_names_the_entry_point_and_the_labels(images: Images) -> None:
    configuration = images.store.configuration(IMAGE)["config"]
    assert configuration["Entrypoint"] == ["python3", "-u", INSTALLED]
    assert not configuration.get("Cmd")
    assert configuration["Labels"]["org.opencontainers.image.title"] == "training-launcher"
    assert configuration["Labels"]["org.opencontainers.image.base.name"] == BASE


def test_a_second_build_from_another_checkout_is_the_same_image(images: Images, tmp_path: Path) -> None:
    """Other file times, another umask, byte code of other Pythons lying around: none of it gets in."""
    checkout = tmp_path / "container"
    shutil.copytree(images.context, checkout, copy_function=shutil.copyfile)
    for path in checkout.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1e9, 1e9))
    (checkout / "src/training_launcher/__pycache__").mkdir(exist_ok=True)
    (checkout / "src/training_launcher/__pycache__/main.cpython-39.pyc").write_bytes(b"old")
    again = images.store.build(f"{IMAGE}-again", checkout, arguments=[f"BASE_IMAGE={BASE}"])
    first, second = (images.store.configuration(tag)["rootfs"] for tag in (IMAGE, f"{IMAGE}-again"))
    assert second["diff_ids"] == first["diff_ids"]
    assert again == images.identifier


def test_a_base_without_python_fails_the_build_and_not_the_job(images: Images, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE}\nRUN rm /usr/bin/python3\n")
    images.store.build(f"{BASE}-without-python", tmp_path)
    with pytest.raises(AssertionError, match="python3: not found"):
        images.store.build(f"{IMAGE}-broken", images.context, arguments=[f"BASE_IMAGE={BASE}-without-python"])
