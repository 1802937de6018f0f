//! Names of what is made.

use duetbench_run::fleet::NAME_PREFIX;
use sha2::{Digest, Sha256};

/// Longest name that Lambda takes.
const LENGTH_MAX: usize = 64;
/// Digits that tell names apart that had to be changed.
const DIGITS: usize = 8;

/// The function of a run: `duet-` and its name, as far as Lambda takes that. A name that had to be changed ends in digits of its own,
/// so that two runs never come to share a function.
pub(crate) fn function(run: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let plain: String = run.chars().map(allowed).collect();
    let room = LENGTH_MAX - NAME_PREFIX.len();
    if plain == run && plain.len() <= room && !plain.is_empty() {
        return format!("{NAME_PREFIX}{plain}");
    }
    let digits: String = Sha256::digest(run.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
    let kept: String = plain.chars().take(room - DIGITS - 1).collect();
    format!("{NAME_PREFIX}{kept}-{}", &digits[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_where_lambda_takes_them() {
        assert_eq!(function("r12-4f_A"), "duet-r12-4f_A");
    }

    #[test]
    fn names_that_must_change_stay_distinct_and_short() {
        let names = ["r 1", "r/1", "r.1", "", &"x".repeat(60), &"x".repeat(61), "ü"].map(function);
        for (i, name) in names.iter().enumerate() {
            assert!(name.len() <= LENGTH_MAX && name.starts_with("duet-"), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{name}");
            assert!(!names[..i].contains(name), "{name} twice");
        }
    }
}
