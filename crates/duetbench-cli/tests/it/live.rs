//! The table that lives while a comparison is measured, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::render::live::{self, Room};
use duetbench_cli::render::palette::Palette;
use duetbench_core::analysis::{Basis, Ranged, RatioInterval, Seen};
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Verdict};

use crate::golden_files::check;

fn seen(low: f64, ratio: f64, high: f64, verdict: Verdict) -> Option<Seen> {
    let range = Ranged { basis: Basis::TypicalSlice, ratio, interval: RatioInterval { low, high } };
    Some(Seen { range, verdict, threshold: 0.03 })
}

/// The table of these benchmarks, whose names are their numbers.
fn shown(seen: &[Option<Seen>], room: Room) -> Option<String> {
    let id = |i: usize| BenchmarkId { package: "example.com/shop".into(), name: format!("BenchmarkReceipt/items={i}") };
    let ids: Vec<BenchmarkId> = (0..seen.len()).map(id).collect();
    live::table(&ids.iter().collect::<Vec<_>>(), seen, &Palette::plain(), room)
}

const OPEN: Verdict = Verdict::Inconclusive { forks_sufficient: None };

fn suite() -> Vec<Option<Seen>> {
    vec![
        None,
        seen(0.97, 1.01, 1.06, OPEN),
        seen(0.99, 1.0, 1.012, Verdict::NoChange),
        // Real, but how large is open: what it leans to is nobody's business yet.
        seen(1.01, 1.05, 1.09, Verdict::Slower(Extent::Open { forks_sufficient: None })),
        seen(0.29, 0.5, 0.86, Verdict::Improvement),
        seen(1.12, 1.23, 1.36, Verdict::Regression),
        seen(0.2, 1.3, 9.0, OPEN),
    ]
}

#[test]
fn settled_rows_come_first_and_open_ones_say_nothing_of_a_direction() {
    for width in [60, 120] {
        let room = Room { width, height: 40 };
        check(&format!("live{width}.txt"), &shown(&suite(), room).unwrap());
    }
}

#[test]
fn it_leaves_room_for_what_was_printed_before() {
    let many: Vec<Option<Seen>> = suite().into_iter().cycle().take(70).collect();
    let lines = |height| shown(&many, Room { width: 100, height }).unwrap().lines().count();
    // Headings and what is left out beside the rows.
    assert_eq!([lines(200), lines(9)], [14, 7]);
    let last =
        |seen: &[Option<Seen>]| shown(seen, Room { width: 100, height: 9 }).unwrap().lines().last().unwrap().to_owned();
    assert_eq!(last(&many), "  and 25 more that are settled, 30 narrowing");
    assert_eq!(shown(&[None, None], Room { width: 100, height: 40 }), None);
    assert_eq!(shown(&many, Room { width: 100, height: 4 }), None);
}
