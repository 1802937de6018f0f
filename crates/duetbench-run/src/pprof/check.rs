//! Makes sure that everything a profile refers to is there, and numbers its parts anew.

use std::collections::{HashMap, HashSet};

use super::PprofError;
use super::message::{Location, Profile};

/// Numbers mappings, functions and locations by their places, from 1 on, so that a number is found without searching; 0 stays *none*.
pub(super) fn renumber(profile: &mut Profile) -> Result<(), PprofError> {
    check_words(profile)?;
    let mappings = places(profile.mappings.iter_mut().map(|m| &mut m.id))?;
    let functions = places(profile.functions.iter_mut().map(|f| &mut f.id))?;
    let locations = places(profile.locations.iter_mut().map(|l| &mut l.id))?;
    for location in &mut profile.locations {
        location.mapping = known_or_none(&mappings, location.mapping)?;
        for line in &mut location.lines {
            line.function = known_or_none(&functions, line.function)?;
        }
    }
    let types = profile.sample_types.len();
    for sample in &mut profile.samples {
        if sample.values.len() != types || sample.values.iter().any(|value| *value < 0) {
            return Err(PprofError::Damaged("a sample has other values than the profile says"));
        }
        for location in &mut sample.locations {
            *location =
                *locations.get(location).ok_or(PprofError::Damaged("a sample is of a place that is not there"))?;
        }
    }
    Ok(())
}

/// The frame that Go's runtime puts onto a goroutine that has to leave its processor.
const PREEMPTION: &str = "runtime.asyncPreempt";

/// Gives the time of a preemption's first instruction to the function that it interrupts. Where processors are busy, the signals of a
/// preemption and of the profiler arrive together, and nearly every sample would be one of this frame.
pub(super) fn see_through_preemption(profile: &mut Profile) {
    let is_preemption = |word: i64| usize::try_from(word).is_ok_and(|word| profile.words[word] == PREEMPTION);
    let functions: HashSet<u64> = profile.functions.iter().filter(|f| is_preemption(f.name)).map(|f| f.id).collect();
    let put = |location: &&Location| matches!(&location.lines[..], [line] if functions.contains(&line.function));
    let frames: HashSet<u64> = profile.locations.iter().filter(put).map(|location| location.id).collect();
    for sample in &mut profile.samples {
        if sample.locations.len() > 1 && frames.contains(&sample.locations[0]) {
            sample.locations.remove(0);
        }
    }
}

/// Gives each a new number; says which had which.
fn places<'a>(ids: impl Iterator<Item = &'a mut u64>) -> Result<HashMap<u64, u64>, PprofError> {
    let mut places = HashMap::new();
    for (id, place) in ids.zip(1..) {
        if *id == 0 || places.insert(*id, place).is_some() {
            return Err(PprofError::Damaged("two parts have the same number, or one has none"));
        }
        *id = place;
    }
    Ok(places)
}

fn known_or_none(places: &HashMap<u64, u64>, id: u64) -> Result<u64, PprofError> {
    let known = if id == 0 { Some(0) } else { places.get(&id).copied() };
    known.ok_or(PprofError::Damaged("a place is in something that is not there"))
}

/// Whether every word that is referred to is in the table, and 0 is the empty one.
fn check_words(profile: &Profile) -> Result<(), PprofError> {
    if profile.words.first().is_none_or(|first| !first.is_empty()) {
        return Err(PprofError::Damaged("its table of words does not begin with the empty one"));
    }
    let known = |word: &i64| usize::try_from(*word).is_ok_and(|word| word < profile.words.len());
    let types = profile.sample_types.iter().chain(&profile.period_type).flat_map(|t| [t.kind, t.unit]);
    let own = [profile.drop_frames, profile.keep_frames, profile.default_sample_type];
    let labels = profile.samples.iter().flat_map(|s| &s.labels).flat_map(|l| [l.key, l.word, l.unit]);
    let mappings = profile.mappings.iter().flat_map(|m| [m.file, m.build_id]);
    let functions = profile.functions.iter().flat_map(|f| [f.name, f.system_name, f.file]);
    let comments = profile.comments.iter().copied();
    let mut all = types.chain(own).chain(labels).chain(mappings).chain(functions).chain(comments);
    if all.all(|word| known(&word)) { Ok(()) } else { Err(PprofError::Damaged("a word is not in its table")) }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Function, Line, Sample};
    use super::*;

    #[test]
    fn a_preemption_is_time_of_what_it_interrupts() {
        let words = ["", "fixture.work", PREEMPTION, "runtime.mcall"].map(str::to_owned).to_vec();
        let functions = (1..=3).map(|id| Function { id, name: id as i64, ..Function::default() }).collect();
        let location =
            |id: u64| Location { id, lines: vec![Line { function: id, ..Line::default() }], ..Location::default() };
        let sample = |locations: &[u64]| Sample { locations: locations.to_vec(), values: vec![1], ..Sample::default() };
        let samples = [&[2, 1][..], &[1], &[3, 2, 1], &[2]].map(sample).to_vec();
        let locations = (1..=3).map(location).collect();
        let mut profile = Profile { words, functions, locations, samples, ..Profile::default() };
        see_through_preemption(&mut profile);
        let stacks: Vec<&[u64]> = profile.samples.iter().map(|sample| &sample.locations[..]).collect();
        // The runtime keeps its own work once it has the processor, and a stack of nothing but a preemption stays.
        assert_eq!(stacks, [&[1][..], &[1], &[3, 2, 1], &[2]]);
    }
}
