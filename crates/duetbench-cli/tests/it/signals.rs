//! Ctrl-C and TERM: the first ends a command orderly, or at once where it only reads; the second ends any at once.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, Ran};

/// Longer than any end takes on a busy machine, and shorter than what is waited for.
const AT_ONCE: Duration = Duration::from_secs(20);

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Its exit status; fails if it goes on.
#[track_caller]
fn end(child: &mut Child) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > AT_ONCE {
            child.kill().unwrap();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether this process ignores a signal, and with it every program that it starts.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal - 1)) != 0
}

/// Waits for a file that shows that something has begun.
#[track_caller]
fn await_file(place: &Place, name: &str) {
    let begun = Instant::now();
    while !place.path().join(name).exists() {
        assert!(begun.elapsed() < AT_ONCE, "`{name}` is not there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A place where git is a script.
fn with_git(script: &str) -> (Place, Command) {
    let place = Place::new();
    place.write("bin/git", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(place.path().join("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["compare", "v1", "v2"]);
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("DUET_LOCK", place.path().join("lock"));
    (place, command)
}

#[test]
fn a_command_that_only_reads_ends_at_once() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path().join("pipe")).status().unwrap().success());
    for words in [
        &["analyze", "pipe", "pipe"][..],
        &["analyze", "pipe", "pipe", "--method", "both"],
        &["tune", "pipe"],
        &["export", "pipe", "--as", "jmh"],
    ] {
        for (name, number) in [("-INT", 2), ("-TERM", 15)] {
            // A shell has what it starts in the background ignore Ctrl-C, and all that comes of it.
            if is_ignored(number) {
                continue;
            }
            let mut child = start(place.command(words));
            // Whoever opens the other end waits until it is being read.
            let writer = std::fs::OpenOptions::new().write(true).open(place.path().join("pipe")).unwrap();
            signal(&child, name);
            assert_eq!(end(&mut child).signal(), Some(number), "{words:?}");
            drop(writer);
        }
    }
}

#[test]
fn a_tool_that_is_waited_for_is_told_to_end_and_the_command_was_interrupted() {
    for (name, waits) in [("-INT", "exec sleep 600"), ("-TERM", "exec sleep 600"), ("-TERM", "sleep 600; true")] {
        let (place, command) = with_git(&format!("touch begun; {waits}"));
        let mut child = start(command);
        await_file(&place, "begun");
        signal(&child, name);
        assert_eq!(end(&mut child).code(), Some(130), "{name}: {waits}");
    }
}

/// The same command, started by a shell that ignores a signal, as `nohup` does.
fn where_ignored(name: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("trap '' {name}; exec \"$@\""), "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(set).current_dir(command.get_current_dir().unwrap());
    for (name, _) in command.get_envs().filter(|(_, value)| value.is_none()) {
        shell.env_remove(name);
    }
    shell
}

#[test]
fn a_closed_terminal_ends_a_command_unless_nohup_says_otherwise() {
    let script = "touch begun; while [ ! -e go ]; do sleep 0.1; done; exit 1";
    if !is_ignored(1) {
        let (place, command) = with_git(script);
        let mut child = start(command);
        await_file(&place, "begun");
        signal(&child, "-HUP");
        assert_eq!(end(&mut child).code(), Some(130));
    }
    let (place, command) = with_git(script);
    let mut child = start(where_ignored("HUP", &command));
    await_file(&place, "begun");
    signal(&child, "-HUP");
    place.write("go", "");
    assert_eq!(end(&mut child).code(), Some(2));
}

#[test]
fn where_ends_of_processes_are_ignored_they_are_seen_all_the_same() {
    let (_place, command) = with_git("exit 1");
    assert_eq!(end(&mut start(where_ignored("CHLD", &command))).code(), Some(2));
}

#[test]
fn the_second_signal_ends_what_the_first_does_not() {
    let (place, command) = with_git("trap 'touch told' INT; touch begun; while kill -0 $PPID; do sleep 0.1; done");
    let mut child = start(command);
    await_file(&place, "begun");
    signal(&child, "-INT");
    await_file(&place, "told");
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "-TERM");
    assert_eq!(end(&mut child).code(), Some(130));
}

#[test]
fn what_times_nothing_waits_for_nobody() {
    let place = Place::new();
    let lock = place.path().join("lock");
    let file = std::fs::File::create(&lock).unwrap();
    file.lock().unwrap();
    let free = |words: &[&str]| {
        let mut command = place.command(words);
        Ran::from(command.env("DUET_LOCK", &lock).env("DUET_NO_WAIT", "1").output().unwrap())
    };
    free(&["list", "--command", "true"]).expect(0);
    free(&["compare", "--command", "true", "true", "--dry-run"]).expect(0);
    free(&["run", "--command", "true", "--dry-run"]).expect(0);
    free(&["compare", "--command", "true", "true"]).expect(1).says(&["another run is measuring"]);
    // It measures whatever a file says of dry runs of other commands.
    place.write("duet.toml", "dry_run = true\n");
    free(&["demo"]).expect(1).says(&["another run is measuring"]);
    free(&["doctor"]).expect(1).says(&["another run is measuring"]);
    std::fs::remove_file(place.path().join("duet.toml")).unwrap();
    // A version that is not there is told at once.
    place.git(&["init", "-q"]);
    place.write("a.txt", "a").commit_all("one");
    free(&["compare", "nowhere"]).expect(2).says(&["there is no revision", "`nowhere`"]);
    free(&["compare", "./nowhere", "."]).expect(2).says(&["there is no directory `./nowhere`"]);
    free(&["run", "nowhere.jar"]).expect(2).says(&["there is no jar `nowhere.jar`"]);
}

#[test]
fn the_holder_that_is_named_lives() {
    let place = Place::new();
    let lock = place.path().join("lock");
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    std::fs::write(&lock, format!("process {} in `/gone`", dead.id())).unwrap();
    let file = std::fs::File::open(&lock).unwrap();
    file.lock().unwrap();
    let said = |words: &str| {
        let mut command = place.command(&["compare", "--command", "true", "true", "--no-wait"]);
        Ran::from(command.env("DUET_LOCK", &lock).output().unwrap()).expect(1).says(&[words]);
    };
    said("on this machine\n");
    std::fs::write(&lock, format!("process {} in `/here`", std::process::id())).unwrap();
    said("in `/here`");
    drop(file);
    let mut command = place.command(&["compare", "--command", "true", "true", "--forks", "3", "--fixed"]);
    command.env("DUET_LOCK", &lock).output().unwrap();
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "", "who has ended is still named");
}
