"""Devices, variables and credentials."""

import json
from pathlib import Path

import pytest

from training_launcher.cluster import parse_cluster
from training_launcher.devices import Devices, detect_devices
from training_launcher.sagemaker_variables import JobFacts, read_channels, sagemaker_variables
from training_launcher.secrets_mask import Mask, is_secret_name


def machine(root: Path, *devices: str, infiniband: str = "") -> str:
    (root / "dev").mkdir(parents=True)
    for name in devices:
        (root / "dev" / name).touch()
    if infiniband:
        (root / "sys/class/infiniband" / infiniband).mkdir(parents=True)
    return str(root)


@pytest.mark.parametrize(
    ("devices", "environment", "gpus", "cores", "processes"),
    [
        ((), {}, 0, 0, 1),
        (("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-modeset"), {}, 2, 0, 2),
        (("nvidia0", "nvidia10"), {}, 2, 0, 2),
        (tuple(f"neuron{number}" for number in range(16)), {}, 0, 32, 32),
        (("neuron0", "neuron_other"), {"NEURON_LOGICAL_NC_CONFIG": "2"}, 0, 1, 1),
    ],
)
def test_devices(  # noqa: PLR0917
    tmp_path: Path, devices: tuple[str, ...], environment: dict[str, str], gpus: int, cores: int, processes: int
) -> None:
    found = detect_devices(environment, machine(tmp_path, *devices))
    assert (found.gpus, found.neuron_cores, found.processes, found.efa) == (gpus, cores, processes, False)


def test_trainium2_joins_its_cores(tmp_path: Path) -> None:
    root = machine(tmp_path, *(f"neuron{number}" for number in range(16)))
    base = tmp_path / "sys/class/neuron_device/neuron0"
    (base / "info/architecture").mkdir(parents=True)
    (base / "core_count").write_text("8\n")
    (base / "info/architecture/instance_type").write_text("trn2.48xlarge\n")
    assert detect_devices({}, root).neuron_cores == 64
    assert detect_devices({"NEURON_LOGICAL_NC_CONFIG": "1"}, root).neuron_cores == 128


def test_efa(tmp_path: Path) -> None:
    assert detect_devices({}, machine(tmp_path / "a", infiniband="rdmap0s6")).efa
    assert detect_devices({}, machine(tmp_path / "b", infiniband="efa_0")).efa
    assert not detect_devices({}, machine(tmp_path / "c", infiniband="mlx5_0")).efa


FACTS = JobFacts(
    base_directory="/opt/ml",
    cluster=parse_cluster(
        {
            "current_host": "algo-10",
            "hosts": ["algo-1", "algo-10", "algo-2"],
            "current_instance_type": "ml.p4d.24xlarge",
            "network_interface_name": "eth0",
        },
        "resourceconfig.json",
    ),
    world=("algo-1", "algo-2", "algo-10"),
    devices=Devices(gpus=8, neuron_cores=0, cpus=96, efa=True),
    hyperparameters={
        "batch-size": "32",
        "lr": "0.1",
        "name": "run 1",
        "on": "true",
        "l": "[1]",
        "sagemaker_region": "r",
    },
    channels={"train": {"TrainingInputMode": "File"}, "my-data.v2": {}},
    arguments=["--lr", "0.1"],
    entry="src/train.py",
    master_address="algo-1",
    master_port=7777,
    environment={"TRAINING_JOB_NAME": "job-1", "AWS_REGION": "eu-west-1"},
)

