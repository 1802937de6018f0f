//! Where the time of one benchmark went, for the page: its CPU profiles as bars by function.

use std::collections::BTreeMap;

use duetbench_core::hotspot::{Frame, FunctionGain, Gain, Origin, ProfileDifference, Trend};
use duetbench_core::{BenchmarkId, Report};
use serde::Serialize;

use super::benchmark::short;
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
    /// Whole call stacks, where the profiles are at hand.
    stacks: Option<Stacks>,
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

/// Call stacks, with short rows instead of names: there may be hundreds of frames.
#[derive(Serialize)]
struct Stacks {
    /// Names of functions, the empty one for everything.
    functions: Vec<String>,
    /// Depth, function, beginning and width as fractions, baseline and candidate in nanoseconds, trend; each behind its caller.
    frames: Vec<(usize, usize, f64, f64, f64, f64, &'static str)>,
}

impl Profiled {
    /// That of this benchmark; absent where it was not profiled.
    pub(super) fn of(id: &BenchmarkId, report: &Report) -> Option<Profiled> {
        let (difference, files) =
            profile::compared(report).find_map(|(of, difference, files)| (of == id).then_some((difference, files)))?;
        let functions = |gained: &[FunctionGain]| profile::shown(gained).map(Function::of).collect();
        let stacks = report.stacks.iter().find(|stacks| stacks.id == *id).map(|stacks| &stacks.frames);
        let unread = stacks.and_then(|frames| frames.as_ref().err());
        let unread = unread.map(|why| format!("no call stacks: {}", one_line(why)));
        Some(Profiled {
            words: words(difference).into_iter().chain(unread).collect(),
            flat: functions(&difference.flat),
            cumulative: functions(&difference.cumulative),
            stacks: stacks.and_then(|frames| Stacks::of(frames.as_ref().ok()?)),
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

impl Stacks {
    /// Those of a picture; absent where it has no frame.
    fn of(frames: &[Frame]) -> Option<Stacks> {
        let mut functions = Vec::new();
        let mut places = BTreeMap::new();
        let row = |frame: &Frame| {
            let function = *places.entry(frame.function.clone()).or_insert_with(|| {
                functions.push(one_line(&frame.function));
                functions.len() - 1
            });
            let [left, width] = [frame.left, frame.width].map(short);
            (frame.depth, function, left, width, short(frame.baseline_ns), short(frame.candidate_ns), word(frame.trend))
        };
        let frames: Vec<_> = frames.iter().map(row).collect();
        (!frames.is_empty()).then_some(Stacks { functions, frames })
    }
}

fn word(trend: Trend) -> &'static str {
    match trend {
        Trend::Grew => "grew",
        Trend::Shrank => "shrank",
        Trend::Alike => "alike",
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
