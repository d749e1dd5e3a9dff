"""A part of the request that has got its address in S3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.request_part import MemberPath, RequestPart


@dataclass(frozen=True)
class Stored(RequestPart):
    """What is stored, and where.

    Attributes:
        part: The part as the user gave it.
        uri: S3 address of its folder.
        member: The API's name of the address.
    """

    part: OutputFolder
    uri: str
    member: str = "S3OutputPath"

    def render(self) -> dict[str, Any]:
        """The part's structure with the address."""
        return {self.member: self.uri, **self.part.render()}

    def attribute_path(self, path: MemberPath) -> str:
        """The part's own name of a member; the address is made of its prefix."""
        return "prefix" if path[:1] == (self.member,) else self.part.attribute_path(path)
