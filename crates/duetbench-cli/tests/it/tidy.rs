//! Checks on the project's own text that no compiler makes: sizes, directions between rooms, words.

use std::fs;
use std::path::{Path, PathBuf};

/// Most code lines in a file.
const FILE_LINES_MAX: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files below a folder of the project with one of these endings, build output left out.
fn files(below: &str, endings: &[&str]) -> Vec<PathBuf> {
    fn walk(dir: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !["target", "dist"].contains(&name.as_str()) && !name.starts_with('.') {
                walk(&path, endings, found);
            } else if endings.iter().any(|e| name.ends_with(e)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(below), endings, &mut found);
    assert!(!found.is_empty(), "nothing below `{below}`");
    found
}

/// The sources of all crates, without their tests.
fn sources() -> impl Iterator<Item = PathBuf> {
    files("crates", &[".rs"]).into_iter().filter(|path| path.components().any(|part| part.as_os_str() == "src"))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_stay_small() {
    let sources = files(".", &[".rs", ".go", ".py", ".java"]);
    let is_code = |line: &&str| {
        !line.trim().is_empty() && !line.trim_start().starts_with("//") && !line.trim_start().starts_with('#')
    };
    for path in sources {
        let lines = text(&path).lines().filter(is_code).count();
        assert!(lines <= FILE_LINES_MAX, "{} has {lines} lines of code: a room that wants a wall", path.display());
    }
}

/// The parameters of a source that pack several into a tuple, as their lines have them.
fn tuple_parameters(text: &str) -> Vec<&str> {
    let packs = |at: usize| {
        let before = &text[..at];
        let since = before.rfind("fn ").map_or("{", |start| &before[start..]);
        // No body, closure or constant has begun since.
        !since.contains(['{', '|']) && !since.contains(";\n") && !text[at..].starts_with(": ()")
    };
    let found = text.match_indices(": (").map(|(at, _)| at).filter(|at| packs(*at));
    found
        .map(|at| text[text[..at].rfind('\n').unwrap_or(0)..].trim_start().lines().next().unwrap_or_default())
        .collect()
}

#[test]
fn parameters_are_named_one_by_one() {
    assert_eq!(
        tuple_parameters("fn f(\n    (a, b): (u8, u8),\n) {\n let (c, d): (u8, u8) = x;"),
        ["(a, b): (u8, u8),"]
    );
    for path in sources() {
        let text = text(&path);
        let found = tuple_parameters(&text);
        assert!(found.is_empty(), "{} packs parameters: {found:?}", path.display());
    }
}

/// Fails when a source below `room` names one of `forbidden`.
fn must_not_name(room: &str, forbidden: &[&str]) {
    for path in files(room, &[".rs"]) {
        let text = text(&path);
        for word in forbidden {
            let named = text.lines().any(|l| l.contains(word) && !l.trim_start().starts_with("//"));
            assert!(!named, "{} names `{word}`", path.display());
        }
    }
}

#[test]
fn rooms_look_in_one_direction() {
    // Numbers in, numbers out, and nothing else of ours.
    let others = ["core", "formats", "run", "cli", "lambda", "worker", "study"].map(|room| format!("duetbench_{room}"));
    let effects = ["std::fs", "std::process", "std::env", "std::net", "std::time"].map(str::to_owned);
    let beside_numbers: Vec<&str> = others.iter().chain(&effects).map(String::as_str).collect();
    must_not_name("crates/duetbench-stats/src", &beside_numbers);
    let (tune, detect) = ("crates/duetbench-core/src/tune", "crates/duetbench-core/src/detect");
    must_not_name(tune, &["crate::detect", "crate::analysis", "crate::report"]);
    must_not_name(detect, &["crate::analysis", "crate::report"]);
    // The papers are no part of the product, and their statistics rest on no verdict.
    for room in ["duetbench-core", "duetbench-run", "duetbench-cli", "duetbench-worker", "duetbench-lambda"] {
        must_not_name(&format!("crates/{room}/src"), &["duetbench_study"]);
    }
    let judging = ["duetbench_run", "duetbench_cli", "core::analysis", "core::report", "std::fs", "std::process"];
    must_not_name("crates/duetbench-study/src/papers", &judging);
    must_not_name("crates/duetbench-study/src/statistics", &judging);
    must_not_name(
        "crates/duetbench-core/src",
        &["duetbench_run", "duetbench_cli", "std::fs", "std::process", "std::env", "std::net"],
    );
    must_not_name("crates/duetbench-formats/src", &["duetbench_run", "duetbench_cli", "std::process", "std::env"]);
    must_not_name("crates/duetbench-run/src", &["duetbench_cli", "clap", "indicatif", "anstyle"]);
    // Measuring reads the values that a process printed, and no files of other tools.
    let files_of_tools =
        ["read", "parse", "write", "Tool", "TOOLS", "{"].map(|name| format!("duetbench_formats::{name}"));
    must_not_name("crates/duetbench-run/src", &files_of_tools.each_ref().map(String::as_str));
    // A provider's own library stays in one crate, and that of its instances in the worker.
    for room in ["duetbench-core", "duetbench-formats", "duetbench-run", "duetbench-cli", "duetbench-worker"] {
        must_not_name(&format!("crates/{room}/src"), &["aws_sdk", "aws_config", "aws_smithy"]);
    }
    for room in ["duetbench-core", "duetbench-formats", "duetbench-run", "duetbench-cli", "duetbench-lambda"] {
        must_not_name(&format!("crates/{room}/src"), &["lambda_runtime"]);
    }
    for room in ["duetbench-cli", "duetbench-study"] {
        let impure = ["duetbench_run", "duetbench_formats", "std::fs", "rusqlite", "analysis::analyse"];
        must_not_name(&format!("crates/{room}/src/render"), &impure);
    }
    must_not_name("crates/duetbench-core/src/analysis", &["crate::report"]);
    let core = root().join("crates/duetbench-core/src");
    let early = ["schedule/mod.rs", "schedule/mixture.rs", "schedule/solo.rs", "pair.rs", "sample.rs", "spec/mod.rs"]
        .map(|file| core.join(file));
    for path in early.into_iter().chain(files("crates/duetbench-core/src/plan", &[".rs"])) {
        let text = text(&path);
        let looks_back = text.contains("crate::report") || text.contains("crate::verdict");
        assert!(!looks_back, "{} looks back", path.display());
    }
}

#[test]
fn only_the_printer_prints() {
    for path in sources() {
        let prints = ["println!", "eprintln!", "io::stdout()", "io::stderr()"].iter().any(|w| text(&path).contains(w));
        // The worker's output is its protocol.
        let allowed = path.ends_with("duetbench-cli/src/printer.rs") || path.ends_with("duetbench-worker/src/serve.rs");
        assert!(!prints || allowed, "{} prints", path.display());
    }
}

/// Fails unless an action is named by a commit that says its version: a tag or a branch can be moved to other code.
fn is_pinned(path: &Path, action: &str) {
    let (name, rest) = action.split_once('@').unwrap_or((action, ""));
    let (commit, version) = rest.split_once("  # ").unwrap_or((rest, ""));
    let by_commit = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()) && version.starts_with('v');
    let is_told = commit == "COMMIT" && version.contains("release") || commit == "@RELEASE@";
    let of_ours = name.starts_with("duetbench/duetbench") && is_told;
    assert!(by_commit || of_ours || name.starts_with("./"), "{}: `{action}` is not pinned to a commit", path.display());
}

#[test]
fn actions_are_pinned_to_commits() {
    let workflows = files(".github/workflows", &[".yml"]);
    let mut found = 0;
    for path in files(".", &[".yml", ".md", ".sh"]).into_iter().chain(workflows) {
        for action in text(&path).lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "))
        {
            is_pinned(&path, action);
            found += 1;
        }
    }
    assert!(found >= 9, "{found}");
}

#[test]
fn dependencies_may_have_their_fixes() {
    for path in files("crates", &["Cargo.toml"]).into_iter().chain([root().join("Cargo.toml")]) {
        assert!(!text(&path).contains("\"="), "{} wants one version and no other", path.display());
    }
}
