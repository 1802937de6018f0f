//! Sources of a recording: a stored run, or a result file of another tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::detect::joined;
use duetbench_core::recording::Recorded;
use duetbench_core::{Recording, Role};
use duetbench_formats::Tool;
use duetbench_run::RunError;
use duetbench_run::store::{Provenance, Store, StoredRun};

use super::Context;
use crate::failure::Failure;

/// A recording, with what is known of where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The recording.
    pub recording: Recording,
    /// Where it came from; files do not say.
    pub provenance: Option<Provenance>,
    /// The tool that wrote it, of files.
    pub tool: Option<&'static Tool>,
    /// GOMAXPROCS in it, where a file says so.
    pub procs: Option<String>,
}

/// Reads the recording that was typed: `latest`, `r12` or `12` is a run, everything else a file. A file of such a name is typed
/// with its folder, as `./12`.
///
/// # Errors
/// When there is no such run or file, or it cannot be understood.
pub fn recording(from: impl AsRef<Path>, context: &Context) -> Result<Recording, Failure> {
    read(from.as_ref(), context, StoredRun::recording_of_units).map(|source| source.recording)
}

/// Reads what [`recording`] does, with every repetition of a run, and with what is known of where it came from.
///
/// # Errors
/// When there is no such run or file, or it cannot be understood.
pub fn load(from: impl AsRef<Path>, context: &Context) -> Result<Source, Failure> {
    read(from.as_ref(), context, StoredRun::recording)
}

/// The values of one version of a run.
type Values = fn(&StoredRun, Role) -> Recording;

fn read(from: &Path, context: &Context, values: Values) -> Result<Source, Failure> {
    match from.to_str().filter(|text| is_run(text)) {
        Some(run) => of_run(run, context, values),
        None => {
            let read = duetbench_formats::read(from)?;
            let stated =
                |wanted: &str| read.context.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.clone());
            // Names of Go without a number are of one processor, but in what duet writes.
            let is_go = read.tool.name == "go" && stated("duet-run").is_none();
            let procs = stated("gomaxprocs").or_else(|| is_go.then(|| "1".to_owned()));
            Ok(Source { recording: read.recording, provenance: None, tool: Some(read.tool), procs })
        }
    }
}

/// The source of one version: a run, or files, joined to one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Several {
    /// The recording.
    pub recording: Recording,
    /// The files; none where a run was typed.
    pub files: Vec<PathBuf>,
    /// The tool that wrote the first of them.
    pub tool: Option<&'static Tool>,
    /// All values of GOMAXPROCS in them.
    pub procs: BTreeSet<String>,
}

/// Reads what [`recording`] does, or several of them as one version: names with commas between them, or a folder whose files are meant. A
/// folder of criterion's is one file, since that is what criterion writes.
///
/// # Errors
/// When one cannot be read, or they do not go together.
pub fn several(text: &str, context: &Context) -> Result<Several, Failure> {
    let whole = Path::new(text);
    let parts: Vec<PathBuf> = match files_in(whole)? {
        Some(files) => files,
        None if text.contains(',') && !whole.exists() => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(PathBuf::from).collect()
        }
        None => vec![whole.to_owned()],
    };
    if let Some((part, again)) = twice(&parts) {
        return Err(no_other_process(part, again));
    }
    let sources = parts
        .iter()
        .map(|part| read(part, context, StoredRun::recording_of_units))
        .collect::<Result<Vec<_>, Failure>>()?;
    if let Some((part, again)) = read_twice(&parts, &sources) {
        return Err(no_other_process(part, again));
    }
    let tool = sources.iter().find_map(|source| source.tool);
    if sources.len() > 1 && sources.iter().any(|source| source.tool.is_some_and(Tool::is_summary)) {
        let what = format!("`{text}` holds medians of benchstat, of which several are no processes");
        return Err(RunError::nothing_to_measure(what).hint("give the files that benchstat was given").into());
    }
    let procs = sources.iter().filter_map(|source| source.procs.clone()).collect();
    let recordings: Vec<Recording> = sources.into_iter().map(|source| source.recording).collect();
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    let name = match names[..] {
        [first, _, _, _, ..] => format!("{first} and {} more", names.len() - 1),
        _ => names.join(", "),
    };
    let joined = joined(&name, &recordings);
    let recording = joined.map_err(|why| Failure::usage(format!("`{text}` is not of one kind: {why}")))?;
    let files = parts.into_iter().filter(|part| !part.to_str().is_some_and(is_run)).collect();
    Ok(Several { recording, files, tool, procs })
}

