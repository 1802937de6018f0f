//! Modes chosen by first trials and the machine's self-check, and when a duet is given up.

use duetbench_core::analysis::{core_imbalance, summarise, too_unlike};
use duetbench_core::plan::{
    Capacity, Discovered, ExecutionConfiguration, Found, Learnt, Mode, Plan, PlannedBenchmark, Profile, SelfCheck,
    Style,
};
use duetbench_core::spec::ModeChoice;
use duetbench_core::{Role, Sample};

use crate::support::{CAPACITY, PLAIN, forks, found, slice, spec};

const BUSY: Profile = Profile { cores_busy: 1.9, cpu_share: 1.9, ..PLAIN };

/// The mode of one benchmark after it was looked at, and the reason.
fn learnt(choice: ModeChoice, style: Style, (profile, check): (Option<Profile>, Option<SelfCheck>)) -> (Mode, String) {
    let planned = planned(choice, style, Learnt { profiles: vec![profile], check });
    (planned.mode, planned.mode_reason)
}

/// The benchmark as it is planned then.
fn planned(choice: ModeChoice, style: Style, learnt: Learnt) -> PlannedBenchmark {
    let both = [Discovered { style, ..found("A") }];
    let spec = spec(forks(5), choice);
    let found = Found::of(&both, &both);
    let mut plan = Plan::new(&spec, &found, CAPACITY);
    plan.learn(learnt, &spec, CAPACITY);
    plan.benchmarks.remove(0)
}

fn mode(choice: ModeChoice, style: Style, profile: Profile) -> Mode {
    learnt(choice, style, (Some(profile), None)).0
}

#[test]
fn a_benchmark_that_keeps_several_cores_busy_gets_them_whatever_was_asked_but_sequential() {
    for choice in [ModeChoice::Auto, ModeChoice::Duet, ModeChoice::Interleaved] {
        assert_eq!(mode(choice, Style::Loop, BUSY), Mode::InterleavedAllCores, "{choice:?}");
    }
    assert_eq!(mode(ModeChoice::Sequential, Style::Loop, BUSY), Mode::Sequential);
    assert_eq!(mode(ModeChoice::Auto, Style::Loop, PLAIN), Mode::InterleavedOneCore);
    // The harness itself started it on every core.
    assert_eq!(mode(ModeChoice::Auto, Style::Parallel, BUSY), Mode::InterleavedOneCore);
    // No benchmark keeps more cores busy than there are.
    let impossible = Profile { cores_busy: 1.25 * f64::from(CAPACITY.cpus), ..BUSY };
    assert_eq!(mode(ModeChoice::Auto, Style::Loop, impossible), Mode::InterleavedOneCore);
    let all = Profile { cores_busy: 1.02 * f64::from(CAPACITY.cpus), ..BUSY };
    assert_eq!(mode(ModeChoice::Auto, Style::Loop, all), Mode::InterleavedAllCores);
    // Its collector beside it is no part of that.
    assert_eq!(mode(ModeChoice::Auto, Style::Loop, Profile { collects: true, ..BUSY }), Mode::InterleavedAllCores);
}

#[test]
fn slices_are_longer_where_several_threads_take_part() {
    let both = [found("A")];
    let spec = spec(forks(5), ModeChoice::Auto);
    let mut plan = Plan::new(&spec, &Found::of(&both, &both), CAPACITY);
    let before = plan.benchmarks[0].clone();
    plan.learn(Learnt { profiles: vec![Some(BUSY)], check: None }, &spec, CAPACITY);
    let after = &plan.benchmarks[0];
    assert!(after.configuration.slice_ns > before.configuration.slice_ns);
    assert!(after.trial_predicted_ns > before.trial_predicted_ns);
    assert_eq!(after.configuration.design, before.configuration.design);
}

fn check(one_core: f64, duet: f64) -> SelfCheck {
    SelfCheck { widths: vec![(Mode::InterleavedOneCore, one_core), (Mode::Duet, duet), (Mode::Sequential, 0.1)] }
}

#[test]
fn another_mode_is_taken_only_where_it_is_clearly_narrower() {
    let auto = |check| learnt(ModeChoice::Auto, Style::Loop, (Some(PLAIN), Some(check)));
    assert_eq!(auto(check(0.01, 0.008)).0, Mode::InterleavedOneCore);
    let (mode, reason) = auto(check(0.01, 0.006));
    assert_eq!(mode, Mode::Duet);
    assert!(reason.contains("interleaved on one core 1.00%, duet 0.60%, sequential 10.00%"), "{reason}");
    // A mode that was asked for is not chosen again.
    let asked = learnt(ModeChoice::Interleaved, Style::Loop, (Some(PLAIN), Some(check(0.01, 0.001))));
    assert_eq!(asked, (Mode::InterleavedOneCore, "asked for".into()));
}

