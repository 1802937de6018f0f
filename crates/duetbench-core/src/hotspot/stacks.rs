//! Whole call stacks of both sides, folded into one tree whose frames say what grew.

use std::collections::HashMap;

use serde::Serialize;

use super::difference::{ERRORS_MIN, is_harness};
use crate::sample::{BenchmarkId, Role};

/// Most frames of a picture.
pub const FRAMES_MAX: usize = 300;
/// Part of the whole below which a frame is too narrow to be seen.
const SHARE_MIN: f64 = 0.005;
/// Levels that are told apart; what is called farther down counts for its caller.
pub const DEPTH_MAX: usize = 64;
/// Most places of a tree, against profiles that were made up; likewise.
const PLACES_MAX: usize = 100_000;

/// Call stacks of the profiled processes of both sides.
#[derive(Debug, Clone)]
pub struct CallTree {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
    /// Everything first; each behind its caller.
    places: Vec<Place>,
    /// The place of a function below its caller's.
    below: HashMap<(usize, usize), usize>,
}

/// A function, called in this way.
#[derive(Debug, Clone, Copy)]
struct Place {
    name: usize,
    caller: usize,
    depth: usize,
    /// Samples that ended here, of the baseline and of the candidate.
    own: [u64; 2],
}

/// Processor time spent in a function called in one way, and in what it called, with its place in a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its full name; empty for everything, which comes first.
    pub function: String,
    /// Number of its callers, with everything as the first.
    pub depth: usize,
    /// Per operation of the baseline.
    pub baseline_ns: f64,
    /// Per operation of the candidate.
    pub candidate_ns: f64,
    /// Its beginning, a fraction of the whole.
    pub left: f64,
    /// Its width, likewise: of every function's own time that of the side where it is longer, so that new and gone ones are both seen.
    pub width: f64,
    /// Whether its time changed.
    pub trend: Trend,
}

/// Direction of a change that sampling does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The candidate takes longer.
    Grew,
    /// The baseline took longer.
    Shrank,
    /// Nothing is shown: it is within three standard errors of sampling.
    Alike,
}

/// Call stacks of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkStacks {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Its frames, each behind its caller, or why there are none.
    pub frames: Result<Vec<Frame>, String>,
}

impl Default for CallTree {
    fn default() -> CallTree {
        let everything = Place { name: 0, caller: 0, depth: 0, own: [0; 2] };
        CallTree {
            names: vec![String::new()],
            by_name: HashMap::new(),
            places: vec![everything],
            below: HashMap::new(),
        }
    }
}

