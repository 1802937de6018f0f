//! The whole path with the real binary and real Go builds: what is found, what is refused, what is left behind.
//!
//! No test asserts a time. Identical work may read *inconclusive* on a busy machine, but never *changed*; planted changes
//! are large enough to be found on any.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{GOOD, Place, Ran, assert_no_false_alarm, compare, simple, trials, two, wait_until, working_below};

/// Benchmarks of every style; `STEPS` is how much work they do.
const STYLES: &str = r#"package fixture

import "testing"

var sink int
var kept [][]byte

func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

func BenchmarkCounting(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = work(STEPS)
	}
}

func BenchmarkRecalled(b *testing.B) {
	data := make([]int, b.N)
	b.ResetTimer()
	for i := range data {
		data[i] = work(STEPS)
	}
}

func BenchmarkPaused(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		sink = work(50)
		b.StartTimer()
		sink = work(400 * STEPS)
	}
}

func BenchmarkParent(b *testing.B) {
	for _, name := range []string{"x=1", "odd name [y]"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				sink = work(STEPS)
			}
		})
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work(STEPS)
		}
	})
}

func BenchmarkAllocating(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = nil
		for j := 0; j < ALLOCS; j++ {
			kept = append(kept, make([]byte, 64))
		}
		sink = work(STEPS)
	}
}
"#;

const NAMES: [&str; 7] = [
    "BenchmarkAllocating", "BenchmarkCounting", "BenchmarkParallel", "BenchmarkParent/odd_name_[y]",
    "BenchmarkParent/x=1", "BenchmarkPaused", "BenchmarkRecalled",
];

fn styles(steps: u32, allocs: u32) -> String {
    STYLES.replace("STEPS", &steps.to_string()).replace("ALLOCS", &allocs.to_string())
}

#[test]
fn identical_work_is_no_change_in_every_mode() {
    let place = two(&styles(100, 10), &styles(100, 10));
    for mode in ["auto", "duet", "sequential"] {
        let ran = compare(&place, &["--mode", mode, "--threshold", "3%", "--alpha", "0.001%"]);
        assert_no_false_alarm(&ran.expect(0), &NAMES);
    }
}

#[test]
fn a_planted_slowdown_is_found_in_every_mode() {
    let place = two(&styles(100, 10), &styles(300, 12));
    for mode in ["duet", "interleaved", "sequential"] {
        let ran = compare(&place, &["--mode", mode, "--forks", "12"]).expect(3);
        for name in NAMES.iter().filter(|n| **n != "BenchmarkAllocating") {
            // One after the other, on cores that others use too, goroutines wait as long as they work.
            let is_open = (mode, *name) == ("sequential", "BenchmarkParallel") && ran.verdict(name) == "inconclusive";
            assert!(is_open || ran.verdict(name) == "regression", "{mode}: {name}\n{}", ran.stdout);
        }
        let allocs = &ran.benchmark("BenchmarkAllocating")["allocs"];
        // On several cores the runtime itself now and then allocates.
        let baseline = allocs["baseline"].as_f64().unwrap();
        assert!((baseline - 15.0).abs() < 0.01 && allocs["changed"] == true, "{mode}: {allocs}");
    }
}

/// Benchmarks whose loop over `b.N` is set-up, or begins what is waited for behind it; the rest takes so many rounds.
fn behind_the_loop(rounds: u32) -> String {
    let module = "package fixture

import (
	\"sync\"
	\"testing\"
)

var (
	queue []int
	sink  uint64
)

//go:noinline
func work() (s uint64) {
	for i := 0; i < ROUNDS; i++ {
		s = s*31 + uint64(i)
	}
	return s
}

func BenchmarkPop(b *testing.B) {
	queue = queue[:0]
	for i := 0; i < b.N; i++ {
		queue = append(queue, i)
	}
	b.ResetTimer()
	for len(queue) > 0 {
		sink += work()
		queue = queue[:len(queue)-1]
	}
}

func fill(b *testing.B) {
	queue = queue[:0]
	for i := 0; i < b.N; i++ {
		queue = append(queue, i)
	}
}

func BenchmarkPopFilled(b *testing.B) {
	fill(b)
	b.ResetTimer()
	for len(queue) > 0 {
		sink += work()
		queue = queue[:len(queue)-1]
	}
}

func BenchmarkPool(b *testing.B) {
	jobs, done := make(chan int, 1024), sync.WaitGroup{}
	done.Add(1)
	go func() {
		defer done.Done()
		for range jobs {
			sink += work()
		}
	}()
	for i := 0; i < b.N; i++ {
		jobs <- i
	}
	close(jobs)
	done.Wait()
}
";
    module.replace("ROUNDS", &rounds.to_string())
}

