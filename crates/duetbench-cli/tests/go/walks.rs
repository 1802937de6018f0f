//! The guide, walked: what its pages tell people to type or to put into their repository is taken from the pages and done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, Ran};
use crate::schema;
use crate::walk_support;
use crate::walk_support::{Page, Runner, commands, steps_of};

const SUM: &str = "package codec\n\nimport \"crypto/sha256\"\n\n// Sum sums a page.\nfunc Sum(page []byte) [32]byte {\n\treturn sha256.Sum256(page)\n}\n";
const TEST: &str = "package codec\n\nimport \"testing\"\n\nvar page [4096]byte\nvar sum [32]byte\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsum = Sum(page[:])\n\t}\n}\n";
const TWICE: &str = "\tfirst := sha256.Sum256(page)\n\tpage[0] = first[0]\n\tpage[1] = sha256.Sum256(page)[1]\n\treturn sha256.Sum256(page)";

/// A repository of a Go module on its way to `main`, with a change that makes it slower or one that only says something.
fn pull_request(slower: bool) -> Place {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("go.mod", "module example.com/codec\n\ngo 1.21\n").write("codec.go", SUM).write("codec_test.go", TEST);
    place.write(".gitignore", "duet-report/\n.duet/\nstand-ins/\n");
    place.commit_all("a codec");
    place.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    place.git(&["checkout", "-q", "-b", "change"]);
    let changed = if slower {
        SUM.replace("\treturn sha256.Sum256(page)", TWICE)
    } else {
        SUM.replace("sums a page", "sums one page")
    };
    place.write("codec.go", &changed);
    place.commit_all("a change");
    place
}

/// A runner as GitHub has it for this pull request. What is added to the page's own words only keeps the walk short.
fn runner(place: &Place) -> Runner {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let stand_ins = place.path().join("stand-ins");
    fs::create_dir_all(&stand_ins).unwrap();
    Runner {
        workspace: place.path().to_owned(),
        context: BTreeMap::from([("github.token".to_owned(), "t".to_owned())]),
        variables: vec![
            variable("GITHUB_BASE_REF", "main"),
            variable("GITHUB_ACTIONS", "true"),
            variable("GITHUB_STEP_SUMMARY", stand_ins.join("summary.md").to_str().unwrap()),
            variable("DUET_LOCK", place.lock().to_str().unwrap()),
        ],
        inputs: vec![
            variable("duet", env!("CARGO_BIN_EXE_duet")),
            variable("args", "--builds 1 --threshold 20% --confirm=false"),
        ],
        artifacts: stand_ins.join("artifacts"),
        printed: String::new(),
    }
}

fn measuring() -> String {
    Page::read("add-duet-to-your-repository.md").block("yaml", "# .github/workflows/duet.yml")
}

