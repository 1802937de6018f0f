//! The steps of the action, run as GitHub would run them: a change is measured, fails, is waived, passes, and fails when that is
//! over; and what was measured without trust is published from the trusted side.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, Ran};

/// Work that does not depend on where the linker puts it.
const SUM: &str = "package codec\n\nimport \"crypto/sha256\"\n\n// Sum sums a page.\nfunc Sum(page []byte) [32]byte {\n\treturn sha256.Sum256(page)\n}\n";
const TEST: &str = "package codec\n\nimport \"testing\"\n\nvar page [4096]byte\nvar sum [32]byte\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsum = Sum(page[:])\n\t}\n}\n";
const QUICK: &str = "--builds 1 --forks 6 --threshold 20% --confirm=false";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci").join(name)
}

/// A repository with a module, and a branch on which its function does everything twice.
fn repository() -> Place {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("go.mod", "module example.com/codec\n\ngo 1.21\n").write("codec.go", SUM).write("codec_test.go", TEST);
    place.commit_all("a codec");
    place.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    place.git(&["checkout", "-q", "-b", "change"]);
    let twice =
        "\tsha256.Sum256(page)\n\tfirst := sha256.Sum256(page)\n\tpage[0] = first[0]\n\treturn sha256.Sum256(page)";
    place.write("codec.go", &SUM.replace("\treturn sha256.Sum256(page)", twice));
    place.commit_all("sum twice");
    place
}

/// Runs a script of the action with these variables, and nothing of this process that GitHub or duet would set.
fn step(place: &Place, name: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("bash");
    command.arg(script(name)).current_dir(place.path());
    let ours = |name: &str| ["DUET_", "GITHUB_", "ACTION_", "CI"].iter().any(|start| name.starts_with(start));
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.env("DUET_LOCK", place.lock());
    command.env("ACTION_DUET", env!("CARGO_BIN_EXE_duet")).envs(variables.iter().copied());
    Ran::from(command.output().unwrap())
}

fn measure(place: &Place, more: &[(&str, &str)]) -> Ran {
    let (summary, output) = (place.path().join(".duet/summary.md"), place.path().join(".duet/output.txt"));
    let _ = (fs::create_dir(place.path().join(".duet")), fs::remove_file(&summary), fs::remove_file(&output));
    let fixed = [
        ("ACTION_FLAGS", QUICK),
        ("GITHUB_BASE_REF", "main"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
        ("GITHUB_OUTPUT", output.to_str().unwrap()),
    ];
    step(place, "measure.sh", &[&fixed, more].concat())
}

fn kept(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join("duet-report").join(name)).unwrap()
}

