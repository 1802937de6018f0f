//! duet's part in a Rust benchmark. It is compiled as a module of the harness: criterion and divan call `takes` before they run a
//! benchmark, and `more` before and after each timed stretch. Without `DUET_PAGE`, `DUET_LIST` and `DUET_INVOCATIONS` both do
//! nothing.
//!
//! The behaviour is defined by `hooks/protocol/PROTOCOL.md`. Nothing but the standard library and the C library below it is used, and no
//! newer Rust than the oldest harness asks for.

mod link;
mod names;
pub(crate) mod page;
mod system;
mod trial;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

use self::link::Link;
pub(crate) use self::names::{enter, leave, path};
use self::trial::{Phase, Trial};

/// Proves that the hook was linked in: it begins every message, so that no linker drops it.
const MARKER: &str = "duet-hook-protocol-1";
/// Longest name, in bytes, that is sure to fit a variable of a process.
const NAME_MAX: usize = 1 << 16;
/// A slice has at most so many parts: as short as can be without measuring the clock, so that little memory is needed.
const PARTS: u64 = 16;

/// An average sample of criterion's, from whose invocations it makes out how many are set up together: a hundred of them take 5 s.
const SAMPLE_NS: u128 = 50_000_000;

/// What this process was started for.
enum Job {
    /// The harness runs as if unhooked.
    Off,
    List {
        file: File,
        skipped: Option<String>,
    },
    Measure {
        bench: String,
        page: String,
        side: u32,
    },
    /// One benchmark makes so many invocations, and no other any.
    Invoke {
        bench: String,
        invocations: u64,
    },
}

struct Hook {
    job: Job,
    /// The trial, while the benchmark to measure runs.
    trial: Option<Trial>,
    /// A stretch that is not measured is under way.
    open: bool,
    /// Number and time of such stretches, nanoseconds.
    stretches: u32,
    ns: u64,
    /// Names that were numbered, each as often as it came.
    came: Vec<String>,
}

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

fn hook() -> MutexGuard<'static, Option<Hook>> {
    let mut hook = HOOK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if hook.is_none() {
        *hook = Some(Hook { job: Job::read(), trial: None, open: false, stretches: 0, ns: 0, came: Vec::new() });
    }
    hook
}

/// Ends the process: to go on unhooked would look like a measurement.
fn die(why: &str) -> ! {
    eprintln!("{}: {}", MARKER, why);
    std::process::exit(2)
}

impl Job {
    /// Reads the variables and removes them, so that programs which the benchmark starts do not take part.
    fn read() -> Job {
        let take = |name: &str| {
            let value = std::env::var(name).ok();
            std::env::remove_var(name);
            value
        };
        let names = ["DUET_PAGE", "DUET_LIST", "DUET_BENCH", "DUET_SIDE", "DUET_PARENT", "DUET_SKIP", "DUET_INVOCATIONS"];
        let [page, list, bench, side, parent, skip, invocations] = names.map(take);
        if page.is_none() && list.is_none() && invocations.is_none() {
            return Job::Off;
        }
        system::die_with_parent();
        if parent.map_or(false, |number| number != system::parent().to_string()) {
            die("started by a duet that is gone");
        }
        if let Some(page) = page {
            let side = match side.as_deref() {
                Some("0") => 0,
                Some("1") => 1,
                _ => die("DUET_SIDE must be 0 or 1"),
            };
            return Job::Measure { bench: bench.unwrap_or_else(|| die("DUET_BENCH is not set")), page, side };
        }
        if let Some(number) = invocations {
            let invocations = number.parse().unwrap_or_else(|_| die("DUET_INVOCATIONS must be a number"));
            return Job::Invoke { bench: bench.unwrap_or_else(|| die("DUET_BENCH is not set")), invocations };
        }
        let path = list.unwrap_or_default();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.unwrap_or_else(|e| die(&format!("cannot write `{}`: {}", path, e)));
        let read = |path: String| std::fs::read_to_string(&path).unwrap_or_else(|e| die(&format!("`{}`: {}", path, e)));
        let skipped = match skip {
            Some(path) if path.is_empty() => None,
            other => Some(other.map_or_else(String::new, read)),
        };
        Job::List { file, skipped }
    }
}

/// A field of a line that lists.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn write_line(line: &str) {
    if let Some(Hook { job: Job::List { file, .. }, .. }) = hook().as_mut() {
        // At once, with no buffer that a crash could lose.
        if let Err(e) = file.write_all(format!("{}\n", line).as_bytes()) {
            die(&e.to_string());
        }
    }
}

/// Whether benchmarks are run by the hook and not by the harness.
pub(crate) fn is_at_work() -> bool {
    !matches!(hook().as_ref(), None | Some(Hook { job: Job::Off, .. }))
}

/// The refusal of a benchmark that measures something else than time, by the names of the types.
pub(crate) fn unless_time(measurement: &str, time: &str) -> Option<String> {
    if measurement == time {
        None
    } else {
        Some(format!("it measures by {}, which is not time", measurement))
    }
}

/// The refusal of a benchmark that runs in several threads at once.
pub(crate) fn unless_one(threads: usize) -> Option<String> {
    if threads == 1 {
        None
    } else {
        Some(format!("it runs in {} threads at once", threads))
    }
}

/// The iterations of a slice in parts that are timed one after the other, where inputs and outputs of a part are kept in memory.
pub(crate) fn parts(iterations: u64, stored: bool) -> impl Iterator<Item = u64> {
    // Decided by the number alone, on which both sides have agreed.
    let most = if stored { (iterations + PARTS - 1) / PARTS } else { iterations }.max(1);
    (0..iterations).step_by(most as usize).map(move |done| most.min(iterations - done))
}

