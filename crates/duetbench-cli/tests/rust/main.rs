//! Rust with the real cargo and the real harnesses, on `examples/04-rust`, `examples/05-divan` and changes of them.
//!
//! No test asserts a time. A version against itself is never called changed; planted changes are large enough to be found on any
//! machine. Where cargo cannot fetch what a test needs, it is listed as ignored.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod divan;
mod published;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Ran, assert_no_false_alarm};
use libtest_mimic::{Arguments, Trial};

const FORMS: &str = "use criterion::{criterion_group, criterion_main, BatchSize, Criterion};
use tally::work;

fn forms(c: &mut Criterion) {
    c.bench_function(\"iter\", |b| b.iter(work));
    c.bench_function(\"custom\", |b| {
        b.iter_custom(|n| {
            let start = std::time::Instant::now();
            (0..n).for_each(|_| drop(std::hint::black_box(work())));
            start.elapsed()
        })
    });
    c.bench_function(\"batched\", |b| b.iter_batched(|| 1, |_| work(), BatchSize::SmallInput));
    c.bench_function(\"batched ref\", |b| b.iter_batched_ref(|| 1, |_| work(), BatchSize::PerIteration));
    c.bench_function(\"large drop\", |b| b.iter_with_large_drop(work));
}

criterion_group!(benches, forms);
criterion_main!(benches);
";
const TWINS: &str = "use criterion::{criterion_group, criterion_main, Criterion};
use tally::work;

fn short(c: &mut Criterion) {
    c.bench_function(\"twin\", |b| b.iter(work));
}

fn long(c: &mut Criterion) {
    c.bench_function(\"twin\", |b| b.iter(|| (0..10).map(|_| work()).sum::<u64>()));
}

criterion_group!(benches, short, long);
criterion_main!(benches);
";
const LIB: &str = "pub fn work() -> u64 {
    (0..ROUNDS).fold(std::hint::black_box(1), |x: u64, n| std::hint::black_box(x.rotate_left(7) ^ n))
}
pub const ROUNDS: u64 = 2000;
";

fn main() {
    let mut arguments = Arguments::from_args();
    // They build in one folder, which one run at a time may use.
    arguments.test_threads = Some(1);
    let criterion: [(&str, fn()); 14] = [
        ("benchmarks_have_the_names_that_criterion_prints", benchmarks_have_the_names_that_criterion_prints),
        ("a_version_against_itself_gives_no_alarm", a_version_against_itself_gives_no_alarm),
        ("a_planted_slowdown_is_found_in_every_form", a_planted_slowdown_is_found_in_every_form),
        ("revisions_are_compared_without_touching_the_checkout", revisions_are_compared_without_touching_the_checkout),
        ("build_pairs_are_linked_in_orders_of_their_own", build_pairs_are_linked_in_orders_of_their_own),
        (
            "archives_that_build_scripts_make_are_those_of_their_version",
            archives_that_build_scripts_make_are_those_of_their_version,
        ),
        (
            "as_many_are_set_up_together_as_in_the_harness_s_own_samples",
            as_many_are_set_up_together_as_in_the_harness_s_own_samples,
        ),
        ("what_cannot_be_measured_is_refused_by_name", what_cannot_be_measured_is_refused_by_name),
        ("a_benchmark_that_fails_spoils_nothing_else", a_benchmark_that_fails_spoils_nothing_else),
        (
            "benchmarks_of_one_name_are_told_apart_and_those_that_start_programs_are_left_out",
            benchmarks_of_one_name_are_told_apart_and_those_that_start_programs_are_left_out,
        ),
        ("broken_workspaces_are_named", bad_input::broken_workspaces_are_named),
        ("build_scripts_may_ask_git", bad_input::build_scripts_may_ask_git),
        ("without_lld_there_is_one_layout", bad_input::without_lld_there_is_one_layout),
        ("another_linker_may_refuse_to_order", bad_input::another_linker_may_refuse_to_order),
    ];
    let divan: [(&str, fn()); 4] = [
        ("divan_has_the_names_that_it_filters_by", divan::divan_has_the_names_that_it_filters_by),
        ("divan_against_itself_gives_no_alarm", divan::divan_against_itself_gives_no_alarm),
        ("a_slowdown_is_found_in_every_form_of_divan", divan::a_slowdown_is_found_in_every_form_of_divan),
        ("a_divan_that_does_not_fit_is_refused", divan::a_divan_that_does_not_fit_is_refused),
    ];
    let counted: [(&str, fn()); 1] =
        [("a_planted_percent_of_work_is_counted_exactly", a_planted_percent_of_work_is_counted_exactly)];
    let codspeed: [(&str, fn()); 1] = [(
        "codspeed_s_layer_of_divan_is_measured_and_counted",
        divan::codspeed_s_layer_of_divan_is_measured_and_counted,
    )];
    let crates: [(&str, fn()); 1] = [("published_crates_are_compared", published::published_crates_are_compared)];
    let vendored: [(&str, fn()); 2] = [
        ("benches_that_were_not_published_are_named", published::benches_that_were_not_published_are_named),
        ("crates_that_are_not_there_are_refused", published::crates_that_are_not_there_are_refused),
    ];
    // The last: what is built of vendored sources takes the place of what is built of the same ones of the registry.
    let copied: [(&str, fn()); 1] = [("vendored_sources_are_hooked_too", published::vendored_sources_are_hooked_too)];
    let trials = |tests: &[(&'static str, fn())], needs: &str, there: bool| -> Vec<Trial> {
        let run = |test: fn()| {
            move || {
                test();
                Ok(())
            }
        };
        tests
            .iter()
            .map(|(name, test)| {
                Trial::test(format!("with_cargo::{name}"), run(*test)).with_kind(needs).with_ignored_flag(!there)
            })
            .collect()
    };
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let all = [
        trials(&criterion, "needs cargo and criterion", fetched(&example())),
        trials(&divan, "needs cargo and divan", fetched(&divan::example())),
        trials(&counted, "needs cargo, criterion and valgrind", fetched(&example()) && has_valgrind),
        trials(&codspeed, "needs cargo, CodSpeed's layer of divan and valgrind", has_valgrind && divan::has_codspeed()),
        trials(&crates, "needs cargo and two releases of itoa", published::fetched()),
        trials(&vendored, "needs cargo", Command::new("cargo").arg("-V").output().is_ok()),
        trials(&copied, "needs cargo and criterion", fetched(&example())),
    ];
    libtest_mimic::run(&arguments, all.into_iter().flatten().collect()).exit();
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/04-rust")
}

/// Whether cargo has, or can get, what a package depends on.
fn fetched(package: &Path) -> bool {
    let fetch = Command::new("cargo").args(["fetch", "--quiet", "--locked"]).current_dir(package).output();
    fetch.is_ok_and(|output| output.status.success())
}

/// Compiling what a project depends on takes most of the time, and most of that optimising it: that is left out, once for all tests. The
/// project itself is built as ever.
const HASTY: &str = "\n[profile.bench.package.\"*\"]\nopt-level = 0\n";

/// The example below a folder of the place, with another library and other benchmarks.
fn write(place: &Place, dir: &str, lib: &str, benches: &str) {
    let read = |file: &str| fs::read_to_string(example().join(file)).unwrap();
    place.write(&format!("{dir}/Cargo.toml"), &(read("Cargo.toml") + HASTY));
    place.write(&format!("{dir}/Cargo.lock"), &read("Cargo.lock"));
    place.write(&format!("{dir}/src/lib.rs"), lib).write(&format!("{dir}/benches/words.rs"), benches);
}

fn two(old: [&str; 2], new: [&str; 2]) -> Place {
    let place = Place::new();
    write(&place, "old", old[0], old[1]);
    write(&place, "new", new[0], new[1]);
    place
}

fn duet(place: &Place, args: &[&str]) -> Ran {
    duet_with(place, args, &[("CARGO_NET_OFFLINE", "true")])
}

fn duet_with(place: &Place, args: &[&str], env: &[(&str, &str)]) -> Ran {
    // A folder for all tests, so that criterion is compiled once for all tests. One run at a time may use it.
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rust-cache");
    fs::create_dir_all(&cache).unwrap();
    let mut command = place.command(args);
    command.env("DUET_LOCK", cache.join("lock")).env("XDG_CACHE_HOME", cache).envs(env.iter().copied());
    Ran::from(command.output().unwrap())
}

fn compare(place: &Place, more: &[&str]) -> Ran {
    let fixed = ["compare", "./old", "./new", "--format", "json", "--fixed", "--threshold", "20%"];
    duet(place, &[&fixed[..], &["--measure-identical", "--forks", "6"], more].concat())
}

fn benchmarks_have_the_names_that_criterion_prints() {
    let place = Place::new();
    let read = |file: &str| fs::read_to_string(example().join(file)).unwrap();
    write(&place, "", &read("src/lib.rs"), &read("benches/words.rs"));
    let listed = duet(&place, &["list", "."]).expect(0).stdout;
    let names = ["count/10", "count/1000", "letters", "sort by length"];
    let want: String = names.iter().map(|name| format!("tally/words\t{name}\tloop\n")).collect();
    assert_eq!(listed, want);
    let chosen = duet(&place, &["list", ".", "--bench", "^count"]).expect(0).stdout;
    assert_eq!(chosen.lines().count(), 2, "{chosen}");
}

/// Groups with the same name, and a benchmark that starts a program of its package.
fn benchmarks_of_one_name_are_told_apart_and_those_that_start_programs_are_left_out() {
    let place = two([LIB, TWINS], [LIB, TWINS]);
    let starting = "use criterion::*;\nfn start(c: &mut Criterion) {\n    let tool = env!(\"CARGO_BIN_EXE_tally\");\n    \
                    c.bench_function(\"start\", |b| b.iter(|| std::process::Command::new(tool).status()));\n}\n\
                    criterion_group!(all, start);\ncriterion_main!(all);\n";
    let manifest = fs::read_to_string(place.path().join("new/Cargo.toml")).unwrap();
    for side in ["old", "new"] {
        place.write(&format!("{side}/benches/starting.rs"), starting);
        place.write(&format!("{side}/src/main.rs"), "fn main() {}\n");
        let more = "[[bench]]\nname = \"starting\"\nharness = false\n[[bench]]\nname = \"nightly\"\nharness = false\n\
                    required-features = [\"nightly\"]\n[features]\nnightly = []\n";
        place.write(&format!("{side}/benches/nightly.rs"), "compile_error!(\"never\");\n");
        place.write(&format!("{side}/Cargo.toml"), &format!("{manifest}{more}"));
    }
    let ran = compare(&place, &["--builds", "1"]);
    let names: Vec<String> =
        ran.json()["benchmarks"].as_array().unwrap().iter().map(|b| b["name"].to_string()).collect();
    assert_eq!(names, ["\"twin\"", "\"twin #2\""], "{}", ran.stderr);
    let ns = |name: &str| ran.benchmark(name)["baseline_ns"].as_f64().unwrap();
    assert!(ns("twin #2") > 3.0 * ns("twin"), "{}", ran.stdout);
    let warnings = ran.json()["warnings"].to_string();
    for words in [
        "CARGO_BIN_EXE_…`), and both versions' would be one: tally/starting",
        "not enabled (`-- --features NAME`): tally/nightly",
    ] {
        assert!(warnings.contains(words), "{warnings}");
    }
}

fn a_version_against_itself_gives_no_alarm() {
    let place = two([LIB, FORMS], [LIB, FORMS]);
    let proven = duet(&place, &["compare", "./old", "./new", "--format", "json"]).expect(0);
    assert_eq!(proven.verdict("iter"), "identical_code");
    for mode in ["interleaved", "duet", "sequential"] {
        let ran = compare(&place, &["--mode", mode, "--bench", "^(iter|batched)$", "--builds", "3"]);
        assert_no_false_alarm(&ran, &["iter", "batched"]);
        let iter = ran.benchmark("iter");
        // A duet on cores that turn out unlike begins anew in turns.
        let given_up = mode == "duet" && iter["mode"] != "duet";
        assert!(iter["forks"].as_array().unwrap().len() == 6 || given_up, "{mode}: {iter:#}");
    }
    place.write("new/data.txt", "a benchmark may read this");
    let unproven =
        duet(&place, &["compare", "./old", "./new", "--format", "json", "--forks", "2", "--bench", "^iter$"]);
    assert_ne!(unproven.verdict("iter"), "identical_code");
    // Nor are files the same because both versions lie in one checkout.
    place.git(&["init", "-q"]);
    let in_one = duet(&place, &["compare", "./old", "./new", "--format", "json", "--dry-run", "--bench", "^iter$"]);
    assert!(!in_one.expect(0).stdout.contains("identical_code"));
}

fn a_planted_slowdown_is_found_in_every_form() {
    let slower = LIB.replace("2000", "3200");
    let ran = compare(&two([LIB, FORMS], [&slower, FORMS]), &["--builds", "5", "--alpha", "5%"]).expect(3);
    for name in ["iter", "custom", "batched", "batched ref", "large drop"] {
        assert_eq!(ran.verdict(name), "regression", "{name}: {}", ran.stdout);
    }
}

fn a_planted_percent_of_work_is_counted_exactly() {
    let more = LIB.replace("2000", "2020");
    let ran = compare(
        &two([LIB, FORMS], [&more, FORMS]),
        &["--builds", "1", "--count=all", "--bench", "^(iter|custom|batched)$"],
    );
    let report = ran.json();
    for name in ["iter", "custom", "batched"] {
        let one = report["instructions"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        let change = one["counts"]["change"].as_f64().unwrap_or_else(|| panic!("{one:#}"));
        assert!((change - 0.01).abs() < 0.001, "{one:#}");
    }
}

fn revisions_are_compared_without_touching_the_checkout() {
    let place = Place::new();
    write(&place, "", LIB, FORMS);
    place.git(&["init", "-q"]);
    place.commit_all("one");
    place.write("src/lib.rs", &LIB.replace("2000", "3200"));
    place.commit_all("two");
    let args = ["compare", "HEAD~1", "HEAD", "--format", "json", "--fixed", "--forks", "6", "--bench", "^iter$"];
    assert_eq!(duet(&place, &args).verdict("iter"), "regression");
    place.write(".git/info/exclude", ".duet/\n");
    assert_eq!(place.git(&["status", "--porcelain", "--ignored=no"]), "");
    assert!(!place.path().join("target").exists());
}

fn build_pairs_are_linked_in_orders_of_their_own() {
    let place = two([LIB, FORMS], [LIB, FORMS]);
    let ran = compare(&place, &["--bench", "^iter$", "--builds", "3"]);
    let report = ran.json();
    let builds: Vec<&serde_json::Value> =
        report["benchmarks"][0]["forks"].as_array().unwrap().iter().map(|fork| &fork["build"]).collect();
    assert_eq!(builds, [0, 0, 1, 1, 2, 2], "{}", ran.stdout);
}

fn archives_that_build_scripts_make_are_those_of_their_version() {
    let script = "fn main() {
    let out = std::env::var(\"OUT_DIR\").unwrap();
    let run = |tool: &str, args: &[&str]| {
        assert!(std::process::Command::new(tool).args(args).current_dir(&out).status().unwrap().success());
    };
    let source = std::env::current_dir().unwrap().join(\"tallied.c\");
    run(\"cc\", &[\"-c\", \"-o\", \"tallied.o\", source.to_str().unwrap()]);
    run(\"ar\", &[\"crs\", \"libtallied.a\", \"tallied.o\"]);
    println!(\"cargo:rustc-link-search=native={out}\");
    println!(\"cargo:rustc-link-lib=static=tallied\");
}
";
    let bench = "use criterion::{criterion_group, criterion_main, Criterion};
extern \"C\" {
    fn tallied() -> u64;
}
fn forms(c: &mut Criterion) {
    c.bench_function(\"in C\", |b| b.iter(|| unsafe { tallied() }));
}
criterion_group!(benches, forms);
criterion_main!(benches);
";
    let place = Place::new();
    let manifest = fs::read_to_string(example().join("Cargo.toml")).unwrap().replace("[lib]\nbench = false\n", "");
    for (side, rounds) in [("old", "2000"), ("new", "3200")] {
        write(&place, side, "", bench);
        fs::remove_file(place.path().join(side).join("src/lib.rs")).unwrap();
        let c = "unsigned long tallied(void) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < ROUNDS; i++) sum = sum * 31 + i;
    return sum;
}
";
        place.write(&format!("{side}/Cargo.toml"), &format!("{manifest}{HASTY}"));
        place.write(&format!("{side}/src/main.rs"), "fn main() {}\n").write(&format!("{side}/build.rs"), script);
        place.write(&format!("{side}/tallied.c"), &c.replace("ROUNDS", rounds));
    }
    let ran = compare(&place, &["--builds", "3", "--alpha", "5%"]).expect(3);
    assert_eq!(ran.verdict("in C"), "regression", "{}", ran.stdout);
}

fn as_many_are_set_up_together_as_in_the_harness_s_own_samples() {
    let forms = "use criterion::{criterion_group, criterion_main, BatchSize, Criterion};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tally::work;

static WAITING: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

fn forms(c: &mut Criterion) {
    let set_up = || drop(MOST.fetch_max(WAITING.fetch_add(1, Relaxed) + 1, Relaxed));
    let call = |()| {
        WAITING.fetch_sub(1, Relaxed);
        assert!(CALLS.fetch_add(1, Relaxed) < 2000 || MOST.load(Relaxed) > 10, \"batches of one\");
        work()
    };
    c.bench_function(\"large\", |b| b.iter_batched(set_up, call, BatchSize::LargeInput));
}

criterion_group!(benches, forms);
criterion_main!(benches);
";
    let ran = compare(&two([LIB, forms], [LIB, forms]), &["--builds", "1", "--measure-identical"]).expect(0);
    assert_eq!(ran.benchmark("large")["forks"].as_array().unwrap().len(), 6, "{}", ran.stdout);
}

fn what_cannot_be_measured_is_refused_by_name() {
    let check = |file: &str, text: &str, args: &[&str], words: &[&str]| {
        let place = two([LIB, FORMS], [LIB, FORMS]);
        place.write(file, text);
        compare(&place, args).says(words);
    };
    let manifest = fs::read_to_string(example().join("Cargo.toml")).unwrap();
    let without = manifest.replace("[[bench]]\nname = \"words\"\nharness = false\n", "");
    let without = without.replace("publish = false", "autobenches = false");
    let libtest = manifest.replace("harness = false", "harness = true");
    check("new/Cargo.toml", &without, &[], &["head", "`./new`", "no bench targets"]);
    check("new/Cargo.toml", &libtest, &[], &["head", "tally/words", "harness = false"]);
    check("new/benches/words.rs", "fn main() {}", &[], &["tally/words", "neither criterion nor divan"]);
    check("new/src/lib.rs", "pub fn work() { undefined_thing() }", &[], &["head", "./new", "undefined_thing"]);
    check("old/src/lib.rs", "pub fn work() { undefined_thing() }", &[], &["base", "./old", "undefined_thing"]);
    check("new/src/lib.rs", LIB, &["--packages", "nope"], &["no package `nope`", "tally"]);
    let twice = FORMS.replacen("|b| b.iter(work)", "|b| { b.iter(|| ()); b.iter(work) }", 1);
    let ran = compare(&two([LIB, FORMS], [LIB, &twice]), &["--bench", "^iter$"]).expect(1);
    let failure = ran.benchmark("iter")["failure"].to_string();
    assert!(failure.contains("candidate") && failure.contains("more than one stretch: make a benchmark"), "{failure}");
    let counted = "use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{criterion_group, criterion_main, Criterion};
use tally::work;

struct NotWallTime;
static TIME: WallTime = WallTime;
impl Measurement for NotWallTime {
    type Intermediate = ();
    type Value = u64;
    fn start(&self) {}
    fn end(&self, _: ()) -> u64 { 1 }
    fn add(&self, a: &u64, b: &u64) -> u64 { a + b }
    fn zero(&self) -> u64 { 0 }
    fn to_f64(&self, value: &u64) -> f64 { *value as f64 }
    fn formatter(&self) -> &dyn ValueFormatter { TIME.formatter() }
}

fn forms(c: &mut Criterion<NotWallTime>) {
    c.bench_function(\"iter\", |b| b.iter(work));
}

criterion_group! { name = benches; config = Criterion::default().with_measurement(NotWallTime); targets = forms }
criterion_main!(benches);
";
    let nothing = FORMS.replacen("|b| b.iter(work)", "|_| {}", 1);
    for (text, words) in [(counted, "NotWallTime, which is not time"), (&*nothing, "must call Bencher::iter")] {
        let ran = compare(&two([LIB, FORMS], [LIB, text]), &["--bench", "^iter$"]).expect(1);
        assert!(ran.benchmark("iter")["failure"].to_string().contains(words), "{}", ran.stdout);
    }
    check("new/src/lib.rs", LIB, &["--", "--target-dir", "x"], &["--target-dir", "folder of its own"]);
    check("new/src/lib.rs", LIB, &["--", "--features", "nope"], &["nope", "./old"]);
    let place = two([LIB, FORMS], [LIB, FORMS]);
    fs::remove_file(place.path().join("new/Cargo.lock")).unwrap();
    let refused = compare(&place, &[]).expect(2).says(&["./new", "Cargo.lock", "cargo generate-lockfile"]);
    assert!(!refused.stderr.contains("building"), "something was built before: {}", refused.stderr);
    assert!(!place.path().join("new/Cargo.lock").exists());
}

fn a_benchmark_that_fails_spoils_nothing_else() {
    let later = "static N: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        assert!(N.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 50, \"no luck later\"); work()";
    let failing: [(&str, &str, &[&str]); 4] = [
        ("panics", "panic!(\"no luck\"); #[allow(unreachable_code)] work()", &["no luck", "candidate"]),
        ("exits", "std::process::exit(7); #[allow(unreachable_code)] work()", &["exit status 7"]),
        ("hangs", "std::thread::sleep(std::time::Duration::from_secs(3600))", &["candidate", "10 s"]),
        ("panics later", later, &["no luck later", "candidate"]),
    ];
    // One build for all: that is most of the time.
    let benches = |body: fn(&'static str) -> &'static str| {
        let one = |(name, bad, _)| format!("    c.bench_function(\"{name}\", |b| b.iter(|| {{ {} }}));\n", body(bad));
        let all: String = failing.into_iter().map(one).collect();
        FORMS.replacen("    c.bench_function", &format!("{all}    c.bench_function"), 1)
    };
    let place = two([LIB, &benches(|_| "work()")], [LIB, &benches(|bad| bad)]);
    let ran =
        compare(&place, &["--bench", "^(panics|exits|hangs|iter)", "--builds", "3", "--timeout", "10s"]).expect(1);
    assert_no_false_alarm(&ran, &["iter"]);
    for (name, _, words) in failing {
        let failed = ran.benchmark(name);
        assert_eq!(failed["verdict"], "failed", "{failed:#}");
        for word in words {
            assert!(failed.to_string().contains(word), "`{word}` is missing in {failed:#}");
        }
    }
    let reason = ran.benchmark("panics later")["failure"]["reason"].as_str().unwrap().to_owned();
    assert!(reason.lines().next().unwrap().ends_with("no luck later"), "{reason}");
}