#[test]
fn a_change_fails_is_waived_passes_and_fails_when_that_is_over() {
    let place = repository();
    measure(&place, &[]).expect(3).says(&["::error title=duet::time of `Sum` +"]);
    let comment = kept(&place, "comment.md");
    assert!(comment.starts_with("<!-- duetbench -->\n### 🔺 duet: 1 of 1 benchmark regressed"), "{comment}");
    assert_eq!(fs::read_to_string(place.path().join(".duet/summary.md")).unwrap(), comment);
    let output = fs::read_to_string(place.path().join(".duet/output.txt")).unwrap();
    assert!(output.contains("verdict=regression\nexit-code=3\nfolder=duet-report\n"), "{output}");
    assert_eq!(place.git(&["status", "--porcelain", "--", "duet-report"]), "", "the checkout is as it was");
    let base = place.git(&["rev-parse", "--short=10", "main"]);
    assert!(kept(&place, "report.json").contains(base.trim()), "the base is not the merge base");
    assert!(kept(&place, "report.html").contains(r#""headline":"1 of 1 benchmark regressed.""#));

    let waive = ["waive", "BenchmarkSum", "--ceiling", "900%", "--expires", "2999-12-31", "--reason", "twice is safer"];
    place.duet(&[&waive[..], &["--db", "duet-report/duet.db"]].concat()).expect(0);
    place.commit_all("accept it");
    measure(&place, &[]).expect(0);
    assert!(kept(&place, "comment.md").contains("regressed, as accepted"));
    assert!(kept(&place, "report.html").contains("regressed, as accepted"), "the page does not know the waiver");
    assert!(kept(&place, "duet-waivers.toml").contains("BenchmarkSum"));

    let file = fs::read_to_string(place.path().join("duet-waivers.toml")).unwrap();
    place.write("duet-waivers.toml", &file.replace("2999-12-31", "2000-01-01"));
    place.commit_all("let it expire");
    measure(&place, &[]).expect(3).says(&["which was accepted until 2000-01-01"]);
    // Where it shall only tell, it tells.
    measure(&place, &[("ACTION_FAIL", "false")]).expect(0);
}

#[test]
fn what_was_not_measured_fails_and_says_what_to_do() {
    let place = repository();
    measure(&place, &[("GITHUB_BASE_REF", "nowhere")]).expect(2).says(&["fetch-depth: 0"]);
    let nothing = [("ACTION_BENCH", "Nope"), ("ACTION_FAIL", "false")];
    measure(&place, &nothing).expect(1).says(&["`--bench Nope`"]);
    let output = fs::read_to_string(place.path().join(".duet/output.txt")).unwrap();
    assert!(output.contains("verdict=failed"), "{output}");
}

#[test]
fn a_checkout_without_the_change_is_none() {
    let place = repository();
    let target = [("GITHUB_EVENT_NAME", "pull_request_target")];
    measure(&place, &target).expect(2).says(&["::error title=duet::", "measure under pull_request,"]);
    place.git(&["checkout", "-q", "main"]);
    for more in [&[][..], &[("ACTION_BASE", "main")]] {
        measure(&place, more).expect(2).says(&["the checkout is the base", "check out the change"]);
    }
    assert!(!place.path().join("duet-report").exists());
}

#[test]
fn what_ends_well_without_measuring_is_no_good_news() {
    let place = repository();
    let refused = |flags: &str, said: &str| {
        measure(&place, &[("ACTION_FLAGS", flags), ("ACTION_BENCH", "Sum")]).expect(2).says(&[said]);
        let output = fs::read_to_string(place.path().join(".duet/output.txt")).unwrap_or_default();
        assert!(!output.contains("verdict="), "{output}");
    };
    for flag in ["--db x", "--format=text", "--output x", "-ox", "--dry-run"] {
        refused(flag, &format!("args has {}, which the action decides itself", flag.split(' ').next().unwrap()));
    }
    refused("--bench Other", "bench is given twice");
    refused("--help", "nothing was measured");
    place.write("duet.toml", "dry_run = true\n");
    refused(QUICK, "nothing was measured");
}

#[test]
fn options_may_stand_on_lines_of_their_own() {
    let flags = [("ACTION_FLAGS", "--builds 1\n--forks 6\n--bench Nope\n")];
    measure(&repository(), &flags).expect(1).says(&["`--bench Nope`"]);
}

#[test]
fn the_comment_lacks_the_answers_that_the_check_lacks() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    let noisy = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2}}"#;
    let scripted = "[ $1 != compare ] || { shift 2; set -- compare --scripted script.json --seed 1 \"$@\"; }";
    let duet = format!("#!/bin/sh\n{scripted}\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_duet"));
    place.write("script.json", noisy).write("bin/duet", &duet);
    let duet = place.path().join("bin/duet");
    fs::set_permissions(&duet, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("duet-report", place.path().join("artifact")).unwrap();
    let of_branch = ("", "strict_on = ['main']\n", 4);
    for (flags, settings, code) in [("--strict", "", 4), ("", "strict = true\n", 4), of_branch, ("", "", 0)] {
        place.write("duet.toml", settings);
        let more = [("ACTION_FLAGS", flags), ("ACTION_BASE", "HEAD"), ("ACTION_DUET", duet.to_str().unwrap())];
        let more = [&more[..], &[("GITHUB_BASE_REF", "main")]].concat();
        measure(&place, &more).expect(code);
        publish(&place, &gh(&place, ""), "abc").expect(0);
        let sent = fs::read_to_string(place.path().join("sent.md")).unwrap();
        for comment in [kept(&place, "comment.md"), sent] {
            assert_eq!(comment.contains("fails: `A` has no answer"), code == 4, "{flags} {settings} {comment}");
        }
    }
}

