"""The image trains: started as SageMaker starts it, under runc, with two ranks on one host."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from built_images import IMAGE, Images
from training_host import TrainingHost

TORCHRUN = ("torchrun", "--nproc-per-node", "2")

TRAIN = """
import os, sys, torch
from torch.distributed import destroy_process_group, get_rank, init_process_group
init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(32, 4, generator=torch.Generator().manual_seed(get_rank()))
losses = []
for _ in range(20):
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    losses.append(loss.item())
print(f"rank {get_rank()} of 2, arguments {sys.argv[1:]}, loss fell: {losses[-1] < losses[0] / 2}", flush=True)
if get_rank() == 0:
    torch.save(model.module.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
destroy_process_group()
os._exit(0)  # a gloo thread, which the model keeps, can abort Python's own end
"""

TRAIN_WITHOUT_TORCH = """
import os, time
from multiprocessing.connection import Client, Listener
rank, leader = int(os.environ["RANK"]), (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
def connect():
    for _ in range(200):
        try:
            return Client(leader)
        except ConnectionRefusedError:
            time.sleep(0.05)
peer = Listener(leader).accept() if rank == 0 else connect()
slope, inputs = 0.0, [1.0, 2.0] if rank == 0 else [3.0, 4.0]
for _ in range(50):
    gradient = sum(2 * (slope * x - 3 * x) * x for x in inputs) / len(inputs)
    peer.send(gradient)
    slope -= 0.05 * (gradient + peer.recv()) / 2
with open(os.path.join(os.environ["SM_MODEL_DIR"], f"slope-{rank}"), "w") as file:
    file.write(repr(slope))
"""

FAIL = """
import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit(7)
time.sleep(60)
"""

SAVE_WHEN_STOPPED = """
import os, pathlib, signal, sys, time
rank, folder = os.environ["RANK"], pathlib.Path("/opt/ml/checkpoints")
def save(*_):
    (folder / f"saved-{rank}").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
(folder / f"ready-{rank}").touch()
time.sleep(120)
"""


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_help_shows_the_kinds(host: TrainingHost) -> None:
    finished = host.run("--help").wait()
    assert finished.returncode == 0, finished.stderr
    assert "torchrun" in finished.stdout


def test_dry_run_shows_what_this_host_would_start(host: TrainingHost) -> None:
    host.write_configuration("hyperparameters", lr="0.1")
    finished = host.run_with_torch(*TORCHRUN, "--dry-run", "--", "train.py", script=TRAIN).wait()
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)
    assert '"--lr"' in finished.stdout
    assert not (host.folder / "model/model.pt").exists()


def test_trains_with_container_arguments(host: TrainingHost) -> None:
    host.write_configuration("hyperparameters", lr="0.1")
    finished = host.run_with_torch(*TORCHRUN, "--", "train.py", script=TRAIN).wait()
    assert finished.returncode == 0, finished.stdout + finished.stderr
    for rank in range(2):
        assert f"rank {rank} of 2, arguments ['--lr', '0.1'], loss fell: True" in finished.stdout + finished.stderr
    assert (host.folder / "model/model.pt").stat().st_size > 0
    assert not (host.folder / "output/failure").exists()


def test_trains_with_the_images_own_python_and_nothing_from_outside(host: TrainingHost) -> None:
    arguments = ("processes", "--nproc-per-node", "2", "--", "train.py")
    finished = host.run(*arguments, script=TRAIN_WITHOUT_TORCH).wait()
    assert finished.returncode == 0, finished.stdout + finished.stderr
    slopes = {path.name: path.read_text() for path in (host.folder / "model").iterdir()}
    assert slopes["slope-0"] == slopes["slope-1"]
    assert abs(float(slopes["slope-0"]) - 3) < 1e-6


def test_trains_with_code_and_arguments_of_an_image_made_from_this_one(
    host: TrainingHost, images: Images, tmp_path: Path
) -> None:
    """The recipe of the README, started with nothing but the service's word ``train``."""
    context, derived = tmp_path / "context", f"{IMAGE}-with-code"
    context.mkdir()
    (context / "train.py").write_text(TRAIN)
    arguments = json.dumps([*TORCHRUN, "--", "train.py"])
    (context / "Dockerfile").write_text(
        f"FROM {IMAGE}\nCOPY train.py /opt/ml/code/\nENV TRAINING_LAUNCHER_ARGUMENTS='{arguments}'\n"
    )
    images.store.build(derived, context)
    finished = host.run_with_torch("train", image=derived).wait()
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert (host.folder / "model/model.pt").exists()


def test_the_services_word_alone_says_what_is_missing(host: TrainingHost) -> None:
    finished = host.run("train").wait()
    assert finished.returncode == 2, finished.stderr
    assert "TRAINING_LAUNCHER_ARGUMENTS" in finished.stderr
    assert "TRAINING_LAUNCHER_ARGUMENTS" in (host.folder / "output/failure").read_text()


def test_keeps_the_exit_code_of_the_failing_rank(host: TrainingHost) -> None:
    finished = host.run_with_torch(*TORCHRUN, "--", "train.py", script=FAIL).wait()
    assert finished.returncode == 7, finished.stdout + finished.stderr
    assert "rank 1" in (host.folder / "output/failure").read_text().splitlines()[0]


def test_is_process_1_and_lets_every_rank_save_on_sigterm(host: TrainingHost) -> None:
    container = host.run_with_torch(*TORCHRUN, "--", "train.py", script=SAVE_WHEN_STOPPED)
    saved = host.folder / "checkpoints"
    wait_until(lambda: {path.name for path in saved.iterdir()} == {"ready-0", "ready-1"})
    process = Path(f"/proc/{container.first_process()}")
    assert process.joinpath("cmdline").read_text().split("\0")[:3] == ["python3", "-u", "/opt/training-launcher"]
    assert "\nNSpid:\t" in (status := process.joinpath("status").read_text())
    assert status.split("NSpid:")[1].splitlines()[0].split()[-1] == "1"
    container.stop()
    finished = container.wait()
    assert finished.returncode in (0, 143), finished.stdout + finished.stderr
    assert {path.name for path in saved.iterdir()} >= {"saved-0", "saved-1"}