#[test]
fn what_is_timed_behind_the_loop_is_measured() {
    let place = two(&behind_the_loop(1000), &behind_the_loop(3000));
    let ran = compare(&place, &["--forks", "12"]).expect(3);
    for name in ["BenchmarkPop", "BenchmarkPopFilled", "BenchmarkPool"] {
        assert_eq!(ran.verdict(name), "regression", "{name}\n{}", ran.stdout);
        assert!(ran.benchmark(name)["ratio"].as_f64().unwrap() > 2.0, "{name}\n{}", ran.stdout);
    }
    let listed = place.duet(&["list", "./old"]).expect(0).stdout;
    assert_eq!(listed.matches("\trecall\n").count(), 3, "{listed}");
}

#[test]
fn a_fixed_cost_behind_the_loop_is_outweighed_where_the_timer_is_reset_too() {
    let module = |rounds: u32| {
        let loops = "package fixture\n\nimport \"testing\"\n\nvar sink uint64\n\n//go:noinline\n\
                     func work(rounds int) {\n\tfor i := 0; i < rounds; i++ {\n\t\tsink = sink*31 + uint64(i)\n\t}\n}\n\n\
                     func teardown() { work(1_000_000) }\n\n\
                     func BenchmarkTail(b *testing.B) {\n\tb.ResetTimer()\n\tfor i := 0; i < b.N; i++ {\n\t\twork(ROUNDS)\n\t}\n\tteardown()\n}\n";
        loops.replace("ROUNDS", &rounds.to_string())
    };
    let ran = compare(&two(&module(100), &module(300)), &["--forks", "12"]);
    // Alone the ratio is about 2.85; where the fixed cost is not outweighed, 1. Beside neighbours few long slices say nothing by wall time.
    let mut ratios: Vec<f64> =
        ran.benchmark("BenchmarkTail")["forks"].as_array().unwrap().iter().map(cpu_ratio).collect();
    ratios.sort_by(f64::total_cmp);
    assert!((1.5..6.0).contains(&ratios[ratios.len() / 2]), "{ratios:?}\n{}", ran.stdout);
}

/// The ratio of both sides' processor time in a fork pair.
fn cpu_ratio(fork: &serde_json::Value) -> f64 {
    let of = |side: &str| fork[side]["cpu_ns_per_op"].as_f64().unwrap();
    of("candidate") / of("baseline")
}

/// Benchmarks in which `b.N` sizes something for `b.RunParallel`, and work of so many rounds is for more than one only.
fn sized_before_run_parallel(rounds: u32) -> String {
    let module = "package fixture

import (
	\"sync\"
	\"sync/atomic\"
	\"testing\"
)

var sink atomic.Uint64

//go:noinline
func work(keys map[int]int) {
	s := uint64(0)
	for i := 0; i < ROUNDS && len(keys) > 1; i++ {
		s = s*31 + uint64(i)
	}
	sink.Add(s)
}

func BenchmarkKeys(b *testing.B) {
	keys := map[int]int{}
	for i := range make([]bool, b.N) {
		keys[i] = i
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work(keys)
		}
	})
}

func BenchmarkGroup(b *testing.B) {
	wait, keys := sync.WaitGroup{}, map[int]int{1: 1, 2: 2}
	wait.Add(b.N)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work(keys)
			wait.Done()
		}
	})
	wait.Wait()
}
";
    module.replace("ROUNDS", &rounds.to_string())
}