#[test]
fn each_job_that_has_a_name_keeps_a_comment_of_its_own() {
    let place = Place::new();
    let slower = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;
    place.scripted(slower, &["--db", "artifact/duet.db"]).expect(3);
    let bin = gh(&place, "");
    publish_with(&place, &bin, "abc", &[("ACTION_NAME", "codec")]).expect(0);
    let sent = fs::read_to_string(place.path().join("sent.md")).unwrap();
    assert!(sent.starts_with("<!-- duetbench codec -->\n"), "{sent}");
    let log = fs::read_to_string(place.path().join("gh.log")).unwrap();
    assert!(log.contains("startswith(env.marker)") && log.contains("marker=<!-- duetbench codec -->"), "{log}");
    publish_with(&place, &bin, "abc", &[("ACTION_NAME", "a b")]).expect(2).says(&["the input name is `a b`"]);
}

/// A `gh` that notes what it is asked, and knows one pull request and, if told so, one comment.
fn gh(place: &Place, comments: &str) -> PathBuf {
    let bin = place.path().join("bin");
    let text = format!(
        "#!/bin/sh\nfor word in \"$@\" \"marker=$marker\"; do printf '%s\\n' \"$word\" >> '{log}'; done\n\
         case \"$*\" in\n  *issues/7/comments*POST*|*POST*|*PATCH*) for word in \"$@\"; do case $word in body=@*) cp \"${{word#body=@}}\" '{sent}';; esac; done;;\n\
         *issues/7/comments*) printf '{comments}';;\n  *pulls*) [ \"$ACTION_HEAD_SHA\" = abc ] && echo 7;;\nesac\nexit 0\n",
        log = place.path().join("gh.log").display(),
        sent = place.path().join("sent.md").display(),
    );
    place.write("bin/gh", &text);
    fs::set_permissions(bin.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

fn publish(place: &Place, bin: &Path, sha: &str) -> Ran {
    publish_with(place, bin, sha, &[])
}

fn publish_with(place: &Place, bin: &Path, sha: &str, more: &[(&str, &str)]) -> Ran {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let event = [("ACTION_HEAD_SHA", sha), ("ACTION_HEAD_OWNER", "somebody"), ("ACTION_HEAD_BRANCH", "change")];
    let run = ("ACTION_RUN_URL", "https://forge.example/o/r/actions/runs/1");
    let ours =
        [("PATH", &*path), ("ACTION_ARTIFACT", "artifact"), ("GITHUB_REPOSITORY", "o/r"), ("GH_TOKEN", "t"), run];
    step(place, "publish.sh", &[&event[..], &ours, more].concat())
}

#[test]
fn one_comment_is_written_and_renewed_from_what_cannot_be_trusted() {
    let place = Place::new();
    let slower = r#"{"BenchmarkA @all [x](http://e.vil)": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;
    place.scripted(slower, &["--db", "artifact/duet.db"]).expect(3);
    // Other files in the artifact are not looked at.
    place
        .write("artifact/comment.md", "<!-- duetbench -->\nsend money")
        .write("artifact/duet.toml", "output = '/tmp/x'");
    publish(&place, &gh(&place, ""), "abc").expect(0);
    let sent = fs::read_to_string(place.path().join("sent.md")).unwrap();
    assert!(sent.starts_with("<!-- duetbench -->") && sent.contains("1 of 1 benchmark regressed"), "{sent}");
    assert!(!sent.contains("send money"));
    assert!(sent.ends_with("\n[Report with pictures, and log](https://forge.example/o/r/actions/runs/1)\n"), "{sent}");
    let log = || fs::read_to_string(place.path().join("gh.log")).unwrap();
    assert!(log().contains("POST\nrepos/o/r/issues/7/comments\n"), "{}", log());

    publish(&place, &gh(&place, "4711\\n"), "abc").expect(0);
    assert!(log().contains("PATCH\nrepos/o/r/issues/comments/4711\n"), "{}", log());
    let before = log().len();
    let ran = publish(&place, &gh(&place, ""), "abd").expect(0);
    assert!(ran.stdout.contains("nothing to comment on") && !log()[before..].contains("POST"));
}

#[test]
fn the_comment_offers_no_command_that_a_stranger_chose() {
    let place = Place::new();
    let slower = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;
    place.scripted(slower, &["--db", "artifact/duet.db"]).expect(3);
    let sent = || fs::read_to_string(place.path().join("sent.md")).unwrap();
    let forge = |path: &str, json: &str| {
        let store = rusqlite::Connection::open(place.path().join("artifact/duet.db")).unwrap();
        let update = format!("UPDATE runs SET head = json_set(head, '$.{path}', json('{json}'))");
        store.execute(&update, []).unwrap();
        drop(store);
        let _ = fs::remove_file(place.path().join("sent.md"));
        publish(&place, &gh(&place, ""), "abc").expect(0);
    };
    forge("baseline.requested", "\"HEAD~1\"");
    assert!(sent().contains("duet compare HEAD~1 candidate"), "{}", sent());
    for (path, json, usual) in [
        ("baseline.requested", "\"sh -c evil\"", "\"HEAD\""),
        ("candidate.requested", "\"evil.example/x@v1.0.0\"", "\"HEAD\""),
        ("spec.harness_args", "[\"-toolexec\", \"evil\"]", "[]"),
    ] {
        forge(path, json);
        let sent = sent();
        assert!(sent.contains("1 of 1 benchmark regressed") && !sent.contains("duet compare"), "{path}: {sent}");
        forge(path, usual);
    }
}

#[test]
fn showing_an_artifact_has_limits_of_time_and_memory() {
    let place = Place::new();
    place.write("artifact/duet.db", "");
    // The program that is called instead of duet writes down its limits.
    let stands_in =
        "#!/bin/sh\nulimit -v > ../limits\nps -o args= -p $PPID >> ../limits\necho \"$@\" >> ../limits\nexit 1\n";
    let bin = gh(&place, "");
    place.write("bin/duet", stands_in);
    fs::set_permissions(bin.join("duet"), fs::Permissions::from_mode(0o755)).unwrap();
    let limits = place.path().join("limits");
    place.write("bin/duet", &stands_in.replace("../limits", limits.to_str().unwrap()));
    let event = [("ACTION_HEAD_SHA", "abc"), ("ACTION_HEAD_OWNER", "somebody"), ("ACTION_HEAD_BRANCH", "change")];
    let stand_in = bin.join("duet");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let ours = [
        ("PATH", &*path),
        ("ACTION_ARTIFACT", "artifact"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GH_TOKEN", "t"),
        ("ACTION_DUET", stand_in.to_str().unwrap()),
    ];
    step(&place, "publish.sh", &[&event[..], &ours].concat()).expect(2).says(&["cannot be shown"]);
    let said = fs::read_to_string(limits).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].parse::<u64>().is_ok_and(|kb| kb <= 8 << 20), "{said}");
    assert!(lines[1].starts_with("timeout "), "{said}");
    assert!(lines[2].contains("--untrusted"), "{said}");
}

#[test]
fn an_artifact_that_is_none_is_refused() {
    let place = Place::new();
    let bin = gh(&place, "");
    place.write("artifact/other", "");
    publish(&place, &bin, "abc").expect(2).says(&["no duet.db"]);
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("artifact/duet.db")).unwrap();
    publish(&place, &bin, "abc").expect(2).says(&["is a link"]);
    fs::remove_file(place.path().join("artifact/duet.db")).unwrap();
    place.write("artifact/duet.db", "no database");
    publish(&place, &bin, "abc").expect(2).says(&["cannot be shown"]);
    assert!(!place.path().join("gh.log").exists());
}

