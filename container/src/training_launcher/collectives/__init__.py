"""Which library carries the collectives of this job, over what, and with which environment.

Decided once, from what the machine shows and what was asked for: `facts` looks, `choose` decides, each way has
a file.
"""
