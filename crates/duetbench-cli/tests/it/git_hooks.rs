//! `duet` as a hook of git: git tells hooks by variables where the index of the commit in the making lies, and whoever passes them on
//! works on that index.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::Place;

/// A repository with two commits, of which the second adds `keep.txt`, and what its hook wrote.
struct Repository {
    place: Place,
    /// Where git is called.
    tree: PathBuf,
}

impl Repository {
    fn new() -> Repository {
        let place = Place::new();
        place
            .write("r/duet.toml", "[[command]]\nname = 'x'\ncommand = 'sh work.sh'\n")
            .write("r/.gitignore", ".duet\n")
            .write("r/work.sh", "true\n");
        let tree = place.path().join("r");
        let repository = Repository { place, tree };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit("one", &[]);
        repository.write("keep.txt", "keep\n");
        repository.commit("two", &[]);
        repository
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.tree.join(name), text).unwrap();
    }

    fn commit(&self, message: &str, more: &[&str]) {
        self.git(&["add", "-A"]);
        self.git(&[&["commit", "-q", "-m", message], more].concat());
    }

    /// Command line of a hook: a comparison whose exit code and words are kept beside the repository.
    fn duet(&self) -> String {
        let path = |name: &str| self.place.path().join(name).display().to_string();
        format!(
            "'{}' compare HEAD~1 . --forks 3 --fixed --builds 1 --db '{}' >'{}' 2>&1; echo $? >'{}'",
            env!("CARGO_BIN_EXE_duet"),
            path("duet.db"),
            path("said"),
            path("code")
        )
    }

    fn hook(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt;
        let hooks = PathBuf::from(self.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"])).join("hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        let path = hooks.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{}\n", self.duet())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn run(&self, args: &[&str]) -> Output {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"];
        let mut command = Command::new("git");
        command.args(identity).args(args).current_dir(&self.tree);
        // As in every test; the hook inherits it.
        for (name, value) in self.place.command(&[]).get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().unwrap()
    }

    /// Fails unless the hook compared, and the last commit is the one with just these files over its parent, and the tree is clean but
    /// for `dirty`.
    #[track_caller]
    fn expect(&self, files: &str, dirty: &str) {
        self.compared();
        assert_eq!(self.git(&["show", "--format=", "--name-status", "HEAD"]), files);
        assert_eq!(self.git(&["status", "--porcelain"]), dirty);
        assert_eq!(self.git(&["fsck", "--no-dangling"]), "");
        assert_eq!(self.git(&["worktree", "list"]).matches("(detached HEAD)").count(), 0);
    }

    #[track_caller]
    fn compared(&self) {
        let read = |name: &str| std::fs::read_to_string(self.place.path().join(name)).unwrap_or_default();
        assert_eq!(read("code").trim(), "0", "{}", read("said"));
    }
}

#[test]
fn a_commit_of_all_changes_holds_them_and_nothing_else() {
    let repository = Repository::new();
    repository.hook("pre-commit");
    repository.write("work.sh", "true # mine\n");
    repository.git(&["commit", "-q", "-a", "-m", "mine"]);
    repository.expect("M\twork.sh", "");
}

#[test]
fn a_commit_of_one_path_holds_that_path() {
    let repository = Repository::new();
    repository.hook("pre-commit");
    repository.write("work.sh", "true # mine\n");
    repository.write("keep.txt", "changed\n");
    repository.git(&["commit", "-q", "-m", "mine", "work.sh"]);
    repository.expect("M\twork.sh", "M keep.txt");
}

#[test]
fn an_ordinary_commit_holds_what_was_staged() {
    let repository = Repository::new();
    repository.hook("pre-commit");
    repository.write("work.sh", "true # mine\n");
    repository.write("keep.txt", "changed\n");
    repository.git(&["add", "work.sh"]);
    repository.git(&["commit", "-q", "-m", "mine"]);
    repository.expect("M\twork.sh", "M keep.txt");
}

#[test]
fn a_commit_in_a_linked_worktree_holds_its_change() {
    let mut repository = Repository::new();
    repository.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    repository.tree = repository.place.path().join("linked");
    repository.hook("pre-commit");
    repository.write("work.sh", "true # mine\n");
    repository.git(&["commit", "-q", "-a", "-m", "mine"]);
    repository.expect("M\twork.sh", "");
}

#[test]
fn what_is_pushed_is_what_was_committed() {
    let repository = Repository::new();
    repository.git(&["init", "-q", "--bare", "../remote"]);
    repository.hook("pre-push");
    repository.write("work.sh", "true # mine\n");
    repository.commit("mine", &[]);
    repository.git(&["push", "-q", "../remote", "main"]);
    repository.expect("M\twork.sh", "");
    let pushed = repository.git(&["--git-dir=../remote", "rev-parse", "main"]);
    assert_eq!(pushed, repository.git(&["rev-parse", "HEAD"]));
}

#[test]
fn checking_out_leaves_the_tree_of_the_branch() {
    let repository = Repository::new();
    repository.git(&["branch", "-q", "other", "HEAD"]);
    repository.write("work.sh", "true # mine\n");
    repository.commit("mine", &[]);
    repository.hook("post-checkout");
    repository.git(&["checkout", "-q", "other"]);
    repository.expect("A\tkeep.txt", "");
}

#[test]
fn a_rebase_that_compares_at_each_step_comes_to_the_same_commits() {
    let repository = Repository::new();
    repository.write("work.sh", "true # mine\n");
    repository.commit("mine", &[]);
    repository.write("more.txt", "more\n");
    repository.commit("more", &[]);
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    repository.git(&["rebase", "-q", "--exec", &repository.duet(), "--force-rebase", "HEAD~2"]);
    repository.expect("A\tmore.txt", "");
    assert_eq!(repository.git(&["rev-parse", "HEAD^{tree}"]), tree);
}

#[test]
fn no_variable_that_git_keeps_to_a_repository_reaches_git_or_go() {
    let repository = Repository::new();
    let listed = repository.git(&["rev-parse", "--local-env-vars"]);
    let elsewhere = repository.place.path().join("elsewhere");
    let mut command = repository.place.command(&["compare", "HEAD~1", ".", "--forks", "3", "--fixed", "--dry-run"]);
    command.current_dir(&repository.tree);
    // That one only users set, who mean it.
    for name in listed.lines().filter(|name| *name != "GIT_CONFIG_COUNT") {
        command.env(name, hostile(name, &elsewhere));
    }
    command.env("GIT_NAMESPACE", "n");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!elsewhere.exists());
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

/// A value under which git would do something else.
fn hostile(name: &str, elsewhere: &Path) -> String {
    match name {
        "GIT_CONFIG_PARAMETERS" => format!("'core.worktree'='{}'", elsewhere.display()),
        _ => elsewhere.display().to_string(),
    }
}