#[test]
fn what_is_sized_for_run_parallel_has_the_size_of_the_slice() {
    let place = two(&sized_before_run_parallel(1000), &sized_before_run_parallel(3000));
    let ran = compare(&place, &["--forks", "12"]).expect(3);
    for name in ["BenchmarkKeys", "BenchmarkGroup"] {
        assert_eq!(ran.verdict(name), "regression", "{name}\n{}", ran.stdout);
        assert!(ran.benchmark(name)["ratio"].as_f64().unwrap() > 2.0, "{name}\n{}", ran.stdout);
    }
    let listed = place.duet(&["list", "./old"]).expect(0).stdout;
    assert_eq!(listed.matches("\trecall\n").count(), 2, "{listed}");
}

#[test]
fn a_loop_that_would_not_be_measured_is_a_failure() {
    // Nobody sees in test files that the field of a type of the program itself holds them.
    let holder = "package fixture\n\nimport \"testing\"\n\ntype Holder struct{ Do func(*testing.B) }\n";
    let loops = "func loop(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n\n\
                 func BenchmarkBoth(b *testing.B) {\n\tfor _, one := range []Holder{{loop}, {loop}} {\n\t\tone.Do(b)\n\t}\n}\n\n\
                 func BenchmarkFilled(b *testing.B) {\n\tHolder{loop}.Do(b)\n\tb.ResetTimer()\n\tsum = sha256.Sum256(page[:])\n}\n\n\
                 func BenchmarkThenLoop(b *testing.B) {\n\tHolder{loop}.Do(b)\n\tfor b.Loop() {\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n\n\
                 func parallel(b *testing.B) {\n\tb.RunParallel(func(pb *testing.PB) {\n\t\tfor pb.Next() {\n\t\t\tsha256.Sum256(page[:])\n\t\t}\n\t})\n}\n\n\
                 func BenchmarkParallels(b *testing.B) {\n\tfor _, one := range []Holder{{parallel}, {parallel}} {\n\t\tone.Do(b)\n\t}\n}\n\n\
                 func BenchmarkReset(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tb.ResetTimer()\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n";
    let place = two(&simple(loops), &simple(loops));
    place.write("old/holder.go", holder).write("new/holder.go", holder);
    let ran = compare(&place, &["--mode", "interleaved"]).expect(1);
    let of = |name: &str| ran.benchmark(name)["failure"]["reason"].as_str().unwrap_or_default().to_owned();
    assert!(of("BenchmarkBoth").contains("a second loop over b.N would not be measured"), "{}", ran.stdout);
    assert!(of("BenchmarkFilled").contains("from b.ResetTimer on, would not be measured"), "{}", ran.stdout);
    assert!(of("BenchmarkThenLoop").contains("b.Loop beside another loop would not be measured"), "{}", ran.stdout);
    assert!(of("BenchmarkParallels").contains("another b.RunParallel would not be measured"), "{}", ran.stdout);
    assert!(of("BenchmarkReset").contains("b.ResetTimer is called in the loop"), "{}", ran.stdout);
}

#[test]
fn set_up_that_is_not_timed_makes_fewer_slices() {
    let slow = "func BenchmarkSetUp(b *testing.B) {\n\ttime.Sleep(20 * time.Millisecond)\n\tn := b.N\n\tb.ResetTimer()\n\t\
                for i := 0; i < n; i++ {\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n";
    let ran = compare(&two(&simple(slow), &simple(slow)), &["--mode", "interleaved"]);
    let forks = ran.benchmark("BenchmarkSetUp")["forks"].as_array().unwrap().clone();
    // Slices of at least a millisecond, in trials of 20 ms a side.
    let slices: Vec<u64> = forks.iter().map(|fork| fork["slices"].as_u64().unwrap()).collect();
    assert!(slices.len() == 5 && slices.iter().all(|slices| *slices <= 40), "{slices:?}\n{}", ran.stdout);
}

#[test]
fn interleaved_slices_of_the_two_sides_never_overlap() {
    let place = two(&styles(100, 10), &styles(100, 10));
    compare(&place, &["--mode", "interleaved", "--bench", "Counting|Parallel"]);
    let store = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    let mut statement = store.prepare("SELECT trial, start_ns, wall_ns FROM samples ORDER BY trial, start_ns").unwrap();
    let rows =
        statement.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?, r.get::<_, i64>(2)?))).unwrap();
    let slices: Vec<(i64, i64, i64)> = rows.map(Result::unwrap).collect();
    assert!(slices.len() > 200, "{}", slices.len());
    for pair in slices.windows(2).filter(|w| w[0].0 == w[1].0) {
        assert!(pair[0].1 + pair[0].2 <= pair[1].1, "two slices ran at the same time: {pair:?}");
    }
}

