//! Reasons to trust that a verdict is about the code: proof of identity, layouts, stopping when it is known, confirmation.

use duetbench_core::spec::defaults;

use crate::common::{GOOD, Place, Ran, assert_no_false_alarm, simple, two};

/// The benchmark that does `times` as much work as [`GOOD`].
fn good(times: u32) -> String {
    let body =
        "for j := 0; j < STEPS; j++ {\n\t\t\tsum = sha256.Sum256(page[:])\n\t\t}".replace("STEPS", &times.to_string());
    simple(&GOOD.replace("sum = sha256.Sum256(page[:])", &body))
}

/// Compares with the defaults, except for what makes a test quick and its answer certain.
fn compare(place: &Place, more: &[&str]) -> Ran {
    place.duet(&[&["compare", "./old", "./new", "--format", "json", "--threshold", "20%"], more].concat())
}

#[test]
fn code_that_is_proven_to_be_the_same_is_not_measured() {
    let same = simple(GOOD);
    let place = two(&same, &format!("// A remark that moves every line.\n\n{same}"));
    let ran = compare(&place, &[]).expect(0);
    let benchmark = ran.benchmark("BenchmarkGood");
    assert_eq!((&benchmark["verdict"], &benchmark["forks"]), (&"identical_code".into(), &serde_json::json!([])));
    assert!(ran.json()["plan"]["excluded"][0]["saved_s"].as_f64().unwrap() > 0.0);
    let text = place.duet(&["show"]).expect(0).stdout;
    assert!(text.contains("proven:  1 benchmark of identical code"), "{text}");

    let measured = compare(&place, &["--measure-identical", "--forks", "4"]).expect(0);
    assert_no_false_alarm(&measured, &["BenchmarkGood"]);
    assert_eq!(measured.benchmark("BenchmarkGood")["forks"].as_array().unwrap().len(), 4);
}

#[test]
fn files_that_a_benchmark_reads_are_no_proof_if_they_differ() {
    let place = two(&simple(GOOD), &simple(GOOD));
    place.write("old/testdata/size.txt", "1").write("new/testdata/size.txt", "2");
    let ran = compare(&place, &["--forks", "4"]).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkGood"]);
}

#[test]
fn every_unit_has_a_build_pair_of_its_own_and_measuring_stops_when_it_is_known() {
    let ran = compare(&two(&good(1), &good(3)), &["--confirm"]).expect(3);
    let benchmark = ran.benchmark("BenchmarkGood");
    assert_eq!(benchmark["verdict"], "regression");
    let number = |key: &str| benchmark["counts"][key].as_u64().unwrap();
    assert!(number("units") < 32 && number("builds") == number("units"), "{}", benchmark["counts"]);
    assert!(benchmark["looks"].as_u64().unwrap() >= 1);
    assert!(benchmark["layout"]["share"].as_f64().is_some(), "{}", benchmark["layout"]);
    // Beyond doubt, nothing is gained by seeing it again.
    let beyond_doubt = benchmark["p_value"].as_f64().unwrap() <= defaults::BEYOND_DOUBT;
    assert_eq!(benchmark["confirmation"].is_null(), beyond_doubt, "{benchmark:#}");
    assert_eq!(benchmark["forks"].as_array().unwrap().iter().all(|fork| fork["round"] == 0), beyond_doubt);
}

#[test]
fn a_single_build_says_what_layout_could_explain() {
    let ran = compare(&two(&good(1), &good(3)), &["--builds", "1"]).expect(3);
    let benchmark = ran.benchmark("BenchmarkGood");
    assert_eq!((&benchmark["counts"]["builds"], &benchmark["layout"]), (&1.into(), &serde_json::Value::Null));
    assert!(benchmark["warnings"].to_string().contains("single_build"), "{}", benchmark["warnings"]);
}

