"""Hosts of both kinds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_distributed_training.local.hosts import Hosts, LoopbackHosts, NamespaceHosts

PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


@pytest.fixture(params=[NamespaceHosts, LoopbackHosts], ids=lambda kind: kind.kind)
def hosts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hosts]:
    """Two hosts, of each kind in turn."""
    with request.param(["algo-1", "algo-2"], tmp_path, "test") as made:
        yield made


@pytest.fixture
def namespaces(tmp_path: Path) -> Iterator[NamespaceHosts]:
    """Two real network hosts."""
    with NamespaceHosts(["algo-1", "algo-2"], tmp_path, "test") as made:
        yield made
