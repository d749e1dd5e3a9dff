"""Learn handwritten digits with DistributedDataParallel: plain PyTorch, started by torchrun or anything like it.

Saves a checkpoint after every epoch and when it is asked to stop (SIGTERM), goes on from there bit for bit, and saves
the model at the end. The folders come from SageMaker's variables or from the command line.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def arguments() -> argparse.Namespace:
    """The command line; hyperparameters arrive as `--name value`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SM_CHANNEL_TRAIN", "data"))
    parser.add_argument("--model-dir", type=Path, default=os.environ.get("SM_MODEL_DIR", "model"))
    # SageMaker keeps what lies in /opt/ml/checkpoints, beside /opt/ml/model
    parser.add_argument("--checkpoint-dir", type=Path, help="default: checkpoints, beside the model's folder")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32, help="images of one step, on all ranks together")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.checkpoint_dir = args.checkpoint_dir or args.model_dir.parent / "checkpoints"
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    if args.batch_size % ranks:
        parser.error(f"--batch-size {args.batch_size} must be a multiple of the {ranks} ranks")
    return args


def network() -> nn.Module:
    """A small convolutional network for 8 x 8 images."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


class Digits:
    """The data, on the device, and which of it belongs to this rank."""

    def __init__(self, file: Path, device: torch.device) -> None:
        """Load the file that prepare.py wrote."""
        with np.load(file) as data:
            tensors = {name: torch.from_numpy(data[name]).to(device) for name in data.files}
        self.train = tensors["train_images"], tensors["train_labels"]
        self.test = tensors["test_images"], tensors["test_labels"]

    def batches(self, epoch: int, batch_size: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """The rank's part of every step: the order depends on seed and epoch alone, the same on all ranks."""
        images, labels = self.train
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed + epoch))
        own = batch_size // dist.get_world_size()
        for first in range(0, len(order) - batch_size + 1, batch_size):
            begin = first + own * dist.get_rank()
            chosen = order[begin : begin + own].to(images.device)
            yield images[chosen], labels[chosen]


class Training:
    """Model, optimizer and how far they are."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        """Start anew, or from the checkpoint if there is one."""
        self.args = args
        self.file = args.checkpoint_dir / "checkpoint.pt"
        self.epoch = self.step = 0
        self.stop_requested = False
        torch.manual_seed(args.seed)
        model = network().to(device)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
        self.loss_sum = torch.zeros((), device=device)
        self._restore(model, device)
        self.model = DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)

    def run(self, data: Digits) -> bool:
        """Train to the last epoch; False if a SIGTERM came before."""
        while self.epoch < self.args.epochs:
            for number, (images, labels) in enumerate(data.batches(self.epoch, self.args.batch_size, self.args.seed)):
                if number < self.step:
                    continue  # done before the checkpoint
                if self._all_stop():
                    self.save()
                    return False
                loss = nn.functional.cross_entropy(self.model(images), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.loss_sum += loss.detach()
                self.step += 1
            say(f"epoch {self.epoch + 1}/{self.args.epochs} loss={self.loss_sum.item() / self.step:.4f}")
            self.epoch, self.step = self.epoch + 1, 0
            self.loss_sum.zero_()
            self.save()
        return True

    def save(self) -> None:
        """Rank 0 writes the checkpoint, whole or not at all."""
        if dist.get_rank() != 0:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".unfinished")
        state = {
            "model": self.model.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch,
            "step": self.step,
            "loss_sum": self.loss_sum,
        }
        torch.save(state, unfinished)
        unfinished.replace(self.file)

    def _restore(self, model: nn.Module, device: torch.device) -> None:
        # rank 0 reads and tells the others, for after a restart within a job only its host has the file
        found = [torch.load(self.file, map_location=device) if dist.get_rank() == 0 and self.file.exists() else None]
        dist.broadcast_object_list(found, src=0, device=device)
        if found[0] is None:
            return
        model.load_state_dict(found[0]["model"])
        self.optimizer.load_state_dict(found[0]["optimizer"])
        self.epoch, self.step = found[0]["epoch"], found[0]["step"]
        self.loss_sum.copy_(found[0]["loss_sum"])
        say(f"going on from epoch {self.epoch}, step {self.step}")

    def _all_stop(self) -> bool:
        """Whether any rank was asked to stop; all ranks come to the same answer, so none waits for another."""
        flag = torch.tensor(int(self.stop_requested), device=self.loss_sum.device)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())


def accuracy(model: nn.Module, data: Digits) -> float:
    """Share of the held-out digits that the model reads rightly; each rank judges its part."""
    images, labels = data.test
    own = slice(dist.get_rank(), None, dist.get_world_size())
    with torch.no_grad():
        right = (model(images[own]).argmax(1) == labels[own]).sum()
    dist.all_reduce(right)
    return right.item() / len(labels)


def say(text: str) -> None:
    """Print on one rank only."""
    if dist.get_rank() == 0:
        print(text, flush=True)


def main() -> None:
    """Train, save the model, tell the accuracy."""
    args = arguments()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")
    if "RANK" not in os.environ:  # started by hand, without a launcher
        os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    dist.init_process_group("nccl" if cuda else "gloo")
    data = Digits(args.data / "digits.npz", device)
    training = Training(args, device)
    signal.signal(signal.SIGTERM, lambda signum, frame: setattr(training, "stop_requested", True))
    if training.run(data):
        result = accuracy(training.model.module, data)
        if dist.get_rank() == 0:
            args.model_dir.mkdir(parents=True, exist_ok=True)
            torch.save(training.model.module.state_dict(), args.model_dir / "model.pt")
        say(f"accuracy={result:.4f}")
    else:
        say(f"stopped at epoch {training.epoch}, step {training.step}; the checkpoint is saved")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    # A gloo thread that still lets go of a tensor would abort Python's own end, and with it a training that is done:
    # https://github.com/pytorch/pytorch/issues/190489
    sys.stdout.flush()
    os._exit(0)
