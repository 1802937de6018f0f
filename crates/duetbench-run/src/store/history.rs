//! The times of benchmarks in earlier runs.

use std::collections::BTreeMap;

use duetbench_core::history::{PastRun, RUNS_MAX};
use duetbench_core::{BenchmarkId, stats};
use rusqlite::{Row, params};

use super::{Head, RunHead, RunId, Store, failed};
use crate::error::RunError;

/// Runs that are looked through for comparable ones.
const LOOKED_THROUGH_MAX: u32 = 200;
/// Forks of each benchmark and run whose slices are read, the last ones: a picture needs no more, and a store has millions.
const FORKS_MAX: usize = 5;
/// Slices of each, the last ones.
const SLICES_MAX: u32 = 100;

/// Runs of searches for a commit are of old commits, in the order of the search.
const SELECT_RUNS: &str =
    "SELECT id, head, complete FROM runs WHERE id <= ?1 AND head ->> 'kind' IS NULL AND (id = ?1 OR 'r' || id NOT IN
    (SELECT value FROM bisections, json_tree(bisection) WHERE key = 'run' AND value IS NOT NULL)) ORDER BY id DESC LIMIT ?2";
const SELECT_TRIALS: &str = "SELECT benchmark, mode, first_sample, samples FROM trials
    WHERE run = ?1 AND round = 0 AND failure IS NULL ORDER BY id DESC";
const SELECT_TIME: &str = "SELECT total(wall_ns), total(invocations) FROM (SELECT wall_ns, invocations FROM samples
    WHERE rowid >= ?1 AND rowid < ?1 + ?2 AND role = 1 AND NOT warm_up ORDER BY rowid DESC LIMIT ?3)";

/// Forks of one benchmark in a run.
struct Forks {
    mode: String,
    ns_per_op: Vec<f64>,
}

impl Store {
    /// A run and those before it that are comparable with it and came to their end, the oldest first, with the times of their candidates.
    /// Benchmarks that were measured in another mode than in this run are left out.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub fn history(&self, run: &str, is_comparable: &dyn Fn(&RunHead) -> bool) -> Result<Vec<PastRun>, RunError> {
        self.read(|store| {
            let id = store.find(run)?;
            store.history_until(id, is_comparable).map_err(|e| failed(&store.path, "cannot be read", e))
        })
    }

    fn history_until(&self, last: i64, is_comparable: &dyn Fn(&RunHead) -> bool) -> rusqlite::Result<Vec<PastRun>> {
        let mut select = self.connection.prepare(SELECT_RUNS)?;
        let mut rows = select.query(params![last, LOOKED_THROUGH_MAX])?;
        let mut modes = BTreeMap::new();
        let mut runs = Vec::new();
        while let Some(row) = rows.next()?.filter(|_| runs.len() < RUNS_MAX) {
            let (id, json, complete): (i64, String, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // One that another duet wrote so that it cannot be read is left out.
            let Ok(Head::Comparison(head)) = Head::parse(&json, id) else { continue };
            if id != last && !(complete && is_comparable(&head)) {
                continue;
            }
            let times_ns = self.times_ns(id, &head, &mut modes)?;
            let RunHead { started, candidate, .. } = *head;
            runs.push(PastRun { run: RunId(id).to_string(), started, version: candidate.requested, times_ns });
        }
        runs.reverse();
        Ok(runs)
    }

    /// Times of a run, of benchmarks in their modes; what has none yet gets that of this run.
    fn times_ns(
        &self,
        run: i64,
        head: &RunHead,
        modes: &mut BTreeMap<BenchmarkId, String>,
    ) -> rusqlite::Result<BTreeMap<BenchmarkId, f64>> {
        let mut of_benchmarks: BTreeMap<usize, Forks> = BTreeMap::new();
        let mut select = self.connection.prepare_cached(SELECT_TRIALS)?;
        let mut rows = select.query([run])?;
        while let Some(row) = rows.next()? {
            let mode: String = row.get(1)?;
            let forks = of_benchmarks.entry(row.get::<_, u32>(0)? as usize);
            // The last trials come first: a benchmark that fell back to another mode ended in that one.
            let forks = forks.or_insert_with(|| Forks { mode: mode.clone(), ns_per_op: Vec::new() });
            if forks.mode == mode && forks.ns_per_op.len() < FORKS_MAX {
                forks.ns_per_op.extend(self.ns_per_op(row)?);
            }
        }
        let mut times_ns = BTreeMap::new();
        for (planned, forks) in
            of_benchmarks.into_iter().filter_map(|(i, forks)| Some((head.plan.benchmarks.get(i)?, forks)))
        {
            let mode = modes.entry(planned.id.clone()).or_insert_with(|| forks.mode.clone());
            if let (true, Ok(time_ns)) = (*mode == forks.mode, stats::median(&forks.ns_per_op)) {
                times_ns.insert(planned.id.clone(), time_ns);
            }
        }
        Ok(times_ns)
    }

    /// The time of the candidate in a row of [`SELECT_TRIALS`].
    fn ns_per_op(&self, trial: &Row<'_>) -> rusqlite::Result<Option<f64>> {
        let (first, number): (i64, i64) = (trial.get(2)?, trial.get(3)?);
        let mut select = self.connection.prepare_cached(SELECT_TIME)?;
        let both = |row: &Row<'_>| Ok((row.get::<_, f64>(0)?, row.get::<_, f64>(1)?));
        let (wall_ns, invocations) = select.query_row(params![first, number, SLICES_MAX], both)?;
        Ok(Some(wall_ns / invocations).filter(|ns| ns.is_finite() && *ns > 0.0))
    }
}
