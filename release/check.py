#!/usr/bin/env python3
"""Installs the release in `dist` in every way that this machine can, each in a fresh folder and from local files, and runs `duet demo` with it.

    release/check.py [WAY]...

Ways: papers, script, action, wheel, uvx, npm, maven, deb, image, go, crate, binstall. A way whose tool is missing is listed as skipped. Whatever fails ends it with 1.
"""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import platform
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback
import venv

import about
import archive
from archive import Entry
from project import DIST, ROOT, TARGETS, stem, version

TARGET = TARGETS[f"{platform.machine()}-unknown-linux-gnu"]
# Longest time that installing may take.
SECONDS_MAX = 30
# Where the tools of Rust keep what they have fetched.
RUST_HOMES = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}
# Plugins come from files alone: Central's place is taken by the same folder.
MAVEN_SETTINGS = """<settings>
  <localRepository>{here}/m2</localRepository>
  <mirrors><mirror><id>files</id><mirrorOf>*</mirrorOf><url>file://{repository}</url></mirror></mirrors>
</settings>
"""


class Place:
    """A fresh folder, whose home is empty; what compilers keep is shared."""

    def __init__(self, folder, caches):
        self.folder = folder
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "SSL_CERT_FILE") if name in os.environ}
        go = {"GOCACHE": str(caches / "go-build"), "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
        home = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(caches), "GOPATH": str(folder / "gopath")}
        self.environment = keep | go | home | {"DUET_LOCK": str(caches / "lock")}
        (folder / "home").mkdir()
        self.begun = time.monotonic()

    def run(self, *words, fails=None, **more):
        """Output of a command; `fails` is its exit code, where it shall fail."""
        words = [str(word) for word in words]
        environment = self.environment | {name: str(value) for name, value in more.items()}
        ended = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True)
        said = ended.stdout + ended.stderr
        assert ended.returncode == (fails or 0), f"{' '.join(words)} ended with {ended.returncode}\n{said}"
        return said

    def shows_demo(self, duet):
        """Runs `duet demo`, after everything that is typed first."""
        assert f"duet {version()}" in self.run(duet, "--version")
        said = self.run(duet, "demo")
        assert "regression" in said, said


def papers(place):
    """Sums, size, C library, and what the papers say of the files."""
    place.run("sh", "-c", f"cd '{DIST}' && sha256sum --check --quiet SHA256SUMS")
    place.run("tar", "-xzf", DIST / f"{stem(TARGET)}.tar.gz")
    folder = place.folder / stem(TARGET)
    for program in ("duet", f"duet-worker-{TARGET.worker}"):
        needs = place.run("readelf", "--version-info", folder / program)
        versions = {tuple(map(int, word[6:].split("."))) for word in needs.split() if word.startswith("GLIBC_2")}
        assert versions and max(versions) <= (2, 17), f"{program} needs the C library {max(versions)}"
        for path in (str(ROOT), str(pathlib.Path.home())):
            assert path.encode() + b"/" not in (folder / program).read_bytes(), f"{program} holds the path {path}"
    bill = json.loads((DIST / f"{stem(TARGET)}.cdx.json").read_text())
    names = {part["name"] for part in bill["components"]}
    assert {"duetbench-core", "libsqlite3-sys", "aws-sdk-lambda"} <= names and "proptest" not in names, sorted(names)
    statement = json.loads((DIST / f"{stem(TARGET)}.provenance.json").read_text())
    for subject in statement["subject"]:
        assert subject["digest"]["sha256"] == about.sum_of((DIST / subject["name"]).read_bytes()), subject["name"]
    place.shows_demo(folder / "duet")


def script(place):
    """`install.sh` from a server, the latest and a named one; nothing is installed where a sum differs."""
    with served(place, DIST) as mirror:
        say = place.run("sh", DIST / "install.sh", "--to", place.folder / "bin", DUETBENCH_MIRROR=mirror)
        assert "next: " in say and "put" in say, say
        place.run("sh", DIST / "install.sh", DUETBENCH_MIRROR=mirror, DUET_VERSION=version())
        assert (place.folder / "home/.local/bin/duet").exists()
        say = place.run("sh", DIST / "install.sh", fails=1, DUETBENCH_MIRROR=mirror, DUET_VERSION="99.0.0")
        assert "cannot fetch" in say and "hint: " in say, say
        assert "no option" in place.run("sh", DIST / "install.sh", "--nope", fails=1)
    bad = place.folder / "bad"
    shutil.copytree(DIST, bad)
    with open(bad / f"{stem(TARGET)}.tar.gz", "ab") as file:
        file.write(b"x")
    with served(place, bad) as mirror:
        say = place.run("sh", DIST / "install.sh", "--to", place.folder / "no", fails=1, DUETBENCH_MIRROR=mirror)
        assert "nothing was installed" in say and not (place.folder / "no").exists(), say
    return place.folder / "bin/duet"


