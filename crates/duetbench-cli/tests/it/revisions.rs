//! Revisions are checked out beside the user's own tree, and nothing of that is left in the repository.

use std::fs;

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
