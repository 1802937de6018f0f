# `make demo` shows duet at work; `make test` runs every test. Both install nothing outside this folder and the caches of
# cargo, go, Maven and pip; they need what stands in README.md.

.PHONY: demo test lint benchmarks build fleet worker

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

demo: build
	./target/release/duet demo

test: lint
	cargo test --workspace --locked --features duetbench-cli/lambda
	cd hooks/go && go vet ./... && go test ./...
	cd hooks/go/rewrite && go vet ./... && go test ./...

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --features duetbench-cli/lambda -- -D warnings

# What duet itself costs; see benches/README.md. Run it alone.
benchmarks: build
	benches/run
