"""Clusters of HyperPod and the jobs on them: what they put into a template, what they refuse, the script that runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from tests.engines.engine_stack import plausible, resource, statements
from tests.engines.hyperpod_stack import (
    control_plane,
    file_system,
    groups,
    job,
    network,
    slurm_cluster,
    stack,
    with_both,
)
from tests.request.create_training_job_model import problems

import cdk_distributed_training as dt

ACCOUNT = "us-east-1:111111111111"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hyperpod")
    scope = stack(tmp_path_factory.mktemp("cdk.out"))
    with_both(scope, folder)
    texts = {name: scope.resolve(scope.node.find_child(name).text) for name in ("OnSlurm", "OnEks")}
    return scope.node.root.synth().get_stack_by_name("HyperPod").template, texts


@pytest.fixture(scope="module")
def template(made):
    return made[0]


def cluster(template, part):
    return resource(template, "AWS::SageMaker::Cluster", part)[1]["Properties"]


@pytest.mark.parametrize("part", ["Slurm", "Eks"])
def test_properties_are_a_request(template, part):
    request = plausible(cluster(template, part), template)
    for group in request["InstanceGroups"]:
        for storage in group.get("InstanceStorageConfigs", []):
            if "FsxLustreConfig" in storage:  # made up by FSx
                storage["FsxLustreConfig"]["DnsName"] = "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"
                storage["FsxLustreConfig"]["MountName"] = "abcdefgh"
    assert problems(request, "sagemaker", "CreateCluster") == []


def test_a_slurm_cluster(template):
    found = cluster(template, "Slurm")
    controller, login, workers = found["InstanceGroups"]
    assert [group["SlurmConfig"] for group in (controller, login, workers)] == [
        {"NodeType": "Controller"},
        {"NodeType": "Login"},
        {"NodeType": "Compute", "PartitionNames": ["gpu"]},
    ]
    assert "LifeCycleConfig" not in controller
    assert workers["LifeCycleConfig"]["OnInitComplete"] == "monitoring.sh"
    assert workers["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert workers["InstanceStorageConfigs"][0] == {"EbsVolumeConfig": {"VolumeSizeInGB": 500}}
    assert workers["InstanceStorageConfigs"][1]["FsxLustreConfig"]["MountPath"] == "/fsx"
    assert found["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Managed"}}
    assert (found["NodeRecovery"], found["NodeProvisioningMode"]) == ("Automatic", "Continuous")


def test_a_cluster_on_eks(template):
    found = cluster(template, "Eks")
    (workers,) = found["InstanceGroups"]
    assert workers["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    assert "SlurmConfig" not in workers
    assert "InstanceStorageConfigs" not in workers
    assert found["VpcConfig"]["SecurityGroupIds"][1] == "sg-0e00e00e00e00e00e"
    assert found["TieredStorageConfig"] == {"InstanceMemoryAllocationPercentage": 20, "Mode": "Enable"}


def test_scripts_are_where_hyperpod_asks_for_them(template):
    for part in ("SlurmScripts", "EksScripts"):
        _, bucket = resource(template, "AWS::S3::Bucket", part)
        assert bucket["Properties"]["BucketName"].startswith("sagemaker-")
        assert len(bucket["Properties"]["BucketName"]) <= 63


def test_what_a_node_may_do(template):
    _, policy = resource(template, "AWS::IAM::ManagedPolicy", "SlurmloginRole")
    document = plausible(policy["Properties"]["PolicyDocument"], template)
    allowed = {
        action: statement
        for statement in document["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    log = f"arn:aws:logs:{ACCOUNT}:log-group:/aws/sagemaker/Clusters/pretrain/*"
    assert allowed["logs:CreateLogGroup"]["Resource"] == log
    assert allowed["logs:PutLogEvents"]["Resource"] == f"{log}:log-stream:*"
    assert (
        "arn:aws:ec2:us-east-1:111111111111:subnet/subnet-0123456789abcdef0"
        in (allowed["ec2:CreateNetworkInterface"]["Resource"])
    )
    assert not [action for action in allowed if action.startswith(("ecr:", "eks-auth:"))]
    _, role = resource(template, "AWS::IAM::Role", "SlurmloginRole")
    (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "111111111111"}}
    assert "eks-auth:AssumeRoleForPodIdentity" in str(statements(template, "EksworkersRole"))


def test_events(template):
    _, changed = resource(template, "AWS::Events::Rule", "SlurmChanged")
    assert changed["Properties"]["EventPattern"]["detail"] == {"ClusterName": ["pretrain"], "ClusterStatus": ["Failed"]}
    _, ill = resource(template, "AWS::Events::Rule", "SlurmIll")
    assert ill["Properties"]["EventPattern"]["detail"]["HealthSummary"] == {"HealthStatus": ["Unhealthy"]}
    _, other = resource(template, "AWS::Events::Rule", "OtherAll")
    assert other["Properties"]["EventPattern"]["detail"] == {"ClusterName": ["theirs"]}


def test_the_linter_has_nothing_against_the_clusters(template, tmp_path):
    kept = {
        name: {**found, "DependsOn": []}
        for name, found in template["Resources"].items()
        if found["Type"] in ("AWS::SageMaker::Cluster", "AWS::Events::Rule") and not name.startswith("Job")
    }
    found = plausible(kept, template)
    for name in ("Slurm", "Eks"):
        part = next(found[key] for key in found if key.startswith(name) and "Cluster" in found[key]["Type"])
        for group in part["Properties"]["InstanceGroups"]:  # the linter's schema has no FsxLustreConfig yet
            storage = [one for one in group.pop("InstanceStorageConfigs", []) if "FsxLustreConfig" not in one]
            group.update({"InstanceStorageConfigs": storage} if storage else {})
    file = tmp_path / "template.json"
    file.write_text(json.dumps({"Resources": found}), encoding="utf-8")
    done = subprocess.run([Path(sys.executable).parent / "cfn-lint", file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_manifest(made):
    template, texts = made
    manifest = json.loads(plausible(texts["OnEks"], template))
    assert (manifest["kind"], manifest["metadata"]["namespace"]) == ("PyTorchJob", "kubeflow")
    worker = manifest["spec"]["pytorchReplicaSpecs"]["Worker"]
    (container,) = worker["template"]["spec"]["containers"]
    assert (worker["replicas"], worker["restartPolicy"]) == (2, "OnFailure")
    assert container["args"][-5:] == ["torchrun", "--nproc-per-node", "auto", "--", "train.py"]
    assert "$$(find" in container["args"][2]
    variables = {one["name"]: one["value"] for one in container["env"]}
    assert json.loads(variables["TRAINING_HOSTS"]) == ["digits-worker-0", "digits-worker-1"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}


def refused(rule, make):
    with pytest.raises(dt.ConfigurationError) as raised:
        make()
    assert {finding.rule for finding in raised.value.findings} == {rule}
    return str(raised.value)


PLAN = "arn:aws:sagemaker:us-east-1:111111111111:training-plan/p5"
BAD_WORKERS = [
    ("DT750", {"instances": dt.Instances("ml.p3.16xlarge", count=2)}),
    ("DT751", {"name": "-workers"}),
    ("DT751", {"partition": "a b"}),
    ("DT753", {"instances": dt.Instances("ml.c5.xlarge"), "deep_health_checks": ["InstanceStress"]}),
    ("DT753", {"deep_health_checks": ["MultiNodeTrainingValidation"]}),
    ("DT754", {"instances": dt.Instances("ml.p5.48xlarge", training_plan="arn:aws:plan")}),
    ("DT754", {"instances": dt.Instances("ml.c5.xlarge", training_plan=PLAN)}),
    ("DT756", {"lifecycle": dt.HyperPodLifecycle.from_directory("/", on_create="no_such_script.sh")}),
    ("DT756", {"lifecycle": dt.HyperPodLifecycle.from_directory("/")}),
    ("DT720", {"instances": dt.Instances("ml.p5.48xlarge", keep_alive=cdk.Duration.hours(1))}),
    ("DT723", {"threads_per_core": 3}),
    ("DT723", {"instances": dt.Instances("ml.p5.48xlarge", count=7000)}),
    ("DT723", {"instances": dt.Instances("ml.p5.48xlarge", volume_size=cdk.Size.tebibytes(17))}),
]


@pytest.mark.parametrize(("rule", "changes"), BAD_WORKERS)
def test_groups_that_cannot_be(tmp_path, rule, changes):
    scope = stack(tmp_path)
    of = network(scope)
    refused(rule, lambda: slurm_cluster(scope, of, instance_groups=groups(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"instances": dt.Instances("ml.p99.48xlarge")},
        {"instances": dt.Instances("ml.trn1.32xlarge", training_plan=PLAN)},
        {"threads_per_core": 2, "partition": "gpu-training"},
    ],
)
def test_nearest_good_groups(tmp_path, changes):
    scope = stack(tmp_path)
    slurm_cluster(scope, network(scope), instance_groups=groups(**changes))


def test_tokens_are_not_judged(tmp_path):
    scope = stack(tmp_path)
    kind, count = cdk.Fn.import_value("type"), cdk.Token.as_number(cdk.Fn.import_value("count"))
    workers = groups(
        instances=dt.Instances(kind, count=count, training_plan=cdk.Fn.import_value("plan")),
        deep_health_checks=["InstanceStress"],
        partition=cdk.Fn.import_value("partition"),
        threads_per_core=cdk.Token.as_number(cdk.Fn.import_value("threads")),
    )
    slurm_cluster(scope, network(scope), instance_groups=workers, cluster_name=cdk.Fn.import_value("name"))
    found = assertions.Template.from_stack(scope).find_resources("AWS::SageMaker::Cluster")
    assert "Fn::ImportValue" in str(found)


def test_controllers_that_cannot_be(tmp_path):
    scope = stack(tmp_path)
    of = network(scope)
    wrong = [
        dt.HyperPodOrchestrator.slurm(controller_group="head"),
        dt.HyperPodOrchestrator.slurm(controller_group="workers"),
        dt.HyperPodOrchestrator.slurm(controller_group="controller", login_group="workers"),
        dt.HyperPodOrchestrator.slurm(controller_group="controller", login_group="controller"),
    ]
    for number, orchestrator in enumerate(wrong):
        refused("DT752", lambda o=orchestrator, n=number: slurm_cluster(scope, of, f"C{n}", orchestrator=o))


def test_clusters_of_eks_that_cannot_be(tmp_path):
    scope = stack(tmp_path)
    of = network(scope)
    elsewhere = ec2.Vpc.from_vpc_attributes(
        scope, "Elsewhere", vpc_id="vpc-0123456789abcdef1", availability_zones=["us-east-1a"]
    )
    orchestrator = dt.HyperPodOrchestrator.eks(control_plane(scope, of, elsewhere))
    workers = groups()[1:]
    refused("DT755", lambda: slurm_cluster(scope, of, orchestrator=orchestrator, instance_groups=workers))


def test_a_bucket_of_another_name(tmp_path):
    scope = stack(tmp_path)
    of = network(scope)
    for name, rule in (("scripts", "DT756"), ("sagemaker-scripts", None)):
        lifecycle = dt.HyperPodLifecycle.from_bucket(
            s3.Bucket.from_bucket_name(scope, name, name), prefix="a/", on_init_complete="x.sh"
        )

        def make(given=lifecycle, id=name):
            return slurm_cluster(scope, of, f"Cluster-{id}", instance_groups=groups(lifecycle=given))

        if rule is None:
            make()
        else:
            refused(rule, make)


def test_a_role_that_is_brought(tmp_path):
    scope = stack(tmp_path)
    role = iam.Role.from_role_arn(scope, "Role", "arn:aws:iam::111111111111:role/nodes")
    slurm_cluster(scope, network(scope), instance_groups=groups(role=role))
    assertions.Template.from_stack(scope).has_resource_properties("AWS::IAM::ManagedPolicy", {"Roles": ["nodes"]})


def test_jobs_that_do_not_fit(tmp_path):
    scope = stack(tmp_path / "out")
    of = network(scope)
    on = slurm_cluster(scope, of)
    for number, (instances, group) in enumerate(
        [
            (dt.Instances("ml.p5.48xlarge", count=5), "workers"),
            (dt.Instances("ml.p4d.24xlarge", count=2), "workers"),
            (dt.Instances("ml.p5.48xlarge", count=2), "others"),
        ]
    ):
        one = job(scope, tmp_path / "source", of, id=f"Job{number}", instances=instances)
        refused("DT758", lambda j=one, g=group, n=number: dt.HyperPodJob(scope, f"H{n}", job=j, cluster=on, group=g))
    spot = job(scope, tmp_path / "source", of, id="Spot", spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)))
    refused("DT720", lambda: dt.HyperPodJob(scope, "OnSpot", job=spot, cluster=on, group="workers"))


AWS = """#!/bin/sh
# s3 cp: the launcher and the code come from a folder, the model goes there
for word in "$@"; do case "$word" in s3://*) uri=$word;; *) last=$word;; esac; done
case "$uri" in
  */output/model.tar.gz) cp "$TRAINING_RUN/model.tar.gz" "$STUBS/model.tar.gz";;
  *) cp "$STUBS/objects/$(basename "$uri")" "$last";;
