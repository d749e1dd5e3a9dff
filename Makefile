# Two commands do everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# macOS has GNU make 3.81, which finds a command by the PATH that it was started with unless it goes through a shell of
# another name than /bin/sh.
SHELL := /bin/bash
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
# One place for what this machine must not say or send while it synthesizes.
export CDK_DISABLE_CLI_TELEMETRY := true
export PYTHONDONTWRITEBYTECODE :=

ENVIRONMENT := $(VENV)/.installed node_modules/.installed

.PHONY: help data-check environment system-packages demo deploy-local test check lock bench faults scan docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

$(VENV)/.installed: requirements/lock.txt requirements/torch.txt pyproject.toml container/pyproject.toml tools/make-venv.sh
	tools/make-venv.sh "$(PYTHON)" $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/lock.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/torch.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e container
	$(BIN)/python tools/link_node.py $(BIN)
	@touch $@

node_modules/.installed: package.json package-lock.json $(VENV)/.installed
	npm ci --no-fund --no-audit --loglevel=error
	@touch $@

environment: $(ENVIRONMENT) ## make the virtual environment and fetch the CDK CLI, nothing else

system-packages:
	@tools/system-packages.sh

demo: $(ENVIRONMENT) ## synthesize the stack, show it, and train its job on two local hosts
	cdk synth --quiet --no-notices --output build/cdk.out
	dtrain describe --app build/cdk.out
	python examples/digits/prepare.py build/digits
	dtrain local --app build/cdk.out --channel train=build/digits

deploy-local: $(ENVIRONMENT) ## deploy the stack to an emulation of AWS on this machine, start its job, train, destroy
	cdk synth --quiet --no-notices --output build/cdk.out
	python examples/digits/prepare.py build/digits
	dtrain local --deploy --app build/cdk.out --channel train=build/digits

check: $(ENVIRONMENT) ## style and types
	ruff check .
	ruff format --check .
	mypy

test: $(ENVIRONMENT) system-packages check ## style, types and every test
	pytest

data-check: $(ENVIRONMENT) ## compare the tables in data/ with botocore, CloudFormation and the SageMaker SDK, and print what has changed
	python tools/data_check.py

bench: $(ENVIRONMENT) ## measure everything in benchmarks/, print one table
	@tools/system-packages.sh sshd:openssh-server ssh:openssh-client  # the other launchers need them
	python -m benchmarks

faults: $(ENVIRONMENT) system-packages ## inject every fault everywhere, kill and resume 50 times; write docs/faults.md
	FAULT_TABLE=whole pytest tests/launcher/faults tests/launcher/resume

scan: $(ENVIRONMENT) ## scan the reference stacks with checkov, in an environment of its own under build/
	tools/make-venv.sh "$(PYTHON)" build/checkov
	build/checkov/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/checkov.txt
	python tools/checkov_scan.py build/checkov/bin/checkov

docs: $(ENVIRONMENT) ## build the documentation with the API reference into build/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	python tools/api_reference.py build/reference
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict

lock: ## resolve requirements/lock.txt and package-lock.json anew
	uv pip compile pyproject.toml --extra node --extra test --extra aws-local --group dev --universal --python-version 3.10 \
	    --no-emit-index-url --no-header --no-annotate --quiet --upgrade --output-file requirements/lock.txt
	npm install --package-lock-only

clean: ## remove everything that these targets made
	rm -rf $(VENV) node_modules cdk.out local-runs dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
