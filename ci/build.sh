#!/usr/bin/env bash
# Builds duet from this checkout and tells later steps where it is. Needs cargo; `ACTION_DUET` names a program to use instead.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
duet=${ACTION_DUET:-}
if [ -z "$duet" ]; then
    target=${RUNNER_TEMP:-$root}/duet-target
    cargo build --release --locked --package duetbench-cli --manifest-path "$root/Cargo.toml" --target-dir "$target"
    duet=$target/release/duet
fi
"$duet" --version
echo "duet=$duet" >> "${GITHUB_OUTPUT:-/dev/null}"
