//! Several profiles in one file.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::message::{Profile, Sample, ValueType};
use super::{Pprof, PprofError};

/// One file with all samples of several profiles of the same kind. Parts are put behind each other and not joined: whoever reads the file does that by name.
///
/// # Errors
/// When there is none, or they count different things.
pub fn merge(profiles: &[Pprof]) -> Result<Vec<u8>, PprofError> {
    let (first, rest) = profiles.split_first().ok_or(PprofError::Damaged("there is none to merge"))?;
    let kinds = first.kinds();
    let mut merged = first.profile.clone();
    for more in rest {
        if more.kinds() != kinds || more.profile.period != merged.period {
            return Err(PprofError::Damaged("it counts something else than the one before it"));
        }
        append(&mut merged, more.profile.clone());
    }
    let written = |_| PprofError::Damaged("it cannot be written");
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    file.write_all(&merged.encode_to_vec()).map_err(written)?;
    file.finish().map_err(written)
}

/// Adds a checked profile to another one, its numbers behind those that are taken.
fn append(merged: &mut Profile, mut more: Profile) {
    let words = i64::try_from(merged.words.len()).unwrap_or(i64::MAX);
    let taken = |parts: usize| u64::try_from(parts).unwrap_or(u64::MAX);
    let (mappings, functions) = (taken(merged.mappings.len()), taken(merged.functions.len()));
    let locations = taken(merged.locations.len());
    let behind = |id: u64, taken: u64| if id == 0 { 0 } else { id + taken };
    for mapping in &mut more.mappings {
        mapping.id += mappings;
        mapping.file += words;
        mapping.build_id += words;
    }
    for function in &mut more.functions {
        function.id += functions;
        function.name += words;
        function.system_name += words;
        function.file += words;
    }
    for location in &mut more.locations {
        location.id += locations;
        location.mapping = behind(location.mapping, mappings);
        location.lines.iter_mut().for_each(|line| line.function = behind(line.function, functions));
    }
    more.samples.iter_mut().for_each(|sample| shift(sample, locations, words));
    merged.duration_ns = merged.duration_ns.saturating_add(more.duration_ns);
    merged.comments.extend(more.comments.iter().map(|comment| comment + words));
    merged.words.append(&mut more.words);
    merged.mappings.append(&mut more.mappings);
    merged.functions.append(&mut more.functions);
    merged.locations.append(&mut more.locations);
    merged.samples.append(&mut more.samples);
}

fn shift(sample: &mut Sample, locations: u64, words: i64) {
    sample.locations.iter_mut().for_each(|location| *location += locations);
    for label in &mut sample.labels {
        label.key += words;
        // A label has a word or a number.
        label.word = if label.word == 0 { 0 } else { label.word + words };
        label.unit = if label.unit == 0 { 0 } else { label.unit + words };
    }
}

impl Pprof {
    /// Kinds and units of its values, in words.
    fn kinds(&self) -> Vec<[&str; 2]> {
        let words = |t: &ValueType| [t.kind, t.unit].map(|word| self.word(word));
        self.profile.sample_types.iter().chain(&self.profile.period_type).map(words).collect()
    }
}
