"""Queues of AWS Batch for training jobs, which moto has not: what waits, what may begin, and what becomes of it."""
