"""DT135 on gateway endpoints, whatever stands where their route tables belong."""

import pytest
from tests.checks.documents import replaced, rules

from cdk_distributed_training.checks.registry import all_rules

PATH = ("Resources", "S3", "Properties", "RouteTableIds")


@pytest.mark.parametrize(
    ("tables", "reaches"),
    [
        ([{"Ref": "Routes"}], True),
        ({"Ref": "Routes"}, True),  # CloudFormation takes one value for a list of one
        ([{"Ref": "Parameter"}], True),
        ([], False),
        (None, False),
        (7, True),  # CloudFormation refuses it with its own words
        ({"a": "b"}, True),
    ],
)
def test_tables_of_the_gateway(tables, reaches):
    assert ("DT135" in rules(replaced(all_rules()["DT135"].good.content, PATH, tables))) is not reaches