#[test]
fn a_duet_needs_two_physical_cores_however_narrow_it_is() {
    let both = [found("A")];
    let capacity = Capacity { cpus: 2, cores_physical: 1, ..CAPACITY };
    let spec = spec(forks(5), ModeChoice::Auto);
    let mut plan = Plan::new(&spec, &Found::of(&both, &both), capacity);
    plan.learn(Learnt { profiles: vec![None], check: Some(check(0.01, 0.001)) }, &spec, capacity);
    assert_eq!(plan.benchmarks[0].mode, Mode::InterleavedOneCore);
}

#[test]
fn benchmarks_of_one_mode_have_one_reason_however_much_they_wait() {
    // The share that each waits is a warning of its own, which measuring tells better than a first trial.
    let reason = |cpu_share| {
        let waiting = Profile { cores_busy: 0.6, cpu_share, ..PLAIN };
        learnt(ModeChoice::Auto, Style::Loop, (Some(waiting), None)).1
    };
    assert_eq!(reason(0.57), reason(0.9));
}

#[test]
fn a_width_is_spread_times_the_root_of_time() {
    let mut check = SelfCheck::default();
    check.add(Mode::Duet, &[0.01, -0.01, 0.0], 0.25, 0.0);
    // Standard deviation 0.01, a quarter of a second.
    assert!((check.width(Mode::Duet).unwrap() - 0.005).abs() < 1e-12);
    check.add(Mode::Sequential, &[0.03, -0.03, 0.0], 1.0, 0.04);
    assert!((check.width(Mode::Sequential).unwrap() - 0.05).abs() < 1e-12);
    check.add(Mode::InterleavedOneCore, &[0.1, 0.2], 1.0, 0.0);
    assert_eq!(check.width(Mode::InterleavedOneCore), None);
}

#[test]
fn a_profile_is_that_of_the_side_that_needs_more() {
    let sample = |role, iteration, cpu_ns| Sample { cpu_ns, ..slice(role, (0, iteration), 1000) };
    let baseline = (0..3).map(|i| sample(Role::Baseline, i, Some(700)));
    let candidate = (0..3).map(|i| Sample { invocations: 2, ..sample(Role::Candidate, i, Some(1800)) });
    let both: Vec<Sample> = baseline.chain(candidate).collect();
    let profile = Profile::of(&both).unwrap();
    assert_eq!((profile.cores_busy, profile.cpu_share, profile.invocation_ns), (1.8, 0.7, 1000.0));
    assert_eq!(Profile::of(&both[..3]), None);
}

/// Slices of four blocks; in blocks with an odd number the candidate takes `odd` times as long as in the others.
fn exchanged(odd: f64) -> Vec<Sample> {
    let side = |role, i: u32| {
        let slower = role == Role::Candidate && (i / 4) % 2 == 1;
        Sample { block: i / 4, ..slice(role, (0, i), if slower { (1e6 * odd) as u64 } else { 1_000_000 }) }
    };
    (0..16).flat_map(|i| Role::BOTH.map(|role| side(role, i))).collect()
}

#[test]
fn unlike_cores_do_not_move_the_typical_slice_of_a_duet() {
    // A hundred slices in blocks of sixteen, of which 48 are in blocks with an even number; a core makes 4 % of difference.
    let side = |role, i: u32| {
        let block = 1 + i / 16;
        let is_hit = (role == Role::Candidate) == (block % 2 == 1);
        let ns = if is_hit { 1_040_000 } else { 1_000_000 } + u64::from(i * 7 % 5) * 100;
        Sample { block, ..slice(role, (0, i), ns) }
    };
    let samples: Vec<Sample> = (0..100).flat_map(|i| Role::BOTH.map(|role| side(role, i))).collect();
    let typical = |mode| summarise(&samples, mode).forks[0].log_ratio;
    assert!(typical(Mode::Duet).abs() < 1e-12);
    // Versions that take turns on one core have no such arrangements: most slices decide.
    assert!((typical(Mode::InterleavedOneCore) - 1.04f64.ln()).abs() < 1e-3);
    // A change that both arrangements show is no matter of cores.
    let slower: Vec<Sample> = samples
        .iter()
        .map(|s| if s.at.role == Role::Candidate { Sample { wall_ns: 2 * s.wall_ns, ..*s } } else { *s })
        .collect();
    assert!((summarise(&slower, Mode::Duet).forks[0].log_ratio - 2f64.ln()).abs() < 1e-12);
}

