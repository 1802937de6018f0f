//! CPU profiles as Go writes them: pprof files, read, counted by function, and merged.
//!
//! The process that writes such a file runs measured code, so nothing in it is trusted: sizes and work are bounded, and every
//! reference is checked before it is followed.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use duetbench_core::Role;
use duetbench_core::hotspot::{CallTree, Hits, ProcessProfile};
use flate2::read::GzDecoder;
use prost::Message;
use thiserror::Error;

mod check;
mod merge;
mod message;

pub use merge::merge;

/// Largest file that is read. A second of a program on one core has a hundredth of that.
pub const FILE_BYTES_MAX: usize = 4 << 20;
/// Most bytes that it may hold uncompressed: read, it may take thirty times as much.
const CONTENT_BYTES_MAX: u64 = 4 << 20;
/// Most frames that are looked at while counting: a small file can name a long stack again and again.
const FRAMES_MAX: u64 = 20_000_000;
/// Most frames of one stack: Go keeps 128 places, into each of which a few functions may have been inlined.
const STACK_MAX: usize = 1000;
/// Name of a place without a function's name.
const UNNAMED: &str = "(unnamed)";

/// A profile whose references all lead somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Pprof {
    profile: message::Profile,
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PprofError {
    /// It is larger than any profile of a second.
    #[error("the profile is larger than {} MB", FILE_BYTES_MAX >> 20)]
    TooLarge,
    /// It is not what it should be.
    #[error("the profile cannot be read: {0}")]
    Damaged(&'static str),
    /// It counts something else than processor time.
    #[error("the profile does not count processor time")]
    NotOfTime,
}

const TOO_DEEP: PprofError = PprofError::Damaged("its stacks are too many and too deep");

/// Reads a pprof file as Go writes it, compressed.
///
/// # Errors
/// When it is too large, or no valid profile.
pub fn parse(file: &[u8]) -> Result<Pprof, PprofError> {
    if file.len() > FILE_BYTES_MAX {
        return Err(PprofError::TooLarge);
    }
    let mut content = Vec::new();
    let mut decoder = GzDecoder::new(file).take(CONTENT_BYTES_MAX + 1);
    decoder.read_to_end(&mut content).map_err(|_| PprofError::Damaged("it is not compressed as it should be"))?;
    if content.len() as u64 > CONTENT_BYTES_MAX {
        return Err(PprofError::TooLarge);
    }
    let decoded = message::Profile::decode(&content[..]);
    let mut profile = decoded.map_err(|_| PprofError::Damaged("its content is no profile"))?;
    check::renumber(&mut profile)?;
    check::see_through_preemption(&mut profile);
    Ok(Pprof { profile })
}

impl Pprof {
    /// Counts its samples by function; the process made so many invocations.
    ///
    /// # Errors
    /// When it does not count processor time, or would take too long to count.
    pub fn count(&self, invocations: u64) -> Result<ProcessProfile, PprofError> {
        let (value, period_ns) = self.counts().ok_or(PprofError::NotOfTime)?;
        let mut counter = Counter::new(self);
        let mut samples = 0u64;
        for (number, sample) in self.profile.samples.iter().enumerate() {
            let hits = sample.values[value].unsigned_abs();
            samples = samples.saturating_add(hits);
            counter.add(number, hits, &sample.locations)?;
        }
        Ok(ProcessProfile { invocations, period_ns, samples, functions: counter.by_name() })
    }

    /// Adds its stacks to those of a side. Gives the processor time that a sample stands for, in nanoseconds.
    ///
    /// # Errors
    /// As for [`Pprof::count`].
    pub fn add_stacks(&self, role: Role, tree: &mut CallTree) -> Result<u64, PprofError> {
        let (value, period_ns) = self.counts().ok_or(PprofError::NotOfTime)?;
        let names = Names::of(self);
        let mut frames = 0;
        for sample in &self.profile.samples {
            let stack: Vec<usize> = names.innermost_first(&sample.locations).take(STACK_MAX).collect();
            frames += stack.len() as u64;
            if frames > FRAMES_MAX {
                return Err(TOO_DEEP);
            }
            let outermost_first = stack.iter().rev().map(|name| names.words[*name]);
            tree.add(role, outermost_first, sample.values[value].unsigned_abs());
        }
        Ok(period_ns)
    }

    /// Index of the value that is the number of samples, and the processor time that each stands for, in nanoseconds.
    fn counts(&self) -> Option<(usize, u64)> {
        let is =
            |t: &message::ValueType, kind: &str, unit: &str| self.word(t.kind) == kind && self.word(t.unit) == unit;
        let value = self.profile.sample_types.iter().position(|t| is(t, "samples", "count"))?;
        let timed = self.profile.period_type.as_ref().is_some_and(|t| is(t, "cpu", "nanoseconds"));
        let period_ns = u64::try_from(self.profile.period).ok().filter(|period| timed && *period > 0)?;
        Some((value, period_ns))
    }

    /// A word of its table.
    fn word(&self, index: i64) -> &str {
        usize::try_from(index).ok().and_then(|index| self.profile.words.get(index)).map_or("", String::as_str)
    }
}

/// The functions of a profile's places.
struct Names<'a> {
    words: Vec<&'a str>,
    /// The names in each location's lines, the innermost first, by their places.
    locations: Vec<Vec<usize>>,
}

