"""A directory in which duet is disturbed: its runs, what is in its store, and what it leaves behind."""

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

# Whatever takes longer than this hangs.
HANGS_S = 90
# Processes of a dead duet, the Go toolchain included, must be gone after this time.
GRACE_S = 10
# Endings that are nobody's wish: a panic, an abort, a bad address.
CRASHES = {101, 134, 135, 136, 139, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL}
# Files that a finished run may leave, beside those that were there before.
KEPT = [r"project/\.duet(/(\.gitignore|duet\.db))?", r"cache/duet(/linkers|/rewriters)?", r"lock", r"home/\.config(/go.*)?", r"home/\.cache",
        r"project/(page\.html|out\.parquet)", r"said-\d+", r"printed-\d+", r"fault-\d+"]


class Ran:
    """The end of a run of duet."""

    def __init__(self, code, stdout, stderr, struck):
        self.code, self.stdout, self.stderr, self.struck = code, stdout, stderr, struck

    def json(self):
        """The report; none if there is no whole one."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            return None

    def crashed(self):
        return self.code in CRASHES or "panicked at" in self.stderr or self.code == "hangs"

    def words(self):
        """The end of what it said, on a line."""
        return " ".join(self.stderr.split())[-400:]


class Running:
    """A duet at work, and those that work for it."""

    def __init__(self, place, process, log):
        self.place, self.process, self.log, self.done = place, process, log, False

    @property
    def pid(self):
        return self.process.pid

    def trials(self):
        """Number of trials that were seen in its store."""
        return len(self.place.seen)

    def helpers(self):
        """Processes that work for it; none while its name space is being made."""
        try:
            if Path(f"/proc/{self.pid}/comm").read_text().strip() != "duet":
                return []
        except OSError:
            return []
        return [pid for pid in self.place.processes() if pid != self.pid]

    def is_stopped(self):
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        except OSError:
            return False


class Place:
    """A project with a home, a cache, a lock and temporary directories of its own."""

    def __init__(self, tools, project):
        self.tools = tools
        self.root = Path(tempfile.mkdtemp(prefix="place-", dir=tools.scratch)).resolve()
        for name in ("cache/duet", "tmp", "home/.config/go/telemetry"):
            (self.root / name).mkdir(parents=True)
        (self.root / "home/.config/go/telemetry/mode").write_text("off")
        self.memory = Path(tempfile.mkdtemp(prefix="faults-", dir="/dev/shm")) if tools.may_mount else None
        self.project = self.root / "project"
        shutil.copytree(project, self.project, symlinks=True)
        for built in (tools.built / "duet" / name for name in ("linkers", "rewriters")) if tools.built else ():
            if built.exists():
                shutil.copytree(built, self.root / "cache/duet" / built.name, copy_function=os.link)
        self.db = self.project / ".duet/duet.db"
        self.before, self.seen, self.pids, self.runs = self._files(), {}, [], 0
        self.keeps = list(KEPT)

    def close(self):
        for pid in self.processes():
            kill(pid, signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)
        if self.memory:
            shutil.rmtree(self.memory, ignore_errors=True)

    def environment(self, more=None):
        """Nothing but what duet and go need; the home is the mark by which processes are known."""
        mine = {"HOME": self.root / "home", "XDG_CACHE_HOME": self.root / "cache", "TMPDIR": self.root / "tmp",
                "DUET_LOCK": self.root / "lock", "GOCACHE": self.tools.go_cache, "PATH": os.environ["PATH"], "GOTOOLCHAIN": "local",
                "GOWORK": "off", "NO_COLOR": "1", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
                # The planted slowness is in the loop of the benchmark itself.
                "DUET_SAME_BENCHMARKS": "true"}
        return {name: str(value) for name, value in (mine | (more or {})).items() if value is not None}

    def duet(self, args, fault=None, act=None, more=None, setup="", limits=None, watched=False, wait_s=HANGS_S):
        """Runs duet to its end. `fault` is for the shim, `act` is called again and again meanwhile, `setup` is a shell line in a
        name space of its own before it starts. Who watches keeps SQLite from removing its log."""
        self.runs += 1
        out, err, log = (self.root / f"{name}-{self.runs}" for name in ("printed", "said", "fault"))
        environment = self.environment(more)
        if fault is not None:
            environment |= {"LD_PRELOAD": str(self.tools.shim), "FAULT_LOG": str(log)} | {f"FAULT_{k}": str(v) for k, v in fault.items()}
        command = [*self._within(setup), str(self.tools.duet), *map(str, args)]
        with out.open("wb") as printed, err.open("wb") as said:
            process = subprocess.Popen(command, cwd=self.project, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                       start_new_session=True, preexec_fn=limits)
        self.pids.append(process.pid)
        code = self._attend(Running(self, process, log), act, watched, time.monotonic() + wait_s)
        struck = log.read_text().split("\n")[0] if log.exists() else ""
        printed, said = (path.read_text(errors="replace").replace(str(self.root), "PLACE") for path in (out, err))
        return Ran(code, printed, said, struck if struck.startswith("fault") else "")

    def _within(self, setup):
        """A name space whose memory file system is the place's own; `exec` keeps the number of the process."""
        if not self.tools.may_mount:
            return []
        line = f"mount --bind {self.memory} /dev/shm && {setup or ':'} && exec \"$@\""
        return ["unshare", "--mount", "sh", "-c", line, "sh"]

    def _attend(self, running, act, watched, deadline):
        with Watch(self.db, self.seen) as watch:
            while running.process.poll() is None:
                if watched:
                    watch.look()
                if act and not running.done:
                    act(running)
                if time.monotonic() > deadline:
                    for pid in [running.pid, *self.processes()]:
                        kill(pid, signal.SIGKILL)
                    running.process.wait()
                    return "hangs"
                time.sleep(0.004)
        return running.process.returncode

    def processes(self):
        """Processes with the place's mark, or that work in it or were started from it; the dead that wait for burial have none."""
        mark, found = f"HOME={self.root}/".encode(), []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                with open(f"/proc/{entry.name}/environ", "rb") as environ:
                    ours = mark in environ.read()
                ours = ours or any(os.readlink(f"/proc/{entry.name}/{link}").startswith(str(self.root)) for link in ("cwd", "exe"))
            except OSError:
                continue
            if ours:
                found.append(int(entry.name))
        return found

    def survivors(self):
        """Command lines of those who outlive duet."""
        deadline = time.monotonic() + GRACE_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return [f"process {command_of(pid)}" for pid in left]

    def trials(self):
        """Every trial in the store with what it holds, read from a copy so that nothing is repaired by looking; none where the store
        cannot be read."""
        with tempfile.TemporaryDirectory(dir=self.tools.scratch) as copy:
            for suffix in ("", "-wal"):
                if Path(f"{self.db}{suffix}").exists():
                    shutil.copyfile(f"{self.db}{suffix}", f"{copy}/duet.db{suffix}")
            if not Path(f"{copy}/duet.db").exists():
                return {}
            try:
                connection = sqlite3.connect(f"{copy}/duet.db")
                try:
                    return read(connection, 0)
                finally:
                    connection.close()
            except sqlite3.DatabaseError:
                return None

    def unsound(self):
        """Faults that SQLite finds in the store."""
        if not self.db.exists():
            return []
        try:
            connection = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)
            answer = connection.execute("pragma integrity_check").fetchone()[0]
            connection.close()
        except sqlite3.DatabaseError as error:
            answer = str(error)
        return [] if answer == "ok" else [f"the store is not sound: {answer}"]

    def leftovers(self):
        """Files and directories that nobody needs any more."""
        allowed = re.compile("|".join(f"(?:{pattern})" for pattern in self.keeps))
        left = [name for name in self._files() if name not in self.before and not allowed.fullmatch(name)]
        left += [f"/dev/shm/{path.name}" for path in self.memory.iterdir()] if self.memory else \
            [str(path) for pid in self.pids for path in Path("/dev/shm").glob(f"duet-{pid}-*")]
        if (self.project / ".git/worktrees").exists():
            left.append("entries of worktrees")
        return left

    def _files(self):
        outside = (".git/", )
        names = (str(path.relative_to(self.root)) for path in self.root.rglob("*"))
        return {name for name in names if not any(f"project/{part}" in f"{name}/" for part in outside)}


class Watch:
    """Reads what a run has stored while it runs: from then on that must not get lost."""

    def __init__(self, db, seen):
        self.db, self.seen, self.connection = db, seen, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()

    def look(self):
        try:
            if self.connection is None and self.db.exists():
                self.connection = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, timeout=0.2)
            if self.connection:
                self.seen |= read(self.connection, max(self.seen, default=0))
        except sqlite3.DatabaseError:  # it is not made yet, or somebody writes
            self.connection and self.connection.close()
            self.connection = None


def read(connection, after):
    """Trials behind a number, each with a digest of itself and its samples. All of one moment."""
    connection.execute("begin")
    try:
        if not connection.execute("select 1 from sqlite_master where name = 'samples'").fetchone():
            return {}
        digests = {row[0]: hashlib.sha256(repr(row).encode())
                   for row in connection.execute("select id, * from trials where id > ? order by id", [after])}
        for row in connection.execute("select trial, * from samples where trial > ? order by rowid", [after]):
            digests[row[0]].update(repr(row).encode())
        return {trial: digest.hexdigest() for trial, digest in digests.items()}
    finally:
        connection.execute("rollback")


def kill(pid, number):
    """Whether it was there to get the signal."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()[:120]
    except OSError:
        return "that has just ended"
