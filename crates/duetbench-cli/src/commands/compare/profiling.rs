//! Where regressions come from: profiles of both sides, made after everything is judged.
//!
//! Nothing that goes wrong here changes a verdict: it is told, and kept as the reason why there is no profile.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use duetbench_core::hotspot::{BENCHMARKS_MAX, BenchmarkProfile, ProfileOutcome};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::{BenchmarkId, Report, Role};
use duetbench_run::RunError;
use duetbench_run::engine::{Obstacle, Profiler, Profiles};
use duetbench_run::store::{Store, profile_ending};

use super::versions::Built;
use crate::commands::Context;
use crate::display::Counting;
use crate::render::format::many;
use crate::session::Kept;

/// Longest name of a profile's file, without its ending.
const NAME_LENGTH_MAX: usize = 120;

/// The profiler, if this harness has profiles; else `untold` is why there are none.
pub(super) fn profiler<'a>(
    context: &Context,
    built: Built<'a>,
    untold: &mut Vec<String>,
) -> Result<Option<Profiler<'a>>, RunError> {
    match built.prepared.adapter.profiles() {
        Ok(()) => {
            let (timeout, interrupted) = (context.settings.timeout(), context.interrupted.clone());
            Profiler::new(&*built.prepared.adapter, built.builds, timeout, interrupted).map(Some)
        }
        Err(why) => {
            untold.push(none_here("--profile", &why));
            Ok(None)
        }
    }
}

/// That an option has no effect, in words.
pub(super) fn none_here(option: &str, why: &str) -> String {
    format!("`{option}` has no effect here: {why}")
}

/// Profiles the regressions of a run that came to its end, as far as they have no profile yet.
pub(super) fn explain(context: &Context, kept: &mut Kept<'_>, profiler: &Profiler<'_>) {
    let explained = kept
        .report()
        .and_then(|report| Explaining { context, profiler, report: &report, taken: BTreeSet::new() }.all(kept));
    if let Err(e) = explained {
        context.printer.note(&format!("the verdicts stand, but profiling ended: {e}"));
    }
}

/// Profiling the regressions of one report.
struct Explaining<'a> {
    context: &'a Context,
    profiler: &'a Profiler<'a>,
    report: &'a Report,
    /// Names of files that are in use.
    taken: BTreeSet<String>,
}

impl Explaining<'_> {
    fn all(&mut self, kept: &mut Kept<'_>) -> Result<(), RunError> {
        let printer = &self.context.printer;
        let known: BTreeSet<_> = self.report.profiles.iter().map(|p| &p.id).collect();
        let regressed = self.report.to_profile();
        let largest: Vec<_> = regressed.iter().take(BENCHMARKS_MAX).filter(|b| !known.contains(&b.id)).collect();
        if largest.is_empty() {
            return Ok(());
        }
        let all = many(regressed.len(), "regression", "regressions");
        let of_all = if largest.len() < regressed.len() { format!("{} of {all}", largest.len()) } else { all };
        printer.note(&format!("profiling {of_all}, the largest first, to see which functions gained"));
        let mut display = Counting::new(printer, "profiling", largest.len());
        for benchmark in &largest {
            display.begins(&benchmark.id.name);
            let outcome = match self.profile(benchmark) {
                Ok(profiles) => self.keep(kept.store, benchmark, &profiles),
                Err(Obstacle::Failed(reason)) => ProfileOutcome::Failed { reason },
                Err(Obstacle::Interrupted) => {
                    display.tell("interrupted while profiling: the run itself came to its end");
                    break;
                }
            };
            kept.store.add_profile(kept.run, &BenchmarkProfile { id: benchmark.id.clone(), outcome })?;
        }
        display.finish();
        Ok(())
    }

    fn profile(&self, benchmark: &BenchmarkReport) -> Result<Profiles, Obstacle> {
        match self.report.planned(&benchmark.id) {
            Some(planned) => self.profiler.explain(planned, benchmark.slower_ns(planned)),
            None => Err(Obstacle::Failed("it was not planned".into())),
        }
    }

    /// Writes the files of one benchmark.
    fn keep(&mut self, store: &Store, benchmark: &BenchmarkReport, profiles: &Profiles) -> ProfileOutcome {
        let dir = store.profiles_dir(&self.report.run);
        let name = free_name(&mut self.taken, &benchmark.id);
        let written = private_dir(&dir).and_then(|()| {
            let mut files = Role::BOTH.map(|role| dir.join(format!("{name}{}", profile_ending(role))));
            for (file, bytes) in files.iter_mut().zip(&profiles.merged) {
                write_private(file, bytes)?;
                *file = self.typed_here(file);
            }
            Ok(files.map(|file| file.to_string_lossy().into_owned()))
        });
        match written {
            Ok(files) => ProfileOutcome::Explained { difference: profiles.difference.clone(), files },
            Err(e) => ProfileOutcome::Failed { reason: e.to_string() },
        }
    }

    /// A path as it is typed in the directory in which we are, where the file is below it.
    fn typed_here(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.context.cwd).unwrap_or(path).to_owned()
    }
}

/// A name for the files of a benchmark that no other one of this run has, of letters that every file system takes.
fn free_name(taken: &mut BTreeSet<String>, id: &BenchmarkId) -> String {
    let package = id.package.rsplit('/').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._=-".contains(c) { c } else { '_' };
    let full: String = format!("{package}.{}", id.name).chars().map(plain).collect();
    let short: String = full.trim_start_matches(['.', '-']).chars().take(NAME_LENGTH_MAX).collect();
    let numbered = (2..).map(|number| format!("{short}-{number}"));
    let mut names = std::iter::once(short.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or(short);
    taken.insert(free.clone());
    free
}

/// A folder that nobody else reads, and that is ours.
fn private_dir(dir: &Path) -> Result<(), RunError> {
    let failed = |e| RunError::file("make a folder for profiles", dir, e);
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let made = fs::symlink_metadata(dir).map_err(failed)?;
    if made.is_dir() && made.uid() == rustix::process::getuid().as_raw() {
        Ok(())
    } else {
        Err(failed(io::ErrorKind::PermissionDenied.into()))
    }
}

/// Writes a file that nobody else reads; one of an older store that had a run of the same name goes.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let failed = |e| RunError::file("write the profile", path, e);
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_gets_files_of_its_own() {
        let mut taken = BTreeSet::new();
        let mut name = |package: &str, name: &str| {
            free_name(&mut taken, &BenchmarkId { package: package.into(), name: name.into() })
        };
        assert_eq!(name("example.com/shop/codec", "BenchmarkEncode/size=1"), "codec.BenchmarkEncode_size=1");
        assert_eq!(name("example.com/other/codec", "BenchmarkEncode/size=1"), "codec.BenchmarkEncode_size=1-2");
        assert_eq!(name("example.com/codec", "BenchmarkEncode size=1"), "codec.BenchmarkEncode_size=1-3");
        assert_eq!(name("", "../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(name("", "-x\n日"), "x__");
        assert_eq!(name("p", &"a".repeat(500)).len(), NAME_LENGTH_MAX);
    }
}
