"""The Maven plugin and the jar with its programs, as zip files that hold a part of a Maven repository."""

import datetime
import hashlib
import pathlib
import shutil
import subprocess
import tempfile

import archive
import kinds
from archive import Entry
from project import ROOT, epoch, version

HERE = ROOT / "release" / "maven"
GROUP = "io/github/duetbench"
PLUGIN = "duetbench-maven-plugin"


def platform(programs):
    """The jar of one platform: programs, their names, and what tells this release from others."""
    files = {"duet": programs.duet, f"duet-worker-{programs.target.worker}": programs.worker}
    release = f"{version()}-{hashlib.sha256(b''.join(files.values())).hexdigest()[:16]}"
    facts = {"release": release.encode(), "programs": " ".join(files).encode()}
    entries = [Entry(f"duetbench/{name}", content) for name, content in (facts | files).items()]
    jar = archive.zip_file([*entries, *kinds.licences("META-INF")])
    name = f"duetbench-linux-{programs.target.npm}"
    return bundle(name, jar, kinds.filled("maven-platform.xml", kinds.words(programs.target)), kinds.licences("META-INF"))


def plugin(target):
    """The plugin itself, built by Maven from `release/maven`; the same for every platform."""
    with tempfile.TemporaryDirectory(prefix="duet-maven-") as folder:
        copy = pathlib.Path(folder) / "plugin"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("target"))
        pom = filled_pom(target)
        (copy / "pom.xml").write_bytes(pom)
        # The programs' jar is needed where the plugin runs, not where it is built.
        words = ["mvn", "--batch-mode", "--quiet", "--activate-profiles", "!x64,!arm64", "package"]
        subprocess.run(words, cwd=copy, check=True)
        jar = (copy / "target" / f"{PLUGIN}-{version()}.jar").read_bytes()
    sources = sorted((HERE / "src/main/java").rglob("*.java"))
    return bundle(PLUGIN, jar, pom, [Entry(str(path.relative_to(HERE / "src/main/java")), path.read_bytes()) for path in sources])


def filled_pom(target):
    """The plugin's POM, with the time that files bear in the form that Maven wants."""
    moment = datetime.datetime.fromtimestamp(epoch(), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return kinds.filled("../maven/pom.xml", kinds.words(target) | {"EPOCH": moment})


def bundle(name, jar, pom, sources):
    """A part of a repository, with the sums and the jars of sources and of documents that Maven Central asks for."""
    stem = f"{GROUP}/{name}/{version()}/{name}-{version()}"
    more = {"-sources.jar": archive.zip_file(sources), "-javadoc.jar": archive.zip_file(kinds.licences("META-INF"))}
    parts = {".pom": pom, ".jar": jar} | more
    sums = {end + "." + kind: hashlib.new(kind, content).hexdigest().encode() for end, content in parts.items() for kind in ("sha1", "md5")}
    entries = [Entry(stem + end, content) for end, content in (parts | sums).items()]
    return {f"{name}-{version()}-maven.zip": archive.zip_file(entries)}
