//! The calls of a run on a fleet: what was sent, what was heard of it, what it cost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use duetbench_core::Trial;
use duetbench_core::fleet::{Account, CallEnd, Sending, Task, Usage};
use rusqlite::{Row, params};

use super::{RunId, Store, clamp, failed, insert_trial};
use crate::engine::TrialOutcome;
use crate::error::RunError;
use crate::fleet::campaign::Call;
use crate::fleet::wire::Instance;

impl Store {
    /// Notes that a call is about to be sent, so that a run that is killed knows what it may have cost.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_sent(&mut self, run: RunId, Sending { task, number }: Sending) -> Result<(), RunError> {
        let insert = "INSERT INTO calls (run, benchmark, first_suite_run, suite_runs, sending, end) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let Task { benchmark, first_suite_run, suite_runs } = task;
        let call = params![run.0, benchmark, first_suite_run, suite_runs, number, CallEnd::Sent.word()];
        self.execute(insert, call, "cannot note a call")
    }

    /// Keeps what became of a call and the trials of which it counts; on return they are in the file, all or none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_call(&mut self, run: RunId, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError> {
        let instance = call.instance.as_ref().and_then(|i| serde_json::to_string(i).ok());
        let billed_ns = call.usage.map(|usage| clamp(usage.billed_ns));
        let Task { benchmark, first_suite_run, .. } = call.sending.task;
        let write = |store: &mut Store| -> rusqlite::Result<()> {
            let transaction = store.connection.transaction()?;
            // If several sittings sent it, the last one's call.
            transaction.execute(
                "UPDATE calls SET end = ?5, words = ?6, instance = ?7, billed_ns = ?8, cold = ?9 WHERE id = (SELECT max(id)
                 FROM calls WHERE run = ?1 AND benchmark = ?2 AND first_suite_run = ?3 AND sending = ?4)",
                params![
                    run.0,
                    benchmark,
                    first_suite_run,
                    call.sending.number,
                    call.end.word(),
                    call.words,
                    instance,
                    billed_ns,
                    call.usage.map(|usage| usage.cold)
                ],
            )?;
            for (trial, outcome) in trials {
                insert_trial(&transaction, run, trial, outcome)?;
            }
            transaction.commit()
        };
        write(self).map_err(|e| failed(&self.path, "cannot keep a call", e))
    }

    /// The calls of a run, in the order in which they were sent.
    pub(super) fn calls(&self, run: i64) -> rusqlite::Result<Vec<Account>> {
        let select = "SELECT benchmark, first_suite_run, suite_runs, end, words, instance, billed_ns, cold
             FROM calls WHERE run = ?1 ORDER BY id";
        self.connection.prepare(select)?.query_map([run], account)?.collect()
    }
}

/// Gives the samples of trials that calls brought the numbers of their instances, counted from 0 in the order in which these were first
/// sent to.
pub(super) fn number_instances(trials: &mut [(Trial, TrialOutcome)], calls: &[Account]) {
    let kept = places(trials);
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut placed: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.end == CallEnd::Counted) {
        let Some((id, _)) = &call.instance else { continue };
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let number = *numbers.entry(id).or_insert(next);
        placed.extend(kept.range(asked(call.task)).map(|place| (*place, number)));
    }
    for (trial, outcome) in trials {
        let number = placed.get(&(trial.benchmark, trial.suite_run)).copied().unwrap_or(0);
        for sample in outcome.result.iter_mut().flatten() {
            sample.at.instance = number;
        }
    }
}

/// Notes how many of the fork pairs that were asked for came with each call that counts.
pub(super) fn count_fork_pairs(calls: &mut [Account], trials: &[(Trial, TrialOutcome)]) {
    let kept = places(trials);
    for call in calls.iter_mut().filter(|call| call.end == CallEnd::Counted) {
        call.fork_pairs = u32::try_from(kept.range(asked(call.task)).count()).unwrap_or(u32::MAX);
    }
}

/// Most suite runs that a call is believed to have been asked for: with many calls for all of them, looking would take as long as
/// somebody else's store likes.
const ASKED_MAX: u32 = 1000;

/// The benchmark and the suite run of each trial.
fn places(trials: &[(Trial, TrialOutcome)]) -> BTreeSet<(usize, u32)> {
    trials.iter().map(|(trial, _)| (trial.benchmark, trial.suite_run)).collect()
}

/// Those that a call was asked for.
fn asked(Task { benchmark, first_suite_run, suite_runs }: Task) -> Range<(usize, u32)> {
    let end = first_suite_run.saturating_add(suite_runs.min(ASKED_MAX));
    (benchmark as usize, first_suite_run)..(benchmark as usize, end)
}

fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    let billed_ns = row.get::<_, Option<i64>>(6)?.map(i64::unsigned_abs);
    let usage = billed_ns.zip(row.get::<_, Option<bool>>(7)?).map(|(billed_ns, cold)| Usage { billed_ns, cold });
    // An instance that cannot be read is not known; no verdict depends on it.
    let instance = row.get::<_, Option<String>>(5)?.and_then(|json| serde_json::from_str::<Instance>(&json).ok());
    Ok(Account {
        task: Task { benchmark: row.get(0)?, first_suite_run: row.get(1)?, suite_runs: row.get(2)? },
        end: CallEnd::from_word(&row.get::<_, String>(3)?).unwrap_or(CallEnd::Failed),
        words: row.get(4)?,
        instance: instance.map(|instance| (instance.id, instance.cpu)),
        usage,
        // Told by the trials.
        fork_pairs: 0,
    })
}
