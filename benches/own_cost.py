#!/usr/bin/env python3
"""What duet itself takes while it measures: processor time, memory, and room in its database.

Processor time is the time of duet's own process and threads, without the benchmarks' processes, from the line that announces
measuring to the end of duet. Reading the run back, judging and printing come after measuring; what they take is what `duet show`
takes for the same run, and is subtracted.
"""

import json
import os
import shutil
import subprocess
import threading
import time

from study import REPOSITORY, MODES, Failed, Study, environment, met, one_line, parser, percent, table

CPU_SHARE_MAX = 0.01
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def main():
    options = parser(__doc__, "own-cost.md")
    options.add_argument("--budget", default="20s", help="measuring time per run")
    options.add_argument("--repetitions", type=int, default=3, help="runs in each mode")
    args = options.parse_args()
    study = Study(args, "What duet itself takes", lambda study: body(study, args))
    for repetition in range(1, args.repetitions + 1):
        for mode in MODES:
            study.do(f"{mode} {repetition}", lambda: measure(study, mode, args.budget))
    study.finish()


def measure(study, mode, budget):
    project, db = study.scratch / "small", study.scratch / "own.db"
    shutil.copytree(REPOSITORY / "benches" / "small", project, dirs_exist_ok=True)
    for file in study.scratch.glob("own.db*"):
        file.unlink()
    command = [study.duet, "compare", project, project, "--measure-identical", "--mode", mode, "--budget", budget, "--format", "json", "--db", db]
    seen = watch(command, study.scratch)
    report = json.loads(seen.pop("output"))
    trials, slices = (sum((b["counts"] or {}).get(what, 0) for b in report["benchmarks"]) for what in ("forks", "slices"))
    size = sum(file.stat().st_size for file in study.scratch.glob("own.db*"))
    judging = child_cpu_seconds([study.duet, "show", "--format", "json", "--db", db], study.scratch)
    return {**seen, "judging_s": judging, "measured_s": report["measured_s"], "trials": trials, "slices": slices, "db_bytes": size,
            "benchmarks": len(report["benchmarks"])}


def watch(command, cwd):
    """Runs duet and looks at its process from the line that announces measuring to its end."""
    child = subprocess.Popen(command, cwd=cwd, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, messages = [], []
    reader = threading.Thread(target=lambda: output.append(child.stdout.read()))
    reader.start()
    before = None
    for line in child.stderr:
        messages.append(line)
        if ": measuring " in line:
            before = cpu_seconds(child.pid)
            break
    drain = threading.Thread(target=lambda: messages.extend(child.stderr))
    drain.start()
    memory = peak_memory_until_end(child.pid)
    # The process has ended but was not waited for: its times are still there.
    after = cpu_seconds(child.pid)
    child.wait()
    reader.join()
    drain.join()
    if before is None or not output[0]:
        raise Failed(f"duet ended with {child.returncode}: {''.join(messages)[-500:]}")
    return {"cpu_s": after - before, "memory_bytes": memory, "output": output[0]}


def child_cpu_seconds(command, cwd):
    """User and system time of a command."""
    child = subprocess.Popen(command, cwd=cwd, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(pid):
    """User and system time of a process and its threads, its children left out."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def peak_memory_until_end(pid):
    """Largest resident size of the process, looked at twenty times a second until it has ended."""
    peak = 0
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with open(f"/proc/{pid}/status") as status:
            sizes = [line.split()[1] for line in status if line.startswith("VmHWM:")]
        peak = max(peak, *(1024 * int(size) for size in sizes), 0)
        time.sleep(0.05)
    return peak


def body(study, args):
    rows, worst = [], None
    for mode in MODES:
        for repetition in range(1, args.repetitions + 1):
            result = study.get(f"{mode} {repetition}")
            if result:
                worst = max(worst or 0, share(result))
                rows.append(row(mode, repetition, result))
    head = ["mode", "run", "measured s", "duet's CPU s", "of it judging", "share of one core", "peak memory", "trials", "slices",
            "database", "database per trial"]
    verdict = met(None if worst is None else worst < CPU_SHARE_MAX)
    asked = table(["what", "asked", "largest measured", "met"],
                  [["duet's own processor use while measuring", f"below {percent(CPU_SHARE_MAX, 0)} of one core",
                    percent(worst), verdict]])
    return "\n\n".join([one_line(__doc__), asked, table(head, rows), (
        f"The kernel counts in steps of {1000 // TICKS_PER_SECOND} ms. Memory is resident memory. A trial is one fork of each "
        "version; slices are those of both versions' judged pairs.")])


def share(result):
    return max(0, result["cpu_s"] - result["judging_s"]) / result["measured_s"]


def row(mode, repetition, result):
    per_trial = result["db_bytes"] / max(1, result["trials"])
    return [mode, repetition, f"{result['measured_s']:.1f}", f"{result['cpu_s']:.2f}", f"{result['judging_s']:.3f}",
            percent(share(result)), f"{result['memory_bytes'] / 2**20:.1f} MiB", result["trials"], result["slices"],
            f"{result['db_bytes'] / 2**20:.2f} MiB", f"{per_trial / 1024:.1f} KiB"]


if __name__ == "__main__":
    main()