esac
"""
SRUN = """#!/bin/sh
# one node: what slurmd would set
echo "$@" > "$STUBS/srun"
while [ "$1" != bash ]; do shift; done
export SLURM_STEP_NODELIST="$(hostname)" SLURM_STEP_NUM_TASKS=1 SLURMD_NODENAME="$(hostname)" SLURM_NODEID=0
"$@"
status=$?
cp -r "$TRAINING_RUN/hosts/$SLURMD_NODENAME" "$TRAINING_RUN/hosts/another-node"  # which would end in the same way
exit $status
"""
TRAIN = """
import os, sys
open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w").write(" ".join(sys.argv[1:]))
assert os.environ["NOTE"] == "it's"
"""


def run_script(tmp_path, train):
    """Run a job's batch script with stand-ins for srun and aws on one node; what came of it, and their folder."""
    scope = stack(tmp_path / "out")
    of = network(scope)
    on = slurm_cluster(scope, of, mount_path=str(tmp_path / "fsx"))
    code = tmp_path / "source"
    code.mkdir()
    one = job(scope, code, of, distribution=dt.Processes(process_count_per_node=1))
    (code / "train.py").write_text(train, encoding="utf-8")
    made = dt.HyperPodJob(scope, "H", job=one, cluster=on, group="workers", python_environment=sys.prefix)
    text = scope.resolve(made.text)
    template = scope.node.root.synth().get_stack_by_name("HyperPod").template
    stubs = tmp_path / "stubs"
    objects = stubs / "objects"
    objects.mkdir(parents=True)
    for name, content in (("aws", AWS), ("srun", SRUN)):
        (stubs / name).write_text(content, encoding="utf-8")
        (stubs / name).chmod(0o755)
    script = tmp_path / "job.sbatch"
    script.write_text(str(plausible(text, template)), encoding="utf-8")
    _put_objects(script.read_text(), objects, code)
    environment = {
        "PATH": f"{stubs}:{os.environ['PATH']}",
        "STUBS": str(stubs),
        "SLURM_JOB_ID": "7",
        "HOME": str(tmp_path),
    }
    return subprocess.run(["bash", script], env=environment, capture_output=True, text=True, check=False), stubs