#[test]
fn revisions_are_compared_without_touching_the_checkout() {
    let place = Place::go_module(&styles(100, 10));
    place.git(&["init", "-q"]);
    for args in [&["compare"][..], &["compare", "HEAD"]] {
        place.duet(args).expect(2).says(&["has no commit yet", "compare two directories"]);
    }
    place.commit_all("one");
    place.write("fixture_test.go", &styles(300, 10)).write("untracked.txt", "mine");
    let before = place.git(&["status", "--porcelain"]);
    let ran = place.duet(&["compare", "--bench", "Counting", "--forks", "7", "--format", "json"]).expect(3);
    assert_eq!(ran.verdict("BenchmarkCounting"), "regression");
    assert_eq!(place.git(&["status", "--porcelain"]), before);
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    assert!(place.git(&["stash", "list"]).is_empty());
    place.commit_all("two");
    let ran =
        place.duet(&["compare", "HEAD~1", "HEAD", "--bench", "Counting", "--forks", "7", "--format", "json"]).expect(3);
    assert!(ran.json()["versions"]["baseline"]["resolved"].as_str().unwrap().contains("one"), "{}", ran.stdout);
    place.duet(&["compare"]).expect(2).says(&["nothing to compare", "HEAD~1"]);
    place.duet(&["compare", "no-such-revision"]).expect(2).says(&["`no-such-revision`", "git log"]);
}

#[test]
fn benchmarks_of_one_version_only_are_listed() {
    let old = simple(&format!(
        "{GOOD}func BenchmarkOld(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\tsink++\n\t}}\n}}\n"
    ));
    let ran = compare(&two(&old, &old.replace("BenchmarkOld", "BenchmarkNew")), &[]).expect(0);
    assert_eq!(
        (ran.verdict("BenchmarkOld"), ran.verdict("BenchmarkNew")),
        ("baseline_only".into(), "candidate_only".into())
    );
}

#[test]
fn a_set_up_that_is_timed_does_not_outweigh_the_work() {
    // Called again for every slice, because its loop can be left; the set-up costs as much as ten thousand invocations.
    let body = "func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

func BenchmarkSetUp(b *testing.B) {
	sink = work(1000000)
	for i := 0; i < b.N; i++ {
		if sink == 1 {
			return
		}
		sink = work(100)
	}
}";
    let place = two(&simple(body), &simple(body));
    let ran = compare(&place, &["--forks", "12", "--fixed"]).expect(0);
    let forks = ran.benchmark("BenchmarkSetUp")["forks"].as_array().unwrap().clone();
    // A process that others keep from its processor takes short slices for long ones; beside four busy loops most do.
    let outweighs = |fork: &serde_json::Value| {
        let [invocations, slices] = [&fork["baseline"]["invocations"], &fork["slices"]].map(|n| n.as_u64().unwrap());
        invocations / slices > 10 * 10_000
    };
    assert!(forks.iter().any(outweighs), "{forks:#?}");
}

#[test]
fn what_follows_the_dashes_reaches_build_and_binary() {
    let tagged = "//go:build special\n\npackage fixture\n\nimport \"testing\"\n\nfunc BenchmarkTagged(b *testing.B) {\n\tif !testing.Short() {\n\t\tb.Fatal(\"not short\")\n\t}\n\tfor i := 0; i < b.N; i++ {\n\t\tsink++\n\t}\n}\n";
    let place = two(&simple(GOOD), &simple(GOOD));
    place.write("old/tagged_test.go", tagged).write("new/tagged_test.go", tagged);
    let ran = compare(&place, &["--forks", "3", "--", "-tags", "special", "-short"]).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkGood", "BenchmarkTagged"]);
    compare(&place, &["--", "-count", "3"]).expect(2).says(&["`-count`", "--forks"]);
}

