//! Where the time of one benchmark went, for the page: its CPU profiles as bars by function.

use duetbench_core::hotspot::{FunctionGain, Gain, Origin, ProfileDifference};
use duetbench_core::{BenchmarkId, Report};
use serde::Serialize;

use crate::render::format::{TimeScale, one_line};
use crate::render::profile;

/// The two profiles of a benchmark against each other.
#[derive(Serialize)]
pub(super) struct Profiled {
    /// Both sides as a whole, in words; then what else is to be said.
    words: Vec<String>,
    /// Functions whose own instructions gained.
    flat: Vec<Function>,
    /// Functions that gained with what they call.
    cumulative: Vec<Function>,
    /// The command that shows them in full.
    command: String,
}

/// A function before and after.
#[derive(Serialize)]
struct Function {
    name: String,
    /// Whose it is, where it is not the program's.
    origin: Option<&'static str>,
    baseline_ns: f64,
    candidate_ns: f64,
    /// Its gain with its sign and unit.
    gain: String,
    share: Option<f64>,
}

impl Profiled {
    /// That of this benchmark; absent where it was not profiled.
    pub(super) fn of(id: &BenchmarkId, report: &Report) -> Option<Profiled> {
        let (difference, files) =
            profile::compared(report).find_map(|(of, difference, files)| (of == id).then_some((difference, files)))?;
        let functions = |gained: &[FunctionGain]| profile::shown(gained).map(Function::of).collect();
        Some(Profiled {
            words: words(difference),
            flat: functions(&difference.flat),
            cumulative: functions(&difference.cumulative),
            command: profile::command(&files.each_ref().map(|file| portable(file))),
        })
    }
}

fn words(difference: &ProfileDifference) -> Vec<String> {
    let nothing = difference.flat.is_empty() && difference.cumulative.is_empty();
    let nothing = nothing.then(|| profile::NOTHING_GAINED.to_owned());
    std::iter::once(profile::sides(difference)).chain(nothing).collect()
}

impl Function {
    fn of(found: &FunctionGain) -> Function {
        let Gain { baseline_ns, candidate_ns, gain_ns, .. } = found.gain;
        Function {
            name: one_line(&found.function),
            origin: match found.origin {
                Origin::Program => None,
                Origin::Runtime => Some("runtime"),
                Origin::Collector => Some("collector"),
            },
            baseline_ns,
            candidate_ns,
            gain: format!("+{}s", TimeScale::of(&[gain_ns]).write(gain_ns)),
            share: found.share,
        }
    }
}

/// The path of a profile as it is inside the folder of the store: where that was on the machine that measured says nothing elsewhere.
fn portable(file: &str) -> String {
    let is_absolute = file.starts_with('/');
    let kept = is_absolute.then(|| file.rfind("/profiles/")).flatten();
    kept.map_or(file, |at| &file[at + 1..]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_tell_where_it_was_measured() {
        let check = |file, want| assert_eq!(portable(file), want);
        check("/home/runner/work/x/.duet/profiles/r1/a.baseline.pb.gz", "profiles/r1/a.baseline.pb.gz");
        check("/srv/profiles/of/.duet/profiles/r1/a.pb.gz", "profiles/r1/a.pb.gz");
        check(".duet/profiles/r1/a.pb.gz", ".duet/profiles/r1/a.pb.gz");
        check("/elsewhere/a.pb.gz", "/elsewhere/a.pb.gz");
    }
}