def test_the_script_runs(tmp_path):
    """Files, quoting, the launcher itself, and the model's way."""
    done, stubs = run_script(tmp_path, TRAIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--auto-resume=1" in (stubs / "srun").read_text()
    listed = subprocess.run(
        ["tar", "-xOzf", stubs / "model.tar.gz", "./model.txt"], capture_output=True, text=True, check=True
    ).stdout
    assert listed == '--lr 0.1 --note it\'s "quoted" {word} $HOME'


def test_the_script_ends_with_the_failure_of_all_nodes_once(tmp_path):
    done, stubs = run_script(tmp_path, "import sys\nprint('begins', flush=True)\nraise ValueError('no such layer')\n")
    assert done.returncode == 1
    (first, *_) = lines = done.stderr.splitlines()
    assert "ValueError: no such layer" in first
    assert lines.count(first) == 1
    assert not (stubs / "model.tar.gz").exists()


def _put_objects(text, objects, code):
    """The launcher and the code as the CDK would publish them."""
    source = Path(__file__).parents[2] / "container" / "src"
    for line in text.splitlines():
        if line.startswith("aws s3 cp") and ".zip" in line:
            folder = source if " launcher/" in line else code
            with ZipFile(objects / line.rsplit("/", 1)[-1], "w") as archive:
                for path in folder.rglob("*.py"):
                    archive.write(path, path.relative_to(folder))


def test_the_page(tmp_path):
    """The example in docs/hyperpod.md runs as it stands there."""
    page = (Path(__file__).parents[2] / "docs" / "hyperpod.md").read_text(encoding="utf-8")
    scope = stack(tmp_path / "out")
    of = network(scope)
    names = {"cdk": cdk, "dt": dt, "stack": scope, "network": of, "corpus": file_system(scope, of)}
    names["job"] = job(scope, tmp_path / "source", of)
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(example, names)
    scope.node.root.synth()