impl CallTree {
    /// Adds a stack of this side, the outermost function first, that was sampled so many times. Functions of the harness that it begins in are
    /// left out.
    pub fn add<'a>(&mut self, role: Role, stack: impl IntoIterator<Item = &'a str>, hits: u64) {
        let mut at = 0;
        for function in stack.into_iter().skip_while(|function| is_harness(function)).take(DEPTH_MAX) {
            match self.callee(at, function) {
                Some(place) => at = place,
                None => break,
            }
        }
        let own = &mut self.places[at].own[role.index()];
        *own = own.saturating_add(hits);
    }

    /// The place of a function called from another place; absent where there are too many already.
    fn callee(&mut self, caller: usize, function: &str) -> Option<usize> {
        let name = self.by_name.get(function).copied().unwrap_or(self.names.len());
        if let Some(place) = self.below.get(&(caller, name)) {
            return Some(*place);
        }
        if self.places.len() == PLACES_MAX {
            return None;
        }
        if name == self.names.len() {
            self.names.push(function.to_owned());
            self.by_name.insert(function.to_owned(), name);
        }
        let place = self.places.len();
        self.places.push(Place { name, caller, depth: self.places[caller].depth + 1, own: [0; 2] });
        self.below.insert((caller, name), place);
        Some(place)
    }

    /// The frames that can be seen, callers before what they call and there the widest first, where a hit of each side stands for so many
    /// nanoseconds of an operation. None where a side has no sample.
    pub fn frames(&self, hit_ns: [f64; 2]) -> Vec<Frame> {
        let spans = self.spans(hit_ns);
        let Some(all) = spans.first().filter(|all| !all.hits.contains(&0) && all.width_ns > 0.0) else {
            return Vec::new();
        };
        let least_ns = all.width_ns * SHARE_MIN;
        let mut seen: Vec<usize> = (0..spans.len()).filter(|place| spans[*place].width_ns >= least_ns).collect();
        // No frame is wider than its caller, which comes before it: so none is kept without its callers.
        seen.sort_by(|a, b| spans[*b].width_ns.total_cmp(&spans[*a].width_ns));
        seen.truncate(FRAMES_MAX);
        let lefts_ns = self.lefts_ns(&spans, &seen);
        let frame = |place: usize| {
            let (Place { name, depth, .. }, Span { hits, width_ns }) = (self.places[place], spans[place]);
            Frame {
                function: self.names[name].clone(),
                depth,
                baseline_ns: hits[0] as f64 * hit_ns[0],
                candidate_ns: hits[1] as f64 * hit_ns[1],
                left: lefts_ns[&place] / all.width_ns,
                width: width_ns / all.width_ns,
                trend: trend(hits, all.hits, hit_ns),
            }
        };
        self.callers_first(&seen).into_iter().map(frame).collect()
    }

    /// Samples and widths of all places, with what they called.
    fn spans(&self, hit_ns: [f64; 2]) -> Vec<Span> {
        let own = |place: &Place| {
            let [baseline, candidate] = [0, 1].map(|side| place.own[side] as f64 * hit_ns[side]);
            Span { hits: place.own, width_ns: baseline.max(candidate) }
        };
        let mut spans: Vec<Span> = self.places.iter().map(own).collect();
        for place in (1..spans.len()).rev() {
            let Span { hits, width_ns } = spans[place];
            let caller = &mut spans[self.places[place].caller];
            caller.width_ns += width_ns;
            for (sum, hits) in caller.hits.iter_mut().zip(hits) {
                *sum = sum.saturating_add(hits);
            }
        }
        spans
    }

    /// Beginnings of places that are given widest first: each beside its siblings before it.
    fn lefts_ns(&self, spans: &[Span], widest_first: &[usize]) -> HashMap<usize, f64> {
        let mut free_ns = HashMap::from([(0, 0.0)]);
        let mut lefts_ns = HashMap::from([(0, 0.0)]);
        for &place in widest_first.iter().filter(|place| **place > 0) {
            let left_ns = free_ns.entry(self.places[place].caller).or_insert(0.0);
            let own_left_ns = *left_ns;
            *left_ns += spans[place].width_ns;
            lefts_ns.insert(place, own_left_ns);
            free_ns.insert(place, own_left_ns);
        }
        lefts_ns
    }

    /// The same places in the order of a walk from callers to what they call.
    fn callers_first(&self, widest_first: &[usize]) -> Vec<usize> {
        let mut called: HashMap<usize, Vec<usize>> = HashMap::new();
        for &place in widest_first.iter().rev().filter(|place| **place > 0) {
            called.entry(self.places[place].caller).or_default().push(place);
        }
        let (mut order, mut waiting) = (Vec::new(), vec![0]);
        while let Some(place) = waiting.pop() {
            order.push(place);
            waiting.extend(called.remove(&place).unwrap_or_default());
        }
        order
    }
}

/// Samples and width of a place with what it called.
#[derive(Debug, Clone, Copy)]
struct Span {
    hits: [u64; 2],
    width_ns: f64,
}

/// The trend of so many hits of all those of their sides.
fn trend(hits: [u64; 2], all: [u64; 2], hit_ns: [f64; 2]) -> Trend {
    let [baseline_ns, candidate_ns] = [0, 1].map(|side| hits[side] as f64 * hit_ns[side]);
    let variance = |side: usize| {
        let missed = 1.0 - hits[side] as f64 / all[side] as f64;
        (hits[side] as f64 * missed).max(1.0) * hit_ns[side] * hit_ns[side]
    };
    let gain_ns = candidate_ns - baseline_ns;
    if gain_ns.abs() <= ERRORS_MIN * (variance(0) + variance(1)).sqrt() {
        Trend::Alike
    } else if gain_ns > 0.0 {
        Trend::Grew
    } else {
        Trend::Shrank
    }
}