impl<'a> Names<'a> {
    fn of(pprof: &'a Pprof) -> Names<'a> {
        let (mut words, mut known) = (vec![UNNAMED], HashMap::from([(UNNAMED, 0)]));
        let mut place = |name: &'a str| {
            *known.entry(name).or_insert_with(|| {
                words.push(name);
                words.len() - 1
            })
        };
        // Several functions may have the same name: instances of a generic one have.
        let of_functions: Vec<usize> = pprof.profile.functions.iter().map(|f| place(pprof.word(f.name))).collect();
        let of_line = |line: &message::Line| {
            let index = usize::try_from(line.function).unwrap_or(0).checked_sub(1);
            index.and_then(|index| of_functions.get(index)).copied().unwrap_or(0)
        };
        let of_location = |location: &message::Location| match location.lines.is_empty() {
            true => vec![0],
            false => location.lines.iter().map(of_line).collect(),
        };
        let locations = pprof.profile.locations.iter().map(of_location).collect();
        Names { words, locations }
    }

    /// The names of a stack.
    fn innermost_first(&self, stack: &[u64]) -> impl Iterator<Item = usize> {
        let index = |location: &u64| usize::try_from(*location).unwrap_or(0).saturating_sub(1);
        stack.iter().filter_map(move |location| self.locations.get(index(location))).flatten().copied()
    }
}

/// Hits by function, as far as they are counted.
struct Counter<'a> {
    names: Names<'a>,
    hits: Vec<Hits>,
    /// The last sample, counted from 1, in which each name was met.
    met: Vec<usize>,
    frames: u64,
}

impl<'a> Counter<'a> {
    fn new(pprof: &'a Pprof) -> Counter<'a> {
        let names = Names::of(pprof);
        let (hits, met) = (vec![Hits::default(); names.words.len()], vec![0; names.words.len()]);
        Counter { names, hits, met, frames: 0 }
    }

    /// Counts the sample of this number, which was seen so many times.
    fn add(&mut self, number: usize, times: u64, stack: &[u64]) -> Result<(), PprofError> {
        let mut innermost = true;
        for name in self.names.innermost_first(stack) {
            self.frames += 1;
            if self.frames > FRAMES_MAX {
                return Err(TOO_DEEP);
            }
            let hits = &mut self.hits[name];
            if std::mem::take(&mut innermost) {
                hits.flat = hits.flat.saturating_add(times);
            }
            if self.met[name] != number + 1 {
                self.met[name] = number + 1;
                hits.cumulative = hits.cumulative.saturating_add(times);
            }
        }
        Ok(())
    }

    /// Every function that was met.
    fn by_name(self) -> BTreeMap<String, Hits> {
        let met = self.names.words.into_iter().zip(self.hits).filter(|(_, hits)| hits.cumulative > 0);
        met.map(|(name, hits)| (name.to_owned(), hits)).collect()
    }
}