/// The name of a benchmark, of one whose name came before with its number: groups may share a name, and criterion prints `name #2` too.
pub(crate) fn numbered(name: &str) -> String {
    match hook().as_mut() {
        None | Some(Hook { job: Job::Off, .. }) => name.to_owned(),
        Some(hook) => {
            let before = hook.came.iter().filter(|other| *other == name).count();
            hook.came.push(name.to_owned());
            if before == 0 {
                name.to_owned()
            } else {
                format!("{} #{}", name, before + 1)
            }
        }
    }
}

/// Whether the hook has this benchmark run, or not run, in place of the harness. `run` calls it once with one iteration; `more` makes a
/// trial of that. A benchmark with a refusal is listed with it and never run.
pub(crate) fn takes(name: &str, refusal: Option<String>, run: &mut dyn FnMut()) -> bool {
    enum Part {
        Nothing,
        List,
        Name,
        Measure(Link),
        Invoke,
    }
    // Nothing may be held while the benchmark runs.
    let part = match hook().as_mut() {
        None | Some(Hook { job: Job::Off, .. }) => return false,
        Some(Hook { job: Job::List { skipped: None, .. }, .. }) => Part::Name,
        Some(Hook { job: Job::List { skipped: Some(skipped), .. }, .. }) => {
            if skipped.lines().any(|line| line == escaped(name)) {
                Part::Nothing
            } else {
                Part::List
            }
        }
        Some(Hook { job: Job::Invoke { bench, .. }, .. }) if bench == name => {
            // A second benchmark of this name is not wanted.
            bench.clear();
            Part::Invoke
        }
        Some(Hook { job, .. }) => match std::mem::replace(job, Job::Off) {
            Job::Measure { bench, page, side } if bench == name => match Link::open(&page, side) {
                // A second benchmark of this name is not wanted.
                Ok(link) => {
                    *job = Job::Measure { bench: String::new(), page, side };
                    Part::Measure(link)
                }
                Err(why) => die(&format!("`{}` {}", page, why)),
            },
            other => {
                *job = other;
                Part::Nothing
            }
        },
    };
    match part {
        Part::Nothing => {}
        Part::Name => write_line(&format!("name\t{}", escaped(name))),
        Part::List => list(name, refusal, run),
        Part::Invoke => run(),
        Part::Measure(link) => {
            set_trial(Some(Trial::new(link)));
            run();
            if let Some(mut trial) = set_trial(None) {
                trial.end(false);
            }
        }
    }
    true
}

fn set_trial(trial: Option<Trial>) -> Option<Trial> {
    hook().as_mut().and_then(|hook| std::mem::replace(&mut hook.trial, trial))
}

/// Runs a benchmark once and notes its time.
fn list(name: &str, refusal: Option<String>, run: &mut dyn FnMut()) {
    write_line(&format!("start\t{}", escaped(name)));
    let unfit = || "its name has a NUL, or more than 64 KiB: no process can be told it".to_owned();
    let refusal = refusal.or_else(|| (name.contains('\0') || name.len() > NAME_MAX).then(unfit));
    if let Some(words) = refusal {
        return write_line(&format!("refuse\t{}\t{}", escaped(name), escaped(&words)));
    }
    run();
    let taken = |hook: &mut Hook| (std::mem::take(&mut hook.ns), std::mem::take(&mut hook.stretches));
    let (ns, stretches) = hook().as_mut().map_or((0, 0), taken);
    if stretches != 1 {
        // A trial goes round in the first, and the harness itself reports the last.
        let words = match stretches {
            0 => "it times nothing here",
            _ => "it times more than one stretch: make a benchmark of each",
        };
        return write_line(&format!("refuse\t{}\t{}", escaped(name), words));
    }
    write_line(&format!("leaf\t{}\tloop\t{}\t0\t0\t1\t0", escaped(name), ns));
}

/// Called by criterion for the invocations that are set up together in a stretch of so many, which are `of` a sample's: as many as in its
/// own samples, which are longer than slices, as far as there are so many. Else slices would be batches of one, each with a clock in it.
pub(crate) fn batch(iterations: u64, of: impl Fn(u64) -> u64) -> u64 {
    let slice_ns = match hook().as_ref() {
        Some(Hook { trial: Some(trial), .. }) if trial.phase != Phase::Over => trial.slice_ns().max(1),
        _ => return of(iterations),
    };
    let in_sample = u128::from(iterations) * SAMPLE_NS / u128::from(slice_ns);
    of(in_sample.max(1).min(u128::from(u64::MAX)) as u64).min(iterations.max(1))
}

/// Called before a timed stretch and after it, with its iterations and its time by the harness's clock; whether there is another one.
pub(crate) fn more(iterations: &mut u64, ns: f64) -> bool {
    let mut hook = hook();
    let hook = match hook.as_mut() {
        Some(hook) => hook,
        None => return false,
    };
    match &mut hook.trial {
        Some(trial) if trial.phase != Phase::Over => match trial.next(ns as u64) {
            Some(k) => *iterations = k,
            None => return false,
        },
        _ => {
            hook.ns += if hook.open { ns as u64 } else { 0 };
            hook.open = !hook.open;
            hook.stretches += u32::from(hook.open);
            if let Job::Invoke { invocations, .. } = &hook.job {
                *iterations = *invocations;
            }
            return hook.open;
        }
    }
    true
}
