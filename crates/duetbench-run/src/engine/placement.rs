//! The same program in another place of memory.
//!
//! Where the kernel happens to put the pages of an executable changes how fast it runs, and for every process that is started from the
//! same file alike: two files with the same bytes differ, reproducibly, until one of them is written anew. So every suite run starts
//! its processes from fresh copies, and every second one from those of the one before with the two programs exchanged, each written
//! over the other: the pages stay, so that over both suite runs each version has run in both places.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::RunError;

/// Copies that are kept when newer ones have taken their place, so that these do not get their pages back at once.
const RETIRED_MAX: usize = 6;
/// Copying may take up to this share of the time: one part in so many.
const REST_FACTOR: u32 = 4;

/// Copies in use.
#[derive(Debug)]
struct Placed {
    /// One for each program.
    paths: Vec<PathBuf>,
    suite_run: u32,
    /// Whether the programs have exchanged their places since these were made.
    exchanged: bool,
    /// Not copied again before, lest copying large programs eat up the time.
    rests_until: Instant,
}

/// Places of programs, which change from suite run to suite run.
#[derive(Debug)]
pub(super) struct Placements {
    dir: PathBuf,
    /// By the programs that are started together.
    placed: HashMap<Vec<PathBuf>, Placed>,
    retired: VecDeque<PathBuf>,
    copies: u64,
    /// A copy rests for so many times the time that making it took.
    rest_factor: u32,
}

impl Placements {
    /// Copies go into this private directory.
    pub(super) fn new(dir: &Path) -> Placements {
        Placements {
            dir: dir.to_owned(),
            placed: HashMap::new(),
            retired: VecDeque::new(),
            copies: 0,
            rest_factor: REST_FACTOR,
        }
    }

    /// The copies from which the processes of this suite run are started, of the two versions or of one alone.
    pub(super) fn places(&mut self, programs: &[PathBuf], suite_run: u32) -> Result<Vec<PathBuf>, RunError> {
        if let Some(placed) = self.placed.get_mut(programs)
            && (placed.suite_run == suite_run || Instant::now() < placed.rests_until)
        {
            // A suite run that began with copies ends with them, even if their rest ends in between.
            placed.suite_run = suite_run;
            return Ok(placed.paths.clone());
        }
        let began = Instant::now();
        let exchanged = self.placed.get(programs).and_then(|former| former.exchange(programs));
        let anew = exchanged.is_none();
        let paths = match exchanged {
            Some(paths) => paths,
            None => programs.iter().map(|program| self.copy(program)).collect::<Result<Vec<_>, _>>()?,
        };
        let rest = (began.elapsed() * self.rest_factor).min(Duration::from_secs(10));
        let rests_until = Instant::now() + rest;
        let placed = Placed { paths: paths.clone(), suite_run, exchanged: !anew, rests_until };
        let former = self.placed.insert(programs.to_owned(), placed);
        former.filter(|_| anew).into_iter().flat_map(|former| former.paths).for_each(|path| self.retire(path));
        Ok(paths)
    }

    fn copy(&mut self, program: &Path) -> Result<PathBuf, RunError> {
        let path = self.fresh();
        // Inside the kernel: reading into memory of ours and writing again takes several times as long.
        fs::copy(program, &path).map_err(|e| RunError::file("copy a test binary to", &path, e))?;
        Ok(path)
    }

    /// A path for a new program. All have the same length, because its own path is part of what a process finds in its memory.
    pub(super) fn fresh(&mut self) -> PathBuf {
        let path = self.dir.join(format!("program-{:08}", self.copies));
        self.copies += 1;
        path
    }

    /// Nobody will ask for copies of this program any more.
    pub(super) fn forget(&mut self, program: &Path) {
        let gone = self.placed.extract_if(|programs, _| programs.iter().any(|p| p == program));
        let paths: Vec<_> = gone.flat_map(|(_, placed)| placed.paths).collect();
        paths.into_iter().for_each(|path| self.retire(path));
    }

    fn retire(&mut self, path: PathBuf) {
        self.retired.push_back(path);
        if self.retired.len() > RETIRED_MAX
            && let Some(oldest) = self.retired.pop_front()
        {
            let _ = fs::remove_file(oldest);
        }
    }
}

impl Placed {
    /// Has two programs exchange their places; absent where they have already, or cannot.
    fn exchange(&self, programs: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let [first, second] = &self.paths[..] else { return None };
        let may = !self.exchanged;
        let written = may && write_over(second, &programs[0]).and_then(|()| write_over(first, &programs[1])).is_ok();
        written.then(|| vec![second.clone(), first.clone()])
    }
}

