"""The links of one file system with buckets, which must fit to it and to each other."""

from __future__ import annotations

from collections.abc import Iterator

import aws_cdk as cdk
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import data_repositories as rules
from cdk_distributed_training.checks.rules import lustre_options, storage
from cdk_distributed_training.storage.data_repository import DataRepository
from cdk_distributed_training.storage.data_repository_association import create_association
from cdk_distributed_training.storage.lustre_settings import LustreSettings


class DataRepositories:
    """The links that a file system has so far."""

    def __init__(self, file_system: Construct, settings: LustreSettings) -> None:
        """None yet.

        Args:
            file_system: The scope of the links' resources.
            settings: What the file system is like, which decides over what links it takes.
        """
        self._file_system = file_system
        self._settings = settings
        self._links: list[DataRepository] = []

    @property
    def directories(self) -> list[str]:
        """The linked directories, as far as they are known before deployment."""
        paths = [link.file_system_path for link in self._links]
        return [path for path in paths if not cdk.Token.is_unresolved(path)]

    def add(self, link: DataRepository, *, file_system_id: str) -> None:
        """Create a link's resource, after those that there are.

        Raises:
            ConfigurationError: The link cannot work with this file system or next to another link.
        """
        raise_errors([*link.findings(), *self._findings(link)], where=self._file_system.node.path)
        path = link.file_system_path
        place = len(self._links) if cdk.Token.is_unresolved(path) else path
        create_association(self._file_system, f"DataRepository{place}", link, file_system_id=file_system_id)
        self._links.append(link)

    def _findings(self, link: DataRepository) -> Iterator[Finding]:
        settings = self._settings
        version = None if cdk.Token.is_unresolved(settings.version) else settings.version
        yield from rules.repository_support(settings.deployment_type.value, version)
        if settings.tiered:
            yield from lustre_options.repository_on_tiered()
        yield from rules.repository_count(len(self._links) + 1)
        if not cdk.Token.is_unresolved(link.file_system_path):
            yield from rules.repository_overlap(link.file_system_path, self.directories)
        yield from rules.repository_twice(link.s3_uri, [other.s3_uri for other in self._links])
        regions = (link.bucket.env.region, cdk.Stack.of(self._file_system).region)
        if link.has_events and not any(map(cdk.Token.is_unresolved, regions)):
            yield from rules.repository_region(bucket=regions[0], file_system=regions[1])
        if settings.backup_days is not None and not cdk.Token.is_unresolved(settings.backup_days):
            yield from storage.backups_of_linked(settings.backup_days)
