# `make demo` shows duet at work; `make test` runs every test. Both install nothing outside this folder and the caches of
# cargo, go and Maven; they need what stands in README.md.

.PHONY: demo test lint benchmarks build

build:
	cargo build --release --locked

demo: build
	./target/release/duet demo

test: lint
	cargo test --workspace --locked
	cd hooks/go && go vet ./... && go test ./...
	cd hooks/go/rewrite && go vet ./... && go test ./...

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# What duet itself costs; see benches/README.md. Run it alone.
benchmarks: build
	benches/run
