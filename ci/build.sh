#!/usr/bin/env bash
# Brings duet to this runner and tells later steps where it is: the release whose sum stands in this checkout, which takes seconds; on a
# branch, where there is no such sum, one that cargo builds from it, which takes minutes.
#
#   ACTION_DUET         a program to use instead
#   DUETBENCH_MIRROR    where releases lie            [GitHub]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mirror=${DUETBENCH_MIRROR:-https://github.com/duetbench/duetbench/releases}
duet=${ACTION_DUET:-}
# Later steps run in other folders.
case $duet in /*) ;; */*) duet=$PWD/$duet ;; esac

stop() {
    echo "::error title=duet::$1" >&2
    exit 2
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
name=duetbench-$version-$(uname -m)-unknown-linux-gnu
line=$(grep -F "  $name.tar.gz" "$root/release/duet/release.sums" || true)

if [ -z "$duet" ] && [ -n "$line" ]; then
    folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/duet-XXXXXX")
    curl --proto '=https,http,file' --retry 3 -fsSL "$mirror/download/v$version/$name.tar.gz" -o "$folder/$name.tar.gz" ||
        stop "cannot fetch $name.tar.gz from $mirror: try again, or name a program with 'duet:'"
    (cd "$folder" && sha256sum --check --status <<< "$line") ||
        stop "$name.tar.gz is not what this version of the action was made with: its sum is another one"
    tar -xzf "$folder/$name.tar.gz" -C "$folder"
    duet=$folder/$name/duet
elif [ -z "$duet" ]; then
    command -v cargo > /dev/null || stop "no release belongs to this version of the action, and there is no cargo to build one: name a program with 'duet:'"
    target=${RUNNER_TEMP:-$root}/duet-target
    cargo build --release --locked --package duetbench-cli --manifest-path "$root/Cargo.toml" --target-dir "$target"
    duet=$target/release/duet
fi
"$duet" --version || stop "$duet does not run here; the programs of a release need glibc 2.17 or later"
echo "duet=$duet" >> "${GITHUB_OUTPUT:-/dev/null}"
# Steps of the workflow call it by its name.
case $duet in */*) dirname "$duet" >> "${GITHUB_PATH:-/dev/null}" ;; esac
