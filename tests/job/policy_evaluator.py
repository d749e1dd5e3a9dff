"""As much of IAM's evaluation as guardrails use: does a policy deny a request?

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
"""

from fnmatch import fnmatchcase


def denied_by(policy, action, context):
    """Ids of the statements that deny a request.

    Args:
        policy: The policy document, without intrinsic functions.
        action: Such as `sagemaker:CreateTrainingJob`.
        context: Condition keys of the request with a text, or with a list of texts for keys of many values. Keys that
            the request does not have are missing.
    """
    return [
        statement["Sid"]
        for statement in policy["Statement"]
        if statement["Effect"] == "Deny"
        and any(fnmatchcase(action, pattern) for pattern in _list(statement["Action"]))
        and all(
            _holds(operator, key, _list(wanted), context)
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    ]


def _holds(operator, key, wanted, context):
    quantifier, _, plain = operator.rpartition(":")
    if_exists = plain.endswith("IfExists")
    plain = plain.removesuffix("IfExists")
    if plain == "Null":
        return (key not in context) is (wanted == ["true"])
    if key not in context:
        # negated operators hold for what is not there; of no values, none differs
        return if_exists or ("Not" in plain and not quantifier)
    values = _list(context[key])
    matches = [_matches(plain, value, wanted) for value in values]
    return all(matches) if quantifier == "ForAllValues" else any(matches)


def _matches(operator, value, wanted):
    equal = {
        "StringEquals": lambda: value in wanted,
        "StringLike": lambda: any(fnmatchcase(value, pattern) for pattern in wanted),
        "ArnEquals": lambda: any(fnmatchcase(value, pattern) for pattern in wanted),
        "Bool": lambda: value.lower() in wanted,
    }
    negated = "Not" in operator
    return equal[operator.replace("Not", "")]() is not negated


def _list(value):
    return value if isinstance(value, list) else [value]