#[test]
fn the_caches_of_the_other_core_do_not_hide_a_difference_in_a_duet() {
    // The candidate takes 5 % longer in the median, and 1 % in the first two of a block's sixteen slices; the others from 2 to 8 %.
    let side = |role, i: u32| {
        let (block, place) = (1 + i / 16, i % 16);
        let percent = if place < 2 { 1 } else { 2 + i * 3 % 7 };
        let ns = 1_000_000 + if role == Role::Candidate { 10_000 * u64::from(percent) } else { 0 };
        Sample { block, ..slice(role, (0, i), ns) }
    };
    let samples: Vec<Sample> = (0..112).flat_map(|i| Role::BOTH.map(|role| side(role, i))).collect();
    assert!((summarise(&samples, Mode::Duet).forks[0].log_ratio - 1.05f64.ln()).abs() < 1e-9);
    // Versions that stay on their core have warm caches in every slice.
    assert!(summarise(&samples, Mode::InterleavedOneCore).forks[0].log_ratio < 1.05f64.ln() - 1e-3);
}

#[test]
fn whole_programs_cancel_unlike_cores_whatever_their_number() {
    // Five whole programs of each: on a core that takes a fifth longer the candidate ran three times, of which nothing is left in the mean.
    let on = |core: u32, ns: u64| if core == 0 { ns } else { ns * 6 / 5 };
    let program = |role, i: u32| {
        let core = if role == Role::Baseline { i % 2 } else { 1 - i % 2 };
        Sample { block: i, ..slice(role, (0, i), on(core, 1_000_000)) }
    };
    let samples: Vec<Sample> = (0..5).flat_map(|i| Role::BOTH.map(|role| program(role, i))).collect();
    assert!(summarise(&samples, Mode::Duet).forks[0].log_ratio.abs() < 1e-9);
}

#[test]
fn unlike_cores_show_where_sides_exchange_them() {
    assert!(core_imbalance(&exchanged(1.0)).unwrap() < 1e-9);
    // Half of ln 1.2.
    assert!((core_imbalance(&exchanged(1.2)).unwrap() - 0.091_16).abs() < 1e-4);
    assert_eq!(core_imbalance(&exchanged(1.2)[..8]), None);
    // Whole programs exchange them each time, and are too few to tell.
    let programs: Vec<Sample> = exchanged(1.2).into_iter().map(|s| Sample { block: s.at.iteration, ..s }).collect();
    assert_eq!(core_imbalance(&programs), None);
    // Half the threshold of 3 % is 0.0148.
    assert!(too_unlike(&[0.02; 4], 0.03) && !too_unlike(&[0.02; 3], 0.03) && !too_unlike(&[0.01; 9], 0.03));
    assert!(!too_unlike(&[0.5, 0.001, 0.002, 0.001], 0.03));
}

#[test]
fn slices_of_a_duet_have_invocations_enough_for_one_side_to_go_on() {
    let duet = |invocation_ns| {
        let profile = Profile { invocation_ns, ..PLAIN };
        let planned =
            planned(ModeChoice::Duet, Style::Rewritten, Learnt { profiles: vec![Some(profile)], check: None });
        let ExecutionConfiguration { slice_ns, trial_ns, .. } = planned.configuration;
        (slice_ns, trial_ns, planned.is_refilled(invocation_ns), planned.is_refilled(2.0 * invocation_ns))
    };
    assert_eq!(duet(12_500.0), (200_000, 20_000_000, true, true));
    assert_eq!(duet(100_000.0), (1_600_000, 25_600_000, true, true));
    assert_eq!(duet(625_000.0), (10_000_000, 160_000_000, true, true));
    assert_eq!(duet(1_000_000.0), (200_000, 20_000_000, false, false));
}

