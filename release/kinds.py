"""The kinds of packages that a release consists of, each made from the same two programs without a network."""

import base64
import hashlib
import json
from dataclasses import dataclass

import archive
from archive import Entry
from project import LICENCES, REPOSITORY, ROOT, SUMMARY, Target, stem, version

HERE = ROOT / "release"


@dataclass(frozen=True)
class Programs:
    """The two programs of a target, as bytes."""

    target: Target
    duet: bytes
    worker: bytes

    def entries(self, folder):
        """Both in a folder: `duet` looks for its worker beside itself."""
        worker = f"{folder}/duet-worker-{self.target.worker}"
        return [Entry(f"{folder}/duet", self.duet, program=True), Entry(worker, self.worker, program=True)]


def licences(folder):
    """The texts of the licence in a folder."""
    return [Entry(f"{folder}/{name}", (ROOT / name).read_bytes()) for name in LICENCES]


def filled(name, words):
    """A template with each `@WORD@` replaced."""
    text = (HERE / "templates" / name).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text.encode()


def words(target):
    """Words of all templates."""
    facts = {"VERSION": version(), "REPOSITORY": REPOSITORY, "SUMMARY": SUMMARY}
    return facts | {"DEB": target.deb, "NPM": target.npm, "WHEEL": target.wheel}


def tarball(programs):
    """The plain archive, which `install.sh`, the action and the Go launcher take."""
    folder = stem(programs.target)
    entries = [*programs.entries(folder), *licences(folder)]
    return {f"{folder}.tar.gz": archive.tar_gz(entries)}


def wheel(programs):
    """A Python wheel: `pip install` puts its scripts on the path, and `uvx duetbench` starts the one of its own name."""
    name = f"duetbench-{version()}"
    info, scripts = f"{name}.dist-info", f"{name}.data/scripts"
    entries = [
        *programs.entries(scripts),
        Entry(f"{scripts}/duetbench", filled("duetbench.sh", {}), program=True),
        *licences(f"{info}/licenses"),
        Entry(f"{info}/METADATA", filled("METADATA", words(programs.target))),
        Entry(f"{info}/WHEEL", filled("WHEEL", {"TAGS": wheel_tags(programs.target)})),
    ]
    record = "".join(f"{entry.name},sha256={digest(entry.content)},{len(entry.content)}\n" for entry in entries)
    entries.append(Entry(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    return {f"{name}-py3-none-{programs.target.wheel}.whl": archive.zip_file(entries)}


def wheel_tags(target):
    """A line for each platform that a wheel's name sums up."""
    return "\n".join(f"Tag: py3-none-{platform}" for platform in target.wheel.split("."))


def digest(content):
    """A sum as wheels write it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def npm_platform(programs):
    """The npm package with the programs of one platform, which nobody installs by name."""
    entries = [*programs.entries("package/bin"), *licences("package")]
    entries.append(Entry("package/package.json", filled("platform.json", words(programs.target))))
    return {f"duetbench-linux-{programs.target.npm}-{version()}.tgz": archive.tar_gz(entries)}


def npm(targets):
    """The npm package that people name; it starts the program of the platform's package."""
    package = json.loads(filled("package.json", words(targets[0])))
    package["optionalDependencies"] = {f"@duetbench/linux-{target.npm}": version() for target in targets}
    text = json.dumps(package, indent=2) + "\n"
    entries = [Entry("package/package.json", text.encode()), *licences("package")]
    entries.append(Entry("package/duet.js", (HERE / "npm" / "duet.js").read_bytes(), program=True))
    return {f"duetbench-{version()}.tgz": archive.tar_gz(entries)}


def deb(programs):
    """A package of Debian's; the programs lie together, and the path has a link."""
    control = archive.tar_gz([Entry("./control", filled("control", words(programs.target)))])
    files = [
        *programs.entries("./usr/lib/duetbench"),
        Entry("./usr/bin/duet", link="../lib/duetbench/duet"),
        *licences("./usr/share/doc/duetbench"),
    ]
    data = archive.tar_gz(files, with_folders=True)
    members = [("debian-binary", b"2.0\n"), ("control.tar.gz", control), ("data.tar.gz", data)]
    return {f"duetbench_{version()}_{programs.target.deb}.deb": archive.ar(members)}


def of(programs):
    """All that one target's programs give."""
    return tarball(programs) | wheel(programs) | npm_platform(programs) | deb(programs)
