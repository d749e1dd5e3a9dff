"""Start distributed training in a SageMaker training container, as its first process; standard library only."""

__version__ = "0.1.0"
