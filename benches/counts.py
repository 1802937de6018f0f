#!/usr/bin/env python3
"""Are counts of instructions the same twice, and in other layouts?

Benchmarks of zap are counted by `duet compare --count=all`, a version beside itself: several times in one layout, and once in each of several others. Beside
that, a loop and a benchmark that allocates are counted in two ways: by the difference between more and fewer invocations, and by collecting only within the
benchmark's function. Needs valgrind. Counts do not depend on what else the machine does, so this may run beside other work.
"""

import re
import statistics
import subprocess

from study import Failed, Study, environment, listed, module_copy, one_line, parser, run, table

BENCH = "^Benchmark(NoContext|10Fields|ObjectField)$"
VARIABLES = {"GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "1", "GOGC": "off"}
WAYS = {"difference": "difference of 1,000 and 10,000 invocations", "toggled": "10,000 invocations, `--toggle-collect` on the benchmark"}
SOURCE = """package ways

import "testing"

var sink uint64

//go:noinline
func work(n int) uint64 {
	s := uint64(1)
	for i := 0; i < n; i++ {
		s = s*31 + uint64(i)
	}
	return s
}

func BenchmarkLoop(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += work(1000)
	}
}

func BenchmarkMap(b *testing.B) {
	for i := 0; i < b.N; i++ {
		m := map[int]int{}
		for j := 0; j < 100; j++ {
			m[7*j] = j
		}
		sink += uint64(len(m))
	}
}
"""


def main():
    options = parser(__doc__, "counts.md")
    options.add_argument("--module", default="go.uber.org/zap@v1.23.0", help="what is counted")
    options.add_argument("--bench", default=BENCH, help="its benchmarks")
    options.add_argument("--repetitions", type=int, default=5, help="how often in the first layout, and in each way")
    options.add_argument("--layouts", type=listed, default=["1", "2", "3", "4"], help="seeds of the linker's order of functions")
    args = options.parse_args()
    study = Study(args, "Instructions counted twice", lambda study: body(study, args))
    for key, layout in steps(args):
        study.do(key, lambda layout=layout: counted(study, args, layout))
    for way in WAYS:
        for benchmark in ["Loop", "Map"]:
            study.do(f"{way} {benchmark}", lambda way=way, benchmark=benchmark: by_hand(study, args, way, benchmark))
    study.finish()


def steps(args):
    again = [(f"layout {args.layouts[0]}, {number + 1}", args.layouts[0]) for number in range(args.repetitions)]
    return again + [(f"layout {layout}, 1", layout) for layout in args.layouts[1:]]


def counted(study, args, layout):
    copy = study.scratch / "module"
    if not copy.exists():
        module_copy(args.module, copy)
    # Behind `--` there would be no room for what the study itself asks for.
    study.environment["GOFLAGS"] = f"-ldflags=-randlayout={layout}"
    report = study.compare(copy, copy, "--count=all", "--bench", args.bench, "--packages", ".", "--forks", "3", "--fixed", "--builds", "1",
                           "--measure-identical", db=f"{layout}.db")
    counts = {one["name"]: one["counts"] for one in report["instructions"] if one["counts"]}
    if not counts:
        raise Failed(str(report["warnings"]))
    return {"wall_s": report["wall_s"], "measured_s": report["measured_s"],
            "benchmarks": {name: {side: one[side] for side in ("baseline", "candidate")} | {"invocations": one["invocations"]} for name, one in counts.items()}}


def by_hand(study, args, way, benchmark):
    folder = study.scratch / "ways"
    if not folder.exists():
        folder.mkdir()
        (folder / "go.mod").write_text("module example.com/ways\n\ngo 1.21\n")
        (folder / "ways_test.go").write_text(SOURCE)
        run(["go", "test", "-c", "-o", "ways.test", "."], folder)
    more = [f"--toggle-collect=example.com/ways.Benchmark{benchmark}"] if way == "toggled" else []
    counts = []
    for _ in range(args.repetitions):
        collected = [collect(folder, benchmark, invocations, more) for invocations in (1_000, 10_000)]
        counts.append(collected[1] / 10_001 if more else (collected[1] - collected[0]) / 9_000)
    return {"counts": counts}


def collect(folder, benchmark, invocations, more):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *more, "./ways.test", "-test.run=^$", "-test.cpu=1",
               f"-test.bench=^Benchmark{benchmark}$", f"-test.benchtime={invocations}x"]
    ended = subprocess.run(command, cwd=folder, env=environment() | VARIABLES, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    if not found:
        raise Failed(ended.stderr[-500:])
    return int(found[1])


def spread(values):
    """The largest difference between values, a share of their median, in percent."""
    return f"{100 * (max(values) - min(values)) / statistics.median(values):.3f} %"


def body(study, args):
    results = [(layout, study.get(key)) for key, layout in steps(args)]
    made = [(layout, result) for layout, result in results if result]
    names = sorted({name for _, result in made for name in result["benchmarks"]})
    rows = []
    for name in names:
        of = [(layout, result["benchmarks"][name]) for layout, result in made if name in result["benchmarks"]]
        again = [one[side]["all"] for layout, one in of for side in ("baseline", "candidate") if layout == args.layouts[0]]
        firsts = {}
        for layout, one in of:
            firsts.setdefault(layout, one["baseline"]["all"])
        collector = max(one["baseline"]["collector"] / one["baseline"]["all"] for _, one in of)
        rows.append([name.removeprefix("Benchmark"), f"{statistics.median(again):,.1f}", str(len(again)), spread(again), spread(list(firsts.values())), f"{100 * collector:.2f} %"])
    head = ["benchmark", "instructions per operation", "counts", "differ in one layout by", f"in {len(args.layouts)} layouts by", "of the collector at most"]
    wall = [result["wall_s"] - result["measured_s"] for _, result in made]
    takes = f"Building, listing, looking and counting took {statistics.median(wall):.0f} s for {len(names)} benchmarks, the median." if wall else ""
    by_way = []
    for way, words in WAYS.items():
        for benchmark in ["Loop", "Map"]:
            result = study.get(f"{way} {benchmark}")
            if result:
                by_way.append([benchmark, words, f"{statistics.median(result['counts']):,.1f}", spread(result["counts"])])
    return "\n\n".join([
        one_line(__doc__), table(head, rows), takes, "## Two ways of counting", table(["benchmark", "way", "instructions per operation", "differ by"], by_way),
        "One process a count, and neither function by function nor by the median of three as `duet` counts, so the difference varies more here than above. Collecting within the "
        "benchmark is exact for the loop. For the benchmark that allocates it varies from repetition to repetition, as the difference does."])


if __name__ == "__main__":
    main()
