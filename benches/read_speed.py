#!/usr/bin/env python3
"""How fast are result files of other tools read, in MB of file a second?

The files are synthetic, as each tool writes them, and about as large as `--megabytes` says. Their bytes are in memory before the clock is
read. Needs `cargo build --release -p duetbench-formats --examples`.
"""

import json
import random
import subprocess
from pathlib import Path

from study import REPOSITORY, Failed, Study, decimals, median_of, met, one_line, parser, table

# Least speed of every form.
WANTED_MB_PER_S = 100

# Why the slow form is slow.
AFTERWARDS = ("benchstat's CSV has one line of thirty bytes for each benchmark, and every benchmark gets a name, a grid and a place in the recording: that, "
              "not reading, is the time. Such a file has as many lines as a suite has benchmarks; this one has three million.")


def main():
    options = parser(__doc__, "read-speed.md")
    options.add_argument("--repetitions", type=int, default=5, help="how often each file is read")
    options.add_argument("--megabytes", type=int, default=100, help="size of each file")
    options.add_argument("--reader", type=Path, default=REPOSITORY / "target/release/examples/read_speed", help="the example")
    args = options.parse_args()
    study = Study(args, "How fast other tools' files are read", lambda study: body(study, args))
    for form, write in FORMS.items():
        study.do(form, lambda: read(study, args, form, write))
    study.finish()


def read(study, args, form, write):
    file = study.scratch / "file"
    with file.open("w") as text:
        write(text, args.megabytes * 1_000_000, random.Random(form))
    told = subprocess.run([args.reader, file, str(args.repetitions)], capture_output=True, text=True)
    if told.returncode:
        raise Failed(told.stderr)
    lines = [line.split() for line in told.stdout.splitlines()]
    return {"bytes": int(lines[0][0]), "judged": int(lines[0][1]), "beside": int(lines[0][2]),
            "seconds": [float(line[3]) for line in lines]}


def body(study, args):
    rows = []
    for form in FORMS:
        result = study.get(form)
        if not result:
            continue
        seconds = median_of(result["seconds"])
        speed = result["bytes"] / 1e6 / seconds
        values = result["judged"] + result["beside"]
        rows.append([form, decimals(result["bytes"] / 1e6, 0), f"{result['judged']:,}", f"{result['beside']:,}",
                     decimals(speed, 0), decimals(seconds / values * 1e9, 0), met(speed >= WANTED_MB_PER_S)])
    head = ["form", "file, MB", "values judged", "beside", "MB/s", "ns for each value", f"{WANTED_MB_PER_S} MB/s"]
    return "\n\n".join([one_line(__doc__), table(head, rows), f"Medians of {args.repetitions} readings, by one thread.", AFTERWARDS])


def until(text, size, pieces):
    """Writes pieces until there is as much as was asked for."""
    written = 0
    for piece in pieces:
        written += text.write(piece)
        if written >= size:
            return


def listed(text, size, around, pieces):
    """The same between the two parts of a JSON document, with commas between the pieces."""
    text.write(around[0])
    first = next(pieces)
    text.write(first)
    until(text, size, ("," + piece for piece in pieces))
    text.write(around[1])


def times(source, scale):
    """Times without end, as many digits as tools write."""
    pool = [scale * source.lognormvariate(0, 0.1) for _ in range(10_000)]
    while True:
        yield from pool


def numbers():
    number = 0
    while True:
        yield number
        number += 1


def go(text, size, source):
    text.write("goos: linux\ngoarch: amd64\npkg: example.com/shop\ncpu: some\n")
    until(text, size, (f"BenchmarkSum/size={n // 20 % 500}-8   \t  100000\t     {t:.1f} ns/op\t      16 B/op\t       2 allocs/op\n"
                       for n, t in zip(numbers(), times(source, 10000))))