#[test]
fn long_slices_warm_up_as_long_as_usual_ones_and_four_on_all_cores_at_least() {
    let profile = Profile { cores_busy: 1.9, ..PLAIN };
    let planned = planned(ModeChoice::Auto, Style::Recall, Learnt { profiles: vec![Some(profile)], check: None });
    assert_eq!(planned.mode, Mode::InterleavedAllCores);
    let ExecutionConfiguration { slice_ns, trial_ns, warmup_slices, .. } = planned.configuration;
    assert_eq!((slice_ns, trial_ns, warmup_slices), (5_000_000, 60_000_000, 4));
}

#[test]
fn slices_are_lengthened_until_getting_warm_is_a_small_part_of_them() {
    let lengths = |cold_share, mode| {
        let planned = planned(
            mode,
            Style::Rewritten,
            Learnt { profiles: vec![Some(Profile { cold_share, ..PLAIN })], check: None },
        );
        let ExecutionConfiguration { slice_ns, trial_ns, warmup_slices, .. } = planned.configuration;
        (slice_ns, trial_ns, warmup_slices, planned.cold_share_left(planned.mode))
    };
    let interleaved = |cold_share| lengths(Some(cold_share), ModeChoice::Interleaved);
    assert_eq!(interleaved(0.0), (200_000, 20_000_000, 16, Some(0.0)));
    assert_eq!(interleaved(0.0075), (200_000, 20_000_000, 16, Some(0.0075)));
    assert_eq!(interleaved(0.03), (800_000, 20_000_000, 4, Some(0.0075)));
    // Sixteen slices are more than the usual trial.
    assert_eq!(interleaved(0.3), (8_000_000, 128_000_000, 2, Some(0.0075)));
    assert_eq!(interleaved(0.75), (10_000_000, 160_000_000, 2, Some(0.015)));
    // Beyond that, until it takes a tenth of them, or slices are 250 times as long.
    assert_eq!(interleaved(10.0), (20_000_000, 320_000_000, 2, Some(0.1)));
    assert_eq!(interleaved(50.0), (50_000_000, 800_000_000, 2, Some(0.2)));
    // After a part that warms they are as long as are too short without it, and longer for what is left.
    let warmed = |left| {
        let profile = PLAIN.with_cold_share(Some(10.0)).with_warm_part(8_000_000, left);
        let planned =
            planned(ModeChoice::Interleaved, Style::Rewritten, Learnt { profiles: vec![Some(profile)], check: None });
        let ExecutionConfiguration { slice_ns, trial_ns, warm_ns, warmup_slices, .. } = planned.configuration;
        (slice_ns, trial_ns, warm_ns, warmup_slices, planned.cold_share_left(planned.mode))
    };
    assert_eq!(warmed(0.0), (10_000_000, 288_000_000, 8_000_000, 2, Some(0.0)));
    assert_eq!(warmed(0.75), (10_000_000, 288_000_000, 8_000_000, 2, Some(0.015)));
    assert_eq!(warmed(10.0), (20_000_000, 448_000_000, 8_000_000, 2, Some(0.1)));
    // Processes that take longer to settle do so whatever the length of slices.
    let settling = |cold_share, settling_ns, style| {
        let profile = PLAIN.with_cold_share(Some(cold_share)).with_settling(settling_ns);
        let planned = planned(ModeChoice::Interleaved, style, Learnt { profiles: vec![Some(profile)], check: None });
        (planned.configuration.warmup_slices, planned.trial_predicted_ns)
    };
    assert_eq!(settling(0.0, 0, Style::Rewritten), (16, 80_000_000));
    assert_eq!(settling(0.0, 32_000_000, Style::Rewritten), (160, 144_000_000));
    assert_eq!(settling(0.3, 32_000_000, Style::Rewritten).0, 4);
    assert_eq!(settling(0.3, 1_000_000, Style::Rewritten).0, 2);
    // Those with a part that warms are longer by it, for which hooks make fewer of them.
    let profile = PLAIN.with_cold_share(Some(10.0)).with_warm_part(8_000_000, 0.0).with_settling(128_000_000);
    let learnt = Learnt { profiles: vec![Some(profile)], check: None };
    let warmup_slices = planned(ModeChoice::Interleaved, Style::Rewritten, learnt).configuration.warmup_slices;
    assert_eq!(warmup_slices, 13);
    assert_eq!(settling(0.0, 32_000_000, Style::Iteration), settling(0.0, 0, Style::Iteration));
    assert_eq!(lengths(None, ModeChoice::Interleaved), (200_000, 20_000_000, 16, None));
    assert_eq!(lengths(Some(0.3), ModeChoice::Sequential), (200_000, 20_000_000, 16, None));
}
