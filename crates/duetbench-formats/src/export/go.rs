//! Go benchmark text (<https://go.dev/design/14313-benchmark-format>): a line for every value.
//!
//! Every process of `go test` begins with its configuration, so a `pkg:` line that comes again says that another fork begins.
//! A recording does not know the number of invocations behind a value; the number written follows from the length of an iteration.

use std::collections::HashMap;

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Level};

use super::about::one_line;
use super::fit::{Fitted, Frame, Units, fit, invocations};
use super::{About, Written, named};
use crate::error::FormatError;

const FRAME: Frame =
    Frame { title: "Go benchmark text", levels: &[Level::Fork, Level::Iteration], units: Units::All, gaps: false };
/// Beginning of every name.
const PREFIX: &str = "Benchmark";

/// The recording as such a text.
pub(super) fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (fitted, mut lost) = fit(recording, &FRAME)?;
    let mut out: String = about.lines.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    out += &units(&fitted);
    let mut names = Names::default();
    let spelt: Vec<(&str, String)> = fitted.iter().map(|benchmark| names.spelling(split(benchmark.name()))).collect();
    let forks = fitted.iter().map(|benchmark| benchmark.shape[0]).max().unwrap_or(0);
    let mut package = "";
    for fork in 0..forks {
        let mut begins = fork > 0;
        for (benchmark, (of, name)) in fitted.iter().zip(&spelt) {
            let values = benchmark.groups().nth(fork).unwrap_or_default();
            if begins || *of != package {
                (begins, package) = (false, of);
                let blank = if package.is_empty() { "" } else { " " };
                out += &format!("pkg:{blank}{}\n", one_line(package));
            }
            out += &lines(name, values, benchmark);
        }
    }
    let differs = |(benchmark, (_, spelt)): (&Fitted<'_>, &(&str, String))| {
        let name = benchmark.name();
        (split(name).1 != spelt).then(|| name.to_owned())
    };
    let changed: Vec<String> = fitted.iter().zip(&spelt).filter_map(differs).collect();
    if let Some(changed) = named(changed.iter().map(String::as_str)) {
        lost.push(format!(
            "Go's names begin with `{PREFIX}` and have no spaces, so these are spelt otherwise: {changed}"
        ));
    }
    Ok(Written::file(out, lost))
}

/// A line for each value that is there.
fn lines(name: &str, values: &[f64], benchmark: &Fitted<'_>) -> String {
    let unit = one_line(&benchmark.recorded.unit).replace(char::is_whitespace, "_");
    let known = values.iter().filter(|value| value.is_finite());
    known.map(|value| format!("{name}\t{}\t{value} {unit}\n", invocations(benchmark.recorded, *value))).collect()
}

/// Lines that say of which units more is better. Of those that Go has by itself readers know it.
fn units(fitted: &[Fitted<'_>]) -> String {
    let mut out = String::new();
    for recorded in fitted.iter().map(|f| f.recorded).filter(|recorded| recorded.better == Better::Higher) {
        let line = format!("Unit {} better=higher\n", one_line(&recorded.unit).replace(char::is_whitespace, "_"));
        if !out.contains(&line) {
            out += &line;
        }
    }
    out
}

/// Package and name, as Go's own names are made up: `example.com/shop.BenchmarkGet`.
pub(super) fn split(full: &str) -> (&str, &str) {
    let dot = full.match_indices(".Benchmark").map(|(dot, _)| dot);
    let mut fitting = dot.filter(|dot| is_name(&full[dot + 1..]) && !full[..*dot].contains(char::is_whitespace));
    fitting.next().map_or(("", full), |dot| (&full[..dot], &full[dot + 1..]))
}

/// Whether readers of the format take this for the name of a benchmark.
fn is_name(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX);
    rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase)) && !name.contains(char::is_whitespace)
}

/// Spellings that were used, with how often.
#[derive(Default)]
struct Names {
    used: HashMap<(String, String), String>,
    taken: HashMap<(String, String), usize>,
}

impl Names {
    /// A name as the format has it, with its package: the same for the same name, another one for another. Go numbers names that come
    /// again in the same way.
    fn spelling<'a>(&mut self, (package, name): (&'a str, &str)) -> (&'a str, String) {
        let key = (package.to_owned(), name.to_owned());
        if let Some(known) = self.used.get(&key) {
            return (package, known.clone());
        }
        let plain = one_line(name).replace(char::is_whitespace, "_");
        let spelt = if is_name(&plain) { plain } else { format!("{PREFIX}_{plain}") };
        let times = self.taken.entry((package.to_owned(), spelt.clone())).or_default();
        *times += 1;
        let unique = if *times == 1 { spelt } else { format!("{spelt}#{:02}", *times - 1) };
        self.used.insert(key, unique.clone());
        (package, unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_go_puts_them_together() {
        let check = |full: &str, want: (&str, &str)| assert_eq!(split(full), want);
        check("example.com/shop.BenchmarkGet/size=1-8", ("example.com/shop", "BenchmarkGet/size=1-8"));
        check("a.Benchmarks/b.BenchmarkGet", ("a.Benchmarks/b", "BenchmarkGet"));
        check("BenchmarkGet", ("", "BenchmarkGet"));
        check("p.C.m:size=10", ("", "p.C.m:size=10"));
    }

    #[test]
    fn different_names_stay_different() {
        let mut names = Names::default();
        let spelt = ["sleep 1", "sleep_1", "sleep 1", "BenchmarkA"].map(|name| names.spelling(("", name)).1);
        assert_eq!(spelt, ["Benchmark_sleep_1", "Benchmark_sleep_1#01", "Benchmark_sleep_1", "BenchmarkA"]);
    }
}
