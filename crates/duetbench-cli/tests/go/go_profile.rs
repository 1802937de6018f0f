//! Where a regression comes from, with the real binary and real Go builds.
//!
//! No test asserts a time. The planted function takes most of what the candidate does, so that it is found on any machine.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Place, Ran, compare, two};
use crate::schema;

/// A benchmark whose second part takes `STEPS`, and one whose work never changes.
const PARTS: &str = "package fixture

import \"testing\"

var sink int

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

//go:noinline
func slowPart(n int) int {
	s := 1
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

//go:noinline
func both(n int) int { return work(300) + slowPart(n) }

func BenchmarkBoth(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = both(STEPS)
	}
}

func BenchmarkSame(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = work(300)
	}
}
";

fn parts(steps: u32) -> String {
    PARTS.replace("STEPS", &steps.to_string())
}

/// Output of `go tool pprof`, run in the place.
fn pprof(place: &Place, args: &[&str]) -> String {
    let output = Command::new("go").args(["tool", "pprof"]).args(args).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn functions(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|f| f["function"].as_str().unwrap()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_planted_function_is_what_gained() {
    let place = two(&parts(30), &parts(600));
    let ran = compare(&place, &["--profile", "--forks", "8"]).expect(3).says(&["profiling 1 regression, "]);
    let report = ran.json();
    assert_eq!(schema::departures(&report), Vec::<String>::new());
    let [profile] = &report["profiles"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&profile["name"], &profile["failure"]), (&"BenchmarkBoth".into(), &Value::Null));
    let difference = &profile["difference"];
    let planted = "example.com/fixture.slowPart";
    assert_eq!(functions(&difference["flat"])[0], planted, "{profile:#}");
    assert!(functions(&difference["cumulative"]).contains(&"example.com/fixture.both"), "{profile:#}");
    assert!(!functions(&difference["flat"]).contains(&"example.com/fixture.work"), "{profile:#}");
    let share = difference["flat"][0]["share"].as_f64().unwrap();
    assert!((0.7..1.5).contains(&share), "{share}");

    let files = ["baseline", "candidate"].map(|role| profile["files"][role].as_str().unwrap());
    for file in files {
        assert!(pprof(&place, &["-top", file]).contains("fixture.slowPart"));
        assert_eq!(mode(&place.path().join(file)), 0o600, "{file}");
        assert_eq!(mode(place.path().join(file).parent().unwrap()), 0o700, "{file}");
    }
    assert_eq!(files[0], ".duet/profiles/r1/fixture.BenchmarkBoth.baseline.pb.gz");
    let deeper = pprof(&place, &["-top", &format!("-diff_base={}", files[0]), files[1]]);
    let first = deeper.lines().skip_while(|line| !line.contains("flat%")).nth(1);
    assert!(first.is_some_and(|line| line.contains("fixture.slowPart")), "{deeper}");
    it_is_shown_again(&place, &ran, files);
}

/// Stored runs have their profiles, which are no samples.
fn it_is_shown_again(place: &Place, ran: &Ran, files: [&str; 2]) {
    let shown = place.duet(&["show", "--format", "json"]).expect(3).json();
    assert_eq!((&shown["profiles"], &shown["benchmarks"]), (&ran.json()["profiles"], &ran.json()["benchmarks"]));
    assert_eq!(ran.benchmark("BenchmarkBoth")["forks"].as_array().unwrap().len(), 8);
    let text = place.duet(&["show"]).expect(3).stdout;
    let deeper = format!("`go tool pprof -top -diff_base={} {}`", files[0], files[1]);
    assert!(text.contains("where regressions come from") && text.contains(&deeper), "{text}");
    assert!(text.contains("example.com/fixture.slowPart, itself: "), "{text}");
    let comment = place.duet(&["show", "--format", "markdown"]).expect(3).stdout;
    assert!(comment.contains("<summary>Where Both got slower</summary>") && comment.contains(&deeper), "{comment}");
    its_call_stacks_are_drawn(place);
    // A run that came to its end is not measured again, nor profiled.
    place.duet(&["compare", "--resume", "r1", "--profile"]).expect(2).says(&["came to its end"]);
}

/// The page has the stacks of both sides as long as the profiles are there.
fn its_call_stacks_are_drawn(place: &Place) {
    let profile = || {
        place.duet(&["show", "--format", "html", "-o", "page.html"]).expect(3);
        let page = fs::read_to_string(place.path().join("page.html")).unwrap();
        let (_, data) = page.split_once(r#"id="data">"#).unwrap();
        let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        let both = data["benchmarks"].as_array().unwrap().iter().find(|one| one["name"] == "BenchmarkBoth").unwrap();
        both["profile"].clone()
    };
    let stacks = profile()["stacks"].take();
    let function = |frame: &Value| stacks["functions"][frame[1].as_u64().unwrap() as usize].clone();
    let frames = stacks["frames"].as_array().unwrap();
    let planted = frames.iter().find(|frame| function(frame) == "example.com/fixture.slowPart").unwrap();
    assert_eq!((&planted[0], &planted[6]), (&3.into(), &"grew".into()), "{stacks:#}");
    assert!(planted[3].as_f64().unwrap() > 0.5, "{stacks:#}");
    let why = place.duet(&["why"]).expect(0).stdout;
    assert!(why.contains("call stack, by sampled time") && why.contains("· · · fixture.slowPart"), "{why}");
    let (there, away) = (place.path().join(".duet/profiles"), place.path().join("away"));
    fs::rename(&there, &away).unwrap();
    let gone = profile();
    assert_eq!(gone["stacks"], Value::Null);
    let said = gone["words"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(said.starts_with("no call stacks: `fixture.BenchmarkBoth.baseline.pb.gz` cannot be read: "), "{said}");
    fs::rename(away, there).unwrap();
}

#[test]
fn without_a_regression_nothing_is_profiled() {
    let place = two(&parts(30), &parts(30));
    let ran = compare(&place, &["--profile"]).expect(0);
    assert!(!ran.stderr.contains("profiling"), "{}", ran.stderr);
    assert_eq!(ran.json().get("profiles"), None);
    assert!(!place.path().join(".duet/profiles").exists());
}

#[test]
fn a_regression_is_not_profiled_unless_asked_for_and_a_plan_says_what_it_would_take() {
    let place = two(&parts(30), &parts(600));
    let ran = compare(&place, &["--bench", "Both", "--forks", "8"]).expect(3);
    assert_eq!(ran.json().get("profiles"), None);
    let line = "profiles of regressions, if there are any: about 10";
    let plan = ["compare", "./old", "./new", "--bench", "Both", "--dry-run"];
    assert!(!place.duet(&plan).expect(0).stdout.contains("profiles"));
    place.write("duet.toml", "profile = true\n");
    let planned = place.duet(&plan).expect(0).stdout;
    assert!(planned.contains(line), "{planned}");
}

const FAILS_WHEN_PROFILED: &str = "
func BenchmarkShy(b *testing.B) {
	if flag.Lookup(\"test.cpuprofile\").Value.String() != \"\" {
		b.Fatal(\"somebody is watching\")
	}
	for i := 0; i < b.N; i++ {
		sink = both(STEPS)
	}
}
";

#[test]
fn a_profile_that_fails_leaves_the_verdict_as_it_is() {
    let text = |steps: u32| {
        let text = PARTS.replace("import ", "import \"flag\"\nimport ") + FAILS_WHEN_PROFILED;
        text.replace("STEPS", &steps.to_string())
    };
    let place = two(&text(30), &text(600));
    let ran = compare(&place, &["--profile", "--bench", "Shy", "--forks", "8"]).expect(3);
    assert_eq!(ran.verdict("BenchmarkShy"), "regression");
    let profile = &ran.json()["profiles"][0];
    assert!(profile["failure"].as_str().unwrap().contains("somebody is watching"), "{profile:#}");
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
    let warnings = ran.json()["warnings"].to_string();
    assert!(warnings.contains("`BenchmarkShy` could not be profiled, which does not touch its verdict"), "{warnings}");
}

#[test]
fn ctrl_c_while_profiling_keeps_the_run() {
    let place = two(&parts(30), &parts(600));
    let args = ["compare", "./old", "./new", "--bench", "Both", "--forks", "20", "--builds", "1", "--profile"];
    let mut child = place.command(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("profiling 1 regression") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it never came to profiling");
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(3);
    assert!(rest.contains("interrupted while profiling"), "{rest}");
    assert!(!ran.stdout.contains("incomplete"), "{}", ran.stdout);
    let shown = place.duet(&["show", "--format", "json"]).expect(3).json();
    assert_eq!((&shown["complete"], shown.get("profiles")), (&true.into(), None));
}

#[test]
fn a_run_that_was_interrupted_is_profiled_when_it_comes_to_its_end() {
    let place = two(&parts(30), &parts(600));
    let extent = ["--bench", "Both", "--forks", "60", "--fixed", "--builds", "1", "--profile"];
    let args = [&["compare", "./old", "./new"], &extent[..]].concat();
    let mut child = place.command(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|l| l.contains(": measuring ")), "it never came to measuring");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    Ran::from(child.wait_with_output().unwrap()).expect(130);
    assert!(!place.path().join(".duet/profiles").exists());
    // Whether to profile is no part of what was settled, so it may be said now, or left out.
    let ran = place.duet(&["compare", "--resume", "r1", "--profile", "--format", "json"]).expect(3);
    let gained = &ran.json()["profiles"][0]["difference"]["flat"];
    assert_eq!(functions(gained)[0], "example.com/fixture.slowPart", "{}", ran.stdout);
}

#[test]
fn harnesses_without_profiles_say_so() {
    let place = Place::new();
    let args = ["compare", "--command", "true", "true", "--forks", "3", "--profile"];
    let ran = place.duet(&args).expect(0);
    assert!(ran.stdout.contains("`--profile` has no effect here: "), "{}", ran.stdout);
}
