//! Everything that `duet` reads and that carries names, with hostile ones in it.

use std::path::Path;

use duetbench_core::calibrate::{Calibration, Machine};
use duetbench_core::hotspot::BenchmarkProfile;
use duetbench_core::instructions::BenchmarkInstructions;
use duetbench_core::reported::Readings;
use duetbench_formats::parse;
use duetbench_run::fleet::wire::Instance;
use duetbench_run::store::{RunHead, SoloHead};
use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::checks::{TAG, TORN};
use crate::common::Place;
use crate::render_support::with_instructions;

/// Tried in front of every name: a formula, and a command to a service of continuous integration.
pub const LEADS: [&str; 2] = ["=HYPERLINK(1)", "\n::error::owned"];

/// A word that colours a terminal and sets its title, goes back to the start of the line, turns the reading order round, and ends whatever
/// quotes it.
pub fn word(lead: &str) -> String {
    let acting = "\u{9b}2J\u{202e}txet\u{2066}\u{200d}\u{2028}\u{ad}";
    format!("{lead}\u{1b}[31m\u{1b}]0;title\u{7}\r\n{TORN}{acting}|`{TAG}``{TAG} [x](https://evil.example)'\"=")
}

/// Puts the word before every string, and every name of a field, that a reader takes so.
pub fn infected(json: &str, word: &str, takes: &dyn Fn(&Value, &str) -> bool) -> String {
    let mut value: Value = serde_json::from_str(json).unwrap();
    for pointer in pointers(&value, "") {
        let leaf = value.pointer_mut(&pointer).unwrap();
        let before = leaf.clone();
        *leaf = format!("{word}{}", before.as_str().unwrap()).into();
        if !takes(&value, &pointer) {
            *value.pointer_mut(&pointer).unwrap() = before;
        }
    }
    for pointer in objects(&value, "") {
        let keys: Vec<String> = value.pointer(&pointer).unwrap().as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let hostile = format!("{word}{key}");
            let before = value.clone();
            let object = value.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
            let kept = object.remove(&key).unwrap();
            object.insert(hostile.clone(), kept);
            if !takes(&value, &format!("{pointer}/{}", escaped(&hostile))) {
                value = before;
            }
        }
    }
    value.to_string()
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Where strings are.
fn pointers(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::String(_) => vec![at.to_owned()],
        Value::Array(all) => all.iter().enumerate().flat_map(|(i, one)| pointers(one, &format!("{at}/{i}"))).collect(),
        Value::Object(all) => {
            all.iter().flat_map(|(key, one)| pointers(one, &format!("{at}/{}", escaped(key)))).collect()
        }
        _ => Vec::new(),
    }
}

