"""The kinds of faults. Each sets up, injects, and says how often it did; `KINDS` says how often on which command."""

import errno
import os
import resource
import shlex
import signal
import subprocess
import time
from pathlib import Path

from .place import kill

KILLED = -signal.SIGKILL
FOR_EVER = 1 << 40


def signalled(name, number):
    def work(case):
        ran = case.begin((KILLED,) if name == "kill" else (130, -number), fault=case.shim(name))
        case.injected = 1 if ran.struck else 0
    return work


def killed_again(case):
    """Killed, and killed again while it goes on, up to three times."""
    for _ in range(3):
        # Less is left to do each time.
        fault = case.shim("kill") | {"AT": case.rng.randint(1, case.subject.calls["all"] // 2)}
        ran = case.begin((KILLED, 2), fault=fault)
        case.injected += bool(ran.struck)
        if not ran.struck:
            return


def to_helpers(number, lasting=None):
    """A signal to one of the processes that are measured or work for duet."""
    def work(case):
        case.may_fail, goal = number == signal.SIGKILL, case.some_trials()

        def act(running):
            helpers = running.helpers() if running.trials() >= goal else []
            if helpers:
                pid = case.rng.choice(helpers)
                running.done = kill(pid, number)
                case.injected += running.done
                if lasting:
                    time.sleep(lasting(case.rng))
                    kill(pid, signal.SIGCONT)
        case.begin(act=act)
    return work


def duet_stopped(case):
    """duet itself stands still for a while, at any of its calls."""
    time_s = case.rng.uniform(0.1, 1.2)

    def act(running):
        if running.is_stopped():
            time.sleep(time_s)
            kill(running.pid, signal.SIGCONT)
            case.injected, running.done = 1, True
    case.at["stopped_s"] = round(time_s, 2)
    case.begin(fault=case.shim("stop"), act=act)


def suspended(case):
    """All processes stand still at once, as when a machine sleeps, and the time of day has gone on."""
    goal, time_s = case.some_trials(), case.rng.uniform(0.5, 2.5)

    def act(running):
        if running.trials() >= goal:
            stopped = [pid for pid in [running.pid, *running.helpers()] if kill(pid, signal.SIGSTOP)]
            time.sleep(time_s)
            for pid in stopped:
                kill(pid, signal.SIGCONT)
            case.injected, running.done = 1, True
    case.at["stopped_s"] = round(time_s, 2)
    case.begin(act=act)


def starved(case):
    """The politest process on a processor that two others want."""
    goal, time_s = case.some_trials(4), case.rng.uniform(0.3, 1.0)
    case.may_fail = True

    def act(running):
        if running.trials() < goal:
            return
        everyone = [running.pid, *running.helpers()]
        for pid in everyone:
            try:
                os.setpriority(os.PRIO_PROCESS, pid, 19)
                os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})
            except OSError:
                continue
        busy = [subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", "while :; do :; done"]) for _ in range(2)]
        time.sleep(time_s)
        for loop in busy:
            loop.kill()
            loop.wait()
        case.injected, running.done = 1, True
    case.at["starved_s"] = round(time_s, 2)
    case.begin(act=act)


def limited(what, values, codes=()):
    """A limit of the system, from the start or from some trial on; the system may end who exceeds it."""
    def work(case):
        case.may_fail, value = True, case.rng.choice(values)
        case.at["limit"] = value
        if case.rng.random() < 0.5 or not case.subject.measures:
            case.begin(codes, limits=lambda: resource.setrlimit(what, (value, value)))
            case.injected = 1
            return
        goal = case.some_trials(5)

        def act(running):
            if running.trials() >= goal:
                resource.prlimit(running.pid, what, (value, value))
                case.injected, running.done = 1, True
        case.begin(codes, act=act)
    return work


def failing(number, calls="write", lasting=(1,)):
    """Calls that fail with an error."""
    def work(case):
        case.may_fail = True
        case.injected = bool(case.begin(fault=case.shim(number, calls, case.rng.choice(lasting))).struck)
        case.at["error"] = errno.errorcode[number]
    return work


def halved(case):
    """Reads and writes that do less than was asked, which is no error."""
    case.injected = bool(case.begin(fault=case.shim("half", "all", case.rng.choice([1, 5, 50]))).struck)


def interrupted_calls(case):
    """Calls that were interrupted and are to be made again, which is no error either."""
    case.may_fail = True  # closing and opening need not be made again
    case.injected = bool(case.begin(fault=case.shim(errno.EINTR, "all", case.rng.choice([1, 2, 3]))).struck)


def full_file_system(case):
    """A file system of a few hundred KiB holds the store."""
    case.may_fail, kib = True, case.rng.randint(40, 400)
    case.at["kib"] = kib
    store, kept = case.place.project / ".duet", case.place.root / "kept"
    store.mkdir(exist_ok=True)
    line = f"mount -t tmpfs -o size={kib}k none {shlex.quote(str(store))}"
    # Its content is copied out before the name space goes with its last process.
    keep = f"\"$@\"; code=$?; cp -r {shlex.quote(str(store))}/. {shlex.quote(str(kept))}; exit $code"
    case.begin(setup=f"{line} && sh -c {shlex.quote(keep)} sh \"$@\"; exit $?; :", more={"TMPDIR": case.place.root / "tmp"})
    for path in kept.glob("*"):
        path.rename(store / path.name)
    kept.rmdir()
    case.keep()
    case.injected = 1


def torn(case):
    """Half of a write, then death."""
    ran = case.begin((KILLED,), fault=case.shim("torn", "write"))
    case.injected = bool(ran.struck)


def damaged(suffix, how):
    """Killed, and then its store is cut or altered at any byte."""
    def work(case):
        case.may_fail, case.may_refuse = True, True
        ran = case.begin((KILLED,), fault=case.shim("kill", part=(0.5, 0.98)))
        path = Path(f"{case.place.db}{suffix}")
        if not ran.struck or not path.exists() or path.stat().st_size == 0:
            return
        content = bytearray(path.read_bytes())
        case.at |= how(content, case.rng) | {"file": path.name, "bytes": len(content)}
        path.write_bytes(content)
        # Nobody can keep what a power failure took; what is left must stay.
        case.place.seen = case.place.trials() or {}
        case.injected = 1
    return work


def cut(content, rng):
    keep = rng.randint(0, len(content) - 1)
    del content[keep:]
    return {"cut_at": keep}


def flip(content, rng):
    places = [rng.randrange(len(content)) for _ in range(rng.choice([1, 10, 300]))]
    for at in places:
        content[at] ^= 1 << rng.randrange(8)
    return {"flipped": len(places)}


def clock_set(case):
    """The time of day is set, forward or back, once or back and forth."""
    step = case.rng.choice([-1, 1]) * case.rng.choice([1, 60, 3600, 86400 * 400, 86400 * 365 * 30])
    lasts = case.rng.choice([1, 1, 20])
    case.at["step_s"] = step
    case.injected = bool(case.begin(fault=case.shim("clock", "all", lasts, (0, 0.8), STEP=step)).struck)


def without_toolchain(case):
    """The Go toolchain goes at some call of it, and comes back for the next run."""
    case.may_fail = True
    calls, way = case.rng.randint(0, 3), case.rng.choice(["gone", "broken", "no GOROOT", "hangs a while"])
    case.at |= {"calls": calls, "way": way}
    tools, count = case.place.root / "toolchain", case.place.root / "toolchain/count"
    tools.mkdir()
    case.place.keeps.append(r"toolchain(/.*)?")
    go = subprocess.run(["sh", "-c", "command -v go"], capture_output=True, text=True).stdout.strip()
    ends = {"gone": f"rm -f {tools}/go; exit 127", "broken": "echo 'go: it is broken' >&2; exit 2", "no GOROOT": f"GOROOT=/nonexistent exec {go} \"$@\"",
            "hangs a while": f"sleep 1; exec {go} \"$@\""}
    (tools / "go").write_text(f"#!/bin/sh\necho x >> {count}\nif [ $(wc -l < {count}) -gt {calls} ]; then {ends[way]}; fi\nexec {go} \"$@\"\n")
    (tools / "go").chmod(0o755)
    rest = ":".join(part for part in os.environ["PATH"].split(":") if not (Path(part) / "go").exists())
    case.begin(more={"PATH": f"{tools}:{rest}", "GOROOT": None})
    case.injected = count.exists() and len(count.read_text().split()) > calls


def out_of_memory(case):
    """A control group with little memory: the kernel kills whom it likes."""
    case.may_fail, mib = True, case.rng.choice([2, 4, 6, 8, 12, 16, 24])
    case.at["mib"] = mib
    group = Path(f"/sys/fs/cgroup/memory/duet-faults-{os.getpid()}")
    group.mkdir(exist_ok=True)
    try:
        (group / "memory.limit_in_bytes").write_text(str(mib << 20))
        case.begin((KILLED,), setup=f"echo $$ > {group}/cgroup.procs")
        killed = dict(line.split() for line in (group / "memory.oom_control").read_text().splitlines())
        case.injected = 1 if int((group / "memory.failcnt").read_text()) > 0 else 0
        case.at["killed"] = killed.get("oom_kill")
    finally:
        leave(group)


def few_processes(case):
    """A control group in which few processes may be at a time."""
    case.may_fail, most = True, case.rng.randint(1, 8)
    case.at["processes"] = most
    group = Path(f"/sys/fs/cgroup/pids/duet-faults-{os.getpid()}")
    group.mkdir(exist_ok=True)
    try:
        (group / "pids.max").write_text(str(most))
        case.begin(setup=f"echo $$ > {group}/cgroup.procs")
        case.injected = 1 if "max 0" not in (group / "pids.events").read_text() else 0
    finally:
        leave(group)


def leave(group):
    for _ in range(1000):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.01)


