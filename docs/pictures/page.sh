#!/bin/sh
# Makes `page.png`, a picture of the HTML report, from a real run on examples/02-textkit with profiles. The browser is that of the tests, which
# `cargo test -p duetbench-cli --test report_browser` installs. BINARY names duet, else target/release/duet.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
duet=${BINARY:-$repository/target/release/duet}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$repository/examples/02-textkit/old" "$repository/examples/02-textkit/new" "$scratch"
cd "$scratch"
"$duet" compare old new --profile --budget 40s --format html -o page.html || [ $? -eq 3 ]
cp "$repository"/crates/duetbench-cli/tests/browser/*.mjs "$repository/target/tmp/report-browser/"
export DUET_PAGE_SOURCES="$repository/crates/duetbench-cli/src/render/html/page"
node "$repository/target/tmp/report-browser/shoot.mjs" "$scratch/page.html" "$here/page.png" --open Slug --height 1200