#[test]
fn benchmarks_that_look_for_files_by_their_own_path_find_them_with_full_paths() {
    let beside = "func init() {\n\t_, file, _, _ := runtime.Caller(0)\n\tif _, err := os.Stat(file); err != nil {\n\t\tpanic(err)\n\t}\n}\n";
    let text = simple(&format!("{GOOD}{beside}")).replace("\"os\"", "\"os\"\n\t\"runtime\"");
    let place = Place::go_module(&text);
    let listed = place.duet(&["list"]).expect(1).stdout;
    assert!(listed.contains("no such file") && listed.contains("`-- -trimpath=false`"), "{listed}");
    assert!(place.duet(&["list", "--", "-trimpath=false"]).expect(0).stdout.contains("BenchmarkGood\trewritten"));
}

#[test]
fn vendored_dependencies_and_submodules_work() {
    let place = Place::new();
    let user = "package fixture\n\nimport (\n\t\"testing\"\n\n\t\"example.com/lib\"\n)\n\nfunc BenchmarkLib(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tlib.F()\n\t}\n}\n";
    place.write("go.mod", "module example.com/fixture\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n");
    place.write("fixture_test.go", user).write("vendor/example.com/lib/lib.go", "package lib\n\nfunc F() {}\n");
    place.write("vendor/modules.txt", "# example.com/lib v1.0.0\n## explicit\nexample.com/lib\n");
    place.git(&["init", "-q"]);
    place.commit_all("vendored");
    let itself = ["compare", "HEAD", "HEAD", "--format", "json", "--forks", "3"];
    assert_eq!(place.duet(&itself).expect(0).verdict("BenchmarkLib"), "identical_code");
    let measured = place.duet(&[&itself[..], &["--measure-identical"]].concat()).expect(0);
    assert_eq!(measured.benchmark("BenchmarkLib")["forks"].as_array().unwrap().len(), 3);

    let outer = Place::go_module(&simple(GOOD));
    outer.git(&["init", "-q"]);
    let url = place.path().to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "dep"]);
    outer.commit_all("with submodule");
    let args = ["compare", "HEAD", "HEAD", "--measure-identical", "--forks", "3", "--packages", "."];
    let allowed =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")];
    Ran::from(outer.command(&args).envs(allowed).output().unwrap()).expect(0);
    // Git's own default refuses such a submodule; the reason is passed on.
    outer.duet(&args).expect(2).says(&["submodules of `HEAD`", "compare the two directories"]);
}

#[test]
fn the_example_of_the_readme_is_judged_as_it_says() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/02-textkit");
    let place = Place::new();
    for file in ["old/go.mod", "old/text.go", "old/text_test.go", "new/go.mod", "new/text.go", "new/text_test.go"] {
        place.write(file, &std::fs::read_to_string(examples.join(file)).unwrap());
    }
    // Tests run beside each other, so the forks must be many for an answer that does not depend on the company.
    let ran = compare(&place, &["--bench", "Slug|Join", "--forks", "40"]).expect(3);
    assert_eq!(
        (ran.verdict("BenchmarkSlug"), ran.verdict("BenchmarkJoin")),
        ("regression".into(), "improvement".into())
    );
}

#[test]
fn the_demo_shows_both_procedures() {
    let place = Place::new();
    // A false alarm in a thousand runs would be no fault.
    let ran = Ran::from(place.command(&["demo", "--seed", "1"]).env("DUET_ALPHA", "0.001%").output().unwrap());
    for words in ["1. The same code", "2. A quiet half", "-count 10 each", "duet measured for"] {
        assert!(ran.stdout.contains(words), "`{words}` is missing\n{}\n{}", ran.stdout, ran.stderr);
    }
    assert!(ran.stdout.contains("benchmarks changed, duet 0."), "a false alarm in part 1\n{}", ran.stdout);
}

#[test]
fn one_core_is_enough_and_duet_mode_steps_back() {
    let place = two(&styles(100, 10), &styles(300, 10));
    for mode in ["auto", "duet"] {
        let mut command = Command::new("taskset");
        let inner = place.command(&[
            "compare", "./old", "./new", "--bench", "Counting|Parallel", "--forks", "5", "--format", "json", "--mode",
            mode,
        ]);
        command.args(["-c", "0"]).arg(inner.get_program()).args(inner.get_args()).current_dir(place.path());
        command.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        let ran = Ran::from(command.output().unwrap()).expect(3);
        assert_eq!(ran.benchmark("BenchmarkCounting")["mode"], "interleaved_one_core");
    }
}

