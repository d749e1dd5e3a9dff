"""JSONata for the state machine: names, overrides, waiting times.

Every expression avoids `$` and `$$` on their own, which Step Functions refuses, and holds no text of the user's, so
that tokens and quotes never enter an expression. `request/override.py` and `request/job_name.py` say the same in
Python; one table of cases tests both, here in the reference JSONata engine.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

from collections.abc import Sequence

from cdk_distributed_training.request.job_name import LONGEST_RUN_NAME
from cdk_distributed_training.request.override import MEMBERS


def expression(jsonata: str) -> str:
    """JSONata as a state's field; line breaks and indentation go."""
    return "{% " + " ".join(jsonata.split()) + " %}"


def run_name(prefix: str, execution_name: str) -> str:
    """JSONata for the part of a job's name that all attempts of one execution share.

    Args:
        prefix: JSONata for the job's own name.
        execution_name: JSONata for the execution's name, which may hold any character.
    """
    return f"""(
        $words := $lowercase($replace({execution_name}, /[^a-zA-Z0-9]+/, "-"));
        $replace($substring({prefix} & "-" & $replace($words, /^-/, ""), 0, {LONGEST_RUN_NAME}), /-$/, "")
    )"""


def execution_mark(arn: str) -> str:
    """JSONata for an execution's ARN as a tag can hold it: its name may have characters that tags may not.

    Args:
        arn: JSONata for the ARN.
    """
    return f'$replace({arn}, /[^a-zA-Z0-9_.:\\/=+@-]/, "_")'


def overrides(defaults: str, given: str, *, members: Sequence[str] = MEMBERS) -> str:
    """JSONata for an object with `instance_count` and `hyperparameters`, or an error that names all that is wrong.

    Args:
        defaults: JSONata for an object with the job's own values.
        given: JSONata for the execution's input.
        members: What the input may have.
    """
    listed = ", ".join(f'"{name}"' for name in members)
    return f"""(
        $given := {given};
        $type($given) != "object"
            ? $error("execution input must be an object, got " & $type($given));
        $unknown := $filter($keys($given), function($name) {{ $not($name in [{listed}]) }});
        $values := $given.hyperparameters;
        $isObject := $exists($values) ? $type($values) = "object" : true;
        $isText := function($value) {{ $type($value) in ["string", "number", "boolean"] }};
        $machines := $given.instance_count;
        $isNumber := $type($machines) = "number";
        $isCount := $exists($machines)
            ? ($isNumber ? $machines = $floor($machines) and $machines >= 1 : false) : true;
        $problems := [
            $count($unknown) > 0 ? "unknown execution input: " & $join($unknown, ", "),
            $isObject
                ? $each($values, function($value, $name) {{
                    $isText($value) = false
                        ? "hyperparameters." & $name & " must be a string, number or boolean, got " & $type($value) }})
                : "hyperparameters must be an object, got " & $type($values),
            $isCount = false
                ? "instance_count must be a whole number >= 1, got "
                    & ($isNumber ? $string($machines) : $type($machines))
        ];
        $count($problems) > 0 ? $error($join($problems, "; "));
        {{
            "instance_count": $exists($machines) ? $machines : {defaults}.instance_count,
            "hyperparameters": $merge([{defaults}.hyperparameters, $each($values, function($value, $name) {{
                {{ $name: $string($value) }} }})])
        }}
    )"""