#[test]
fn add_duet_to_your_repository() {
    let workflow = steps_of(&measuring());
    for (slower, code, verdict) in [(false, 0, "clean"), (true, 3, "regression")] {
        let place = pull_request(slower);
        let mut runner = runner(&place);
        assert_eq!(runner.run(&workflow), code, "{}", runner.printed);
        assert_eq!(runner.context["steps.duet.outputs.verdict"], verdict);
        let said = runner.printed.contains("::error title=duet::time of `Sum` +");
        assert_eq!(said, slower, "{}", runner.printed);
        let mut kept: BTreeSet<String> = fs::read_dir(runner.artifacts.join("duet"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        for name in ["report.json", "comment.md", "duet.db"] {
            assert!(kept.remove(name), "{name} was not kept");
        }
    }
}

#[test]
fn the_first_red_pull_request_is_waived_and_turns_green() {
    let accepting = commands(&Page::read("add-duet-to-your-repository.md").block("", "duet waive Sum"));
    assert!(accepting.iter().any(|line| line.contains("--db duet-report/duet.db")), "{accepting:?}");
    let place = pull_request(true);
    let mut runner = runner(&place);
    let workflow = steps_of(&measuring());
    assert_eq!(runner.run(&workflow), 3, "{}", runner.printed);
    let comment = |runner: &Runner| fs::read_to_string(runner.artifacts.join("duet/comment.md")).unwrap();
    assert!(comment(&runner).contains("duet-waivers.toml"), "the comment does not say how to accept it");
    for line in &accepting {
        // The second measurement is another one, and may lie beyond what the first left possible.
        let wide = line.replace("duet waive Sum", "duet waive Sum --ceiling 900%");
        typed(&place, &wide).expect(0);
    }
    assert_eq!(runner.run(&workflow), 0, "{}", runner.printed);
    assert_eq!(runner.context["steps.duet.outputs.verdict"], "clean");
    assert!(comment(&runner).contains("regressed, as accepted"), "{}", comment(&runner));
    assert!(Page::read("add-duet-to-your-repository.md").says("*regressed, as accepted*"));
}

/// A `gh` that knows one pull request, and keeps the comment that it is given.
fn gh(place: &Place) -> String {
    let bin = place.path().join("stand-ins/bin");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n  *POST*) for word in \"$@\"; do case $word in body=@*) cp \"${{word#body=@}}\" '{}';; esac; done;;\n  \
         *pulls*) echo 7;;\nesac\n",
        place.path().join("stand-ins/sent.md").display()
    );
    place.write("stand-ins/bin/gh", &text);
    fs::set_permissions(bin.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

#[test]
fn pull_requests_from_forks() {
    let page = Page::read("pull-requests-from-forks.md");
    let publishing = page.block("yaml", "# .github/workflows/duet-publish.yml");
    let place = pull_request(true);
    let mut measures = runner(&place);
    assert_eq!(measures.run(&steps_of(&measuring())), 3);

    // The other workflow runs elsewhere: nothing is there but what the event says, and the artifact.
    let trusted = Place::new();
    let mut publishes = Runner { workspace: trusted.path().to_owned(), printed: String::new(), ..runner(&place) };
    publishes.variables.push(("PATH".into(), gh(&place)));
    publishes.variables.push(("GITHUB_REPOSITORY".into(), "o/r".into()));
    for (name, value) in
        [("id", "1"), ("head_sha", "abc"), ("head_repository.owner.login", "somebody"), ("head_branch", "change")]
    {
        publishes.context.insert(format!("github.event.workflow_run.{name}"), value.into());
    }
    assert_eq!(publishes.run(&steps_of(&publishing)), 0, "{}", publishes.printed);
    let sent = fs::read_to_string(place.path().join("stand-ins/sent.md")).unwrap();
    assert!(sent.starts_with("<!-- duetbench -->\n### 🔺 duet: 1 of 1 benchmark regressed"), "{sent}");
    // The permissions of each of the two stand in its own text.
    assert!(
        measuring().contains("contents: read") && !measuring().contains("write")
            || measuring().contains("writes nothing")
    );
    assert!(publishing.contains("pull-requests: write") && !publishing.contains("checkout"));
    assert!(page.says("`pull_request_target`"));
}

#[test]
fn the_job_for_gitlab() {
    let job = fs::read_to_string(walk_support::root().join("ci/gitlab/duet.gitlab-ci.yml")).unwrap();
    let script = &yaml_rust2::YamlLoader::load_from_str(&job).unwrap()[0]["duet"]["script"];
    let lines: Vec<&str> = script.as_vec().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let place = pull_request(true);
    place.git(&["remote", "add", "origin", "."]);
    place.git(&["branch", "-f", "main", "origin/main"]);
    let duet = std::path::Path::new(env!("CARGO_BIN_EXE_duet"));
    let path = format!("{}:{}", duet.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = place.command(&[]);
    let variables: Vec<_> = command.get_envs().filter_map(|(k, v)| Some((k.to_owned(), v?.to_owned()))).collect();
    command = Command::new("bash");
    command.args(["-ec", &lines.join("\n")]).current_dir(place.path()).envs(variables).env("PATH", path);
    command.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main").env("ACTION_OUT", "duet-report");
    command.env("DUET_BUILDS", "1").env("DUET_FORKS", "6").env("DUET_THRESHOLD", "20%");
    Ran::from(command.output().unwrap()).expect(3);
    for name in ["comment.md", "report.html"] {
        let kept = fs::read_to_string(place.path().join("duet-report").join(name)).unwrap();
        assert!(kept.contains("1 of 1 benchmark regressed"), "{name}: {kept}");
    }
}

/// Lays out a release of the program under test alone, as `install.sh` fetches one; gives the mirror's address.
fn release(place: &Place) -> String {
    let stem = format!("duetbench-{}-{}-unknown-linux-gnu", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let script = format!(
        "mkdir -p latest/download '{stem}' && ln -s '{duet}' '{stem}/duet' && tar -cf - '{stem}' | gzip -1 > 'latest/download/{stem}.tar.gz' \
         && cd latest/download && sha256sum '{stem}.tar.gz' > SHA256SUMS",
        duet = env!("CARGO_BIN_EXE_duet"),
    );
    let folder = place.path().join("release");
    fs::create_dir_all(&folder).unwrap();
    let done = Command::new("sh").args(["-c", &script]).current_dir(&folder).status().unwrap();
    assert!(done.success());
    format!("file://{}", folder.display())
}

/// Does the page's first step; gives the installed program.
fn installed(page: &Page) -> (Place, PathBuf) {
    let place = Place::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../release/install.sh");
    let [line] = <[String; 1]>::try_from(commands(&page.block("", "install.sh"))).expect("one line installs");
    assert_eq!(line, "curl -fsSL https://github.com/duetbench/duetbench/releases/latest/download/install.sh | sh");
    let mut command = Command::new("sh");
    command.arg(script).env("HOME", place.path()).env("DUETBENCH_MIRROR", release(&place)).env_remove("DUET_VERSION");
    let said = Ran::from(command.output().unwrap()).expect(0).stdout;
    assert!(said.starts_with("installed duet "), "{said}");
    let program = place.path().join(".local/bin/duet");
    (place, program)
}

#[test]
fn start() {
    let page = Page::read("start.md");
    let (_home, duet) = installed(&page);
    let place = pull_request(false);
    place.git(&["checkout", "-q", "-b", "mine", "origin/main"]);
    let typed = |line: &str| match line.strip_prefix("duet ") {
        // One build and a plant of three times the work keep the walk short.
        Some(args) => {
            let words = words(args);
            let mut command = place.command_of(&duet, &words.iter().map(String::as_str).collect::<Vec<_>>());
            Ran::from(command.env("DUET_BUILDS", "1").env("DUET_THRESHOLD", "20%").output().unwrap())
        }
        None => typed(&place, line),
    };
    let once = commands(&page.block("", "duet init"));
    let asked = commands(&page.block("", "duet compare --profile"));
    let after = commands(&page.block("", "duet show --format html"));
    assert!(once.len() + asked.len() + after.len() <= 6, "the page promises six commands");
    assert_eq!(once.iter().map(|line| typed(line).code).max(), Some(0));
    place.write("codec.go", &SUM.replace("\treturn sha256.Sum256(page)", TWICE));
    let report = typed(&asked[0]).expect(3).stdout;
    assert!(report.starts_with("✗ 1 of 1 benchmark regressed"), "{report}");
    // The function that the change is in, among those whose gain is beyond noise.
    let (_, causes) = report.split_once("where regressions come from").expect(&report);
    assert!(causes.contains("example.com/codec.Sum, with what it calls"), "{report}");
    assert_eq!(after.iter().map(|line| typed(line).code).collect::<Vec<_>>(), [3, 0]);
    typed("duet show").expect(0);
}

const SLOWER: &str = r#"{"BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 107.2, "spread": 0.002}}"#;
const STEADY: &str = r#"{"BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
const NOISY: &str = r#"{"BenchmarkRequest": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2}}"#;

/// The words of a line, as a shell tells them apart.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (number, piece) in line.split('"').enumerate() {
        match number % 2 {
            1 => words.push(piece.to_owned()),
            _ => words.extend(piece.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

/// Does what a page says to type; a comparison has its outcome by script.
fn typed(place: &Place, line: &str) -> Ran {
    let words = words(line);
    let mut args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    match words[0].as_str() {
        "git" => {
            place.git(&args);
            Ran { code: 0, stdout: String::new(), stderr: String::new() }
        }
        "duet" if args == ["compare"] => {
            args.extend(["--scripted", "script.json", "--seed", "1"]);
            place.duet(&args)
        }
        "duet" => place.duet(&args),
        other => panic!("the page says to type `{other}`"),
    }
}

#[test]
fn accept_a_slowdown() {
    let page = Page::read("accept-a-slowdown.md");
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("script.json", SLOWER);
    let lines = commands(&page.block("", "duet waive Decode"));
    assert_eq!(lines.iter().filter(|line| line.as_str() == "duet compare").count(), 2);
    let codes: Vec<i32> = lines.iter().map(|line| typed(&place, line).code).collect();
    assert_eq!(codes, [3, 0, 0, 0], "{lines:?}");
    assert!(place.duet(&["show"]).expect(0).stdout.contains("accepted: "));
    // The file on the page is what was written, but for the package, which the script has another one of, and the day, which
    // depends on when it was typed.
    let file = fs::read_to_string(place.path().join("duet-waivers.toml")).unwrap();
    let [written, shown] = [file.clone(), page.block("toml", "[[waiver]]")].map(|text| waiver(&text));
    assert_eq!(written.keys().collect::<Vec<_>>(), shown.keys().collect::<Vec<_>>());
    for key in ["metric", "reason", "link"] {
        assert_eq!(written[key], shown[key], "{key}");
    }
    // Slower than the ceiling, not slower any more, over.
    place.write("script.json", &SLOWER.replace("107.2", "125"));
    typed(&place, "duet compare").expect(3);
    place.write("script.json", STEADY);
    typed(&place, "duet compare").expect(5);
    place.write("script.json", SLOWER);
    place.write("duet-waivers.toml", &file.replace(&written["expires"].to_string(), "2026-01-01"));
    typed(&place, "duet compare").expect(3);
}

/// The first waiver of a file.
fn waiver(file: &str) -> toml::Table {
    let file: toml::Table = toml::from_str(file).unwrap();
    file["waiver"][0].as_table().unwrap().clone()
}

#[test]
fn what_gates() {
    let page = Page::read("accept-a-slowdown.md");
    let settings = page.block("toml", "[[rule]]");
    let place = Place::new();
    place.write("duet.toml", &settings).write("script.json", NOISY);
    let value = serde_json::to_value(toml::from_str::<toml::Table>(&settings).unwrap()).unwrap();
    assert_eq!(schema::departures_from(schema::SETTINGS, &value), Vec::<String>::new());
    for line in commands(&page.block("", "duet config check")) {
        typed(&place, &line).expect(0);
    }
    let out = place.duet(&["config", "check"]).expect(0).stdout;
    assert_eq!(out.matches("\nrule ").count(), settings.matches("[[rule]]").count(), "{out}");
    let units: toml::Table = toml::from_str(&page.block("toml", "unit = ")).unwrap();
    assert_eq!(schema::departures_from(schema::SETTINGS, &serde_json::to_value(&units).unwrap()), Vec::<String>::new());
    place.write("duet.toml", &page.block("toml", "unit = "));
    let out = place.duet(&["config", "check"]).expect(0).stdout;
    assert!(out.contains("rule 2: hit-rate of all benchmarks: more is better"), "{out}");
    place.write("duet.toml", &settings);
    // The last rule of the page's first block wants an answer; its first lines want one of everything on some branches.
    typed(&place, "duet compare").expect(4);
    place.write("script.json", &NOISY.replace("Request", "Other"));
    typed(&place, "duet compare").expect(0);
    // Every key of the page's table is one that a rule has.
    let described = schema::read(schema::SETTINGS);
    let keys = described["$defs"]["rule"]["properties"].as_object().unwrap();
    let told: BTreeSet<String> = page.table("## Rules").iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(told, keys.keys().cloned().collect());
}

#[test]
fn read_a_verdict() {
    let page = Page::read("reading-a-verdict.md");
    let place = Place::new();
    let script = r#"{
        "BenchmarkSlug": {"baseline_ns": 663.3, "candidate_ns": 918.2, "spread": 0.02},
        "BenchmarkFast": {"baseline_ns": 100, "candidate_ns": 80, "spread": 0.002},
        "BenchmarkSame": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
        "BenchmarkOpen": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2},
        "BenchmarkGone": {"baseline_ns": 100},
        "BenchmarkNew": {"candidate_ns": 100},
        "BenchmarkBroken": {"baseline_ns": 100, "candidate_ns": 100, "failure": "it panicked"}
    }"#;
    place.scripted(script, &["--alpha", "1%"]).expect(3);
    let shown = place.duet(&["show"]).expect(3).stdout;
    // The row on the page has the columns that reports have; the first is the package.
    let row = page.block("", "before → after");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let head = |text: &str| words(text.lines().find(|line| line.contains("before → after")).unwrap());
    assert_eq!(head(&row), head(&shown));
    // Every answer is on the page, under the name that machines and people get.
    let answers: Vec<String> = page.table("## The answers").iter().map(|row| row[0].clone()).collect();
    let json = place.duet(&["show", "--format", "json"]).expect(3).json();
    for one in json["benchmarks"].as_array().unwrap() {
        let word = one["verdict"].as_str().unwrap();
        let told = |row: &&String| row.contains(word) || row.contains(&format!("**{}**", word.replace('_', " ")));
        assert!(answers.iter().find(told).is_some(), "`{word}` has no row on the page");
    }
    // So has every other word that a report can hold.
    for word in schema::read(schema::REPORT)["$defs"]["verdict"]["enum"].as_array().unwrap() {
        let word = word.as_str().unwrap();
        let people = word.replacen('_', ", ", usize::from(word.contains("er_"))).replace('_', " ");
        let told = |row: &&String| row.contains(word) || row.contains(&format!("**{people}**"));
        assert!(answers.iter().find(told).is_some(), "`{word}` has no row on the page");
        assert!(page.says(&format!("`{word}`")), "`{word}` is not among the machine words of the page");
    }
    // Every remark that a report can hold has its row, and no row is about another.
    let told: BTreeSet<String> =
        page.table("## Remarks").iter().map(|row| row[1].trim_matches('`').to_owned()).collect();
    let described = &schema::read(schema::REPORT)["$defs"]["warning"]["properties"]["kind"]["description"];
    let (_, kinds) = described.as_str().unwrap().split_once("added: ").unwrap();
    let held: BTreeSet<String> = kinds.trim_end_matches('.').split(", ").map(str::to_owned).collect();
    assert_eq!(told, held);
    // The command of the page asks an easier question of the stored run.
    assert!(page.says("`duet analyze --threshold 5%`"));
    assert_eq!(
        place.duet(&["analyze", "--threshold", "5%", "--format", "json"]).expect(3).json()["decision"]["threshold"],
        0.05
    );
}
