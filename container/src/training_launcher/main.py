"""The launcher's entry: parse, then plan or run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence

from training_launcher.command_line import Request, base_directory, parse_command_line
from training_launcher.failure import Failure, write_failure
from training_launcher.launch_arguments import launch_arguments
from training_launcher.place import Place, find_place
from training_launcher.prepare import Preparation, prepare
from training_launcher.problems import Problem
from training_launcher.run import Run


def main(words: Sequence[str] | None = None) -> int:
    """Run the launcher.

    Args:
        words: The command line behind the program's name; the process's own by default.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if words is None else words)
    environment = _without_outer_mpirun(os.environ)
    base = base_directory(words, environment)
    try:
        words = launch_arguments(words, environment)
        base = base_directory(words, environment)
        request = parse_command_line(words, environment)
        options = request.options
        place = find_place(
            base,
            options.instance_groups,
            environment,
            list(request.group_entries),
            port=0 if options.dry_run else options.control_port,
            seconds=options.name_timeout,
        )
        if request.options.dry_run:
            _print_plan(prepare(request, place, environment))
            return 0
    except Problem as problem:
        return _refuse(problem, base, environment)
    return Run(place, _preparation_or_problem(request, place, environment), request.options, environment).execute()


def _without_outer_mpirun(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without an outer mpirun's word about one of its ranks: each of ours would take it for its own."""
    return {name: value for name, value in environment.items() if not name.startswith("OMPI_COMM_WORLD_")}


def _print_plan(preparation: Preparation) -> None:
    """The plan as if every host counted as many devices as this one."""
    plan = preparation.plan([preparation.processes] * len(preparation.place.world))
    json.dump(plan.to_json(preparation.mask), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def _preparation_or_problem(request: Request, place: Place, environment: Mapping[str, str]) -> Preparation | Problem:
    """A problem is no end yet: the other hosts must hear of it, and only `Run` can tell them."""
    try:
        return prepare(request, place, environment)
    except Problem as problem:
        return problem


def _refuse(problem: Problem, base: str, environment: Mapping[str, str]) -> int:
    """End because of something that is wrong in the same way on every host."""
    host = environment.get("SM_CURRENT_HOST") or os.uname().nodename
    failure = Failure(problem.kind, host, problem.exit_code, problem.message)
    sys.stderr.write(f"[launcher {host}] {failure.first_line}\n")
    if os.path.isdir(base):
        try:
            write_failure(os.path.join(base, "output"), failure.text)
        except OSError as error:
            sys.stderr.write(f"[launcher {host}] the failure file cannot be written: {error}\n")
    return problem.exit_code
