//! A signal to `duet` alone, while Go builds.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{GOOD, Place, Ran, simple, two, wait_until};

/// A toolchain that is the installed one, but for its `go`, which begins to build and never ends.
fn toolchain_that_hangs(place: &Place) {
    let output = Command::new("go").args(["env", "GOROOT"]).output().unwrap();
    let root = String::from_utf8(output.stdout).unwrap();
    let root = Path::new(root.trim());
    let begun = place.path().join("begun");
    let go = format!(
        "#!/bin/sh\n[ \"$1\" != test ] || {{ touch '{}'; exec sleep 7777; }}\nexec '{}' \"$@\"\n",
        begun.display(),
        root.join("bin/go").display()
    );
    place.write("go/bin/go", &go);
    fs::set_permissions(place.path().join("go/bin/go"), fs::Permissions::from_mode(0o755)).unwrap();
    for part in fs::read_dir(root).unwrap().flatten().filter(|part| part.file_name() != "bin") {
        symlink(part.path(), place.path().join("go").join(part.file_name())).unwrap();
    }
}

#[test]
fn a_build_is_told_to_end_by_who_is_told_alone() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = two(&simple(GOOD), &simple(GOOD));
        toolchain_that_hangs(&place);
        let mut command = place.command(&["compare", "./old", "./new"]);
        command.env("GOROOT", place.path().join("go")).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_until("it builds", || place.path().join("begun").exists());
        kill_process(Pid::from_child(&child), signal).unwrap();
        Ran::from(child.wait_with_output().unwrap()).expect(130);
    }
}
