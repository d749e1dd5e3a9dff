"""What importing the helpers costs, and what it never does."""

import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "container" / "src"


def run(script):
    return subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False
    )


def test_the_package_and_its_pure_modules_do_without_torch():
    modules = ["backends", "cuda_index", "errors", "gloo_threads", "hook_choice", "hosts"]
    script = "import sys\n" + "".join(f"import training_launcher.torch.{module}\n" for module in modules)
    result = run(script + "assert 'torch' not in sys.modules, 'torch was imported'\n")
    assert result.returncode == 0, result.stderr


def test_an_unknown_name_is_an_attribute_error():
    result = run("import training_launcher.torch as helpers\nhelpers.init_process_groups\n")
    assert "AttributeError: module 'training_launcher.torch' has no attribute 'init_process_groups'" in result.stderr