#[test]
fn list_shows_names_and_failures() {
    let place = Place::go_module(&styles(100, 10));
    let listed = place.duet(&["list"]).expect(0).says(&["rewritten: its counting loop", "recall: the function"]).stdout;
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split('\t').nth(1)).collect();
    assert_eq!(names, NAMES);
    let filtered = place.duet(&["list", "--bench", "Parent", "--exclude", "odd"]).expect(0);
    assert!(!filtered.stderr.contains("recall:"), "{}", filtered.stderr);
    assert_eq!(filtered.stdout, "example.com/fixture\tBenchmarkParent/x=1\trewritten\n");
    place.write("fixture_test.go", &simple("func BenchmarkBad(b *testing.B) {\n\tb.Fatal(\"no luck\")\n}\n"));
    assert!(place.duet(&["list"]).expect(1).stdout.contains("BenchmarkBad\tfailed: "));
}

/// Starts a long run and waits until it measures.
fn start_long_run(place: &Place) -> std::process::Child {
    let long = ["--forks", "2000", "--fixed", "--measure-identical", "--builds", "1"];
    let args = [&["compare", "./old", "./new", "--bench", "Counting"], &long[..]].concat();
    let mut child = place.command(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|l| l.contains(": measuring ")), "it never came to measuring");
    wait_until("three trials are kept", || trials(place) >= 3);
    child
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_nobody_behind() {
    let place = two(&styles(100, 10), &styles(100, 10));
    let child = start_long_run(&place);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(130);
    assert!(ran.stdout.contains("incomplete"), "{}", ran.stdout);
    assert_eq!(working_below(place.path()), Vec::<PathBuf>::new());
    let shown = place.duet(&["show", "--format", "json"]).expect(130);
    assert!(shown.benchmark("BenchmarkCounting")["forks"].as_array().unwrap().len() > 1);
}

#[test]
fn a_killed_run_leaves_no_process_and_keeps_its_trials() {
    let place = two(&styles(100, 10), &styles(100, 10));
    let mut child = start_long_run(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", || working_below(place.path()).is_empty());
    let shown = place.duet(&["show", "--format", "json"]).expect(130);
    assert!(shown.benchmark("BenchmarkCounting")["forks"].as_array().unwrap().len() > 1);
}

#[test]
fn a_second_run_is_refused_or_waits() {
    let place = two(&styles(100, 10), &styles(100, 10));
    let lock = place.path().join("lock");
    let mut first = place
        .command(&[
            "compare", "./old", "./new", "--bench", "Counting", "--forks", "2000", "--fixed", "--measure-identical",
        ])
        .env("DUET_LOCK", &lock)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the lock names its holder", || std::fs::read_to_string(&lock).is_ok_and(|name| !name.is_empty()));
    let args = ["compare", "./old", "./new", "--no-wait"];
    let second = place.command(&args).env("DUET_LOCK", &lock).output().unwrap();
    let pid = first.id().to_string();
    Ran::from(second).expect(1).says(&["another run", &pid, "--no-wait"]);
    first.kill().unwrap();
    first.wait().unwrap();
    place
        .command(&["compare", "./old", "./new", "--bench", "Counting", "--forks", "3"])
        .env("DUET_LOCK", &lock)
        .output()
        .map(Ran::from)
        .unwrap()
        .expect(0);
}

#[test]
fn a_run_goes_on_where_it_began_and_nowhere_else() {
    let place = two(&simple(GOOD), &simple(GOOD));
    compare(&place, &["--forks", "3", "--builds", "1", "--measure-identical"]).expect(0);
    let store = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    store.execute_batch("UPDATE runs SET complete = 0").unwrap();
    place.duet(&["compare", "--resume", "r1"]).expect(0);
    store
        .execute_batch("UPDATE runs SET complete = 0, head = json_set(head, '$.environment.cpu_model', 'Abacus 9')")
        .unwrap();
    place.duet(&["compare", "--resume", "r1"]).expect(2).says(&["on another machine", "Abacus 9", "begin a new run"]);
}
