"""How an execution ends whose training job has ended, whoever started that.

The input is what a look at the job says, with the members of `DescribeTrainingJob`.
"""

from __future__ import annotations

from typing import Any

from cdk_distributed_training.engines.job_expressions import expression

# JSONata for whether a time limit ended the job, which SageMaker calls completed or stopped
TIME_IS_UP = '$states.input.SecondaryStatus in ["MaxRuntimeExceeded", "MaxWaitTimeExceeded"]'

COMPLETED: dict[str, Any] = {"Type": "Succeed"}
NOT_COMPLETED: dict[str, Any] = {
    "Type": "Fail",
    "Error": expression(
        f'"TrainingJob" & ({TIME_IS_UP} ? $states.input.SecondaryStatus : $states.input.TrainingJobStatus)'
    ),
    "Cause": expression(
        """$states.input.TrainingJobName & ": " & ($exists($states.input.FailureReason)
            ? $states.input.FailureReason
            : $states.input.TrainingJobStatus & ", " & $states.input.SecondaryStatus)"""
    ),
}
