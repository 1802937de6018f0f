#!/usr/bin/env bash
# Measures a change and decides whether it passes. Writes nothing outside a folder of its own, needs no secret.
#
#   ACTION_DUET     the program                              [duet]
#   ACTION_BASE     the version compared against             [pull request: merge base; else the commit before]
#   ACTION_HEAD     the version under test                   [the work tree]
#   ACTION_BENCH, ACTION_BUDGET, ACTION_THRESHOLD    `--bench`, `--budget`, `--threshold`
#   ACTION_FLAGS    more words for `duet compare`, separated by spaces or lines
#   ACTION_OUT      folder for what is to be kept            [duet-report]
#   ACTION_FAIL     `false`: never fails because of a verdict
#
# The folder then holds `report.json`, `comment.md`, `report.html`, `duet.db`, from which everything can be shown again, the waivers that counted, and
# `strict`, an empty file, where open questions stop the change.
set -euo pipefail

duet=${ACTION_DUET:-duet}
out=${ACTION_OUT:-duet-report}
head=${ACTION_HEAD:-}
base=${ACTION_BASE:-}

stop() {
    echo "::error title=duet::$1" >&2
    exit 2
}

[ "${GITHUB_EVENT_NAME:-}" != pull_request_target ] ||
    stop "under pull_request_target the base branch is checked out, and code of forks would run beside secrets: measure under pull_request, and publish as docs/pull-requests-from-forks.md says"

if [ -z "$base" ]; then
    git rev-parse --git-dir > /dev/null || stop "git refuses this checkout; in a container of another user 'git config --global --add safe.directory' lets it"
    # The commit of a version that is named, or else of the work tree.
    of=$(git rev-parse --verify --quiet "${head:-HEAD}^{commit}") || of=HEAD
    # Never the tip of the other branch: what happened there since is no part of the change.
    if [ -n "${GITHUB_BASE_REF:-}" ]; then
        base=$(git merge-base "origin/$GITHUB_BASE_REF" "$of") ||
            stop "${head:-HEAD} and origin/$GITHUB_BASE_REF have no common commit here: give the checkout step 'fetch-depth: 0'"
    else
        base=$(git rev-parse --verify --quiet "$of^1") ||
            stop "there is no commit before ${head:-HEAD}: give the checkout step 'fetch-depth: 0', or name a base"
    fi
fi

# What was checked out is the base itself: whatever the change is, nobody sees it here.
if [ -z "$head" ] && commit=$(git rev-parse --verify --quiet 'HEAD^{commit}') &&
    [ "$(git rev-parse --verify --quiet "$base^{commit}")" = "$commit" ] && [ -z "$(git status --porcelain)" ]; then
    stop "the checkout is the base $base itself, without any change: check out the change, or name it as head"
fi

mkdir -p "$out"
# The folder hides itself from git, so that the work tree stays as it was checked out.
[ -e "$out/.gitignore" ] || echo '*' > "$out/.gitignore"
rm -f "$out/report.json" "$out/comment.md" "$out/report.html" "$out/duet.db" "$out/duet-waivers.toml" "$out/strict"
# The end of the text counts as a failure to `read`, since nothing ends it as `-d` says.
read -r -d '' -a flags <<< "${ACTION_FLAGS:-}" || true
for flag in "${flags[@]}"; do
    case $flag in
        # What shows the run again takes no `--strict`, but heeds the variable.
        --strict) export DUET_STRICT=true ;;
        --db | --db=* | --format | --format=* | --output | --output=* | -o* | --dry-run | --dry-run=*)
            stop "args has $flag, which the action decides itself" ;;
        --bench | --bench=* | -b*)
            [ -z "${ACTION_BENCH:-}" ] || stop "bench is given twice, as an input and in args: write one pattern, as 'A|B'" ;;
        --) break ;;
    esac
done
for option in bench budget threshold; do
    variable=ACTION_${option^^}
    if [ -n "${!variable:-}" ]; then flags=("--$option" "${!variable}" "${flags[@]}"); fi
done
code=0
"$duet" compare "$base" ${head:+"$head"} --db "$out/duet.db" --format json --output "$out/report.json" "${flags[@]}" || code=$?

case $code in
    # Open answers pass unless they are asked for, and are told all the same.
    0)
        verdict=$(sed -n 's/^  "outcome": "\([a-z_]*\)",*$/\1/p' "$out/report.json" 2> /dev/null) || true
        # A dry run, or a call for help.
        [ -f "$out/duet.db" ] && [ -n "$verdict" ] || stop "nothing was measured: do args, variables or duet.toml ask for something else?"
        ;;
    3) verdict=regression ;;
    4) verdict=inconclusive ;;
    5) verdict=stale_waiver ;;
    *) verdict=failed ;;
esac
{
    echo "verdict=$verdict"
    echo "exit-code=$code"
    echo "folder=$out"
} >> "${GITHUB_OUTPUT:-/dev/null}"
if [ -f "$out/report.json" ]; then
    # Ends with the verdict's exit code, which is known already.
    "$duet" show --db "$out/duet.db" --format markdown --output "$out/comment.md" || [ -f "$out/comment.md" ]
    cat "$out/comment.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
    # Nor does a page that cannot be written.
    "$duet" show --db "$out/duet.db" --format html --output "$out/report.html" || [ -f "$out/report.html" ] ||
        echo "::warning title=duet::the page report.html is missing; 'duet show --db duet.db --format html' makes it from the folder" >&2
    # The waivers that counted: beside the nearest duet.toml, or at the root.
    root=$(git rev-parse --show-toplevel 2>/dev/null || pwd -P)
    policy=$(pwd -P)
    until [ -f "$policy/duet.toml" ] || [ "$policy" = "$root" ] || [ "$policy" = / ]; do policy=$(dirname "$policy"); done
    if [ -f "$policy/duet-waivers.toml" ]; then cp "$policy/duet-waivers.toml" "$out/"; fi
    # The comment is written where there are neither flags nor settings.
    "$duet" config check --output "$out/settings" || true
    if grep -qs '^strict: yes' "$out/settings"; then touch "$out/strict"; fi
    rm -f "$out/settings"
fi

# Whatever kept it from measuring fails in any case: nothing that was compared is no good news.
if [ "${ACTION_FAIL:-true}" = false ] && [ "$verdict" != failed ]; then exit 0; fi
exit "$code"
