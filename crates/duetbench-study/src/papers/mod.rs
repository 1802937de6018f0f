//! Statistics and tables of the papers, on anybody's data: numbers in, numbers out.

pub mod cloud;
pub mod duet;
pub mod elastibench;
pub mod uoptime;

use duetbench_core::stats::StatsError;

/// FNV-1a (Fowler, Noll and Vo, 1991): the same number of a name on all machines and for good.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Why a procedure has no answer for a benchmark: it lacks results, of which so many are there, for a reason that may be known.
fn no_answer(error: StatsError, results: &str, there: usize, missing: Option<&String>) -> String {
    let why = match error {
        StatsError::TooFew { have, needed } => format!("{have} {results}, at least {needed} are needed"),
        other => other.to_string(),
    };
    match missing {
        Some(missing) if there == 0 => missing.clone(),
        Some(missing) => format!("{why}; {missing}"),
        None => why,
    }
}
