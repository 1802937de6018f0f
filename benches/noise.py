"""Noise made on purpose: neighbours that burst, and a processor quota.

Run as a program it is one neighbour: `noise.py CORE SEED` keeps a core busy and idle by turns until its parent is gone.
"""

import atexit
import contextlib
import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

STRETCH_S = (0.02, 0.2)
QUOTA_SHARE = 0.4
PERIOD_US = 100_000
PR_SET_PDEATHSIG = 1

KINDS = {
    "quiet": "nothing added",
    "burst1": f"a neighbour pinned to one core (drawn by the seed), busy and idle by turns for {STRETCH_S[0] * 1000:.0f} to "
              f"{STRETCH_S[1] * 1000:.0f} ms",
    "burst2": "such a neighbour on each of two cores, each with stretches of its own",
    "quota": f"a processor quota of {QUOTA_SHARE:.0%} of the usable processors together, in periods of {PERIOD_US // 1000} ms, "
             "on whatever is measured and built",
}


class Unavailable(Exception):
    """This machine does not let us make this noise."""


@contextlib.contextmanager
def noise(kind, seed):
    """Makes the noise while the block runs; yields the words to put before a command that should suffer from it."""
    cores = sorted(os.sched_getaffinity(0))
    drawn = random.Random(seed).sample(cores, min(2, len(cores)))
    if kind == "quota":
        with quota() as prefix:
            yield prefix
    elif kind == "quiet":
        yield []
    else:
        with neighbours(drawn[:1] if kind == "burst1" else drawn, seed):
            yield []


@contextlib.contextmanager
def disturbed(study, kind, seed):
    """Makes the noise while the block runs, and has the study's commands suffer from it."""
    with noise(kind, seed) as study.prefix:
        try:
            yield
        finally:
            study.prefix = []


def why_not(kind):
    """Why this noise is not possible here; none if it is."""
    try:
        with noise(kind, 0) as prefix:
            subprocess.run([*prefix, "true"], check=True, capture_output=True)
    except (Unavailable, OSError, subprocess.CalledProcessError) as reason:
        return str(reason)
    return None


@contextlib.contextmanager
def neighbours(cores, seed):
    """A process for each core. They end with the block, with the script, or with whatever ends the script."""
    children = []

    def end():
        for child in children:
            child.kill()
            child.wait()

    atexit.register(end)
    try:
        for core in cores:
            command = [sys.executable, __file__, str(core), f"{seed}:{core}", str(os.getpid())]
            children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        yield
    finally:
        end()
        atexit.unregister(end)


def be_neighbour(core, seed, parent):
    """Busy and idle by turns for ever."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked to end with it
        return
    os.sched_setaffinity(0, {core})
    stretches = random.Random(seed)
    while True:
        until = time.monotonic() + stretches.uniform(*STRETCH_S)
        while time.monotonic() < until:
            pass
        time.sleep(stretches.uniform(*STRETCH_S))


@contextlib.contextmanager
def quota():
    """The words that put a command under the quota."""
    reasons = []
    for make in (quota_v2, quota_v1):
        try:
            group = make()
        except OSError as reason:
            reasons.append(f"{make.__doc__} {reason}")
            continue
        atexit.register(remove, group)
        try:
            yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        finally:
            atexit.unregister(remove)
            remove(group)
        return
    prefix = ["systemd-run", "--scope", "--quiet", "--collect", "-p", f"CPUQuota={100 * processors():.0f}%"]
    try:
        tried = subprocess.run([*prefix, "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            reasons.append(f"systemd-run: {' '.join(tried.stderr.split())}")
    except OSError as reason:
        reasons.append(f"systemd-run: {reason}")
    if len(reasons) == 3:
        raise Unavailable("; ".join(reasons))
    yield prefix


def processors():
    """The quota in processors."""
    return QUOTA_SHARE * len(os.sched_getaffinity(0))


def quota_v2():
    """cgroup v2:"""
    root = mounted(lambda kind, options: kind == "cgroup2")
    if "cpu" not in (root / "cgroup.controllers").read_text().split():
        raise OSError(f"no `cpu` controller in {root}")
    (root / "cgroup.subtree_control").write_text("+cpu")
    group = made(root)
    (group / "cpu.max").write_text(f"{processors() * PERIOD_US:.0f} {PERIOD_US}")
    return group


def quota_v1():
    """cgroup v1:"""
    group = made(mounted(lambda kind, options: kind == "cgroup" and "cpu" in options.split(",")))
    (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group / "cpu.cfs_quota_us").write_text(f"{processors() * PERIOD_US:.0f}")
    return group


def mounted(chosen):
    """Where the first chosen file system is mounted."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if chosen(kind, options):
            return Path(place)
    raise OSError("not mounted")


def made(root):
    group = root / f"duet-study-{os.getpid()}"
    group.mkdir(exist_ok=True)
    return group


def remove(group):
    """Removes the group when its last process is gone, which takes a moment."""
    for _ in range(50):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)


if __name__ == "__main__":
    be_neighbour(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
