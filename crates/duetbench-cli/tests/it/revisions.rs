//! Revisions are checked out beside the user's own tree, and nothing of that is left in the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, Ran};

/// A repository with two commits of a whole program.
fn repository() -> Place {
    let place = Place::new();
    place.write("duet.toml", "[[command]]\nname = 'x'\ncommand = 'sh work.sh'\n").write("work.sh", "true\n");
    place.write(".gitignore", ".duet\ncache\ndisk\nlib\n");
    place.git(&["init", "-q"]);
    place.commit_all("one");
    place.write("work.sh", "true # as well\n");
    place.commit_all("two");
    place
}

/// A comparison of both, with variables besides.
fn compare(place: &Place, variables: &[(&str, &str)]) -> Ran {
    let mut command = place.command(&["compare", "HEAD~1", "HEAD", "--forks", "3", "--fixed"]);
    command.env("XDG_CACHE_HOME", place.path().join("cache")).envs(variables.iter().copied());
    Ran::from(command.output().unwrap())
}

#[test]
fn worktrees_of_the_users_whose_disk_is_away_stay_registered() {
    let place = repository();
    let ours = format!("cache/duet/duet-{}-0/tree-0123456789-0", i32::MAX);
    for path in ["disk/theirs", &ours, "cache/duet/theirs"] {
        place.git(&["worktree", "add", "-q", "--detach", path]);
    }
    ["disk", "cache"].into_iter().for_each(|gone| fs::remove_dir_all(place.path().join(gone)).unwrap());
    let ran = compare(&place, &[]);
    let listed = place.git(&["worktree", "list"]);
    let has = |path: &str| listed.contains(path);
    assert_eq!([has("/disk/theirs"), has("/cache/duet/theirs"), has("/duet-")], [true, true, false], "{listed}");
    assert_eq!(listed.lines().count(), 3, "{listed}{}", ran.stderr);
}

#[test]
fn a_folder_that_a_revision_lacks_is_named_with_where_to_run_duet_instead() {
    let place = repository();
    place.write("added/x_test.go", "package added\n");
    let mut command = place.command(&["compare", "HEAD"]);
    let ran = Ran::from(command.current_dir(place.path().join("added")).output().unwrap());
    ran.expect(2).says(&["`HEAD` has no directory `added/`", "hint: run duet where both", "`--packages ./added`"]);
}

#[test]
fn submodules_leave_no_settings_in_the_repository() {
    let place = repository();
    place.git(&["clone", "-q", ".", "lib"]);
    let url = place.path().join("lib").display().to_string();
    let add = |name: &str| {
        place.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "--name", name, &url, name]);
        place.commit_all(name);
    };
    ["a b", "users"].into_iter().for_each(add);
    place.git(&["config", "--remove-section", "submodule.a b"]);
    let settings = || place.git(&["config", "--local", "--list"]);
    let before = settings();
    assert!(before.contains("submodule.users.url") && !before.contains("submodule.a b"), "{before}");
    let variables =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")];
    let ran = compare(&place, &variables);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    assert_eq!(settings(), before);
    // Where git refuses such a submodule, it has written its settings by then.
    compare(&place, &[]).expect(2).says(&["submodules of `HEAD"]);
    assert_eq!(settings(), before);
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_checkout_of_which_git_tells_nothing_is_one_all_the_same() {
    let place = repository();
    place.write("bin/git", "#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n");
    fs::set_permissions(place.path().join("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    compare(&place, &[("PATH", &path)]).expect(2).says(&["detected dubious ownership"]);
    // Without revisions nothing is needed of git.
    let mut command = place.command(&["compare", ".", "--forks", "3", "--fixed"]);
    let ran = Ran::from(command.env("PATH", &path).output().unwrap());
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    assert!(ran.stdout.contains("work tree (git does not tell its state)"), "{}", ran.stdout);
}
