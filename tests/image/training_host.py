"""One host of a training job: its `/opt/ml`, and the containers that SageMaker would start on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from built_images import IMAGE, Images
from runc_container import Container, Volume


class TrainingHost:
    """The only host, ``algo-1``, of a job without channels but its source code."""

    def __init__(self, images: Images, directory: Path) -> None:
        self._images = images
        self._directory = directory
        self._started: list[Container] = []
        self.folder = directory / "ml"
        for part in ("input/config", "input/data/code", "checkpoints", "model", "output"):
            (self.folder / part).mkdir(parents=True)
        self.write_configuration("resourceconfig", current_host="algo-1", hosts=["algo-1"], network_interface_name="lo")
        self.write_configuration("hyperparameters")
        self.write_configuration("inputdataconfig")

    def write_configuration(self, name: str, **content: object) -> None:
        """Write a file of /opt/ml/input/config."""
        (self.folder / f"input/config/{name}.json").write_text(json.dumps(content))

    def run(
        self,
        *arguments: str,
        image: str = IMAGE,
        script: str = "",
        environment: Mapping[str, str] | None = None,
        volumes: Sequence[Volume] = (),
    ) -> Container:
        """``docker run IMAGE …``; a script becomes the code channel's ``train.py``."""
        if script:
            (self.folder / "input/data/code/train.py").write_text(script)
        directory = self._directory / f"container-{len(self._started)}"
        directory.mkdir()
        store = self._images.store
        parts = ("input", "checkpoints", "model", "output")
        container = Container(
            root=self._images.files if image == IMAGE else store.root_file_system(image),
            configuration=store.configuration(image),
            arguments=arguments,
            directory=directory,
            volumes=[*(Volume(self.folder / part, f"/opt/ml/{part}") for part in parts), *volumes],
            environment=environment or {},
        )
        self._started.append(container)
        return container

    def run_with_torch(self, *arguments: str, script: str = "", image: str = IMAGE) -> Container:
        """The same in an image like AWS's, whose Python with torch is an environment of its own, first on PATH.

        That environment is the one these tests run in: torch in the base image would be gigabytes.
        """
        prefixes = {sys.prefix, sys.base_prefix} - {"/usr"}  # the image has the system's Python already
        return self.run(
            *arguments,
            script=script,
            image=image,
            environment={"PATH": f"{sys.prefix}/bin:/usr/bin:/bin"},
            volumes=[Volume(Path(prefix), prefix, "ro") for prefix in sorted(prefixes)],
        )

    def clear(self) -> None:
        """End what still runs."""
        for container in self._started:
            container.remove()