def action(place):
    """The action's first step, with the sums that the release workflow writes."""
    for name in ("ci/build.sh", "Cargo.toml"):
        (place.folder / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, place.folder / name)
    (place.folder / "release/duet").mkdir(parents=True)
    (place.folder / "release/duet/release.sums").write_text(release_sums())
    output = place.folder / "output"
    with served(place, DIST) as mirror:
        place.run("bash", "ci/build.sh", DUETBENCH_MIRROR=mirror, GITHUB_OUTPUT=output, RUNNER_TEMP=place.folder)
    return output.read_text().strip().removeprefix("duet=")


def wheel(place):
    """pip without an index, in an environment of its own; both names."""
    venv.create(place.folder / "venv", with_pip=True)
    bin_folder = place.folder / "venv/bin"
    (file,) = DIST.glob(f"*{TARGET.wheel}.whl")
    place.run(bin_folder / "python", "-m", "pip", "install", "--no-index", "--quiet", file)
    assert version() in place.run(bin_folder / "duetbench", "--version")
    assert version() in place.run(bin_folder / "python", "-m", "pip", "show", "duetbench")
    return bin_folder / "duet"


def uvx(place):
    """uvx without an index; uv itself comes from PyPI, by the sums in `release/requirements-check.txt`."""
    tools = place.folder / "tools"
    venv.create(tools, with_pip=True)
    wanted = ROOT / "release" / "requirements-check.txt"
    pip = [tools / "bin/python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--require-hashes"]
    subprocess.run([*pip, "--requirement", wanted], check=True)
    (file,) = DIST.glob(f"*{TARGET.wheel}.whl")
    place.begun = time.monotonic()
    run_uvx = [tools / "bin/uvx", "--offline", "--from", file]
    assert version() in place.run(*run_uvx, "duetbench", "--version")
    place.run(*run_uvx, "duet", "compare", "--nope", fails=2)
    duet = place.folder / "duet"
    duet.write_text(f"#!/bin/sh\nexec {' '.join(map(str, run_uvx))} duet \"$@\"\n")
    duet.chmod(0o755)
    return duet


def npm(place):
    """npm without a registry; exit codes come through, and what is missing is said."""
    files = [DIST / f"duetbench-{version()}.tgz", DIST / f"duetbench-linux-{TARGET.npm}-{version()}.tgz"]
    place.run("npm", "init", "--yes")
    place.run("npm", "install", "--offline", "--no-audit", "--no-fund", *files)
    assert version() in place.run("npx", "--offline", "duetbench", "--version")
    place.run("npx", "--offline", "duet", "compare", "--nope", fails=2)
    shutil.move(place.folder / "node_modules/@duetbench", place.folder / "away")
    assert f"there is no program for linux-{TARGET.npm}" in place.run("npx", "--offline", "duet", "demo", fails=1)
    shutil.move(place.folder / "away", place.folder / "node_modules/@duetbench")
    return place.folder / "node_modules/.bin/duet"


def maven(place):
    """The plugin from a repository of files, with nothing of Maven's own; goals, arguments and exit codes come through."""
    repository = place.folder / "repository"
    for file in DIST.glob("*-maven.zip"):
        shutil.unpack_archive(file, repository)
    # Maven gives this library to every plugin; ours calls nothing of it.
    stand_in(repository, "org.codehaus.plexus", "plexus-utils", "1.1")
    settings = place.folder / "settings.xml"
    settings.write_text(MAVEN_SETTINGS.format(here=place.folder, repository=repository))
    mvn = ["mvn", "--batch-mode", "--settings", settings]
    goal = f"io.github.duetbench:duetbench-maven-plugin:{version()}:"
    assert f"duet {version()}" in place.run(*mvn, goal + "duet", "-Dduet=--version")
    assert "duet ended with 2" in place.run(*mvn, goal + "compare", "-Dduet=a b --nope", fails=1)
    # `demo` is a goal of its own.
    duet = place.folder / "duet"
    call = f"exec mvn --batch-mode --quiet --settings {settings} {goal}"
    duet.write_text(f'#!/bin/sh\n[ "$*" != demo ] || {call}demo\n{call}duet "-Dduet=$*"\n')
    duet.chmod(0o755)
    return duet


