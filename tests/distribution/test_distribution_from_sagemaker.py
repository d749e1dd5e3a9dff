"""The SageMaker SDK's dictionary and classes: every key and combination, and what is refused."""

import json
from types import SimpleNamespace

import pytest

import cdk_distributed_training as dt
from cdk_distributed_training.distribution.on_instance_groups import OnInstanceGroups
from cdk_distributed_training.tokens import known

ON = {"enabled": True}
TRAINIUM = dt.Instances("ml.trn1.32xlarge", count=2)
P5 = dt.Instances("ml.p5.48xlarge", count=2)
SMP_1 = {"partitions": 2, "microbatches": 4}
SMP_2 = {"tensor_parallel_degree": 4, "hybrid_shard_degree": 2}


def model_parallel(parameters):
    return {"modelparallel": {"enabled": True, "parameters": parameters}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, dt.Command()),
        ({"torch_distributed": {"enabled": False}}, dt.Command()),
        ({"torch_distributed": ON}, dt.Torchrun()),
        ({"pytorchddp": ON}, dt.PyTorchDDP()),
        ({"pytorchddp": ON, "torch_distributed": ON}, dt.PyTorchDDP()),
        (
            {"pytorchddp": {"enabled": True, "custom_mpi_options": "-x A=1"}},
            dt.PyTorchDDP(mpi_additional_options=["-x", "A=1"]),
        ),
        ({"smdistributed": {"dataparallel": ON}}, dt.SMDistributedDataParallel()),
        ({"smdistributed": {"dataparallel": ON}, "torch_distributed": ON}, dt.Torchrun()),
        (
            {"smdistributed": {"dataparallel": {"enabled": True, "custom_mpi_options": "-x 'A=a b' --verbose"}}},
            dt.SMDistributedDataParallel(mpi_additional_options=["-x", "A=a b", "--verbose"]),
        ),
        ({"mpi": ON}, dt.MPI(process_count_per_node=1)),
        (
            {"mpi": {"enabled": True, "processes_per_host": 8, "custom_mpi_options": "--NCCL_DEBUG WARN -mca a b"}},
            dt.MPI(process_count_per_node=8, mpi_additional_options=["-x", "NCCL_DEBUG=WARN", "-mca", "a", "b"]),
        ),
        (
            {"mpi": {"enabled": True, "processes_per_host": 8}, "smdistributed": model_parallel(SMP_1)},
            dt.SMDistributedModelParallel(process_count_per_node=8, parameters=SMP_1),
        ),
        ({"torch_distributed": ON, "smdistributed": model_parallel(SMP_2)}, dt.SMP(**SMP_2)),
        ({"torch_distributed": ON, "smdistributed": {"modelparallel": ON}}, dt.SMP()),
        ({"parameter_server": ON}, dt.ParameterServer(chief_task="master", servers="tensorflow")),
        ({"multi_worker_mirrored_strategy": ON}, dt.MultiWorkerMirrored()),
        (
            {"mpi": {"enabled": True, "processes_per_host": 2}, "instance_groups": ["train"]},
            OnInstanceGroups(distribution=dt.MPI(process_count_per_node=2), groups=["train"]),
        ),
        # version 3, as dictionaries
        ({"process_count_per_node": 8}, dt.Torchrun(process_count_per_node=8)),
        ({"process_count_per_node": None, "smp": None}, dt.Torchrun()),
        ({"smp": SMP_2, "process_count_per_node": 8}, dt.SMP(process_count_per_node=8, **SMP_2)),
        (
            {"process_count_per_node": 2, "mpi_additional_options": ["-x", "A"]},
            dt.MPI(process_count_per_node=2, mpi_additional_options=["-x", "A"]),
        ),
    ],
)
def test_what_the_sdk_takes(given, expected):
    found = dt.distribution_from_sagemaker(given)
    assert (type(found), found.launcher_arguments()) == (type(expected), expected.launcher_arguments())


def test_trainium_gets_its_own_launcher():
    assert dt.distribution_from_sagemaker({"torch_distributed": ON}, instances=TRAINIUM) == dt.Xla()
    assert dt.distribution_from_sagemaker({"torch_distributed": ON}, instances=P5) == dt.Torchrun()
    token = dt.Instances("${Token[TOKEN.1]}")
    assert dt.distribution_from_sagemaker({"torch_distributed": ON}, instances=token) == dt.Torchrun()


def sdk_object(name, **fields):
    """An object as those of the SDK's version 3, which are pydantic's."""
    return type(name, (), {"model_dump": lambda _: fields})()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (sdk_object("Torchrun", process_count_per_node=None, smp=None), dt.Torchrun()),
        (sdk_object("Torchrun", process_count_per_node=8, smp=SMP_2), dt.SMP(process_count_per_node=8, **SMP_2)),
        (sdk_object("MPI", process_count_per_node=None, mpi_additional_options=None), dt.MPI()),
        (sdk_object("MPI", process_count_per_node=4, mpi_additional_options=["-x", "A"]),
         dt.MPI(process_count_per_node=4, mpi_additional_options=["-x", "A"])),
        (sdk_object("SMP", **SMP_2, random_seed=None), dt.SMP(**SMP_2)),
    ],
)  # fmt: skip
def test_objects_of_version_3(given, expected):
    assert dt.distribution_from_sagemaker(given) == expected


def test_groups_may_be_objects():
    group = SimpleNamespace(instance_group_name="train", instance_type="ml.p4d.24xlarge", instance_count=2)
    found = dt.distribution_from_sagemaker({"mpi": ON, "instance_groups": [group]})
    assert found.launcher_arguments()[-2:] == ["--instance-group", "train"]


