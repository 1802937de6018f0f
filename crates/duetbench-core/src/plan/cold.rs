//! Getting caches warm again that the other version has used, as first trials tell it.

use crate::sample::{Role, Sample};
use crate::spec::defaults;
use crate::stats;

/// Share of a short slice that getting warm takes, of the version that loses more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColdShare {
    /// Lower end of its 90 % interval, never negative: slices are made longer for it, and that costs time.
    pub least: f64,
    /// Upper end.
    pub most: f64,
}

/// Fewest blocks of short slices, each with one of long slices beside it, that tell what getting warm takes.
const BLOCKS_MIN: usize = 5;
/// Level of the interval of what it takes.
const ALPHA: f64 = 0.1;
impl ColdShare {
    /// Reads a trial whose slices have two lengths: with a fixed cost `C` for every slice and `c` for every invocation, `n` of them take
    /// `C + nc`, so the times per invocation `t` of short slices and `t_s` of slices `s` times as long give
    /// `C / (C + nc) = (t - t_s) / t * s / (s - 1)`. Of each block of short slices with the block of long ones beside it. Absent with
    /// fewer than five such pairs of blocks of a version.
    pub fn of(samples: &[Sample]) -> Option<ColdShare> {
        let side = |role| {
            let shares = shares(&counted(samples, role));
            let t = stats::trimmed_t(&shares).ok().filter(|_| shares.len() >= BLOCKS_MIN)?;
            let (least, most) = t.interval(ALPHA).ok()?;
            Some(ColdShare { least, most })
        };
        let (baseline, candidate) = (side(Role::Baseline)?, side(Role::Candidate)?);
        let least = baseline.least.max(candidate.least).max(0.0);
        Some(ColdShare { least, most: baseline.most.max(candidate.most) })
    }

    /// Whether another trial should be looked at: the share may be large, or nothing.
    pub fn is_open(self) -> bool {
        self.least == 0.0 && self.most > defaults::COLD_LARGE
    }
}

/// Share of the median slice in turns that a version does not need `alone`, of the version that loses more; 0 where it needs more. The
/// shortest slices in turns count, and of those alone the faster quarter: it came after the caches were warm, if any did. Absent where
/// there are no slices. The two were measured at different moments, between which a machine with neighbours may change by a quarter.
pub fn lost_in_turns(alone: &[Sample], in_turns: &[Sample]) -> Option<f64> {
    let shortest = in_turns.iter().map(|s| s.invocations).min()?;
    let lost = |role| {
        let short: Vec<&Sample> = counted(in_turns, role).into_iter().filter(|s| s.invocations == shortest).collect();
        let (alone, turns) = (ascending(&counted(alone, role)), ascending(&short));
        let some = !alone.is_empty() && !turns.is_empty();
        some.then(|| 1.0 - stats::quantile_of_sorted(&alone, 0.25) / stats::quantile_of_sorted(&turns, 0.5))
    };
    let [baseline, candidate] = Role::BOTH.map(lost);
    Some(baseline?.max(candidate?).max(0.0))
}

fn counted(samples: &[Sample], role: Role) -> Vec<&Sample> {
    samples.iter().filter(|s| s.at.role == role && !s.warm_up && s.invocations > 0).collect()
}

fn ascending(slices: &[&Sample]) -> Vec<f64> {
    let mut times: Vec<f64> = slices.iter().map(|s| s.ns_per_op()).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// That share in each block of short slices of one version and the block of long ones beside it.
fn shares(slices: &[&Sample]) -> Vec<f64> {
    let block = |slices: &[&Sample]| {
        let times: Vec<f64> = slices.iter().map(|s| s.ns_per_op()).collect();
        Some((slices[0].invocations as f64, stats::median(&times).ok()?))
    };
    let blocks: Vec<(f64, f64)> = slices.chunk_by(|a, b| a.invocations == b.invocations).filter_map(block).collect();
    let share = |both: &[(f64, f64)]| {
        let (short, long) = if both[0].0 < both[1].0 { (both[0], both[1]) } else { (both[1], both[0]) };
        let stretch = long.0 / short.0;
        (short.1 - long.1) / short.1 * stretch / (stretch - 1.0)
    };
    blocks.chunks_exact(2).map(share).collect()
}
