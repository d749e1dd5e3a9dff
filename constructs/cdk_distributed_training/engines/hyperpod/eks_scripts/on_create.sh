#!/bin/bash
# Runs once on each new node of a HyperPod cluster on EKS, before the node joins; HyperPod asks for such a script.
# There is nothing to set up: the node's image brings drivers, containerd and kubelet. What is written goes to the
# node's stream in the log group /aws/sagemaker/Clusters/<cluster>/<id>.
set -euo pipefail

echo "kernel $(uname -r), $(nproc) processors, $(awk '/MemTotal/ {print $2 " kB"}' /proc/meminfo)"
if command -v nvidia-smi >/dev/null; then
  nvidia-smi --list-gpus
fi
if [ -d /sys/class/infiniband ]; then
  echo "EFA devices: $(ls /sys/class/infiniband)"
fi
