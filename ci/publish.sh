#!/usr/bin/env bash
# Writes one comment on a pull request, or renews it. Runs with the right to write; nothing that it is given is trusted.
#
#   ACTION_DUET        the program                                        [duet]
#   ACTION_ARTIFACT    folder with what ci/measure.sh kept
#   ACTION_HEAD_SHA    commit that was measured, from the event, not from the artifact
#   ACTION_HEAD_OWNER, ACTION_HEAD_BRANCH    where it lies, likewise
#   ACTION_NUMBER      number of the pull request, likewise, where the event tells it       [the only one with this commit]
#   ACTION_NAME        tells the comment from that of another job on the same pull request           [none]
#   ACTION_RUN_URL     the page of the run that measured, from the event       [none]
#   GITHUB_REPOSITORY, GH_TOKEN              for `gh`
#
# Of the artifact only the measurements and the waivers are read, by duet, which shows foreign names as such, and whether there is a file `strict`; no
# text of it is passed on, and nothing in it is executed. Nor does the comment offer a command that would run what the artifact names.
set -euo pipefail

duet=${ACTION_DUET:-duet}
repository=${GITHUB_REPOSITORY:?}
artifact=$(cd "${ACTION_ARTIFACT:?}" && pwd)
size_max=$((256 * 1024 * 1024))
# A store of the largest size is shown within half of either.
seconds_max=120
memory_max_kb=$((6 * 1024 * 1024))
marker='<!-- duetbench -->'
export ACTION_HEAD_SHA=${ACTION_HEAD_SHA:?}

stop() {
    echo "::error title=duet::$1" >&2
    exit 2
}

# A folder outside every checkout, so that no `duet.toml` is found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in duet.db duet-waivers.toml; do
    file=$artifact/$name
    if [ -L "$file" ]; then stop "the artifact's $name is a link"; fi
    if [ -f "$file" ]; then
        if [ "$(stat -c %s "$file")" -gt "$size_max" ]; then stop "the artifact's $name is larger than 256 MB"; fi
        cp "$file" "$work/"
    fi
done
strict=false
if [ -f "$artifact/strict" ]; then strict=true; fi
if [ ! -f "$work/duet.db" ]; then stop "the artifact holds no duet.db: was anything measured?"; fi

(cd "$work" && ulimit -v "$memory_max_kb" &&
    env -i PATH="$PATH" HOME="$work" DUET_STRICT="$strict" timeout --kill-after=5 "$seconds_max" \
        "$duet" show --untrusted --db duet.db --format markdown --output comment.md) ||
    [ -f "$work/comment.md" ] || stop "the artifact's measurements cannot be shown"
[ "$(head -n 1 "$work/comment.md")" = "$marker" ] || stop "what came out is no comment of duet's"

# Each job that has a name keeps a comment of its own.
case ${ACTION_NAME:-} in
    *[!A-Za-z0-9_-]*) stop "the input name is \`$ACTION_NAME\`: only letters, digits, - and _ are understood" ;;
    "") ;;
    *)
        marker="<!-- duetbench $ACTION_NAME -->"
        sed -i "1s/.*/$marker/" "$work/comment.md"
        ;;
esac

if [[ ${ACTION_RUN_URL:-} =~ ^https://[A-Za-z0-9.:/_-]+$ ]]; then
    printf '\n[Report with pictures, and log](%s)\n' "$ACTION_RUN_URL" >> "$work/comment.md"
fi

numbers=$(gh api --method GET "repos/$repository/pulls" -f state=open -f "head=${ACTION_HEAD_OWNER:?}:${ACTION_HEAD_BRANCH:?}" \
    --jq '.[] | select(.head.sha == env.ACTION_HEAD_SHA) | .number')
if [[ ${ACTION_NUMBER:-} =~ ^[0-9]+$ ]]; then numbers=$(grep -Fx "$ACTION_NUMBER" <<< "$numbers" || true); fi
case $numbers in
    "")
        echo "no open pull request has the commit $ACTION_HEAD_SHA any more: nothing to comment on"
        exit 0
        ;;
    # Each was measured against another branch, and nothing that is trusted tells them apart.
    *[!0-9]*) stop "several open pull requests have the commit $ACTION_HEAD_SHA: nothing is written, since which of them was measured is not known" ;;
esac
number=$numbers
export marker
comment=$(gh api --paginate "repos/$repository/issues/$number/comments" \
    --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.marker))) | .id' | head -n 1)
if [ -n "$comment" ]; then
    gh api --method PATCH "repos/$repository/issues/comments/$comment" -F "body=@$work/comment.md" --silent
else
    gh api --method POST "repos/$repository/issues/$number/comments" -F "body=@$work/comment.md" --silent
fi
