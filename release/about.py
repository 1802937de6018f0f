"""Papers of a release: its parts (CycloneDX) and where it came from (an in-toto statement)."""

import hashlib
import json
import subprocess
import tomllib
import uuid
from datetime import datetime, timezone

from build import toolchain
from project import REPOSITORY, ROOT, epoch, git, version

# The sources as they are when building begins.
COMMIT = git("rev-parse", "HEAD")
ALTERED = bool(git("status", "--porcelain", "--untracked-files=no"))
# Crates of this workspace that are compiled into programs.
PROGRAMS = ["duetbench-cli", "duetbench-worker"]


def bill(target):
    """Every crate in the programs, as CycloneDX 1.6; from `cargo metadata`, which knows features and targets, and the lock file's sums."""
    metadata = cargo_metadata(target)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: linked(node) for node in metadata["resolve"]["nodes"]}
    roots = [key for key, package in packages.items() if package["name"] in PROGRAMS]
    reached = reachable(roots, nodes)
    sums = lock_sums()
    components = sorted((component(packages[key], sums) for key in reached), key=lambda part: part["bom-ref"])
    names = {key: reference(packages[key]) for key in reached}
    dependencies = [{"ref": names[key], "dependsOn": sorted({names[to] for to in nodes[key]})} for key in reached]
    text = json.dumps(components, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "duetbench", "version": version(), "bom-ref": "duetbench"},
        },
        "components": components,
        "dependencies": sorted(dependencies, key=lambda one: one["ref"]),
    }


def cargo_metadata(target):
    """What cargo resolves for this target with the features of releases."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target.rust]
    ended = subprocess.run([*words, "--features", "duetbench-cli/lambda"], cwd=ROOT, check=True, capture_output=True)
    return json.loads(ended.stdout)


def linked(node):
    """Dependencies that get into a program: not those of tests and build scripts."""
    return [to["pkg"] for to in node["deps"] if any(kind["kind"] is None for kind in to["dep_kinds"])]


def reachable(roots, nodes):
    """Everything below the roots, sorted."""
    found, waiting = set(), list(roots)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += nodes[key]
    return sorted(found)


def lock_sums():
    """Sums of published crates, by name and version."""
    with open(ROOT / "Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(one["name"], one["version"]): one["checksum"] for one in packages if "checksum" in one}


def reference(package):
    """The package URL of a crate."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    """One crate."""
    about = {"type": "library", "bom-ref": reference(package), "purl": reference(package)}
    about |= {"name": package["name"], "version": package["version"]}
    if package["license"]:
        # Older manifests write "MIT/Apache-2.0".
        about["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    known = sums.get((package["name"], package["version"]))
    return about | ({"hashes": [{"alg": "SHA-256", "content": known}]} if known else {})


def provenance(target, files):
    """The sums of these files (name to bytes), and what is known here of their making. The release workflow adds a signed statement of its own."""
    source = {"uri": f"git+{REPOSITORY}", "digest": {"gitCommit": COMMIT}, "annotations": {"altered": ALTERED}}
    lock = {"uri": "Cargo.lock", "digest": {"sha256": sum_of((ROOT / "Cargo.lock").read_bytes())}}
    built = {
        "buildType": f"{REPOSITORY}/blob/main/release/make.py",
        "externalParameters": {"version": version(), "target": target.rust, "sourceDateEpoch": epoch()},
        "internalParameters": toolchain(),
        "resolvedDependencies": [source, lock],
    }
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sum_of(content)}} for name, content in sorted(files.items())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"buildDefinition": built, "runDetails": {"builder": {"id": f"{REPOSITORY}/blob/main/release/make.py"}}},
    }


def sum_of(content):
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def text(paper):
    """A paper as bytes."""
    return (json.dumps(paper, indent=1) + "\n").encode()