/// Where objects are, those inside of others first.
fn objects(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().enumerate().flat_map(|(i, one)| objects(one, &format!("{at}/{i}"))).collect(),
        Value::Object(all) => {
            let inner = all.iter().flat_map(|(key, one)| objects(one, &format!("{at}/{}", escaped(key))));
            inner.chain([at.to_owned()]).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the type keeps what stands there.
fn kept<T: Serialize + DeserializeOwned>(value: &Value, pointer: &str) -> bool {
    let read = T::deserialize(value).ok().and_then(|read| serde_json::to_value(read).ok());
    read.is_some_and(|read| read.pointer(pointer).is_some())
}

/// Makes everything hostile that the store holds; `spared` are endings of pointers to what commands need as it is.
pub fn infect_store(path: &Path, word: &str) {
    let store = Connection::open(path).unwrap();
    add_what_scripts_lack(&store);
    let rows = |sql: &str| -> Vec<(i64, String)> {
        let mut statement = store.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let change = |table: &str, column: &str, takes: &dyn Fn(&Value, &str) -> bool| {
        let all = rows(&format!("SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL"));
        assert!(!all.is_empty(), "no {column} in {table}");
        for (id, json) in all {
            let update = format!("UPDATE {table} SET {column} = ?2 WHERE rowid = ?1");
            store.execute(&update, params![id, infected(&json, word, takes)]).unwrap();
        }
    };
    change("runs", "head", &|value, pointer| {
        let solo = value.get("kind").is_some();
        // These must stay as they are for the run to be read at all.
        let needed = ["/kind", "/spec/selection/bench"].contains(&pointer);
        !needed && if solo { kept::<SoloHead>(value, pointer) } else { kept::<RunHead>(value, pointer) }
    });
    change("profiles", "profile", &kept::<BenchmarkProfile>);
    change("instructions", "counts", &kept::<BenchmarkInstructions>);
    change("readings", "readings", &kept::<Readings>);
    change("calls", "instance", &kept::<Instance>);
    change("calibrations", "machine", &kept::<Machine>);
    change("calibrations", "calibration", &kept::<Calibration>);
    let prefixed = "UPDATE trials SET failure = ?1 || failure; UPDATE calls SET words = ?1 || words;
         UPDATE runs SET started = ?1 || started; UPDATE calibrations SET made = ?1 || made";
    for statement in prefixed.split(';') {
        store.execute(statement, [word]).unwrap();
    }
}

/// A profile, readings, and calls of a fleet, which no script makes.
fn add_what_scripts_lack(store: &Connection) {
    let mut report = with_instructions();
    let (mut profile, mut counts) = (report.profiles.remove(0), report.instructions.remove(0));
    profile.id = serde_json::from_value(json!({"package": "example.com/scripted", "name": "BenchmarkA"})).unwrap();
    counts.id = profile.id.clone();
    let [profile, counts] = [serde_json::to_string(&profile).unwrap(), serde_json::to_string(&counts).unwrap()];
    store.execute("INSERT INTO instructions (run, counts) VALUES (1, ?1)", [counts]).unwrap();
    store.execute("INSERT INTO profiles (run, profile) VALUES (1, ?1)", [profile]).unwrap();
    let pairs: Vec<Value> = (0..6).map(|i| json!({"baseline": 5.0 + f64::from(i), "candidate": 9.0})).collect();
    let readings = json!({"id": {"package": "example.com/scripted", "name": "BenchmarkA"},
        "outcome": {"read": [{"unit": "rows/s", "pairs": pairs}]}});
    store.execute("INSERT INTO readings (run, readings) VALUES (1, ?1)", [readings.to_string()]).unwrap();
    let instance = json!({"id": "i-1", "cpu": "Some processor", "cpus": 2, "memory_mb": 2048, "calls_before": 0,
        "init_ns": 5, "call_ns": 9});
    let call = "INSERT INTO calls (run, benchmark, first_suite_run, suite_runs, sending, end, words, instance, billed_ns, cold)
         VALUES (1, 0, 0, 1, 1, 'failed', 'it broke', ?1, 5, 1)";
    store.execute(call, [instance.to_string()]).unwrap();
}

/// Files of every form that is imported, by name.
pub fn files(word: &str) -> Vec<(&'static str, String)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../duetbench-formats/tests/data/import");
    let json = |name: &str| {
        let text = std::fs::read_to_string(data.join(name)).unwrap();
        infected(&text, word, &|value, _| {
            parse(value.to_string().as_bytes()).is_ok_and(|read| read.recording.warnings.is_empty())
        })
    };
    let together: String = word.split_whitespace().collect();
    let go = std::fs::read_to_string(data.join("go-two-processes.txt")).unwrap();
    let go = go.replace("Benchmark", &format!("Benchmark{together}")).replace("pkg: ", &format!("pkg: {together}"));
    let quoted = format!("\"{}\"", format!("{word}p.A").replace('"', "\"\""));
    vec![
        ("jmh.json", json("jmh-modes.json")),
        ("hyperfine.json", json("hyperfine-parameters.json")),
        ("google.json", json("google.json")),
        ("pytest.json", json("pytest.json")),
        ("pyperf.json", json("pyperf.json")),
        ("go.txt", go),
        ("papers.csv", papers(&quoted)),
        ("pa.csv", pa(&quoted)),
        ("benchstat.csv", format!(",{quoted},\n,sec/op,CI\n{quoted},1.8e-08,∞\n{quoted}2,1.7e-07,∞\n")),
    ]
}

/// Twelve forks of five iterations, of two benchmarks.
fn papers(name: &str) -> String {
    let mut text = "n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n".to_owned();
    for (name, level) in [(name, 100.0), ("calm", 50.0)] {
        for fork in 1..=12 {
            for iteration in 1..=5 {
                let value = level + f64::from((fork * 7 + iteration * 3) % 5);
                text += &format!("1,{value},5,12,{iteration},{fork},{name}\n");
            }
        }
    }
    text
}

fn pa(name: &str) -> String {
    let mut text =
        "project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value\n".to_owned();
    for instance in 0..6 {
        for (trial, value) in (0..10).map(|trial| (trial, 1000 + (instance * 37 + trial * 11) % 20)) {
            text += &format!("{name};{name};{name};;{name}{instance};{trial};1;1;avgt;ns/op;1;{value}\n");
        }
    }
    text
}

/// As TOML has it, which reads JSON's strings.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Settings with rules of hostile patterns and units.
pub fn settings(place: &Place, word: &str) {
    let pattern = quoted(&word.replace(['[', '(', ')', '|'], ""));
    let unit = quoted(&word.split_whitespace().collect::<String>());
    let time = format!("[[rule]]\nbenchmarks = {pattern}\nmetric = 'time'\nthreshold = '4%'\n");
    place.write("duet.toml", &format!("exclude = 'zzz'\n{time}[[rule]]\nunit = {unit}\nbetter = 'lower'\n"));
}

/// Waivers of a benchmark of an infected store, and of none.
pub fn waive(place: &Place, word: &str) {
    let waiver = |benchmark: String| {
        let (benchmark, word) = (quoted(&benchmark), quoted(word));
        let rest = format!("ceiling = '44%'\nexpires = 2999-12-31\nreason = {word}\nlink = {word}\n");
        format!("[[waiver]]\nbenchmark = {benchmark}\n{rest}")
    };
    let [there, gone] = [format!("{word}example.com/scripted.{word}BenchmarkA"), format!("{word}Gone")].map(waiver);
    place.write("duet-waivers.toml", &(there + &gone));
}

/// A plan of a benchmark that there is not.
pub fn plan(word: &str) -> String {
    let word = quoted(word);
    let about =
        format!("date = '2026-11-22'\nfrom = [{word}]\nversion = {word}\nmachine = {word}\ntoolchain = {word}\n");
    let learnt = format!("[learnt]\n{about}metric = 'rciw3'\nthreshold = 0.01\nconfidence = 0.95\n");
    let often =
        "suite_runs = 3\nforks = 1\niterations = 5\nwarmup = 2\niteration_s = 1.0\nstability = 0.004\nstable = true\n";
    format!("format = 1\n\n{learnt}\n[[benchmark]]\nname = {word}\n{often}")
}

/// Files with hostile keys.
pub fn misspelt(word: &str) -> [(&'static str, String); 3] {
    let key = quoted(word);
    [
        ("plan.toml", format!("{key} = 1\n")),
        ("duet-waivers.toml", format!("[[waiver]]\n{key} = 1\n")),
        ("duet.toml", format!("{key} = {key}\n")),
    ]
}