#[test]
fn work_that_comes_once_in_thousands_of_invocations_and_maps_that_stop_growing_are_measured() {
    let place = Place::new();
    let bench = r#"package fixture

import "testing"

func BenchmarkFlush(b *testing.B) {
	var l Log
	for i := 0; i < b.N; i++ {
		l.Write(i)
	}
	b.ReportMetric(float64(b.N), "lines")
}

func BenchmarkPut(b *testing.B) {
	m := map[int]int{}
	for i := 0; i < b.N; i++ {
		m[i&1023] = Work(i, 100*Times)
	}
}
"#;
    let go = r"package fixture

type Log struct{ n, sum int }

func (l *Log) Write(x int) {
	l.sum += Work(x, 50)
	if l.n++; l.n%8192 == 0 {
		l.sum += Work(x, 1_000_000*Times)
	}
}

//go:noinline
func Work(x, rounds int) int {
	for i := 0; i < rounds; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
";
    for (version, times) in [("old", 1), ("new", 3)] {
        place.write(&format!("{version}/go.mod"), "module fixture\n\ngo 1.21\n");
        place.write(&format!("{version}/p.go"), go).write(&format!("{version}/p_test.go"), bench);
        place.write(&format!("{version}/times.go"), &format!("package fixture\n\nconst Times = {times}\n"));
    }
    let ran = compare(&place, &["--forks", "6", "--builds", "1", "--fixed"]);
    // Beside other tests an interval may be wide; without the flush, or waiting for collections, there was no such ratio.
    for name in ["BenchmarkFlush", "BenchmarkPut"] {
        assert!(ran.benchmark(name)["ratio"].as_f64().is_some_and(|ratio| ratio > 1.5), "{}", ran.stdout);
    }
}

#[test]
fn c_sources_outside_of_a_package_are_those_of_their_version() {
    let place = Place::new();
    let go = "package fixture\n\n// #include \"../native/work.h\"\nimport \"C\"\n\nfunc Work() int { return int(C.work()) }\n";
    let bench = "package fixture\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkWork(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += Work()\n\t}\n}\n";
    for (version, rounds) in [("old", 1000), ("new", 3000)] {
        let c = format!(
            "static int work(void) {{ volatile int s = 0; for (int i = 0; i < {rounds}; i++) s += i; return s; }}\n"
        );
        place.write(&format!("{version}/go.mod"), "module fixture\n\ngo 1.21\n");
        place.write(&format!("{version}/p/p.go"), go).write(&format!("{version}/p/p_test.go"), bench);
        place.write(&format!("{version}/native/work.h"), &c);
    }
    let ran = compare(&place, &["--forks", "6", "--builds", "1"]).expect(3);
    assert_eq!(ran.verdict("BenchmarkWork"), "regression", "{}", ran.stdout);
}

#[test]
fn a_benchmark_that_keeps_several_cores_busy_gets_them() {
    let spreading = r"func BenchmarkSpread(b *testing.B) {
	for i := 0; i < b.N; i++ {
		done := make(chan bool)
		for j := 0; j < 2; j++ {
			go func() {
				s := page
				for k := 0; k < 300; k++ {
					x := sha256.Sum256(s[:])
					copy(s[:], x[:])
				}
				done <- true
			}()
		}
		<-done
		<-done
	}
}
";
    // Garbage is collected beside it, which is no part of that.
    let spreading = spreading.replace("s := page\n", "s := page\n\t\t\t\tsink += len(make([]byte, 1<<17))\n");
    let version = format!("{}\n{GOOD}", simple(&spreading));
    let place = two(&version, &version);
    let ran = compare(&place, &["--forks", "3", "--builds", "1", "--measure-identical"]);
    let mode = |name: &str| ran.benchmark(name)["mode"].as_str().unwrap().to_owned();
    assert_eq!(mode("BenchmarkGood"), "interleaved_one_core");
    // On a machine of one core there is nothing to spread over; on one that is busy elsewhere it cannot be seen.
    let plan = &ran.json()["plan"]["benchmarks"][1];
    let busy = plan["profile"]["cores_busy"].as_f64().unwrap();
    let expected = if busy > 1.5 { "interleaved_all_cores" } else { "interleaved_one_core" };
    assert_eq!(mode("BenchmarkSpread"), expected, "{plan}");
}

#[test]
fn a_program_that_the_repository_puts_into_the_build_is_told() {
    let place = Place::go_module(&simple(GOOD));
    place.write("duet.toml", "harness = ['-toolexec', '/usr/bin/env', '-tags', 'x']\n");
    let run = ["run", "--suite-runs", "1", "--forks", "1", "--iterations", "1"];
    let told = "`harness` in `duet.toml` has other programs or sources take part: `-toolexec`";
    let said = place.duet(&run).stdout;
    assert!(said.contains(told), "{said}");
    place.write("duet.toml", "");
    let said = place.duet(&[&run[..], &["--", "-toolexec", "/usr/bin/env"]].concat()).stdout;
    assert!(!said.contains(told), "{said}");
}
