"""What the rules over the launcher's options are about (DT460 to DT463)."""

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import launcher_options

_CONTAINER = "https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html"
_LEVELS = ("collectives", "network", "off")

rule(
    "DT460",
    title="A word that the launcher does not know",
    why="The launcher ends at once with what it does know, after the machines have started.",
    source=_CONTAINER,
    bad=given(prop="preflight", value="full", allowed=_LEVELS),
    good=given(prop="preflight", value="network", allowed=_LEVELS),
)(launcher_options.choice)
rule(
    "DT461",
    title="A time that is too short to mean anything",
    why="The job would end while its processes still import their modules.",
    source=_CONTAINER,
    bad=given(prop="hang_timeout", value=5.0, least=60.0),
    good=given(prop="hang_timeout", value=1800.0, least=60.0),
)(launcher_options.seconds)
rule(
    "DT462",
    title="Further arguments that are no list of words",
    why="A text with several arguments in it reaches torchrun as one word, which it does not know.",
    source="https://docs.pytorch.org/docs/stable/elastic/run.html",
    bad=given(prop="additional_arguments", value="--numa-binding node"),
    good=given(prop="additional_arguments", value=["--numa-binding=node"]),
)(launcher_options.words)
rule(
    "DT463",
    title="EFA demanded of machines that have none",
    why="The launcher ends the job at its start, after the machines have started.",
    source=_CONTAINER,
    bad=given(types={"ml.c7i.2xlarge": 0}),
    good=given(types={"ml.p5.48xlarge": 32, "ml.c7i.2xlarge": 0}),
)(launcher_options.machines_without_efa)
