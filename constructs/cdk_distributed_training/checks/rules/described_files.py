"""What the rules over files on this machine and over keywords are about (DT508 to DT904)."""

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import image_folder, keywords, source_code

_FOLDER = "/home/me/llm"

rule(
    "DT508",
    title="An image without a Dockerfile",
    why="There is nothing to build when the app is deployed.",
    bad=given(path="images/Dockerfile", exists=False, folder_exists=True),
    good=given(path="image/Dockerfile", exists=True, folder_exists=True),
)(image_folder.dockerfile)
rule(
    "DT509",
    title="A platform that no machine for training has",
    why="The image would be built, and its first process could not be started.",
    bad=given(given="linux/riscv64", known=["linux/amd64", "linux/arm64"]),
    good=given(given="linux/amd64", known=["linux/amd64", "linux/arm64"]),
)(image_folder.platform)
rule(
    "DT801",
    title="No folder with code",
    why="There is nothing to ship to the machines.",
    bad=given(path="llm", is_folder=False, is_file=False, whole=_FOLDER),
    good=given(path="llm", is_folder=True, is_file=False, whole=_FOLDER),
)(source_code.source_folder)
rule(
    "DT802",
    title="A script outside of the folder that is shipped",
    why="The machines get the folder alone: the script would not be there.",
    bad=given(entry_script="../common/train.py", is_inside=False),
    good=given(entry_script="train.py", is_inside=True),
)(source_code.inside_folder)
rule(
    "DT803",
    title="A script that is not in its folder",
    why="Every process would fail at once, after the machines have started.",
    bad=given(name="trian.py", exists=False, folder=_FOLDER, scripts=["prepare.py", "train.py"]),
    good=given(name="train.py", exists=True, folder=_FOLDER, scripts=["prepare.py", "train.py"]),
)(source_code.entry_script)
rule(
    "DT804",
    title="A library without its launcher",
    why="The installation is not whole: nothing would start the processes on the machines.",
    bad=given(places=["site-packages/cdk_distributed_training/container"], found=False),
    good=given(places=["site-packages/cdk_distributed_training/container"], found=True),
)(source_code.launcher_source)
rule(
    "DT900",
    title="A keyword that a class does not have",
    why="Python alone would say only that there is no such keyword, for some classes from deep inside of CDK.",
    bad=given(name="instance", called="DistributedTrainingJob", offered=["instances", "source"]),
)(keywords.unknown_keyword)
rule(
    "DT901",
    title="A value of another type than a class takes",
    why="The error would come from deep inside of a call, in words that name nothing of the user's.",
    bad=given(name="max_runtime", value=3600, declared="cdk.Duration", fix="write cdk.Duration.seconds(3600)"),
)(keywords.wrong_type)
rule(
    "DT902",
    title="A duration or size that cannot be converted",
    why="CDK converts no token and rounds nothing by itself; its error names neither property nor construct.",
    source="https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.Duration.html",
    bad=given(name="max_runtime", given="Duration.hours", unit="seconds", wanted="Duration.seconds"),
)(keywords.unfitting_unit)
rule(
    "DT903",
    title="A list that is only known when deployed, where its elements are needed",
    why="CDK would fail at the end of the synthesis, in words that name neither property nor construct.",
    source="https://docs.aws.amazon.com/cdk/v2/guide/tokens.html",
    bad=given(prop="security_group_ids", values=["#{Token[TOKEN.1]}"]),
    good=given(prop="security_group_ids", values=["${Token[TOKEN.1]}", "sg-1"]),
)(keywords.unsettled_list)
rule(
    "DT904",
    title="A name that is only known when deployed",
    why="CloudFormation's mappings have literal names; CDK would fail at the end of the synthesis.",
    source="https://docs.aws.amazon.com/cdk/v2/guide/tokens.html",
    bad=given(prop="hyperparameters", names=["${Token[TOKEN.1]}"]),
    good=given(prop="hyperparameters", names=["lr"]),
)(keywords.unsettled_name)
