#!/bin/sh
# Installs `duet` from a release, see `usage`.
set -eu

usage() {
    cat << 'END'
Installs `duet` from a release into ~/.local/bin, after its sum was checked.

  install.sh [--to DIR]

  DUET_VERSION        the release, as 0.1.0           [the latest]
  DUETBENCH_MIRROR    where releases lie              [GitHub]

Asks nothing, and never becomes root by itself: to write where only root may, run it as root.
END
}

mirror=${DUETBENCH_MIRROR:-https://github.com/duetbench/duetbench/releases}
to=${HOME:?}/.local/bin

stop() {
    echo "install.sh: $1" >&2
    if [ $# -gt 1 ]; then echo "hint: $2" >&2; fi
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
        --to) [ $# -gt 1 ] || stop "\`--to\` needs a folder"; to=$2; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        *) stop "there is no option \`$1\`" "\`--to DIR\` is the only one" ;;
    esac
done

[ "$(uname -s)" = Linux ] || stop "duet runs on Linux, and this is $(uname -s)"
case $(uname -m) in
    x86_64 | amd64) target=x86_64-unknown-linux-gnu ;;
    aarch64 | arm64) target=aarch64-unknown-linux-gnu ;;
    *) stop "there is no release for $(uname -m)" "\`cargo build --release\` in a checkout makes one" ;;
esac
if ldd --version 2>&1 | grep -qi musl; then
    stop "the programs of a release need glibc 2.17 or later, and this system has musl" "\`cargo build --release\` in a checkout makes one"
fi

command -v tar > /dev/null || stop "there is no tar to unpack the release"

# Gives a file of the release.
fetch() {
    if command -v curl > /dev/null; then
        curl --proto '=https,http,file' --proto-redir =https -fsSL "$1" -o "$2"
    elif command -v wget > /dev/null; then
        wget -q "$1" -O "$2"
    else
        stop "there is neither curl nor wget"
    fi || stop "cannot fetch $1" "\`DUET_VERSION=0.1.0\` names a release, \`DUETBENCH_MIRROR\` another place"
}

sum() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1"
    else
        stop "there is neither sha256sum nor shasum to check what was fetched"
    fi | cut -d ' ' -f 1
}

case ${DUET_VERSION:-} in
    '') from=$mirror/latest/download ;;
    *) from=$mirror/download/v${DUET_VERSION#v} ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
line=$(grep "  duetbench-[0-9][^ /]*-$target\.tar\.gz\$" "$work/SHA256SUMS") || stop "the release has nothing for $target"
name=${line##* }
fetch "$from/$name" "$work/$name"
found=$(sum "$work/$name")
[ "$found" = "${line%% *}" ] || stop "the sum of $name is $found, and SHA256SUMS says ${line%% *}: nothing was installed"

tar -xzf "$work/$name" -C "$work"
mkdir -p "$to" || stop "cannot make the folder $to" "\`--to DIR\` names another one"
for program in "$work/${name%.tar.gz}"/duet*; do
    # A name of its own first, so that a program in use is replaced and not written over.
    new=$to/.${program##*/}.$$
    cp "$program" "$new" && mv -f "$new" "$to/${program##*/}" || stop "cannot write into $to" "\`--to DIR\` names another folder"
done
"$to/duet" --version > /dev/null || stop "$to/duet does not run here"
echo "installed $("$to/duet" --version) as $to/duet"
case :$PATH: in
    *:"$to":*) echo "next: duet demo" ;;
    *) echo "next: $to/duet demo (put $to on the PATH to type \`duet\`)" ;;
esac
