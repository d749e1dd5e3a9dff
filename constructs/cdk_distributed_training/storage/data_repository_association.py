"""The resource that makes a link between a directory of a file system and a prefix of a bucket."""

from __future__ import annotations

from aws_cdk import aws_fsx as fsx
from constructs import Construct

from cdk_distributed_training.storage.data_repository import DataRepository


def create_association(
    scope: Construct, id: str, repository: DataRepository, *, file_system_id: str
) -> fsx.CfnDataRepositoryAssociation:
    """Create the association.

    Args:
        scope: The parent construct.
        id: The construct id.
        repository: The link.
        file_system_id: The file system.
    """
    chunk = repository.imported_file_chunk_size
    association = fsx.CfnDataRepositoryAssociation(
        scope,
        id,
        file_system_id=file_system_id,
        file_system_path=repository.file_system_path,
        data_repository_path=repository.s3_uri,
        batch_import_meta_data_on_create=repository.batch_import,
        imported_file_chunk_size=None if chunk is None else chunk.to_mebibytes(),
        s3=_policies(repository),
    )
    if repository.bucket.policy is not None:  # FSx checks its access when the link is made
        association.node.add_dependency(repository.bucket.policy)
    return association


def _policies(repository: DataRepository) -> fsx.CfnDataRepositoryAssociation.S3Property | None:
    kinds = fsx.CfnDataRepositoryAssociation
    if not repository.has_events:
        return None
    return kinds.S3Property(
        auto_import_policy=kinds.AutoImportPolicyProperty(events=[event.value for event in repository.auto_import])
        if repository.auto_import
        else None,
        auto_export_policy=kinds.AutoExportPolicyProperty(events=[event.value for event in repository.auto_export])
        if repository.auto_export
        else None,
    )