/// Writes a program over another, into the same pages of memory: hence no `copy_file_range`, which some file systems take for a wish
/// to share the blocks of the original.
fn write_over(path: &Path, program: &Path) -> io::Result<()> {
    let (from, onto) = (File::open(program)?, OpenOptions::new().write(true).open(path)?);
    let length = from.metadata()?.len();
    let mut offset = 0;
    while offset < length {
        let count = usize::try_from(length - offset).unwrap_or(usize::MAX);
        if rustix::fs::sendfile(&onto, &from, Some(&mut offset), count)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    onto.set_len(length)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::MetadataExt;

    use tempfile::TempDir;

    use super::*;

    /// Two programs of different length, and where copies of them go, which rest for so many times as long as they took.
    struct Bench {
        _dir: TempDir,
        programs: Vec<PathBuf>,
        placements: Placements,
    }

    fn bench(rest_factor: u32) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("copies");
        fs::create_dir(&place).unwrap();
        let programs: Vec<PathBuf> = ["base", "head"].map(|name| dir.path().join(name)).into();
        fs::write(&programs[0], "#!/bin/sh\n").unwrap();
        fs::write(&programs[1], "#!/bin/sh\necho more\n").unwrap();
        Bench { _dir: dir, programs, placements: Placements { rest_factor, ..Placements::new(&place) } }
    }

    impl Bench {
        /// The places of a suite run, which hold the programs.
        fn places(&mut self, suite_run: u32) -> Vec<PathBuf> {
            let places = self.placements.places(&self.programs, suite_run).unwrap();
            for (place, program) in places.iter().zip(&self.programs) {
                assert_eq!(fs::read(place).unwrap(), fs::read(program).unwrap());
            }
            assert_eq!(self.placements.places(&self.programs, suite_run).unwrap(), places);
            places
        }

        fn files(&self) -> usize {
            fs::read_dir(&self.placements.dir).unwrap().count()
        }
    }

    /// The files themselves, whatever is written into them.
    fn inodes(places: &[PathBuf]) -> Vec<u64> {
        places.iter().map(|place| fs::metadata(place).unwrap().ino()).collect()
    }

    #[test]
    fn over_two_suite_runs_each_program_runs_in_both_places_and_old_ones_go() {
        let mut bench = bench(0);
        let mut seen = BTreeSet::new();
        for suite_run in (0..20).step_by(2) {
            let places = bench.places(suite_run);
            let first = inodes(&places);
            assert!(places.into_iter().all(|place| seen.insert(place)), "a place is used again");
            let exchanged = inodes(&bench.places(suite_run + 1));
            assert_eq!(exchanged, [first[1], first[0]]);
            assert!(bench.files() <= RETIRED_MAX + 2);
        }
    }

    #[test]
    fn a_program_alone_gets_a_fresh_copy_for_every_suite_run() {
        let mut bench = bench(0);
        bench.programs.pop();
        let places: BTreeSet<_> = (0..20).flat_map(|suite_run| bench.places(suite_run)).collect();
        assert_eq!(places.len(), 20);
    }

    #[test]
    fn programs_that_cannot_be_exchanged_are_copied_anew() {
        let mut bench = bench(0);
        let first = bench.places(0);
        fs::remove_file(&first[1]).unwrap();
        let second = bench.places(1);
        assert!(first.iter().all(|place| !second.contains(place)), "{second:?}");
    }

    #[test]
    fn copies_of_programs_that_are_forgotten_go_too() {
        let mut bench = bench(0);
        for suite_run in 0..20 {
            bench.places(suite_run);
            bench.placements.forget(&bench.programs[0]);
        }
        assert!(bench.files() <= RETIRED_MAX);
    }

    #[test]
    fn copies_whose_rest_ends_within_a_suite_run_serve_it_to_its_end() {
        let mut bench = bench(REST_FACTOR);
        let first = bench.places(0);
        let rests_until = |bench: &mut Bench, at| bench.placements.placed.values_mut().for_each(|p| p.rests_until = at);
        rests_until(&mut bench, Instant::now() + Duration::from_secs(3600));
        assert_eq!(bench.places(1), first);
        rests_until(&mut bench, Instant::now());
        assert_eq!(bench.places(1), first);
        assert_ne!(bench.places(2), first);
    }
}
