"use strict";
// Removes the rules that EC2 gives to a VPC's default security group, and puts them back when the resource goes away.
const { EC2 } = require("@aws-sdk/client-ec2");

const client = new EC2({});

const ingress = (group) => ({ GroupId: group, IpPermissions: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: group }] }] });
const egress = (group) => ({ GroupId: group, IpPermissions: [{ IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] }] });

async function unless(code, action) {
  try {
    await action;
  } catch (error) {
    if (error.name !== code) throw error;
  }
}

async function close(group) {
  await unless("InvalidPermission.NotFound", client.revokeSecurityGroupIngress(ingress(group)));
  await unless("InvalidPermission.NotFound", client.revokeSecurityGroupEgress(egress(group)));
}

async function open(group) {
  await unless("InvalidPermission.Duplicate", client.authorizeSecurityGroupIngress(ingress(group)));
  await unless("InvalidPermission.Duplicate", client.authorizeSecurityGroupEgress(egress(group)));
}

exports.handler = async (event) => {
  const group = event.ResourceProperties.SecurityGroupId;
  // A replaced group gets a new physical id, so CloudFormation itself asks to delete (open) the former one.
  await (event.RequestType === "Delete" ? open(group) : close(group));
  return { PhysicalResourceId: group };
};
