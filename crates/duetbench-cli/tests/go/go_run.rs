//! `duet run` with the real binary and real Go builds. No test asserts a time, but that one thing takes many times another.

use serde_json::Value;

use crate::common::{GOOD, Place, Ran, simple};

/// Every iteration of every process of a benchmark.
#[track_caller]
fn iterations(ran: &Ran, name: &str) -> Vec<Vec<f64>> {
    let forks = ran.benchmark(name)["forks"].as_array().unwrap().clone();
    let values = |fork: &Value| fork["iterations_ns"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    forks.iter().map(values).collect()
}

/// Benchmarks of every style, one of which takes far longer than an iteration, one that allocates, one that keeps a set-up.
const KINDS: &str = r#"func BenchmarkCounting(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(page[:])
	}
}

func BenchmarkRecalled(b *testing.B) {
	data := make([]int, b.N)
	b.ResetTimer()
	for i := range data {
		sum = sha256.Sum256(page[:])
		data[i] = int(sum[0])
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = sha256.Sum256(page[:])
		}
	})
}

var kept [][]byte

func BenchmarkAllocating(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = nil
		for j := 0; j < 10; j++ {
			kept = append(kept, make([]byte, 64))
		}
	}
}

func BenchmarkLong(b *testing.B) {
	for i := 0; i < b.N; i++ {
		time.Sleep(60 * time.Millisecond)
	}
}
"#;

const NAMES: [&str; 5] =
    ["BenchmarkAllocating", "BenchmarkCounting", "BenchmarkLong", "BenchmarkParallel", "BenchmarkRecalled"];

#[test]
fn every_kind_of_benchmark_gives_exactly_the_iterations_that_were_asked_for() {
    let place = Place::go_module(&simple(KINDS));
    let shape = ["--suite-runs", "2", "--forks", "2", "--iterations", "3", "--warmup", "2", "--seconds", "0.02"];
    let ran = place.duet(&[&["run", "--format", "json"], &shape[..]].concat()).expect(0);
    for name in NAMES {
        let all = iterations(&ran, name);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [3; 4], "{name}\n{}", ran.stdout);
        assert!(all.iter().flatten().all(|ns| *ns > 0.0), "{name}");
    }
    // An invocation that is longer than an iteration is one.
    let forks = ran.benchmark("BenchmarkLong")["forks"].clone();
    assert!(forks.as_array().unwrap().iter().all(|fork| fork["invocations"] == 3), "{forks}");
    // Others take many invocations in each.
    let many = ran.benchmark("BenchmarkCounting")["forks"][0]["invocations"].as_u64().unwrap();
    assert!(many > 30, "{many}");
    let allocs = ran.benchmark("BenchmarkAllocating")["allocs_per_op"].as_f64().unwrap();
    assert!((allocs - 15.0).abs() < 0.1, "{allocs}");
    let store = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
    let count = |sql: &str| store.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM samples WHERE warm_up = 0"), 5 * 2 * 2 * 3);
    assert_eq!(count("SELECT count(*) FROM samples WHERE warm_up = 1"), 5 * 2 * 2 * 2);
}

#[test]
fn an_iteration_is_about_as_long_as_was_asked_for() {
    let place = Place::go_module(&simple(GOOD));
    let length_ms = |seconds: &str| {
        let args = ["run", "--suite-runs", "1", "--iterations", "3", "--seconds", seconds, "--format", "json"];
        place.duet(&args).expect(0);
        let store = rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap();
        let sql = "SELECT avg(wall_ns) / 1e6 FROM samples WHERE trial = (SELECT max(id) FROM trials)";
        store.query_row(sql, [], |row| row.get::<_, f64>(0)).unwrap()
    };
    let (short, long) = (length_ms("0.01"), length_ms("1"));
    // A hundred times, but for what happens to the machine meanwhile.
    assert!(long > 5.0 * short, "{short} ms and {long} ms");
}

#[test]
fn a_revision_is_run_without_touching_the_checkout() {
    let place = Place::go_module(&simple(GOOD));
    place.git(&["init", "-q"]);
    place.commit_all("one");
    place.write(
        "fixture_test.go",
        &simple("func BenchmarkOther(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink++\n\t}\n}\n"),
    );
    let before = place.git(&["status", "--porcelain"]);
    let quick = ["--suite-runs", "1", "--iterations", "1", "--seconds", "0.01", "--format", "json"];
    let ran = place.duet(&[&["run", "HEAD"], &quick[..]].concat()).expect(0);
    assert_eq!(iterations(&ran, "BenchmarkGood").len(), 1);
    assert!(ran.json()["version"]["resolved"].as_str().unwrap().contains("one"));
    assert_eq!(place.git(&["status", "--porcelain"]), before);
    let ran = place.duet(&[&["run"], &quick[..]].concat()).expect(0);
    assert_eq!(iterations(&ran, "BenchmarkOther").len(), 1);
}

#[test]
fn a_benchmark_that_fails_is_named_and_the_others_are_measured() {
    let failing = "func BenchmarkFails(b *testing.B) {\n\tb.Fatal(\"no luck\")\n}\n\nfunc BenchmarkLater(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tif sink++; sink > 1000 {\n\t\t\tos.Exit(3)\n\t\t}\n\t}\n}\n";
    let place = Place::go_module(&simple(&format!("{GOOD}{failing}")));
    let quick = ["--suite-runs", "3", "--iterations", "2", "--seconds", "0.01", "--format", "json"];
    let ran = place.duet(&[&["run"], &quick[..]].concat()).expect(1);
    assert_eq!(iterations(&ran, "BenchmarkGood").len(), 3);
    assert!(ran.benchmark("BenchmarkFails")["failures"][0].as_str().unwrap().contains("no luck"));
    assert_eq!(ran.benchmark("BenchmarkLater")["median_ns"], Value::Null);
}

#[test]
fn what_is_learnt_from_a_run_is_where_a_comparison_begins() {
    let place = Place::go_module(&simple(GOOD));
    place.duet(&["run", "--suite-runs", "5", "--iterations", "3", "--seconds", "0.02"]).expect(0);
    place.duet(&["tune", "r1", "--threshold", "1000%"]).expect(0);
    let plan = std::fs::read_to_string(place.path().join("duet-plan.toml")).unwrap();
    for words in
        ["name = \"example.com/fixture.BenchmarkGood\"", "from = [\"r1\"]", "artifact_digest = \"", "machine = \""]
    {
        assert!(plan.contains(words), "`{words}` is not in\n{plan}");
    }
    let args = ["compare", "./", "./", "--plan", "duet-plan.toml", "--builds", "1", "--fixed", "--measure-identical"];
    let ran = place.duet(&[&args[..], &["--format", "json"]].concat()).expect(0);
    // Anything is stable enough, so three values are; a comparison needs four.
    assert_eq!(ran.benchmark("BenchmarkGood")["forks"].as_array().unwrap().len(), 4, "{plan}");
    place.duet(&["run", "--plan", "duet-plan.toml"]).expect(0);
    place.duet(&["tune", "--check", "--no-write"]).expect(0);
    // Another loop is other code.
    place.write("fixture_test.go", &simple(&GOOD.replace("sum = ", "sum[0]++\n\t\tsum = ")));
    place.duet(&["run", "--plan", "duet-plan.toml"]).expect(0);
    let ran = place.duet(&["tune", "--check", "--no-write", "--format", "json"]).expect(1);
    let row = ran.benchmark("example.com/fixture.BenchmarkGood");
    assert_eq!(row["reasons"], serde_json::json!(["code"]), "{}", ran.stdout);
}
