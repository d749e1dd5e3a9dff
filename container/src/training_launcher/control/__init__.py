"""The control channel: a TCP connection from every host's launcher to the first host's.

It carries "all are ready, go", the first failure with one exit code for all, stops, and heartbeats. It never carries
anything of the training itself.
"""