# what both of the existing toolkits set, by name
TOOLKIT_2 = (
    "HOSTS NETWORK_INTERFACE_NAME HPS USER_ENTRY_POINT FRAMEWORK_PARAMS RESOURCE_CONFIG INPUT_DATA_CONFIG "
    "OUTPUT_DATA_DIR CHANNELS CURRENT_HOST CURRENT_INSTANCE_TYPE CURRENT_INSTANCE_GROUP CURRENT_INSTANCE_GROUP_HOSTS "
    "INSTANCE_GROUPS INSTANCE_GROUPS_DICT DISTRIBUTION_INSTANCE_GROUPS IS_HETERO MODULE_NAME LOG_LEVEL "
    "FRAMEWORK_MODULE INPUT_DIR INPUT_CONFIG_DIR OUTPUT_DIR NUM_CPUS NUM_GPUS NUM_NEURONS MODEL_DIR MODULE_DIR "
    "TRAINING_ENV USER_ARGS OUTPUT_INTERMEDIATE_DIR CHANNEL_TRAIN HP_LR HP_BATCH-SIZE"
)
TOOLKIT_3 = (
    "MODEL_DIR INPUT_DIR INPUT_DATA_DIR INPUT_CONFIG_DIR OUTPUT_DIR OUTPUT_FAILURE OUTPUT_DATA_DIR LOG_LEVEL "
    "MASTER_ADDR MASTER_PORT SOURCE_DIR ENTRY_SCRIPT CHANNEL_TRAIN CHANNELS HP_BATCH_SIZE HPS CURRENT_HOST "
    "CURRENT_INSTANCE_TYPE HOSTS NETWORK_INTERFACE_NAME HOST_COUNT CURRENT_HOST_RANK NUM_CPUS NUM_GPUS NUM_NEURONS "
    "RESOURCE_CONFIG INPUT_DATA_CONFIG TRAINING_ENV"
)


def test_every_variable_of_both_toolkits() -> None:
    variables = sagemaker_variables(FACTS)
    missing = [name for name in f"{TOOLKIT_2} {TOOLKIT_3}".split() if f"SM_{name}" not in variables]
    assert missing == []
    assert {"SAGEMAKER_JOB_NAME", "SAGEMAKER_REGION", "CURRENT_HOST"} <= set(variables)
    assert all(isinstance(value, str) for value in variables.values())


def test_values() -> None:
    variables = sagemaker_variables(FACTS)
    assert variables["SM_HOSTS"] == '["algo-1","algo-2","algo-10"]'
    assert variables["SM_CURRENT_HOST_RANK"] == "2"
    assert json.loads(variables["SM_HPS"]) == {"batch-size": 32, "lr": 0.1, "name": "run 1", "on": True, "l": [1]}
    assert variables["SM_HP_BATCH-SIZE"] == variables["SM_HP_BATCH_SIZE"] == "32"
    assert variables["SM_CHANNEL_MY-DATA.V2"] == variables["SM_CHANNEL_MY_DATA_V2"] == "/opt/ml/input/data/my-data.v2"
    assert variables["SM_MODULE_NAME"] == "train"
    assert variables["SM_USER_ENTRY_POINT"] == "src/train.py"
    assert variables["SM_IS_HETERO"] == "false"
    assert variables["SAGEMAKER_JOB_NAME"] == "job-1"
    assert json.loads(variables["SM_RESOURCE_CONFIG"])["current_host"] == "algo-10"
    assert "SM_HP_SAGEMAKER_REGION" not in variables


def test_channels_without_a_configuration_are_the_folders(tmp_path: Path) -> None:
    (tmp_path / "input/data/train").mkdir(parents=True)
    (tmp_path / "input/data/file").touch()
    assert read_channels(str(tmp_path), None) == {"train": {}}
    assert read_channels(str(tmp_path), {"b": {}, "a": {}}) == {"a": {}, "b": {}}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY", True),
        ("AWS_SESSION_TOKEN", True),
        ("HF_TOKEN", True),
        ("wandbApiKey", True),
        ("db-password", True),
        ("GIT_CREDENTIALS", True),
        ("TOKENIZERS_PARALLELISM", False),
        ("max_tokens", False),
        ("monkey", False),
        ("lr", False),
    ],
)
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert is_secret_name(name) == secret


def test_masking() -> None:
    mask = Mask({"HF_TOKEN": "hf_secret_1", "key": "true", "num_key_value_heads": "8"}, {"api_key": "hf_secret_12"})
    assert mask("a hf_secret_12 b hf_secret_1 c 8 true") == "a *** b *** c 8 true"
    assert mask.all(["hf_secret_1", "8"]) == ["***", "8"]
