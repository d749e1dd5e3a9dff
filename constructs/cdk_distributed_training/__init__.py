"""AWS CDK constructs for multi-node training on Amazon SageMaker."""
