//! The rules that a change is judged by and that it alters itself. They are read from the change itself, for reviewers to see; so that they do see it, every
//! line that differs from the base's is told.

use std::path::Path;

use duetbench_core::gate::Waiver;
use duetbench_core::spec::defaults;
use duetbench_formats::bounded;
use toml::{Table, Value};

use super::{WAIVERS, understood};
use crate::project::{policy_dir, settings_file};
use crate::render::format::{one_line, shortened};
use crate::render::waiver::percent;

/// Keys that say what is shown and where it is kept, and nothing of what is judged or spent.
const OTHERWISE: [&str; 12] =
    ["all", "db", "format", "no_color", "no_wait", "output", "plot", "profile", "quiet", "seed", "timeout", "wait"];
/// Keys that say where a fleet is and what it may cost.
const SPENDING: [&str; 10] =
    ["arch", "bucket", "max_cost", "max_time", "memory", "on", "parallel", "prices", "region", "role"];

/// A line for everything that the files of the second folder say otherwise than those of the first.
pub fn between(base: &Path, head: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    match (settings(base), settings(head)) {
        (Ok(base), Ok(head)) => lines.extend(of_settings(&base, &head)),
        (Err(name), _) | (_, Err(name)) => lines.push(format!("`{name}` of one version cannot be understood")),
    }
    match (waivers(base), waivers(head)) {
        (Ok(base), Ok(head)) => lines.extend(new_and_gone("waiver", [&base, &head], told)),
        _ => lines.push(format!("`{WAIVERS}` of one version cannot be understood")),
    }
    let is_of_money = |line: &str| line.split(' ').next().is_some_and(|key| SPENDING.contains(&key));
    let what = |line: &str| if is_of_money(line) { "what is spent, and where" } else { "what gates" };
    lines.iter().map(|line| format!("this change alters {}: {}", what(line), shortened(&one_line(line)))).collect()
}

/// The settings of the project in a folder; none where it has no file.
fn settings(dir: &Path) -> Result<Table, &'static str> {
    let Some(path) = settings_file(dir) else { return Ok(Table::new()) };
    bounded::read_text(&path, bounded::TEXT_MAX).ok().and_then(|text| text.parse().ok()).ok_or("duet.toml")
}

/// The waivers of the project in a folder, which lie beside its settings, or at its root.
fn waivers(dir: &Path) -> Result<Vec<Waiver>, String> {
    understood(&bounded::read_text(&policy_dir(dir).join(WAIVERS), bounded::TEXT_MAX).unwrap_or_default())
}

fn of_settings(base: &Table, head: &Table) -> Vec<String> {
    let mut keys: Vec<&String> = base.keys().chain(head.keys()).collect();
    keys.sort();
    keys.dedup();
    let differs = |key: &&String| !OTHERWISE.contains(&key.as_str()) && base.get(*key) != head.get(*key);
    keys.into_iter().filter(differs).flat_map(|key| of_key(key, [base.get(key), head.get(key)])).collect()
}

/// The difference in one key. Tables are told one by one, since a list of them is long.
fn of_key(key: &str, [base, head]: [Option<&Value>; 2]) -> Vec<String> {
    let tables = |value: Option<&Value>| -> Vec<Value> { value.and_then(Value::as_array).cloned().unwrap_or_default() };
    if ![base, head].into_iter().flatten().all(|value| value.as_array().is_some_and(|a| a.iter().all(Value::is_table)))
    {
        return vec![format!("{key} {} → {}", value(key, base), value(key, head))];
    }
    let lines = new_and_gone(key, [&tables(base), &tables(head)], |table| format!("`{table}`"));
    if lines.is_empty() { vec![format!("the order of `[[{key}]]` tables")] } else { lines }
}

/// A line for each entry of a list that only head has, and for each that only base has.
fn new_and_gone<T: PartialEq>(kind: &str, [base, head]: [&[T]; 2], told: impl Fn(&T) -> String) -> Vec<String> {
    let only = |all: &[T], others: &[T], fate: &str| -> Vec<String> {
        let lone = all.iter().filter(|one| !others.contains(one));
        lone.map(|one| format!("a {kind} is {fate}: {}", told(one))).collect()
    };
    [only(head, base, "new"), only(base, head, "gone")].concat()
}

/// A value as people know it.
fn value(key: &str, value: Option<&Value>) -> String {
    match (key, value) {
        ("threshold", None) => percent(defaults::THRESHOLD),
        (_, None) => "unset".into(),
        ("threshold" | "alpha" | "fdr", Some(Value::Float(fraction))) => percent(*fraction),
        ("threshold" | "alpha" | "fdr" | "budget", Some(Value::String(text))) => text.clone(),
        (_, Some(Value::String(text))) => format!("`{text}`"),
        (_, Some(other)) => format!("`{other}`"),
    }
}

fn told(waiver: &Waiver) -> String {
    let Waiver { benchmark, metric, ceiling, expires, .. } = waiver;
    format!("{} of `{benchmark}` up to {} until {expires}", metric.word(), percent(*ceiling))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_only_move_or_only_show_are_told_apart_from_those_that_gate() {
        let lines = |base: &str, head: &str| of_settings(&base.parse().unwrap(), &head.parse().unwrap());
        assert_eq!(lines("threshold = '5%'\nbench = 'A'", "bench = 'A'\nthreshold = '5%'\nquiet = true"), [""; 0]);
        assert_eq!(lines("threshold = 0.05", ""), ["threshold 5% → 3%"]);
        assert_eq!(lines("", "packages = ['./a']"), ["packages unset → `[\"./a\"]`"]);
        let rules = ["[[rule]]\nbenchmarks = 'A'\n", "[[rule]]\nbenchmarks = 'B'\n"];
        assert_eq!(lines(&rules.concat(), &[rules[1], rules[0]].concat()), ["the order of `[[rule]]` tables"]);
        assert_eq!(lines("", rules[0]), ["a rule is new: `{ benchmarks = \"A\" }`"]);
    }
}