/// A checkout of the action with these sums, and a mirror with a release whose `duet` is a script.
fn action_with_release(sums: impl Fn(&str) -> String) -> Place {
    let (place, root) = (Place::new(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let name = format!("duetbench-1.2.3-{}-unknown-linux-gnu", std::env::consts::ARCH);
    place
        .write("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n")
        .write("ci/build.sh", &fs::read_to_string(root.join("ci/build.sh")).unwrap())
        .write(&format!("{name}/duet"), "#!/bin/sh\necho duet 1.2.3\n")
        .write("bin/cargo", "#!/bin/sh\nmkdir -p duet-target/release; cp bin/built duet-target/release/duet\n")
        .write("bin/built", "#!/bin/sh\necho built\n");
    for program in [&*format!("{name}/duet"), "bin/cargo", "bin/built"] {
        fs::set_permissions(place.path().join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir_all(place.path().join("mirror/download/v1.2.3")).unwrap();
    let packed = format!("mirror/download/v1.2.3/{name}.tar.gz");
    let run = |line: &str| Command::new("sh").args(["-ec", line]).current_dir(place.path()).output().unwrap().stdout;
    run(&format!("tar -czf {packed} {name}"));
    let sum = String::from_utf8(run(&format!("sha256sum {packed}"))).unwrap();
    place.write("release/duet/release.sums", &sums(&format!("{}  {name}.tar.gz\n", &sum[..64])));
    place
}

/// Has the action get its program, or take the one that is given; the second is what it hands on. The folder of that is in the path of
/// later steps.
fn gets(place: &Place, given: &str) -> (Ran, String) {
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    let [output, folders] = ["output.txt", "folders.txt"].map(|name| place.path().join(name));
    let mut command = Command::new("bash");
    command.arg("ci/build.sh").current_dir(place.path()).env("PATH", path).env("GITHUB_OUTPUT", &output);
    command.env("DUETBENCH_MIRROR", format!("file://{}/mirror", place.path().display()));
    command.env("RUNNER_TEMP", place.path()).env("ACTION_DUET", given).env("GITHUB_PATH", &folders);
    let ran = Ran::from(command.output().unwrap());
    let [output, folders] = [output, folders].map(|file| fs::read_to_string(file).unwrap_or_default());
    let found: String = folders.lines().map(|folder| format!("duet={folder}/duet\n")).collect();
    assert_eq!(found, output, "a later step does not find it");
    (ran, output)
}

#[test]
fn the_action_takes_the_release_whose_sum_it_holds() {
    let place = action_with_release(|line| format!("# a remark\n{line}"));
    let (ran, output) = gets(&place, "");
    assert_eq!(ran.expect(0).stdout, "duet 1.2.3\n");
    assert!(output.starts_with("duet=/") && output.ends_with("/duet\n"), "{output}");
}

#[test]
fn the_action_refuses_a_release_with_another_sum_or_none() {
    let place = action_with_release(|line| line.replacen(&line[..4], "0000", 1));
    let (ran, output) = gets(&place, "");
    ran.expect(2).says(&["its sum is another one"]);
    assert_eq!(output, "");
    fs::remove_dir_all(place.path().join("mirror")).unwrap();
    gets(&place, "").0.expect(2).says(&["cannot fetch"]);
}

#[test]
fn the_action_builds_where_no_release_belongs_to_it() {
    for place in
        [action_with_release(|_| "# none\n".into()), action_with_release(|line| line.replace("1.2.3", "1.2.2"))]
    {
        assert!(gets(&place, "").0.expect(0).stdout.ends_with("built\n"));
    }
}

#[test]
fn the_action_takes_the_program_that_is_named() {
    let place = action_with_release(|line| line.into());
    std::os::unix::fs::symlink("built", place.path().join("bin/duet")).unwrap();
    let (ran, output) = gets(&place, "bin/duet");
    assert_eq!(ran.expect(0).stdout, "built\n");
    assert!(output.starts_with("duet=/"), "{output}");
}