/// Two of these that are the same, or files of the same content.
fn twice(parts: &[PathBuf]) -> Option<(&PathBuf, &PathBuf)> {
    let length = |path: &PathBuf| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
    let is_copy = |a: &PathBuf, b: &PathBuf| {
        let alike = length(a).zip(length(b)).is_some_and(|(a, b)| a == b);
        alike && fs::read(a).ok().zip(fs::read(b).ok()).is_some_and(|(a, b)| a == b)
    };
    let mut pairs = parts.iter().enumerate().flat_map(|(at, b)| parts[..at].iter().map(move |a| (a, b)));
    pairs.find(|(a, b)| a == b || is_copy(a, b))
}

fn no_other_process(part: &Path, again: &Path) -> Failure {
    let what = format!("`{}` holds what `{}` does, and is no other process", again.display(), part.display());
    RunError::nothing_to_measure(what).hint("give each process once").into()
}

/// Two of these that hold the same values: a run by two of its names, or a copy in another form.
fn read_twice<'a>(parts: &'a [PathBuf], sources: &[Source]) -> Option<(&'a PathBuf, &'a PathBuf)> {
    let mut pairs = (0..sources.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let same = pairs.find(|(a, b)| is_same_process(&sources[*a].recording, &sources[*b].recording));
    same.map(|(a, b)| (&parts[a], &parts[b]))
}

/// Values that differ from each other, from which on nobody measures the same again by chance.
const DIFFERENT_VALUES: usize = 4;

/// Whether two recordings hold the same values of the same benchmarks.
pub fn is_same_process(one: &Recording, other: &Recording) -> bool {
    let (ours, theirs) = (&one.benchmarks, &other.benchmarks);
    let different = || ours.iter().flat_map(|b| b.grid.values()).map(f64::to_bits).collect::<BTreeSet<u64>>();
    let is_same = |(a, b): (&Recorded, &Recorded)| {
        a.benchmark == b.benchmark && a.terms == b.terms && a.grid.values() == b.grid.values()
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(is_same) && different().len() >= DIFFERENT_VALUES
}

/// A warning where base and head ran with other numbers of processors.
pub fn other_processors(of: [&BTreeSet<String>; 2]) -> Option<String> {
    let [base, head] = of.map(|procs| procs.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let differ = base != head && !base.is_empty() && !head.is_empty();
    differ.then(|| format!("GOMAXPROCS is {base} in base and {head} in head: other cores, other times"))
}

/// The files right in a folder, in the order of their names; absent where it is none, or holds what criterion wrote.
fn files_in(folder: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    if !folder.is_dir() || folder.join("sample.json").exists() {
        return Ok(None);
    }
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|e| RunError::file("read", folder, e))?;
    let shown = entries.into_iter().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let mut files: Vec<PathBuf> = shown.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok((!files.is_empty()).then_some(files))
}

/// Whether a text names a stored run.
pub fn is_run(text: &str) -> bool {
    let number = text.strip_prefix('r').unwrap_or(text);
    text == "latest" || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The recording of a stored run; of a comparison the candidate, which is the version that goes on.
fn of_run(run: &str, context: &Context, values: Values) -> Result<Source, Failure> {
    let stored = Store::open_to_read(&context.db())?.load(run)?;
    let role = Role::Candidate;
    Ok(Source { recording: values(&stored, role), provenance: Some(stored.provenance(role)), tool: None, procs: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_from_files_by_their_name() {
        let check = |text, want| assert_eq!(is_run(text), want, "{text}");
        check("latest", true);
        check("r12", true);
        check("12", true);
        check("./12", false);
        check("r", false);
        check("r12.csv", false);
        check("zap-v1.23.0.csv", false);
    }
}
