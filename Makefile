# `make demo` shows duet at work; `make test` runs every test, `make check` those that take a minute, `make test-go` the whole path
# with Go alone. They install nothing outside this folder and the caches of cargo, go, Maven and pip; they need what stands in
# README.md.

.PHONY: demo test check test-go test-built test-programs test-rest test-doc lint deny benchmarks build fleet worker release release-check site

build:
	cargo build --release --locked

# duet with AWS Lambda, and the worker that it sends there; see docs/fleet.md.
fleet: worker
	cargo build --release --locked -p duetbench-cli --features lambda

# Linked statically, because nobody knows the C library of an instance; with its target named, because only then build scripts and
# procedural macros are left as they are.
worker: export RUSTFLAGS = -C target-feature=+crt-static
worker:
	cargo build --release --locked -p duetbench-worker --target x86_64-unknown-linux-gnu
	install -D -s target/x86_64-unknown-linux-gnu/release/duet-worker target/release/duet-worker-x86_64

# Built in half the time of `build`: what computes is optimised in any case, and the rest waits for the programs that it measures. Parquet is
# an eighth of what there would be to compile, and the demonstration exports nothing.
demo:
	cargo build --locked --no-default-features
	./target/debug/duet demo

CARGO_TEST = cargo test --workspace --locked --features duetbench-cli/lambda

# All parts run beside each other, since many tests wait, for a process or a disk, and those of Rust run one by one. None hides another's
# failures.
test: lint
	$(CARGO_TEST) --no-run
	$(MAKE) --keep-going --jobs 4 test-built test-go test-programs test-rest test-doc

BUILT = rust counting
PROGRAMS = faults fleet_here fleet_lambda jmh_compare report_browser
# Whatever else there is, so that a new one is not forgotten.
TESTS = $(sort $(basename $(notdir $(wildcard crates/*/tests/*.rs))) $(notdir $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs))))
REST = $(filter-out go $(BUILT) $(PROGRAMS),$(TESTS))

test-built:
	$(CARGO_TEST) --no-fail-fast $(addprefix --test ,$(BUILT))

test-go:
	$(CARGO_TEST) --no-fail-fast --test go
	cd hooks/go && go vet ./... && go test -timeout 30m ./...
	cd hooks/go/rewrite && go vet ./... && go test ./...
	cd release/duet && go vet ./... && go test ./...

test-programs:
	$(CARGO_TEST) --no-fail-fast $(addprefix --test ,$(PROGRAMS))

test-rest:
	$(CARGO_TEST) --no-fail-fast --lib --bins $(addprefix --test ,$(REST))

test-doc:
	$(CARGO_TEST) --no-fail-fast --doc

# Without what takes seconds each: simulations, programs that are measured, whole outputs with hostile names.
LONG = simulation bisect:: budget:: calibrate_promise self_test nested:: suite:: action:: command:: hostile:: parsers:: git_hooks:: queue:: signals:: identity::
check: lint
	$(CARGO_TEST) --no-fail-fast --lib --bins --test it -- $(addprefix --skip ,$(LONG))

lint:
	site/check.py
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --features duetbench-cli/lambda -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --locked -p duetbench-stats -p duetbench-core

# Everything that is published of a version, in `dist`, and its installation in every way that this machine can; see release/README.md.
release:
	release/make.py

release-check:
	release/check.py

# The documents as a site, in dist/site, their spelling, and how readable they are. `site/samples.py` makes its sample reports.
site:
	python3 -m venv dist/site-tools
	dist/site-tools/bin/pip install --quiet --require-hashes --requirement site/requirements.txt
	dist/site-tools/bin/codespell $$(git ls-files '*.md')
	site/check.py --readable
	dist/site-tools/bin/python site/build.py

# Advisories, licences and sources of all dependencies, by deny.toml. Fetches the database of advisories.
deny:
	@command -v cargo-deny > /dev/null || { echo 'cargo-deny is missing: cargo install cargo-deny --locked --version 0.20.2' >&2; exit 1; }
	cargo deny --locked check --hide-inclusion-graph

# What duet itself costs; other pages by PAGES=…, see benches/README.md. Run it alone.
PAGES = hook-cost own-cost
benchmarks: build
	cargo build --release --locked -p duetbench-study
	benches/run $(PAGES)
