"""The launcher on two real hosts that know each other from Slurm, or from the pods' names, and from no file."""

import json
from collections.abc import Mapping

import pytest
from launcher_job import LauncherJob

SHOW = """
import json, os
names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "SM_CURRENT_HOST", "GLOO_SOCKET_IFNAME", "SM_NETWORK_INTERFACE_NAME")
print(json.dumps({name: os.environ[name] for name in names}))
"""
SLURM = {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "2", "SLURM_STEP_NODELIST": "algo-[1-2]"}
SYSTEMS: dict[str, Mapping[str, Mapping[str, str]]] = {
    "slurm": {f"algo-{place + 1}": {**SLURM, "SLURM_NODEID": str(place)} for place in range(2)},
    "slurmd": {name: {**SLURM, "SLURMD_NODENAME": name} for name in ("algo-1", "algo-2")},
    "told": {name: {"TRAINING_HOSTS": '["algo-1", "algo-2"]'} for name in ("algo-1", "algo-2")},
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_hosts_find_each_other(job: LauncherJob, system: str) -> None:
    job.source(train__py=SHOW)
    for host, environment in SYSTEMS[system].items():
        (job.opt_ml(host) / "input/config/resourceconfig.json").unlink()
        job.start("processes", "--nproc-per-node", "1", "--", "train.py", hosts=[host], environment=environment)
    outcomes = job.wait(120)
    assert {name: outcome.code for name, outcome in outcomes.items()} == {"algo-1": 0, "algo-2": 0}, outcomes
    for place, name in enumerate(job.names):
        (line,) = outcomes[name].lines_of(f"rank {place}")
        assert json.loads(line) == {
            "RANK": str(place),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "algo-1",
            "SM_CURRENT_HOST": name,
            "GLOO_SOCKET_IFNAME": "eth0",
            "SM_NETWORK_INTERFACE_NAME": "eth0",
        }