def deb(place):
    """Debian's package, installed by dpkg below a folder, listed and removed again; the C library is that of this machine."""
    (file,) = DIST.glob(f"*_{TARGET.deb}.deb")
    root = place.folder / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    for record in ("status", "available"):
        (root / "var/lib/dpkg" / record).touch()
    # Nothing of the system's is touched, and the folder has no C library that dpkg knows.
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-script-chrootless", f"--log={root}/log"]
    place.run(*dpkg, "--install", file)
    assert f"Version: {version()}" in place.run(*dpkg, "--status", "duetbench")
    assert "/usr/bin/duet" in place.run(*dpkg, "--listfiles", "duetbench")
    kept = place.folder / "kept"
    shutil.copy(root / "usr/bin/duet", kept)
    place.run(*dpkg, "--purge", "duetbench")
    assert not (root / "usr/bin/duet").exists(), "dpkg left the program behind"
    return kept


def image(place):
    """The container's image, on a Debian that is made here and has this machine's Go; users pull it, so building it is not installing."""
    store = ["--root", place.folder / "store", "--runroot", place.folder / "run", "--storage-driver", "vfs"]
    buildah = ["buildah", *store]
    here = ["--isolation", "chroot"]
    place.run("debootstrap", "--variant=minbase", "bookworm", place.folder / "root")
    place.run("tar", "-C", place.folder / "root", "-cf", place.folder / "root.tar", ".")
    base = place.run(*buildah, "from", "scratch").split()[-1]
    place.run(*buildah, "add", base, place.folder / "root.tar", "/")
    place.run(*buildah, "copy", base, place.run("go", "env", "GOROOT").strip(), "/usr/local/go")
    place.run(*buildah, "config", "--env", "PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin", base)
    place.run(*buildah, "commit", base, "localhost/base")
    file = ROOT / "release" / "Containerfile"
    made = ["--pull-never", "--network", "host", "--build-arg", "BASE=localhost/base", "--file", file, "--tag", "localhost/duetbench"]
    place.run(*buildah, "bud", *here, *made, ROOT)
    place.begun = time.monotonic()
    container = place.run(*buildah, "from", "--pull-never", "localhost/duetbench").split()[-1]
    duet = place.folder / "duet"
    words = " ".join(map(str, [*buildah, "run", *here, container, "--", "duet"]))
    duet.write_text(f"#!/bin/sh\nexec {words} \"$@\"\n")
    duet.chmod(0o755)
    return duet


def go(place):
    """The launcher as a module of a proxy, by `go run` and as a tool of a module; a release with another sum does not run."""
    module = "github.com/duetbench/duetbench/release/duet"
    proxy = place.folder / "proxy"
    publish(proxy / module / "@v", module, f"v{version()}", release_sums())
    publish(proxy / module / "@v", module, "v0.0.1", release_sums().replace(about.sum_of(tarball()), "0" * 64))
    settings = {"GOPROXY": f"file://{proxy}", "GONOSUMDB": "*", "GOFLAGS": "-mod=mod -modcacherw"}
    place.environment |= settings
    # Whoever has Go has its library compiled.
    place.run("go", "build", "net/http")
    place.begun = time.monotonic()
    with served(place, DIST) as mirror:
        place.environment["DUETBENCH_MIRROR"] = mirror
        assert version() in place.run("go", "run", f"{module}@v{version()}", "--version")
        assert "nothing was installed" in place.run("go", "run", f"{module}@v0.0.1", "--version", fails=1)
        place.run("go", "mod", "init", "example.com/m")
        place.run("go", "get", "-tool", f"{module}@latest")
    # The program is here now, and needs no server any more.
    tool = place.folder / "duet"
    tool.write_text('#!/bin/sh\nexec go tool duet "$@"\n')
    tool.chmod(0o755)
    return tool


def crate(place):
    """`cargo install` of the crates as they are packed for crates.io; compiling is not counted, and not optimised."""
    rust = {name: os.environ.get(name, pathlib.Path.home() / folder) for name, folder in RUST_HOMES.items()}
    place.run(sys.executable, ROOT / "release/crates.py", **rust)
    where = ["--path", ROOT / "target/crates/crates/duetbench-cli", "--root", place.folder, "--target-dir", ROOT / "target"]
    place.run("cargo", "install", "--debug", "--locked", "--offline", *where, **rust)
    place.begun = time.monotonic()
    return place.folder / "bin/duet"


def binstall(place):
    """`cargo binstall` by what the packed crate says of its release, from a server with a certificate of its own; nothing is compiled."""
    rust = {name: os.environ.get(name, pathlib.Path.home() / folder) for name, folder in RUST_HOMES.items()}
    place.run(sys.executable, ROOT / "release/crates.py", **rust)
    crate = ROOT / "target/crates/crates/duetbench-cli"
    address = tomllib.loads((crate / "Cargo.toml").read_text())["package"]["metadata"]["binstall"]["pkg-url"]
    authority, certificate, key = certified(place)
    place.begun = time.monotonic()
    with served(place, DIST, (certificate, key)) as mirror:
        here = address.replace("{ repo }/releases", mirror)
        assert here != address, address
        asked = ["--no-confirm", "--strategies", "crate-meta-data", "--targets", TARGET.rust, "--root-certificates", authority]
        place.run("cargo-binstall", *asked, "--pkg-url", here, "--manifest-path", crate, "--root", place.folder, "duetbench", **rust)
    return place.folder / "bin/duet"


