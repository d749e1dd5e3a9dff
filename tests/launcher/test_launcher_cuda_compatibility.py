"""CUDA's compatibility library, where the image's entry point would have found it."""

from pathlib import Path

import pytest

from training_launcher.cuda_compatibility import FOLDER, compatibility_variables, library_path

DRIVER = """NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (dvs-builder@U22)  Thu
GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)
"""


def machine(root: Path, *, library: str = "", driver: str = "") -> str:
    if library:
        folder = root / FOLDER[1:]
        folder.mkdir(parents=True)
        (folder / f"libcuda.so.{library}").touch()
        (folder / "libcuda.so.1").symlink_to(f"libcuda.so.{library}")
    if driver:
        (root / "proc/driver/nvidia").mkdir(parents=True)
        (root / "proc/driver/nvidia/version").write_text(DRIVER.format(driver))
    return str(root)


def test_an_older_driver_needs_it(tmp_path: Path) -> None:
    root = machine(tmp_path, library="570.86.15", driver="535.216.03")
    assert compatibility_variables({}, root) == {"LD_LIBRARY_PATH": FOLDER}
    assert compatibility_variables({"LD_LIBRARY_PATH": "/mine"}, root) == {"LD_LIBRARY_PATH": f"{FOLDER}:/mine"}
    assert compatibility_variables({"LD_LIBRARY_PATH": f"/mine:{FOLDER}"}, root) == {}


@pytest.mark.parametrize(
    ("library", "driver"),
    [
        ("535.216.03", "570.86.15"),
        ("570.86.15", "570.86.15"),
        ("570.86.15", "570.86.15.1"),
        ("", "535.1"),
        ("570.86", ""),
        ("", ""),
    ],
)
def test_no_other_driver_does(tmp_path: Path, library: str, driver: str) -> None:
    """A library older than the driver would not even load."""
    assert compatibility_variables({}, machine(tmp_path, library=library, driver=driver)) == {}


def test_the_path_is_handed_on_only_with_it() -> None:
    assert library_path({"LD_LIBRARY_PATH": f"{FOLDER}:/mine"}) == {"LD_LIBRARY_PATH": f"{FOLDER}:/mine"}
    assert library_path({"LD_LIBRARY_PATH": "/mine"}) == {}
