"""What synthesis costs: against an app that writes the equal template by hand, and against generic resources.

CPU seconds of the whole process with the Node.js that it starts, each time into a fresh folder, without CDK's own
validation, which costs every app the same.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.row import Row, paired, row_of
from benchmarks.synth_process import ROOT, run
from benchmarks.synth_templates import comparable, load, texts_of_jobs
from cdk_distributed_training.job import launcher_asset, source_code

ROUNDS = {1: 7, 100: 5}


class Apps:
    """The three apps of a number of jobs, in a folder of their own."""

    def __init__(self, count: int, folder: Path) -> None:
        """Synthesize each once, which also compiles everything, and see that they agree."""
        self._count = count
        self._folder = folder
        self._runs = 0
        ours = self._run("ours")[1]
        template = load(ours)
        self._texts = folder / "texts.json"
        self._texts.write_text(json.dumps(texts_of_jobs(template)))
        self._template = ours / "Jobs.template.json"
        by_hand = self._run("by_hand")[1]
        assert comparable(load(by_hand)) == comparable(template), f"not the same resources: {ours} {by_hand}"
        generic = load(self._run("generic")[1])
        wanted = [(resource["Type"], resource["Properties"]) for resource in template["Resources"].values()]
        assert [(resource["Type"], resource["Properties"]) for resource in generic["Resources"].values()] == wanted

    def cpu(self, app: str) -> float:
        """CPU seconds of one synthesis."""
        return self._run(app)[0]

    def crossings(self, app: str) -> int:
        """How many requests crossed into Node.js."""
        return self._run(app, crossings=True)[2]

    def _run(self, app: str, *, crossings: bool = False) -> tuple[float, Path, int]:
        self._runs += 1
        out = self._folder / f"{app}-{self._runs}"
        more = {"ours": [], "by_hand": [str(self._folder / "texts.json"), *_excludes()]}.get(app)
        words = [str(self._template)] if more is None else more
        cpu, printed = run(["-m", f"benchmarks.synth_{app}", str(self._count), str(out), *words], crossings=crossings)
        return cpu, out, int(printed.splitlines()[-1])


def _excludes() -> list[str]:
    """What the assets leave out, as someone would copy it."""
    return [json.dumps(launcher_asset._EXCLUDE), json.dumps(source_code.DEFAULT_EXCLUDES)]


def rows(counts: Sequence[int] = (1, 100)) -> list[Row]:
    """Synthesis at 1 and at 100 jobs; what one more job costs, exactly and in time."""
    found: list[Row] = []
    slopes: dict[str, list[float]] = {}
    crossings: dict[tuple[str, int], int] = {}
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            apps = Apps(count, Path(folder))
            rounds = [{app: apps.cpu(app) for app in ("ours", "by_hand", "generic")} for _ in range(ROUNDS[count])]
            times = {app: [each[app] for each in rounds] for app in rounds[0]}
            what = f"synth, {count} job{'s' if count > 1 else ''}"
            found += [
                row_of(what, times["ours"], times["by_hand"], against="by hand, L2", unit="CPU s", bar=1.15),
                row_of(what, times["ours"], times["generic"], against="generic resources", unit="CPU s", bar=None),
            ]
            for app, taken in times.items():
                slopes.setdefault(app, []).append(statistics.median(taken))
            for app in ("ours", "by_hand"):
                crossings[app, count] = apps.crossings(app)
    first, last = counts[0], counts[-1]
    per_job = {app: (crossings[app, last] - crossings[app, first]) / (last - first) for app in ("ours", "by_hand")}
    found.append(
        row_of(
            "calls into Node.js, each job",
            [per_job["ours"]],
            [per_job["by_hand"]],
            against="by hand, L2",
            unit="calls",
            bar=None,
        )
    )
    return [*found, linear(), importing(), junk()]


def linear(counts: tuple[int, int, int] = (1, 250, 500), rounds: int = 2) -> Row:
    """What a job costs among many, against what it costs among few."""
    later, earlier = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            few, some, many = (
                run(["-m", "benchmarks.synth_ours", str(count), f"{folder}/{count}"])[0] for count in counts
            )
        later.append((many - some) / (counts[2] - counts[1]))
        earlier.append((some - few) / (counts[1] - counts[0]))
    return row_of(
        f"synth, each job from {counts[1]} to {counts[2]}",
        later,
        earlier,
        against=f"each job up to {counts[1]}",
        unit="CPU s",
        bar=1.2,
    )


def importing(rounds: int = 7) -> Row:
    """The library's import, against that of the CDK's modules that an app with a job needs."""
    names = "DistributedTrainingJob, TrainingNetwork, Instances, SourceCode, Channel"
    modules = "ec2, events, events_targets, iam, kms, logs, s3, s3_assets, stepfunctions"
    return paired(
        "import",
        lambda: run(["-c", f"from cdk_distributed_training import {names}"])[0],
        lambda: run(["-c", f"import aws_cdk; from aws_cdk import aws_{modules.replace(', ', ', aws_')}"])[0],
        against="the modules of CDK that a job needs",
        unit="CPU s",
        bar=1.05,
        rounds=rounds,
    )


def junk(rounds: int = 5, megabytes: int = 200) -> Row:
    """Synthesis with files beside the launcher's sources that belong to nobody, against synthesis without."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("with", "without")]
        for place in places:
            for part in ("constructs", "container"):
                shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
        rubbish = places[0] / "container" / "rubbish"
        rubbish.mkdir()
        for number in range(megabytes):
            (rubbish / f"{number}.bin").write_bytes(os.urandom(1 << 20))
        runs = itertools.count()

        def synth(place: Path) -> float:
            words = ["-m", "benchmarks.synth_ours", "1", f"{folder}/{next(runs)}"]
            return run(words, path=place / "constructs")[0]

        return paired(
            f"synth, {megabytes} MB beside the launcher",
            lambda: synth(places[0]),
            lambda: synth(places[1]),
            against="without them",
            unit="CPU s",
            bar=1.1,
            rounds=rounds,
        )