def no_temporary_directory(case):
    """The temporary directories are missing, no directories, read-only, or full."""
    case.may_fail = True
    root, shm = case.place.root, "/dev/shm"
    ways = {"TMPDIR is missing": ({"TMPDIR": "/nonexistent"}, ""), "TMPDIR is a file": ({"TMPDIR": root / "lock"}, ""),
            "TMPDIR is read-only": ({}, f"mount --bind -o ro {root}/tmp {root}/tmp && mount -o remount,bind,ro {root}/tmp"),
            "no memory file system": ({}, f"mount -t tmpfs -o size=4k,ro none {shm}"),
            "a full memory file system": ({}, f"mount -t tmpfs -o size=4k none {shm}"),
            "neither": ({"TMPDIR": "/nonexistent"}, f"mount -t tmpfs -o size=4k,ro none {shm}")}
    way = case.rng.choice(list(ways))
    case.at["way"] = way
    (root / "lock").touch()
    more, setup = ways[way]
    case.begin(more=more, setup=setup)
    case.injected = 1


def read_only(case):
    """The home, the cache, the project, or all of them cannot be written."""
    case.may_fail = True
    root, way = case.place.root, case.rng.choice([["home"], ["cache"], ["project"], ["home", "cache"], ["home", "cache", "project", "tmp"]])
    case.at["read_only"] = way
    lines = [f"mount --bind {root}/{name} {root}/{name} && mount -o remount,bind,ro {root}/{name}" for name in way]
    case.begin(setup=" && ".join(lines))
    case.injected = 1


