"""Notice that all ranks of a job have fallen silent, find out who keeps the others waiting, and say where each stands.

A rank that waits in a collective for another one prints nothing, so a hang anywhere soon silences every rank. Therefore
the sign of a hang is that **no rank of any host has written a byte** for ``--hang-timeout`` seconds; one rank that
prints keeps the job alive. It is opt-in, since only the user knows how long the script may rightly say nothing:
loading data, compiling and saving are silent too. The time counts from the start of the ranks and from each output.
"""
