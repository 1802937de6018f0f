//! The same program in another place of memory.
//!
//! Where the kernel happens to put the pages of an executable changes how fast it runs, and for every process that is started from the
//! same file alike: two files with the same bytes differ, reproducibly, until one of them is written anew. So every suite run starts
//! its processes from fresh copies, and so do further forks of a build that was linked for a few of them. Their place is then one more
//! thing that varies from fork pair to fork pair, instead of a difference between the two versions.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use duetbench_core::Role;

use crate::error::RunError;

/// Copies that are kept when newer ones have taken their place, so that these do not get their pages back at once.
const RETIRED_MAX: usize = 6;
/// Copying may take up to this share of the time: one part in so many.
const REST_FACTOR: u32 = 10;

/// A copy in use.
#[derive(Debug)]
struct Placed {
    path: PathBuf,
    suite_run: u32,
    /// Not copied again before, lest copying large programs eat up the time.
    rests_until: Instant,
}

/// Fresh copies of programs, one per role, program and suite run.
#[derive(Debug)]
pub(super) struct Placements {
    dir: PathBuf,
    placed: HashMap<(Role, PathBuf), Placed>,
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

    /// The copy of a program from which this role's processes of this suite run are started.
    pub(super) fn program(&mut self, role: Role, program: &Path, suite_run: u32) -> Result<PathBuf, RunError> {
        let key = (role, program.to_owned());
        if let Some(placed) = self.placed.get_mut(&key)
            && (placed.suite_run == suite_run || Instant::now() < placed.rests_until)
        {
            // A suite run that began with a copy ends with it, even if the copy's rest ends in between.
            placed.suite_run = suite_run;
            return Ok(placed.path.clone());
        }
        let began = Instant::now();
        let path = self.fresh();
        // Inside the kernel: reading into memory of ours and writing again takes several times as long.
        fs::copy(program, &path).map_err(|e| RunError::file("copy a test binary to", &path, e))?;
        let rest = (began.elapsed() * self.rest_factor).min(Duration::from_secs(10));
        let placed = Placed { path: path.clone(), suite_run, rests_until: Instant::now() + rest };
        if let Some(former) = self.placed.insert(key, placed) {
            self.retire(former.path);
        }
        Ok(path)
    }

    /// A path for a new program. All have the same length, because its own path is part of what a process finds in its memory.
    pub(super) fn fresh(&mut self) -> PathBuf {
        let path = self.dir.join(format!("program-{:08}", self.copies));
        self.copies += 1;
        path
    }

    /// Nobody will ask for copies of this program any more.
    pub(super) fn forget(&mut self, role: Role, program: &Path) {
        if let Some(placed) = self.placed.remove(&(role, program.to_owned())) {
            self.retire(placed.path);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies of a script are asked for by twenty suite runs; both roles' paths in the order of the runs.
    fn twenty_suite_runs(rest_factor: u32) -> Vec<[PathBuf; 2]> {
        let dir = tempfile::tempdir().unwrap();
        let original = dir.path().join("original");
        fs::write(&original, "#!/bin/sh\n").unwrap();
        let place = dir.path().join("copies");
        fs::create_dir(&place).unwrap();
        let mut placements = Placements { rest_factor, ..Placements::new(&place) };
        let runs = (0..20)
            .map(|suite_run| {
                let both = Role::BOTH.map(|role| placements.program(role, &original, suite_run).unwrap());
                assert_ne!(both[0], both[1]);
                assert_eq!(placements.program(Role::Baseline, &original, suite_run).unwrap(), both[0]);
                assert_eq!(fs::read(&both[1]).unwrap(), fs::read(&original).unwrap());
                both
            })
            .collect();
        assert!(fs::read_dir(&place).unwrap().count() <= RETIRED_MAX + 2);
        runs
    }

    #[test]
    fn every_suite_run_gets_a_fresh_copy_per_role_and_old_ones_go() {
        let runs = twenty_suite_runs(0);
        let different: std::collections::BTreeSet<_> = runs.iter().flatten().collect();
        assert_eq!(different.len(), 40);
    }

    #[test]
    fn copies_of_programs_that_are_forgotten_go_too() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("copies");
        fs::create_dir(&place).unwrap();
        let mut placements = Placements::new(&place);
        for build in 0..20 {
            let linked = dir.path().join(format!("build-{build}"));
            fs::write(&linked, "#!/bin/sh\n").unwrap();
            placements.program(Role::Candidate, &linked, build).unwrap();
            placements.forget(Role::Candidate, &linked);
        }
        assert!(fs::read_dir(&place).unwrap().count() <= RETIRED_MAX);
    }

    #[test]
    fn a_copy_whose_rest_ends_within_a_suite_run_serves_it_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let original = dir.path().join("original");
        fs::write(&original, "#!/bin/sh\n").unwrap();
        let mut placements = Placements::new(dir.path());
        let first = placements.program(Role::Baseline, &original, 0).unwrap();
        let rests_until =
            |placements: &mut Placements, at| placements.placed.values_mut().for_each(|p| p.rests_until = at);
        rests_until(&mut placements, Instant::now() + Duration::from_secs(3600));
        assert_eq!(placements.program(Role::Baseline, &original, 1).unwrap(), first);
        rests_until(&mut placements, Instant::now());
        assert_eq!(placements.program(Role::Baseline, &original, 1).unwrap(), first);
        assert_ne!(placements.program(Role::Baseline, &original, 2).unwrap(), first);
    }
}