SCRIPTED, LOOPS, BOTH, WHOLE, GIT = ("compare, scripted", "compare, iterations", "compare, both at once", "compare, whole processes",
                                     "compare, revisions")
GO, BUILDS, FLEET = "compare, Go", "compare, Go, many builds", "compare, fleet"
READERS = ("show", "report", "analyze", "analyze, files", "detect", "export", "tune", "plan", "waive", "list", "config")
MEASURED = {SCRIPTED: 6, LOOPS: 2, BOTH: 0.4, WHOLE: 0.1, GIT: 0.6, "calibrate": 0.5, "run": 2}


def each(number, names=READERS):
    return dict.fromkeys(names, number)


def shares(number, more=None):
    """About so many in all, over the commands that measure."""
    return {name: max(1, round(number * share / sum(MEASURED.values()))) for name, share in MEASURED.items()} | (more or {})


# Commands that take long are disturbed less often.
KINDS = {
    "killed (signal 9)": (signalled("kill", 9), shares(140, {GO: 3, BUILDS: 2, FLEET: 2} | each(5))),
    "killed again while going on": (killed_again, {SCRIPTED: 12, LOOPS: 6, GIT: 3, "calibrate": 2, "run": 5}),
    "SIGTERM": (signalled("term", 15), shares(60, {GO: 1, "demo": 1} | each(3))),
    "Ctrl-C": (signalled("int", 2), shares(60, {GO: 1, BUILDS: 1, FLEET: 1} | each(3))),
    "a helper killed": (to_helpers(signal.SIGKILL), {LOOPS: 24, BOTH: 6, WHOLE: 2, GIT: 6, GO: 2, BUILDS: 1, FLEET: 2, "calibrate": 3, "run": 8}),
    "a helper stopped for a while": (to_helpers(signal.SIGSTOP, lambda rng: rng.uniform(0.05, 0.8)),
                                     {LOOPS: 16, BOTH: 6, WHOLE: 2, GO: 1, "run": 8}),
    "duet stopped for a while": (duet_stopped, shares(30, {GO: 1, "tune": 2})),
    "everything suspended": (suspended, {LOOPS: 14, BOTH: 4, WHOLE: 2, GO: 1, "run": 4}),
    "starved": (starved, {LOOPS: 10, BOTH: 3, WHOLE: 1, "run": 4}),
    "few file descriptors": (limited(resource.RLIMIT_NOFILE, list(range(6, 40))), shares(30, {GO: 1} | each(1))),
    "few processes": (few_processes, {LOOPS: 8, BOTH: 2, WHOLE: 2, GIT: 3, "run": 4, "show": 2, "report": 2, "tune": 2}),
    "no thread can be started": (failing(errno.EAGAIN, "thread", [1, FOR_EVER]),
                                 {SCRIPTED: 2, LOOPS: 4, BOTH: 3, WHOLE: 2, "run": 2, "tune": 3, GO: 1}),
    "disk full, for good": (failing(errno.ENOSPC, "write", [FOR_EVER]), shares(50, {GO: 1} | each(2))),
    "disk full, for a while": (failing(errno.ENOSPC, "write", [1, 2, 5]), shares(40, {"tune": 4, "waive": 4, "export": 3, "report": 3})),
    "a small file system": (full_file_system, {SCRIPTED: 16, LOOPS: 8, "run": 6, "calibrate": 2}),
    "no file may grow": (limited(resource.RLIMIT_FSIZE, [0, 4096, 20000, 60000, 90000, 120000, 200000], (-signal.SIGXFSZ,)),
                         shares(24, {"tune": 3, "waive": 3, "export": 3, "report": 3})),
    "input and output errors": (failing(errno.EIO, "all", [1, 3]), shares(50, {GO: 1} | each(2))),
    "no descriptor left, at a call": (failing(errno.EMFILE, "open", [1, 4]), shares(30, each(2))),
    "half reads and writes": (halved, shares(40, each(2))),
    "interrupted calls": (interrupted_calls, shares(40, each(2))),
    "half a write, then death": (torn, shares(80, {GO: 1, "tune": 8, "waive": 8, "export": 2, "report": 2})),
    "log cut after death": (damaged("-wal", cut), {SCRIPTED: 36, LOOPS: 6, "run": 8, "calibrate": 2}),
    "log altered after death": (damaged("-wal", flip), {SCRIPTED: 30, LOOPS: 6, "run": 8, "calibrate": 2}),
    "store cut after death": (damaged("", cut), {SCRIPTED: 20, LOOPS: 4, "run": 4, "calibrate": 2}),
    "store altered after death": (damaged("", flip), {SCRIPTED: 30, LOOPS: 5, "run": 6, "calibrate": 2}),
    "clock set": (clock_set, shares(50, each(2))),
    "no toolchain": (without_toolchain, {GO: 5, BUILDS: 2}),
    "out of memory": (out_of_memory, {SCRIPTED: 6, LOOPS: 8, BOTH: 2, WHOLE: 1, "run": 5, "show": 4, "report": 4}),
    "little address space": (limited(resource.RLIMIT_AS, [20 << 20, 40 << 20, 80 << 20, 160 << 20, 240 << 20, 400 << 20],
                                     (-signal.SIGSEGV, -signal.SIGABRT)), shares(24)),
    "no temporary directory": (no_temporary_directory, {LOOPS: 12, BOTH: 3, WHOLE: 1, GIT: 4, GO: 1, "run": 6}),
    "read-only directories": (read_only, {SCRIPTED: 6, LOOPS: 8, GIT: 4, GO: 1, "run": 5, "calibrate": 2, "tune": 3, "waive": 3, "show": 3,
                                          "report": 3}),
}