def jmh(text, size, source):
    pool = times(source, 1.5)
    def entry(n):
        forks = [[next(pool) for _ in range(20)] for _ in range(10)]
        return json.dumps({"jmhVersion": "1.37", "benchmark": f"org.example.B.m{n}", "mode": "avgt", "threads": 1, "forks": 10,
                           "warmupTime": "1 s", "measurementTime": "1 s", "params": {"size": "10"}, "secondaryMetrics": {},
                           "primaryMetric": {"score": 1.5, "scoreUnit": "us/op", "rawData": forks}}, indent=4)
    listed(text, size, ("[", "]"), map(entry, numbers()))


def hyperfine(text, size, source):
    pool = times(source, 0.1)
    def entry(n):
        return json.dumps({"command": f"run {n}", "mean": 0.1, "times": [next(pool) for _ in range(200)], "exit_codes": [0] * 200}, indent=2)
    listed(text, size, ('{"results": [', "]}"), map(entry, numbers()))


def google(text, size, source):
    pool = times(source, 100)
    def row(n):
        name = f"sums/{n // 20}"
        return json.dumps({"name": name, "family_index": 0, "per_family_instance_index": 0, "run_name": name, "run_type": "iteration",
                           "repetitions": 20, "repetition_index": n % 20, "threads": 1, "iterations": 1000, "real_time": next(pool),
                           "cpu_time": next(pool), "time_unit": "ns", "items_per_second": next(pool)}, indent=2)
    listed(text, size, ('{"context": {"num_cpus": 2}, "benchmarks": [', "]}"), map(row, numbers()))


def pytest(text, size, source):
    pool = times(source, 1e-5)
    def entry(n):
        stats = {"min": 1e-5, "mean": 1e-5, "data": [next(pool) for _ in range(1000)], "iterations": 1}
        return json.dumps({"name": f"test_{n}", "fullname": f"tests/test_sums.py::test_{n}", "params": None, "stats": stats}, indent=4)
    listed(text, size, ('{"machine_info": {"node": "a"}, "benchmarks": [', "]}"), map(entry, numbers()))


def pyperf(text, size, source):
    pool = times(source, 1e-5)
    def entry(n):
        runs = [{"metadata": {"duration": 0.1, "date": "2026-11-22 16:53:53"}, "values": [next(pool) for _ in range(10)],
                 "warmups": [[512, next(pool)]]} for _ in range(20)]
        return json.dumps({"metadata": {"name": f"b{n}", "loops": 512}, "runs": runs}, separators=(",", ":"))
    listed(text, size, ('{"benchmarks":[', '],"metadata":{"unit":"second"},"version":"1.0"}'), map(entry, numbers()))


def criterion(text, size, source):
    pool = times(source, 1e6)
    values = [round(next(pool), 1) for _ in range(size // 17)]
    json.dump({"sampling_mode": "Flat", "iters": [1000.0] * len(values), "times": values}, text, separators=(",", ":"))


def benchstat(text, size, source):
    text.write("goos: linux\npkg: example.com/shop\n,sums.txt,\n,sec/op,CI\n")
    until(text, size, (f"Sum/size={n}-8,{t:.5g},1%\n" for n, t in zip(numbers(), times(source, 1e-6))))


def papers(text, size, source):
    text.write("m_id,n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n")
    until(text, size, (f"{n},377.0,{t:.6f},50,10,{n % 50 + 1},{n // 50 % 10 + 1},org.example.Benchmark{n // 500}.method\n"
                       for n, t in zip(numbers(), times(source, 100))))


def pa(text, size, source):
    text.write("project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value\n")
    until(text, size, (f"shop;abc;org.example.B{n // 5000};n=1;vm-{n // 500 % 10};{n // 50 % 10};0;{n % 50};avgt;ns/op;1;{t:.6f}\n"
                       for n, t in zip(numbers(), times(source, 100))))


FORMS = {
    "Go benchmark text": go,
    "JMH": jmh,
    "hyperfine": hyperfine,
    "Google Benchmark": google,
    "pytest-benchmark": pytest,
    "pyperf": pyperf,
    "criterion, one `sample.json`": criterion,
    "benchstat's CSV": benchstat,
    "CSV of the µOpTime study": papers,
    "CSV of `pa`": pa,
}

if __name__ == "__main__":
    main()
