"""The commands of `dtrain`."""

from __future__ import annotations

import typer

from cdk_distributed_training.cli.check_command import check
from cdk_distributed_training.cli.describe_command import describe
from cdk_distributed_training.cli.local_command import local

app = typer.Typer(
    name="dtrain",
    help="Multi-node training jobs that an AWS CDK app defines: look at them, run them on this machine, check them.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(local)
app.command()(describe)
app.command()(check)