def test_parameters_from_a_file(tmp_path):
    file = tmp_path / "parameters.json"
    file.write_text(json.dumps(SMP_1))
    found = dt.distribution_from_sagemaker({"mpi": ON, "smdistributed": model_parallel(str(file))})
    assert found.parameters == SMP_1


@pytest.mark.parametrize(
    ("given", "rule", "said"),
    [
        ({"torch_distribution": ON}, "DT450", "'torch_distributed'"),
        ({"mpi": {"enabled": True, "process_per_host": 8}}, "DT450", "'processes_per_host'"),
        ({"mpi": True}, "DT450", "{'enabled': True}"),
        ({"smdistributed": {"dataparalel": ON}}, "DT450", "'smdistributed.dataparallel'"),
        ({"pytorchxla": ON}, "DT451", "torch.compile"),
        ({"compiler_config": {"enabled": True, "debug": False}}, "DT451", "Xla()"),
        ({"mpi": ON, "parameter_server": ON}, "DT452", "the one that the script is written for"),
        ({"smdistributed": {"dataparallel": ON, **model_parallel(SMP_2)}}, "DT452", "one of them"),
        ({"smdistributed": model_parallel(SMP_2)}, "DT453", "torch_distributed"),
        ({"mpi": ON, "smdistributed": model_parallel("no-such.json")}, "DT454", "not there"),
        ({"torch_distributed": ON, "smdistributed": model_parallel({"tensor_paralel_degree": 2})}, "DT450",
         "'tensor_parallel_degree'"),
        ({"process_count_per_node": 8, "mpi_options": []}, "DT450", "'mpi_additional_options'"),
        ({"smp": SMP_2, "mpi_additional_options": ["-x", "A"]}, "DT452", "one of them"),
        (object(), "DT455", "Command()"),
    ],
)  # fmt: skip
def test_the_rest_is_refused(given, rule, said):
    with pytest.raises(dt.ConfigurationError) as raised:
        dt.distribution_from_sagemaker(given)
    assert rule in {finding.rule for finding in raised.value.findings}
    assert said in str(raised.value) or said == "one of them"


@pytest.mark.parametrize(
    ("given", "prop"),
    [
        ({"mpi": {"enabled": "false"}}, "mpi.enabled"),
        ({"mpi": {"enabled": True, "custom_mpi_options": "-x 'A=1"}}, "mpi.custom_mpi_options"),
        ({"mpi": {"enabled": True, "custom_mpi_options": ["-x", "A=1"]}}, "mpi.custom_mpi_options"),
        ({"smdistributed": {"dataparallel": {"enabled": True, "custom_mpi_options": 5}}}, "smdistributed.dataparallel"),
        ({"smdistributed": model_parallel(None), "mpi": ON}, "smdistributed.modelparallel.parameters"),
        ({"smdistributed": model_parallel(5), "torch_distributed": ON}, "smdistributed.modelparallel.parameters"),
        ({"torch_distributed": ON, "instance_groups": "gpu"}, "instance_groups"),
        ({"torch_distributed": ON, "instance_groups": None}, "instance_groups"),
    ],
)
def test_values_that_cannot_be_read(given, prop):
    with pytest.raises(dt.ConfigurationError) as raised:
        dt.distribution_from_sagemaker(given)
    (finding,) = raised.value.findings
    assert finding.rule == "DT456"
    assert finding.prop.startswith(f"distribution[{prop}")


def test_a_key_that_is_no_text_is_refused_as_unknown():
    with pytest.raises(dt.ConfigurationError, match=r"distribution\[5\]: got a key that the SDK does not have"):
        dt.distribution_from_sagemaker({5: ON})


def test_no_options_are_none():
    given = {"mpi": {"enabled": True, "custom_mpi_options": None}}
    assert dt.distribution_from_sagemaker(given) == dt.MPI(process_count_per_node=1, mpi_additional_options=[])


class TestOnInstanceGroups:
    machines = dt.Instances.from_groups(
        [
            dt.InstanceGroup(name="data", instance_type="ml.c7i.xlarge"),
            dt.InstanceGroup(name="train", instance_type="ml.p4d.24xlarge", count=2),
        ]
    )

    def findings(self, **props):
        distribution = OnInstanceGroups(distribution=props.pop("distribution", dt.Torchrun()), **props)
        return [(finding.rule, finding.prop) for finding in distribution.findings(self.machines, known=known)]

    def test_arguments(self):
        found = OnInstanceGroups(
            distribution=dt.Torchrun(), groups=["train"], group_commands={"data": ["serve.py", "--port", "1"]}
        )
        assert found.launcher_arguments() == [
            "torchrun", "--nproc-per-node", "auto", "--instance-group", "train",
            "--group-command", '["data", "serve.py", "--port", "1"]',
        ]  # fmt: skip

    def test_good(self):
        assert self.findings(groups=["train"], group_commands={"data": ["serve.py"]}) == []
        assert self.findings(group_commands={"data": ["serve.py"]}) == []

    def test_tokens(self):
        assert self.findings(groups=["${Token[TOKEN.1]}"]) == []

    def test_bad(self):
        assert self.findings(groups=["trian"]) == [("DT440", "distribution.groups")]
        assert self.findings(groups=["train"], group_commands={"train": ["a.py"]}) == [
            ("DT441", "distribution.group_commands")
        ]
        assert self.findings(group_commands={"train": ["a.py"], "data": ["b.py"]}) == [
            ("DT442", "distribution.group_commands")
        ]
        # each group that takes part is judged as what it is
        too_many = dt.Torchrun(process_count_per_node=9)
        assert self.findings(distribution=too_many, groups=["train"]) == [
            ("DT404", "distribution.process_count_per_node")
        ]
        assert self.findings(distribution=too_many, groups=["data"]) == []
