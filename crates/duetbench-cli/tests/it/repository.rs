//! Limits of the repository's files: they decide neither which files of the user are written, nor how much is spent, nor which secrets
//! are seen; and the report tells what they change of the gate.

use std::fs;

use crate::common::{Place, Ran};

const SLOWER: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;

/// A checkout with a store, and a file beside it that is none of its business.
fn checkout() -> Place {
    let place = Place::new();
    place
        .write("precious", "precious\n")
        .write("r/.git/config", "theirs\n")
        .write("r/sub/x", "")
        .write("script.json", SLOWER);
    std::os::unix::fs::symlink(place.path(), place.path().join("r/out")).unwrap();
    std::os::unix::fs::symlink("nowhere/yet", place.path().join("r/dangling")).unwrap();
    place.duet(&["-q", "compare", "--scripted", "script.json", "--db", "r/.duet/duet.db"]).expect(3);
    place
}

#[test]
fn no_file_outside_of_the_checkout_is_chosen_by_it() {
    let place = checkout();
    let outside = place.path().join("precious").display().to_string();
    for key in ["output", "db", "plan", "worker"] {
        for value in [&*outside, "../precious", "sub/../../precious", "out/precious", "dangling", ".git/config"] {
            place.write("r/duet.toml", &format!("{key} = '{value}'\n"));
            let mut command = place.command(&["show"]);
            command.current_dir(place.path().join("r"));
            let ran = Ran::from(command.output().unwrap());
            ran.expect(2).says(&["duet.toml", &format!("`{key}`"), value, &format!("DUET_{}", key.to_uppercase())]);
        }
    }
    assert_eq!(fs::read_to_string(place.path().join("precious")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(place.path().join("r/.git/config")).unwrap(), "theirs\n");
}

#[test]
fn no_plan_or_waiver_is_written_through_a_link_out_of_the_checkout() {
    let place = checkout();
    place.write("r/run.json", r#"{"BenchmarkA": {"baseline_ns": 1, "candidate_ns": 100, "spread": 0.0005}}"#);
    let ran = |args: &[&str]| {
        let mut command = place.command(args);
        Ran::from(command.current_dir(place.path().join("r")).output().unwrap())
    };
    let measured = ["run", "--scripted", "run.json", "--suite-runs", "3", "--forks", "3", "--iterations", "5"];
    let waive = ["waive", "BenchmarkA", "--days", "9", "--reason", "meant"];
    for (name, before, args) in [("duet-waivers.toml", None, &waive[..]), ("duet-plan.toml", Some(measured), &["tune"])]
    {
        before.iter().for_each(|before| drop(ran(before).expect(0)));
        let link = place.path().join("r").join(name);
        std::os::unix::fs::symlink(place.path().join("later"), &link).unwrap();
        ran(args).expect(2).says(&[name, "leads out of the checkout"]);
        assert!(!place.path().join("later").exists());
        fs::remove_file(link).unwrap();
        ran(args).expect(0);
    }
}

#[test]
fn no_page_or_store_is_written_through_a_link_out_of_the_checkout() {
    let place = checkout();
    let ran = |args: &[&str]| {
        let mut command = place.command(args);
        Ran::from(command.current_dir(place.path().join("r")).output().unwrap())
    };
    let page = place.path().join("r/duet-report.html");
    for target in ["precious", "later"] {
        std::os::unix::fs::symlink(place.path().join(target), &page).unwrap();
        for args in [&["report"][..], &["show", "--format", "html", "--output", "duet-report.html"]] {
            ran(args).expect(2).says(&["`duet-report.html`", "leads out of the checkout"]);
        }
        fs::remove_file(&page).unwrap();
    }
    ran(&["report"]).expect(0);
    assert!(page.is_file());
    // Whoever looks at runs may do so through a link, and whoever types it means it.
    let store = place.path().join("r/.duet/duet.db");
    fs::rename(&store, place.path().join("theirs")).unwrap();
    let compare = ["compare", "--scripted", "../script.json"];
    for target in ["theirs", "later"] {
        std::os::unix::fs::symlink(place.path().join(target), &store).unwrap();
        ran(&compare).expect(2).says(&[".duet/duet.db", "leads out of the checkout"]);
        fs::remove_file(&store).unwrap();
    }
    let profiles = place.path().join("r/.duet/profiles");
    std::os::unix::fs::symlink(place.path(), &profiles).unwrap();
    ran(&compare).expect(2).says(&[".duet/profiles", "leads out of the checkout"]);
    fs::remove_file(&profiles).unwrap();
    std::os::unix::fs::symlink(place.path().join("theirs"), &store).unwrap();
    ran(&["show"]).expect(3);
    ran(&["rm", "r1"]).expect(2).says(&["leads out of the checkout"]);
    ran(&[&compare[..], &["--db", ".duet/duet.db"]].concat()).expect(3);
    assert_eq!(fs::read_to_string(place.path().join("precious")).unwrap(), "precious\n");
    assert!(!place.path().join("later").exists());
}

#[test]
fn a_file_inside_or_one_that_was_typed_or_set_is_written() {
    let place = checkout();
    let ran = |args: &[&str], variable: Option<&str>| {
        let mut command = place.command(args);
        command.current_dir(place.path().join("r")).envs(variable.map(|value| ("DUET_OUTPUT", value)));
        Ran::from(command.output().unwrap()).expect(3)
    };
    let show = |more: &[&str], variable| drop(ran(&[&["show"], more].concat(), variable));
    place.write("r/duet.toml", "output = 'sub/report.txt'\n");
    ran(&["compare", "--scripted", "../script.json"], None);
    assert!(fs::read_to_string(place.path().join("r/sub/report.txt")).unwrap().contains("1 regression"));
    let typed = place.path().join("typed.txt").display().to_string();
    place.write("r/duet.toml", &format!("output = '{typed}'\n"));
    show(&["--output", &typed], None);
    fs::remove_file(&typed).unwrap();
    show(&[], Some(&typed));
    assert!(fs::read_to_string(&typed).unwrap().contains("1 regression"));
}

#[test]
fn looking_writes_no_output_that_the_checkout_chose_and_measuring_none_that_git_tracks() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("main.go", "package main\n").write("script.json", SLOWER).write("kept.txt", "kept\n");
    place.git(&["add", "main.go"]);
    let compare = ["compare", "--scripted", "script.json"];
    place.duet(&compare).expect(3);
    place.write("duet.toml", "output = 'kept.txt'\n");
    for looking in ["config check", "config schema", "runs", "show", "why r1", "doctor --seconds 1", "analyze r1"] {
        let ran = place.duet(&looking.split(' ').collect::<Vec<_>>());
        assert!(!ran.stdout.is_empty(), "{looking}: {}", ran.stderr);
        assert_eq!(fs::read_to_string(place.path().join("kept.txt")).unwrap(), "kept\n", "{looking}");
    }
    std::os::unix::fs::symlink("main.go", place.path().join("link")).unwrap();
    for tracked in ["main.go", "./main.go", "link"] {
        place.write("duet.toml", &format!("output = '{tracked}'\n"));
        for args in [&compare[..], &["show"]] {
            place.duet(args).expect(2).says(&["`output`", tracked, "git tracks", "`--output`", "DUET_OUTPUT"]);
        }
        assert_eq!(fs::read_to_string(place.path().join("main.go")).unwrap(), "package main\n");
    }
    place.duet(&[&compare[..], &["--output", "main.go"]].concat()).expect(3);
    assert!(fs::read_to_string(place.path().join("main.go")).unwrap().contains("1 regression"));
}

#[test]
fn no_report_is_written_over_the_stored_runs() {
    let place = Place::new();
    place.write("script.json", SLOWER);
    let compare = ["compare", "--scripted", "script.json"];
    // Before there is a store, and where it lies elsewhere.
    for args in [&["--output", ".duet/duet.db"][..], &["--db", "x", "--output", "./x-wal"]] {
        place.duet(&[&compare[..], args].concat()).expect(2).says(&["holds the stored runs", "`--output`"]);
    }
    assert!(!place.path().join("x").exists());
    place.duet(&compare).expect(3);
    std::os::unix::fs::symlink(".duet/duet.db", place.path().join("link")).unwrap();
    let page = ["show", "--format", "html", "--output"];
    let export = ["export", "r1", "--as", "go", "--output"];
    for (args, output) in [
        (&["show", "r1", "--format", "json", "--output"][..], ".duet/duet.db"),
        (&page, "link"),
        (&export, ".duet/../.duet/duet.db"),
        (&["config", "check", "-o"], ".duet/duet.db-wal"),
        (&["runs", "-o"], ".duet/duet.db-shm"),
    ] {
        place.duet(&[args, &[output]].concat()).expect(2).says(&[output, "holds the stored runs"]);
    }
    place.duet(&["show", "r1"]).expect(3);
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_measuring_or_how_to_have_it_after_all() {
    let place = Place::new();
    let name = "a".repeat(300);
    place.scripted(SLOWER, &["--output", &name]).expect(2).says(&["cannot be written", "name another file"]);
    assert!(!place.path().join(".duet").exists(), "it was measured");
    place.scripted(SLOWER, &["--output", "/dev/full"]).expect(1).says(&["`/dev/full`", "`duet show r1 -o FILE`"]);
    // A file that can be written is left as it was, until there is a report.
    place.write("report.txt", "former");
    place.duet(&["compare", "--scripted", "nowhere.json", "--output", "report.txt"]).expect(1);
    assert_eq!(fs::read_to_string(place.path().join("report.txt")).unwrap(), "former");
    place.duet(&["compare", "--scripted", "nowhere.json", "--output", "new.txt"]).expect(1);
    assert!(!place.path().join("new.txt").exists());
}

/// The answer to what the checkout's settings say.
fn check(place: &Place) -> Ran {
    let mut command = place.command(&["config", "check"]);
    Ran::from(command.current_dir(place.path().join("r")).output().unwrap())
}

#[test]
fn no_file_of_the_repository_spends_more_than_the_default() {
    let place = checkout();
    place.write("r/duet.toml", "max_cost = 2\n");
    check(&place).expect(0);
    place.write("r/duet.toml", "max_cost = '2.01'\n");
    check(&place).expect(2).says(&["`max_cost`", "duet.toml", "--max-cost"]);
    place.write("r/duet.toml", "prices = 'cheap.toml'\n");
    check(&place).expect(2).says(&["`prices`", "duet.toml", "--prices", "DUET_PRICES"]);
}

#[test]
fn no_file_of_the_repository_hands_over_secrets() {
    let place = checkout();
    let secrets = [
        "GITHUB_TOKEN", "npm_token", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD",
        "GOOGLE_APPLICATION_CREDENTIALS", "DEPLOY_PRIVATE_KEY", "OPENAI_API_KEY", "SSH_AUTH_SOCK",
    ];
    for name in secrets {
        place.write("r/duet.toml", &format!("pass_env = ['HARMLESS', '{name}']\n"));
        check(&place).expect(2).says(&["`pass_env`", name, "--pass-env"]);
    }
    place.write("r/duet.toml", "pass_env = ['DATA_DIR', 'MONKEY']\n");
    check(&place).expect(0);
}

#[test]
fn what_cannot_be_written_to_is_told_with_what_to_do() {
    let place = Place::new();
    place.write("duet.toml", "[[command]]\nname = 'x'\ncommand = 'true'\n");
    place.git(&["init", "-q"]);
    place.commit_all("one");
    let missing = place.path().join("gone");
    let mut command = place.command(&["compare", "HEAD", "."]);
    let ran = crate::common::Ran::from(command.env("TMPDIR", &missing).output().unwrap());
    ran.expect(2).says(&["`TMPDIR` is `", "which is no directory"]);
    // Permissions do not stop root, a file does.
    place.write(".git/worktrees", "in the way");
    let ran = place.duet(&["compare", "HEAD", "."]).expect(2);
    ran.says(&["`HEAD` cannot be checked out", "compare two directories"]);
}

#[test]
fn measured_code_cannot_read_the_variables_of_duet() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let reads = "sh -c 'cat /proc/$PPID/environ >> seen; true'";
    let lock = place.path().join("lock");
    let mut command = place.command(&["compare", "--command", reads, reads, "--forks", "3", "--fixed", "-q"]);
    command.env("DUET_LOCK", lock).env("HOME", place.path()).env("NO_SUCH_SECRET", "hunter2");
    if rustix_is_root() {
        // Whoever may do everything may read it too.
        command.uid(65534).gid(65534);
    }
    let ran = Ran::from(command.output().unwrap());
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let seen = fs::read(place.path().join("seen")).unwrap();
    assert!(!String::from_utf8_lossy(&seen).contains("hunter2"));
}

fn rustix_is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn what_a_change_alters_of_the_gate_is_told() {
    let place = Place::new();
    let command = "[[command]]\nname = 'x'\ncommand = 'true'\n";
    place
        .write("duet.toml", &format!("exclude = 'Slow'\n{command}[[rule]]\nbenchmarks = 'x'\naction = 'gate'\n"))
        .write(
            "duet-waivers.toml",
            "[[waiver]]\nbenchmark = 'p.B'\nceiling = '8%'\nexpires = 2999-12-31\nreason = 'r'\n",
        )
        .write(".gitignore", ".duet\n");
    place.git(&["init", "-q"]);
    place.commit_all("base");
    let compare = |place: &Place, format: &str| {
        place.duet(&["compare", "HEAD", ".", "--forks", "3", "--fixed", "--format", format]).stdout
    };
    assert!(!compare(&place, "text").contains("alters what gates"));
    place
        .write(
            "duet.toml",
            &format!("threshold = '999%'\nrole = 'a:b'\nquiet = true\n{command}[[rule]]\nbenchmarks = 'x'\naction = 'inform'\n"),
        )
        .write(
            "duet-waivers.toml",
            "[[waiver]]\nbenchmark = 'command.x'\nceiling = '90%'\nexpires = 2999-12-31\nreason = 'r'\n",
        );
    for format in ["text", "markdown", "json"] {
        let said = compare(&place, format).replace('\u{200b}', "");
        for words in [
            "this change alters what gates: threshold 3% → 999%",
            "this change alters what is spent, and where: role unset → `a:b`",
            "this change alters what gates: exclude `Slow` → unset",
            "this change alters what gates: a rule is new:",
            "this change alters what gates: a rule is gone:",
            "this change alters what gates: a waiver is new:",
            "this change alters what gates: a waiver is gone:",
        ] {
            assert!(said.contains(words), "{words}\n{said}");
        }
        assert!(!said.contains("quiet"), "{said}");
    }
}

#[test]
fn a_folder_inside_of_a_project_is_told_where_that_is() {
    let place = Place::new();
    place.write("app/Cargo.toml", "[package]").write("app/src/lib.rs", "").write("jvm/pom.xml", "<project/>");
    place.write("jvm/sub/x", "").write("docs/x", "");
    let within = |dir: &str, args: &[&str]| {
        let mut command = place.command(args);
        command.current_dir(place.path().join(dir));
        Ran::from(command.output().unwrap()).expect(2)
    };
    let root = place.path().canonicalize().unwrap().display().to_string();
    let said = |dir: &str, file: &str, project: &str| {
        let words = format!(
            "nothing in `{root}/{dir}` can be measured; `{file}` is in `{root}/{project}`\nhint: run duet there\n"
        );
        drop(within(dir, &["list"]).says(&[&words]));
    };
    said("app/src", "Cargo.toml", "app");
    said("jvm/sub", "pom.xml", "jvm");
    let all = "no `go.mod`, `go.work`, `pom.xml`, `build.gradle`, `build.gradle.kts`, `settings.gradle`, `settings.gradle.kts`, \
               `Cargo.toml`\nhint: run duet where one";
    within("docs", &["list"]).says(&["docs` is known to be measurable: ", all]);
    place.git(&["init", "-q"]);
    place.commit_all("one");
    within("app/src", &["list", "HEAD"])
        .says(&["nothing in `HEAD:./app/src` can be measured; `Cargo.toml` is in `HEAD:./app`"]);
    within("docs", &["list", "HEAD"]).says(&["nothing in `HEAD:./docs` is known to be measurable: "]);
}
