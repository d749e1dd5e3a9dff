"""Which template takes the place of which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cdk_distributed_training.checks.template.document import Document, Kind
from cdk_distributed_training.checks.template.errors import UnreadableFileError


def paired(documents: Sequence[Document], before: Iterable[Document], *, named: str) -> Iterator[Document]:
    """The documents, each with the template that it takes the place of.

    One template on either side belong together whatever their names are; of several those whose files have one name,
    as stacks in two `cdk.out` folders have. What is new has nothing before it.

    Args:
        documents: The documents to judge.
        before: The templates as they are deployed.
        named: What the user called these, for the error.

    Raises:
        UnreadableFileError: There is no template in `before`.
    """
    old = [document for document in before if document.kind is Kind.TEMPLATE]
    new = [document for document in documents if document.kind is Kind.TEMPLATE]
    if not old:
        raise UnreadableFileError(f"{named}: no CloudFormation template, so nothing to compare with")
    by_name = {_name(document): document for document in old}
    only = old[0] if len(old) == len(new) == 1 else None
    for document in documents:
        if document.kind is Kind.TEMPLATE:
            yield replace(document, before=only or by_name.get(_name(document)))
        else:
            yield document


def _name(document: Document) -> str:
    return Path(document.source.name).name
