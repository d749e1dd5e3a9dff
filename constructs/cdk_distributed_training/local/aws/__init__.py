"""An emulation of AWS on this machine: a job is deployed and started as on AWS, and runs on local hosts.

moto answers the APIs, `additions/` adds what it lacks, and a training job that is created runs through local mode. It
shows that a deployment, a start and a job fit together; `docs/local-aws.md` says what it cannot show.
"""