def certified(place):
    """An authority's certificate, and one for this machine's loopback with its key."""
    authority, authoritys, certificate, key = (place.folder / f"{name}.pem" for name in ("authority", "authoritys", "certificate", "key"))
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    place.run(*new, "-subj", "/CN=an authority", "-keyout", authoritys, "-out", authority)
    leaf = ["-addext", "basicConstraints=CA:FALSE", "-addext", "subjectAltName=IP:127.0.0.1"]
    place.run(*new, "-CA", authority, "-CAkey", authoritys, "-subj", "/CN=127.0.0.1", *leaf, "-keyout", key, "-out", certificate)
    return authority, certificate, key


def stand_in(repository, group, name, number):
    """An empty library in a repository of Maven's."""
    folder = repository / group.replace(".", "/") / name / number
    folder.mkdir(parents=True)
    facts = f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{number}</version>"
    (folder / f"{name}-{number}.pom").write_text(f"<project><modelVersion>4.0.0</modelVersion>{facts}</project>")
    (folder / f"{name}-{number}.jar").write_bytes(archive.zip_file([]))


def publish(folder, module, name, sums):
    """Puts a version of the launcher into a proxy."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [path for path in sorted((ROOT / "release/duet").iterdir()) if not path.name.endswith("_test.go")]
    texts = {path.name: path.read_bytes() for path in sources} | {"release.sums": sums.encode()}
    entries = [Entry(f"{module}@{name}/{file}", text) for file, text in texts.items()]
    (folder / f"{name}.zip").write_bytes(archive.zip_file(entries))
    (folder / f"{name}.mod").write_bytes(texts["go.mod"])
    (folder / f"{name}.info").write_text(json.dumps({"Version": name, "Time": "2026-01-01T00:00:00Z"}))
    with open(folder / "list", "a") as file:
        file.write(f"{name}\n")


def tarball():
    """The bytes that most ways fetch."""
    return (DIST / f"{stem(TARGET)}.tar.gz").read_bytes()


def release_sums():
    """The lines of SHA256SUMS that the action and the launcher hold."""
    lines = (DIST / "SHA256SUMS").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.endswith("-unknown-linux-gnu.tar.gz\n"))


@contextlib.contextmanager
def served(place, files, certificate=None):
    """Serves files on loopback as a mirror of releases has them; encrypted with a certificate and its key, if there is one."""
    root = pathlib.Path(tempfile.mkdtemp(dir=place.folder))
    (root / "latest").mkdir()
    (root / "download").mkdir()
    (root / "latest/download").symlink_to(files)
    (root / f"download/v{version()}").symlink_to(files)
    (root / "download/v0.0.1").symlink_to(files)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        # Clients hang up without a goodbye.
        server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


# Each way with the tools that it needs.
WAYS = {
    papers: ["readelf", "go"],
    script: ["curl", "go"],
    action: ["bash", "curl", "go"],
    wheel: ["go"],
    uvx: ["go"],
    npm: ["npm", "go"],
    maven: ["mvn", "go"],
    deb: ["dpkg", "dpkg-deb", "go"],
    image: ["buildah", "debootstrap", "tar", "go"],
    go: ["go"],
    crate: ["cargo", "go"],
    binstall: ["cargo", "cargo-binstall", "openssl", "go"],
}


def main():
    wanted = sys.argv[1:] or [way.__name__ for way in WAYS]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="duet-check-") as caches:
        for way, tools in WAYS.items():
            if way.__name__ in wanted:
                counts[tried(way, tools, pathlib.Path(caches))] += 1
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["failed"] else 0


def tried(way, tools, caches):
    """One way, in a folder of its own: how it ended."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        print(f"skipped {way.__name__}: no {', '.join(missing)}")
        return "skipped"
    with tempfile.TemporaryDirectory(prefix=f"duet-{way.__name__}-") as folder:
        place = Place(pathlib.Path(folder), caches)
        try:
            duet = way(place)
            took = time.monotonic() - place.begun
            assert duet is None or took < SECONDS_MAX, f"installing took {took:.0f} s"
            if duet is not None:
                place.shows_demo(duet)
        except (AssertionError, OSError, ValueError):
            print(f"failed  {way.__name__}: {traceback.format_exc()}")
            return "failed"
    print(f"passed  {way.__name__}: {way.__doc__.splitlines()[0]}" + (f" ({took:.1f} s to install)" if duet else ""))
    return "passed"


if __name__ == "__main__":
    sys.exit(main())
