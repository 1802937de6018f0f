//! Methods that the papers use and duet does not. Numbers in, numbers out; every method cites its source and carries one worked number.

mod cliffs_delta;
mod dunn;
mod family_wise;
mod grand_ratio;
mod kruskal_wallis;
mod nested_components;
mod winsorise;

use duetbench_core::stats::{Ranks, StatsError, ranks};

pub use cliffs_delta::{DeltaSize, cliffs_delta};
pub use dunn::{DunnPair, dunn};
pub use family_wise::{bonferroni_p_values, holm_p_values};
pub use grand_ratio::{GrandRatio, grand_ratio};
pub use kruskal_wallis::{KruskalWallis, kruskal_wallis};
pub use nested_components::unbalanced_nested_components;
pub use winsorise::winsorise;

/// Ranks the values of all groups together, and gives each group its own; every group must have a value.
fn ranks_of_groups(groups: &[Vec<f64>]) -> Result<(Vec<Vec<f64>>, f64), StatsError> {
    let have = groups.iter().filter(|g| !g.is_empty()).count();
    if have < groups.len() || have < 2 {
        return Err(StatsError::TooFew { have, needed: groups.len().max(2) });
    }
    let Ranks { of, ties } = ranks(&groups.concat())?;
    let mut left = of.as_slice();
    let mut ranked = Vec::with_capacity(groups.len());
    for group in groups {
        let (here, rest) = left.split_at(group.len());
        ranked.push(here.to_vec());
        left = rest;
    }
    Ok((ranked, ties))
}
