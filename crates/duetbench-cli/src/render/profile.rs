//! Where regressions come from, in words and for programs.

use duetbench_core::hotspot::{BenchmarkProfile, FunctionGain, Gain, Origin, ProfileDifference, ProfileOutcome};
use duetbench_core::{BenchmarkId, Report};
use serde_json::{Value, json};

use super::command_line::quote;
use super::format::{TimeScale, many, one_line, share, shortened};

/// Functions of each kind that people are shown, besides those that somebody could change; `--format json` has more.
const SHOWN_MAX: usize = 5;
/// Said where no function stands out.
pub(super) const NOTHING_GAINED: &str = "no function gained more than processes of one side differ by: the change is spread over many, waits instead of computing, or is too small for so few samples";

/// Lines on the profiles of one benchmark: both sides, then the functions that gained, with the largest gain first.
pub fn lines(difference: &ProfileDifference) -> Vec<String> {
    let mut lines = vec![sides(difference)];
    if difference.flat.is_empty() && difference.cumulative.is_empty() {
        lines.push(NOTHING_GAINED.into());
    }
    lines.extend(shown(&difference.flat).map(|f| function("itself", f)));
    lines.extend(shown(&difference.cumulative).map(|f| function("with what it calls", f)));
    lines
}

/// The functions that people are shown: the largest gains, and those of modules, which the whole depth of a library may stand before.
pub(super) fn shown(gained: &[FunctionGain]) -> impl Iterator<Item = &FunctionGain> {
    let first = gained.iter().enumerate();
    first.filter(|(place, found)| *place < SHOWN_MAX || is_of_a_module(&found.function)).map(|(_, found)| found)
}

/// Whether a Go function is not of the standard library, whose import paths have no dot in their first element.
fn is_of_a_module(function: &str) -> bool {
    function.split_once('/').is_some_and(|(first, _)| first.contains('.'))
}

/// The command that shows the two profiles of one benchmark against each other. A stranger's store may name files, or addresses, of its own.
pub(super) fn command(report: &Report, [baseline, candidate]: &[String; 2]) -> Option<String> {
    let words = || format!("go tool pprof -top {} {}", quote(&format!("-diff_base={baseline}")), quote(candidate));
    (!report.untrusted).then(words)
}

/// Every benchmark of a report that was profiled, with its lines and the command.
pub(super) fn explained(report: &Report) -> impl Iterator<Item = (&BenchmarkProfile, Vec<String>, Option<String>)> {
    report.profiles.iter().filter_map(|profile| match &profile.outcome {
        ProfileOutcome::Explained { difference, files } => Some((profile, lines(difference), command(report, files))),
        ProfileOutcome::Failed { .. } => None,
    })
}

/// The function that gained most by itself, where this benchmark was profiled.
pub(super) fn culprit(report: &Report, id: &BenchmarkId) -> Option<String> {
    let first = report.profile(id)?.difference()?.flat.first()?;
    let gained = TimeScale::of(&[first.gain.gain_ns]).write(first.gain.gain_ns);
    let of_all = first.share.map_or_else(String::new, |part| format!(", {} of the change", share(part)));
    Some(format!("`{}` +{gained}s{of_all}", one_line(&first.function).replace('`', "'")))
}

/// The time of both sides, and what of it is the runtime's.
pub(super) fn sides(difference: &ProfileDifference) -> String {
    let [baseline, candidate] = difference.samples;
    let processes = many(difference.processes[0] as usize, "process", "processes");
    format!(
        "{} of processor time per operation, of which the runtime {} ({baseline} and {candidate} samples of {processes} a side)",
        times(&difference.total),
        times(&difference.runtime),
    )
}

fn function(how: &str, found: &FunctionGain) -> String {
    let scale = TimeScale::of(&[found.gain.gain_ns]);
    let of_all = found.share.map_or(String::new(), |part| format!(", {} of the change", share(part)));
    let origin = origin(found.origin);
    let name = shortened(&one_line(&found.function));
    let gained = scale.write(found.gain.gain_ns);
    format!("+{gained} {name}{origin}, {how}: {}{of_all}", times(&found.gain))
}

/// The owner of a function's code, to stand behind its name; the program's own is not said.
pub(super) fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Program => "",
        Origin::Runtime => " (runtime)",
        Origin::Collector => " (collector)",
    }
}

/// Time before and after: `1.718µ → 1.806µ`.
pub(super) fn times(gain: &Gain) -> String {
    let scale = TimeScale::of(&[gain.baseline_ns, gain.candidate_ns]);
    format!("{} → {}", scale.write(gain.baseline_ns), scale.write(gain.candidate_ns))
}

/// The profiles of every benchmark, for programs; absent where nothing was profiled.
pub(super) fn json(report: &Report) -> Option<Vec<Value>> {
    (!report.profiles.is_empty()).then(|| report.profiles.iter().map(json_of).collect())
}

/// The profiles of one benchmark, for programs.
pub(super) fn json_of(profile: &BenchmarkProfile) -> Value {
    let (files, difference) = match &profile.outcome {
        ProfileOutcome::Explained { difference, files: [baseline, candidate] } => {
            (json!({ "baseline": baseline, "candidate": candidate }), difference_json(difference))
        }
        ProfileOutcome::Failed { .. } => (Value::Null, Value::Null),
    };
    json!({
        "package": profile.id.package,
        "name": profile.id.name,
        "failure": profile.failure(),
        "files": files,
        "difference": difference,
    })
}

fn difference_json(difference: &ProfileDifference) -> Value {
    let [baseline, candidate] = difference.samples;
    json!({
        "processes": difference.processes[0],
        "invocations": difference.invocations,
        "samples": { "baseline": baseline, "candidate": candidate },
        "total": difference.total,
        "runtime": difference.runtime,
        "flat": difference.flat.iter().map(function_json).collect::<Vec<_>>(),
        "cumulative": difference.cumulative.iter().map(function_json).collect::<Vec<_>>(),
    })
}

fn function_json(found: &FunctionGain) -> Value {
    json!({
        "function": found.function,
        "origin": found.origin,
        "baseline_ns": found.gain.baseline_ns,
        "candidate_ns": found.gain.candidate_ns,
        "gain_ns": found.gain.gain_ns,
        "share": found.share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_a_module_is_shown_however_many_of_the_library_gained_more() {
        let gain = Gain { baseline_ns: 1.0, candidate_ns: 2.0, gain_ns: 1.0, beyond_noise: true };
        let found = |name: &str| FunctionGain { function: name.into(), origin: Origin::Program, share: None, gain };
        let library = ["sort.Ints", "crypto/sha256.Sum256", "main.f", "fmt.Fprintf", "strconv.Itoa", "io.Copy"];
        let gained: Vec<FunctionGain> = library.into_iter().chain(["example.com/codec.Sum"]).map(found).collect();
        let shown: Vec<&str> = shown(&gained).map(|one| &*one.function).collect();
        assert_eq!(shown, [&library[..5], &["example.com/codec.Sum"]].concat());
    }
}
