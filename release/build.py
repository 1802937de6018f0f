"""Compiles `duet` and its worker for one target, against the C library of 2014, the same bytes wherever it is done."""

import os
import pathlib
import subprocess
import sys
import venv

from project import ROOT, epoch, version

# Oldest C library that the programs run with.
GLIBC = "2.17"


def programs(root, target, folder):
    """Builds from `root` into `folder`; gives the paths of `duet` and of the worker."""
    tools = tool_folder()
    paths = {str(root): "/duetbench", str(cargo_home()): "/cargo", str(folder): "/target"}
    remap = [f"--remap-path-prefix={path}={name}" for path, name in paths.items()]
    prefix = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in paths.items())
    c_target = target.rust.replace("-", "_")
    environment = {name: value for name, value in os.environ.items() if name not in ("RUSTFLAGS", "CFLAGS", "CXXFLAGS")}
    environment |= {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(remap),
        f"CFLAGS_{c_target}": prefix,
        f"CXXFLAGS_{c_target}": prefix,
        "SOURCE_DATE_EPOCH": str(epoch()),
        # `duet init` names the release that it came with.
        "DUET_RELEASE": f"v{version()}",
    }
    words = ["zigbuild", "--profile", "dist", "--locked", "--target", f"{target.rust}.{GLIBC}", "--target-dir", folder]
    parts = ["-p", "duetbench-cli", "-p", "duetbench-worker", "--features", "duetbench-cli/lambda"]
    run([tools / "cargo-zigbuild", *words, *parts], cwd=root, env=environment)
    built = pathlib.Path(folder) / target.rust / "dist"
    return built / "duet", built / "duet-worker"


def tool_folder():
    """Folder with the pinned linker, which is installed below `target` once."""
    home = ROOT / "target" / "release-tools"
    wanted = (ROOT / "release" / "requirements.txt").read_text()
    mark = home / "requirements.txt"
    if not mark.exists() or mark.read_text() != wanted:
        venv.create(home, with_pip=True, clear=True)
        pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:"]
        run([*pip, "-r", ROOT / "release" / "requirements.txt"])
        mark.write_text(wanted)
    return home / "bin"


def toolchain():
    """The compilers, each in its own words."""
    rust = run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    zig = run([tool_folder() / "python", "-m", "ziglang", "version"], capture_output=True, text=True).stdout.strip()
    return {"rustc": rust, "zig": zig, "glibc": GLIBC}


def cargo_home():
    """Where cargo keeps sources of dependencies, whose paths would get into messages."""
    return pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))


def run(words, **settings):
    """A command that must succeed."""
    ended = subprocess.run([str(word) for word in words], **settings)
    if ended.returncode != 0:
        sys.stderr.write(str(ended.stderr or ""))
        raise SystemExit(f"release: `{words[0]}` ended with {ended.returncode}")
    return ended
