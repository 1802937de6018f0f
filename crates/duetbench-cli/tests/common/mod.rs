//! Shared parts of the end-to-end tests: the real binary in a directory of its own.
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    missing_docs,
    reason = "every test binary uses another part of it"
)]

mod waiting;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub use waiting::{HANGS, trials, wait_until, working_below};

/// A directory with a project in it, in which the real `duet` is run.
pub struct Place {
    dir: TempDir,
    aside: TempDir,
}

/// `duet` of this package, or beside the tests of another one: it is built with the workspace's tests.
fn duet() -> PathBuf {
    option_env!("CARGO_BIN_EXE_duet").map_or_else(beside, PathBuf::from)
}

fn beside() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let duet = tests.parent().and_then(|deps| deps.parent()).unwrap().join("duet");
    assert!(duet.exists(), "{} is not built: `cargo build`", duet.display());
    duet
}

/// Where tests are run by a hook of git, its repository is none of theirs.
fn without_git(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
}

/// The end of a call of `duet`: its exit code and its output.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap(), aside: tempfile::tempdir().unwrap() }
    }

    /// A Go module with one package whose only test file has this text.
    pub fn go_module(tests: &str) -> Place {
        let place = Place::new();
        place.write_module("", tests);
        place
    }

    /// Writes a module below the place.
    pub fn write_module(&self, dir: &str, tests: &str) -> &Place {
        self.write(&format!("{dir}/go.mod"), "module example.com/fixture\n\ngo 1.21\n");
        self.write(&format!("{dir}/fixture_test.go"), tests);
        self
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A lock of its own: tests wait for nobody, and what they find holds on a busy machine too.
    pub fn lock(&self) -> PathBuf {
        self.aside.path().join("lock")
    }

    pub fn write(&self, name: &str, text: &str) -> &Place {
        let path = self.path().join(name.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
        let mut command = Command::new("git");
        without_git(&mut command);
        let output = command.args(identity).args(args).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message]);
    }

    /// `duet`, ready to run, with settings of this process kept away.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(&duet(), args)
    }

    /// The same with another program.
    pub fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("DUET_")) {
            command.env_remove(name);
        }
        without_git(&mut command);
        // By default regressions are confirmed there, which adds rounds.
        command.env_remove("CI");
        // At the default, one in a hundred equal benchmarks may be called changed, and a test with it.
        command.env("DUET_ALPHA", "0.1%");
        // Most tests plant their changes in the benchmarks themselves.
        command.env("DUET_SAME_BENCHMARKS", "true");
        command.env("DUET_LOCK", self.lock());
        command
    }

    pub fn duet(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().unwrap())
    }

    /// `duet compare` with outcomes by script.
    pub fn scripted(&self, script: &str, args: &[&str]) -> Ran {
        self.write("script.json", script);
        self.duet(&[&["compare", "--scripted", "script.json", "--seed", "1"], args].concat())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Fails with everything that was printed unless the exit code is this.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error holds all of these.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Ran {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing\n--- stderr\n{}", self.stderr);
        }
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n--- stdout\n{}", self.stdout))
    }

    /// The verdict of one benchmark in a JSON report.
    #[track_caller]
    pub fn verdict(&self, name: &str) -> String {
        self.benchmark(name)["verdict"].as_str().unwrap().to_owned()
    }

    /// One benchmark of a JSON report.
    #[track_caller]
    pub fn benchmark(&self, name: &str) -> serde_json::Value {
        let report = self.json();
        let benchmarks = report["benchmarks"].as_array().unwrap();
        benchmarks.iter().find(|b| b["name"] == name).unwrap_or_else(|| panic!("no `{name}` in\n{report:#}")).clone()
    }
}

/// Two directories, `old` and `new`, with a module each.
pub fn two(old: &str, new: &str) -> Place {
    let place = Place::new();
    place.write_module("old", old).write_module("new", new);
    place
}

/// Compares `old` with `new`. The threshold is high, because two builds of the same code may differ by their layout alone.
pub fn compare(place: &Place, more: &[&str]) -> Ran {
    let fixed = ["compare", "./old", "./new", "--format", "json", "--forks", "5", "--threshold", "20%"];
    let plain = ["--builds", "1", "--fixed", "--measure-identical"];
    place.duet(&[&fixed[..], &plain[..], more].concat())
}

pub fn simple(body: &str) -> String {
    format!(
        "package fixture\n\nimport (\n\t\"crypto/sha256\"\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n\
         var _, _ = os.Args, time.Second\nvar sink int\nvar page [4096]byte\nvar sum = sha256.Sum256(page[:])\n\n{body}\n"
    )
}

/// A benchmark whose speed does not depend on where the linker puts it: an empty loop's would.
pub const GOOD: &str =
    "func BenchmarkGood(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n";

#[track_caller]
pub fn assert_no_false_alarm(ran: &Ran, names: &[&str]) {
    for name in names {
        let verdict = ran.verdict(name);
        // Two programs may differ a little by where their code lies.
        let within = ["slower_within_tolerance", "faster_within_tolerance"].contains(&verdict.as_str());
        let little = within && ran.benchmark(name)["change"].as_f64().is_some_and(|change| change.abs() < 0.02);
        assert!(
            little || matches!(verdict.as_str(), "no_change" | "inconclusive"),
            "{name}: {verdict}\n{}",
            ran.stdout
        );
    }
}

/// A result file of four forks of five iterations each: benchmarks with their times, and what their forks differ by.
pub fn recording(benchmarks: &[(&str, f64)]) -> String {
    let mut out = "m_id,n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n".to_owned();
    for (name, level) in benchmarks {
        for fork in 1..=4 {
            for iteration in 1..=5 {
                let value = level * (1.0 + 0.001 * f64::from((fork * 7 + iteration * 3) % 5));
                out += &format!("0,1,{value},5,4,{iteration},{fork},{name}\n");
            }
        }
    }
    out
}
