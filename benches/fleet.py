#!/usr/bin/env python3
"""Two published modules compared on a fleet, end to end, against a server that takes what AWS Lambda takes.

The server is MiniStack from PyPI, on loopback: real requests to make, call and remove functions, whose instances are processes of this
machine. So what is shown is that everything arrives, what travels, and what it takes to send it; not how long a suite takes on the
real service, nor what it costs there: all instances share the processors of this machine.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from study import Failed, Study, changed, count, decimals, listed, paragraph, parser, table

SERVER = "ministack==1.5.33"
ROLE = "arn:aws:iam::000000000000:role/duet-exec"
MODULES = {
    "zap": ("go.uber.org/zap@v1.27.0", "go.uber.org/zap@v1.28.0"),
    "toml": ("github.com/pelletier/go-toml/v2@v2.2.4", "github.com/pelletier/go-toml/v2@v2.4.3"),
}
# As many calls at once as the paper had; then an account that takes back most of them as soon as the functions are there.
ACCOUNTS = {"150 at once": None, "throttled to 5": 5}
TRUST = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"},
                                                  "Action": "sts:AssumeRole"}]}
# Sends one request as whoever may do everything, with AWS's own library, which comes with the server.
ADMIN = """import botocore.session, json, sys
service, method, parameters = json.load(sys.stdin)
client = botocore.session.Session().create_client(service)
print(json.dumps(getattr(client, method)(**parameters), default=str))"""


def main():
    options = parser(__doc__.splitlines()[0], "fleet.md")
    options.add_argument("--modules", type=listed, default=list(MODULES), help="which modules, separated by commas")
    options.add_argument("--flags", default="--forks 8", help="more flags for duet, in one word")
    options.add_argument("--server", type=Path, default=None, help="folder in which the server is installed; made if it is not there")
    args = options.parse_args()
    study = Study(args, "A fleet, end to end", lambda study: body(study, args))
    home = args.server or study.scratch / "server"
    for name in args.modules:
        for account, calls in ACCOUNTS.items():
            study.do(f"{name}, {account}", lambda: one(study, (name, args.flags.split()), (home, calls)))
    study.finish()


def one(study, module, server):
    """A comparison from the first build to the removed function."""
    name, flags = module
    home, throttled_to = server
    with Server(home) as server:
        server.ask("iam", "create_role", RoleName="duet-exec", AssumeRolePolicyDocument=json.dumps(TRUST))
        os.environ.update(server.variables())
        throttling = threading.Thread(target=throttle, args=(server, throttled_to), daemon=True)
        if throttled_to:
            throttling.start()
        report = study.compare(*MODULES[name], "--on", "lambda", "--role", ROLE, "--parallel", "150", "--max-cost", "20", *flags,
                               db=f"{name}.db")
        left = server.ask("lambda", "list_functions")["Functions"]
    return {"fleet": report["fleet"], "counts": report["counts"], "measured_s": report["measured_s"], "wall_s": report["wall_s"],
            "complete": report["complete"], "left": len(left), "benchmarks": report["benchmarks"] and [
                {"verdict": b["verdict"], "name": b["name"], "failure": b["failure"]} for b in report["benchmarks"]]}


def throttle(server, calls):
    """Lets each function have only so many calls at once, again and again, because duet itself says how many right after making it."""
    while server.process.poll() is None:
        try:
            for function in server.ask("lambda", "list_functions")["Functions"]:
                server.ask("lambda", "put_function_concurrency", FunctionName=function["FunctionName"],
                           ReservedConcurrentExecutions=calls)
        except Failed:
            pass  # the function is gone, or the server
        time.sleep(0.2)


class Server:
    """MiniStack on a free port of loopback; ended with all its instances."""

    def __init__(self, home):
        self.home = home

    def __enter__(self):
        if not (self.home / "bin" / "ministack").exists():
            subprocess.run([sys.executable, "-m", "venv", self.home], check=True)
            subprocess.run([self.home / "bin" / "python", "-m", "pip", "install", "--quiet", SERVER], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.scratch = tempfile.TemporaryDirectory(prefix="duet-server-")
        path = f"{self.home / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        settings = {"PATH": path, "HOME": self.scratch.name, "TMPDIR": self.scratch.name, "BIND_HOST": "127.0.0.1",
                    "GATEWAY_PORT": str(self.port), "IOT_MTLS_ENABLED": "0", "LAMBDA_EXECUTOR": "local"}
        self.process = subprocess.Popen([self.home / "bin" / "ministack"], env=settings, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        ends = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > ends or self.process.poll() is not None:
                self.__exit__()
                raise Failed("the server does not start")
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.scratch.cleanup()

    def answers(self):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_ministack/health", timeout=2).status == 200
        except OSError:
            return False

    def variables(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}

    def ask(self, service, method, **parameters):
        ended = subprocess.run([self.home / "bin" / "python", "-c", ADMIN], input=json.dumps([service, method, parameters]),
                               env={**os.environ, **self.variables()}, capture_output=True, text=True)
        if ended.returncode != 0:
            raise Failed(f"{service} {method}: {ended.stderr[-300:]}")
        return json.loads(ended.stdout)


def body(study, args):
    rows = [row(name, account, study.get(f"{name}, {account}")) for name in args.modules for account in ACCOUNTS]
    head = ["module", "account", "benchmarks", "called changed", "failed", "package, MB", "build pairs", "calls that count", "of",
            "throttled", "lost or crashed", "instances", "building, sending and all, s", "of that, measuring, s",
            "billed here, s", "functions left behind"]
    return "\n\n".join([
        paragraph(__doc__, 1),
        words("""The paper's function (ElastiBench, section 5) is an image of about 1 GB with the toolchain, the sources and a build
        cache of both versions, and compiles when it is called; its suite of 106 benchmarks took about 11 minutes and $1.18 on the real
        service at 150 calls at once. A package here holds test binaries, linked before they are sent, of all build pairs. What is
        billed here is processor time of this machine shared by all instances, so that it is no price."""),
        "## What travelled and what came back",
        table(head, [cells for cells in rows if cells]),
        words("""`--builds` was left to duet: as many pairs as fit into 50 MB, at most 12. Benchmarks that cannot run there count as
        failed and are named in the report. Throttled to 5: somebody gives each function only five calls at once while it is being
        called."""),
    ])


def words(text):
    return " ".join(text.split())


def row(name, account, result):
    if result is None:
        return None
    fleet, calls = result["fleet"], result["fleet"]["calls"]
    return [f"{name}: {' → '.join(v.split('@')[1] for v in MODULES[name])}", account, len(result["benchmarks"]), changed(result),
            count(result["benchmarks"], ("failed",)), decimals(fleet["package_bytes"] / 1e6), fleet["builds"], fleet["counted"],
            fleet["tasks"], calls["throttled"], calls["failed"], fleet["instances"], decimals(result["wall_s"], 0),
            decimals(result["measured_s"], 0), decimals(fleet["billed_s"], 0), result["left"]]


if __name__ == "__main__":
    main()
