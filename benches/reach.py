#!/usr/bin/env python3
"""How many benchmarks a change cannot reach, from one published version of a module to the next.

Nothing is measured: `duet compare --reach --dry-run` builds both versions and says what it would measure. A benchmark in both versions is proven to run identical
code, proven to be not affected, or left to be measured.
"""

import re
import subprocess

from study import Failed, Study, environment, listed, paragraph, parser, percent, run, table

MODULES = ["go.uber.org/zap", "github.com/tidwall/gjson", "github.com/pelletier/go-toml/v2"]
GRADES = ["identical code", "not affected", "measured"]
# Lines of a dry run about benchmarks that are not compared.
NOT_COMPARED = re.compile(r": (only in|fails in) the ")


def main():
    options = parser(__doc__.splitlines()[0], "reach.md")
    options.add_argument("--modules", type=listed, default=MODULES, help="which ones, separated by commas")
    options.add_argument("--pairs", type=int, default=10, help="the newest so many pairs of neighbouring versions of each")
    args = options.parse_args()
    study = Study(args, "Benchmarks that a change cannot reach", lambda study: body(study, args))
    for module in args.modules:
        versions = study.do(module, lambda: {"versions": published(module, study)})
        for base, head in pairs(versions, args.pairs):
            study.do(f"{module} {base} {head}", lambda: compared(study, module, base, head))
    study.finish()


def published(module, study):
    """The versions that the module proxy has, without those published before their time."""
    answer = run(["go", "list", "-m", "-versions", module], study.scratch)
    return [version for version in answer.split()[1:] if "-" not in version]


def pairs(versions, most):
    names = (versions or {}).get("versions", [])
    return list(zip(names, names[1:]))[-most:]


def compared(study, module, base, head):
    """The number of benchmarks of each grade, and what affects most of those of each package."""
    command = [study.duet, "compare", f"{module}@{base}", f"{module}@{head}", "--reach", "--dry-run", "--db", study.scratch / "none.db"]
    answer = subprocess.run(command, cwd=study.scratch, env=environment(), capture_output=True, text=True)
    if answer.returncode != 0:
        raise Failed(answer.stderr.strip()[-300:])
    lines = [line for line in answer.stdout.splitlines() if line.startswith("  ") and not NOT_COMPARED.search(line)]
    counts = {grade: sum(f": {grade}, saves" in line for line in lines) for grade in GRADES[:2]}
    counts["measured"] = number(answer.stdout)
    return counts | {"reasons": [line for line in answer.stderr.splitlines() if "may be affected" in line or "is not known" in line]}


def number(plan):
    """The number of benchmarks that a plan measures."""
    found = re.search(r"^(\d+) benchmarks?, about ", plan, re.MULTILINE)
    return int(found[1]) if found else 0


def body(study, args):
    rows, all_counts = [], dict.fromkeys(GRADES, 0)
    for module in args.modules:
        for base, head in pairs(study.get(module), args.pairs):
            result = study.get(f"{module} {base} {head}")
            if not result or "failure" in result:
                continue
            for grade in GRADES:
                all_counts[grade] += result[grade]
            rows.append([f"`{module}`", base, head, *(result[grade] for grade in GRADES)])
    total = max(1, sum(all_counts.values()))
    rows.append(["all", "", "", *(f"{all_counts[grade]} ({percent(all_counts[grade] / total)})" for grade in GRADES)])
    return "\n\n".join([paragraph(__doc__, 1), table(["module", "base", "head", *GRADES], rows)])


if __name__ == "__main__":
    main()
