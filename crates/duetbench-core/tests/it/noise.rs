//! Conditions from readings, findings from conditions, and the cost of disturbances.

use duetbench_core::noise::{
    Advice, Beside, ClockReading, Conditions, CpuCounters, CpuTime, Facts, Finding, Frequency, Gaps, Kind, Pressure,
    QuotaCounters, Reading, Severity, SlowReading, Spoilt, Throttling, diagnose, disturbance_cost,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

fn clocks(monotonic_ns: u64, boottime_ns: u64, realtime_ns: u64) -> ClockReading {
    ClockReading { monotonic_ns, boottime_ns, realtime_ns, uncertainty_ns: 1000 }
}

fn cpu(cpu: u32, busy_ms: u64, idle_ms: u64, steal_ms: u64) -> CpuCounters {
    CpuCounters { cpu, busy_ns: busy_ms * MS, idle_ns: idle_ms * MS, irq_ns: 0, steal_ns: steal_ms * MS }
}

fn reading(clocks: ClockReading, cpus: Vec<CpuCounters>, own_ms: u64) -> Reading {
    Reading { clocks, cpus, own_ns: Some(own_ms * MS), runnable: Some(3), quotas: Vec::new() }
}

fn slow(at_s: u64) -> SlowReading {
    SlowReading {
        monotonic_ns: at_s * S,
        load_1min: Some(0.5),
        pressure_ns: Some(at_s * S / 4),
        frequencies_khz: vec![1_000_000, 3_000_000],
        thermal_events: Some(7),
        boot_id: Some("a".into()),
        cpu_model: Some("M".into()),
    }
}

/// Two processors watched for a second, in which we used half a processor second.
fn a_second() -> Conditions {
    let before = reading(clocks(S, S, 9 * S), vec![cpu(0, 100, 100, 0), cpu(1, 0, 0, 0)], 40);
    let after = reading(clocks(2 * S, 2 * S, 10 * S), vec![cpu(0, 900, 180, 120), cpu(1, 500, 500, 0)], 540);
    Conditions::between(&before, &after)
}

fn facts() -> Facts {
    Facts {
        cpu_model: Some("M".into()),
        cpus_usable: 2,
        cpus_online: 2,
        cores_physical: 2,
        governor: Some("performance".into()),
        frequency_max_khz: None,
        quota_cpus: None,
        virtualised: Some(true),
    }
}

fn close(got: Option<f64>, want: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() < 1e-9), "{got:?}, not {want}");
}

#[test]
fn processor_time_is_divided_into_ours_that_of_others_and_what_was_stolen() {
    let got = a_second();
    assert_eq!((got.wall_ns, got.others_runnable), (S, Some(2)));
    let time = got.cpu.unwrap();
    let want =
        CpuTime { capacity_ns: 2 * S, busy_ns: 1300 * MS, own_ns: Some(500 * MS), irq_ns: 0, steal_ns: 120 * MS };
    assert_eq!(time, want);
    close(time.steal_share(), 0.06);
    close(time.others_share(), 0.4);
    close(got.others_cpus(), 0.8);
    close(got.own_cpus(), 0.5);
    assert_eq!(got.spoils(), None);
    assert!(got.is_disturbed());
}

#[test]
fn processors_are_joined_by_number_and_counters_that_step_back_count_nothing() {
    let before = reading(clocks(0, 0, 0), vec![cpu(0, 10, 10, 10), cpu(1, 10, 50, 10)], 0);
    let after = reading(clocks(S, S, S), vec![cpu(1, 20, 40, 10), cpu(2, 900, 900, 900)], 0);
    let time = Conditions::between(&before, &after).cpu.unwrap();
    assert_eq!((time.capacity_ns, time.busy_ns, time.steal_ns), (10 * MS, 10 * MS, 0));
}

#[test]
fn what_the_system_does_not_tell_stays_unknown() {
    let silent = Reading { clocks: clocks(0, 0, 0), cpus: vec![], own_ns: None, runnable: None, quotas: vec![] };
    let got = Conditions::between(&silent, &Reading { clocks: clocks(S, S, S), ..silent.clone() });
    assert_eq!(got, Conditions { wall_ns: S, ..Conditions::default() });
    assert_eq!((got.others_cpus(), got.is_disturbed()), (None, false));
    assert_eq!(diagnose(&got, &Facts { governor: None, ..facts() }, &Beside::default()), vec![]);
    let mut both = a_second();
    both.merge(&Conditions { cpu: both.cpu.map(|c| CpuTime { own_ns: None, ..c }), ..a_second() });
    assert_eq!(both.others_cpus(), None, "others cannot be told from us in one half");
}

#[test]
fn a_sleep_spoils_a_trial_and_a_set_clock_does_not() {
    let check = |after: ClockReading, want: (u64, Option<i64>)| {
        let before = clocks(10 * S, 20 * S, 100 * S);
        let got = Conditions::between(&reading(before, vec![], 0), &reading(after, vec![], 0));
        assert_eq!((got.suspended_ns, got.clock_step_ns), want);
        assert_eq!(got.spoils(), (want.0 > 0).then_some(Spoilt::Suspended { ns: want.0 }));
        assert_eq!(got.suspensions, u32::from(want.0 > 0));
    };
    check(clocks(11 * S, 21 * S, 101 * S), (0, None));
    // Three seconds of sleep, which the time of day has noticed.
    check(clocks(11 * S, 24 * S, 104 * S), (3 * S, None));
    check(clocks(11 * S, 24 * S, 101 * S), (3 * S, Some(-3_000_000_000)));
    check(clocks(11 * S, 21 * S, 161 * S), (0, Some(60_000_000_000)));
    check(clocks(11 * S, 21 * S, 101 * S - 50 * MS), (0, None));
    check(clocks(11 * S, 21 * S, 101 * S - 51 * MS), (0, Some(-51_000_000)));
    check(clocks(11 * S, 21 * S + 10 * MS, 101 * S), (0, None));
    check(clocks(11 * S, 21 * S + 11 * MS, 101 * S), (11 * MS, None));
    // To be interrupted while reading the clocks looks like a sleep and is none.
    check(ClockReading { uncertainty_ns: 90 * MS, ..clocks(11 * S, 21 * S + 80 * MS, 101 * S) }, (0, None));
    // Clocks that make no sense.
    check(clocks(0, 0, 0), (0, Some(-80_000_000_000)));
}

#[test]
fn reasons_for_throwing_a_trial_away_are_words() {
    let check = |spoilt: Spoilt, want: &str| assert_eq!(spoilt.to_string(), want);
    check(Spoilt::Suspended { ns: 3 * S + 1 }, "the machine slept for 3 s during it");
    check(Spoilt::Suspended { ns: 20 * MS }, "the machine slept for 20 ms during it");
    check(Spoilt::Migrated, "it was moved to another machine");
}

#[test]
fn another_boot_or_another_model_is_another_machine() {
    let check = |after: SlowReading, want: u32| {
        let got = a_second().with_slow(&slow(1), &after);
        assert_eq!(got.migrations, want);
        assert_eq!(got.spoils(), (want > 0).then_some(Spoilt::Migrated));
    };
    check(slow(2), 0);
    check(SlowReading { boot_id: Some("b".into()), ..slow(2) }, 1);
    check(SlowReading { cpu_model: Some("N".into()), ..slow(2) }, 1);
    check(SlowReading { boot_id: None, cpu_model: None, ..slow(2) }, 0);
}

#[test]
fn slow_readings_add_pressure_heat_and_the_range_of_the_fastest_processor() {
    let after = SlowReading { frequencies_khz: vec![1_200_000, 800_000], thermal_events: Some(9), ..slow(3) };
    let got = a_second().with_slow(&slow(1), &after);
    assert_eq!(got.frequency, Some(Frequency { lowest_khz: 1_200_000, highest_khz: 3_000_000 }));
    assert_eq!(got.pressure, Some(Pressure { waited_ns: S / 2, watched_ns: 2 * S }));
    assert_eq!((got.thermal_events, got.load_1min), (Some(2), Some(0.5)));
}

#[test]
fn of_nested_groups_the_one_that_throttled_counts() {
    let quota =
        |periods, throttled| QuotaCounters { periods, throttled_periods: throttled, throttled_ns: throttled * MS };
    let at = |quotas| Reading { quotas, ..reading(clocks(0, 0, 0), vec![], 0) };
    let got = Conditions::between(&at(vec![quota(5, 1), quota(90, 80)]), &at(vec![quota(15, 4), quota(100, 80)]));
    assert_eq!(got.throttling, Some(Throttling { periods: 10, throttled_periods: 3, throttled_ns: 3 * MS }));
    assert!(got.is_disturbed());
}

#[test]
fn merging_sums_what_adds_up_and_keeps_the_extremes_of_the_rest() {
    let first = a_second().with_slow(&slow(1), &slow(2));
    let mut total = Conditions::default();
    total.merge(&first);
    assert_eq!(total, first, "no time at all adds nothing");
    let other = Conditions {
        wall_ns: S,
        suspended_ns: S,
        suspensions: 1,
        clock_step_ns: Some(-5),
        migrations: 1,
        others_runnable: Some(9),
        load_1min: Some(4.0),
        thermal_events: Some(2),
        frequency: Some(Frequency { lowest_khz: 5, highest_khz: 6 }),
        ..Conditions::default()
    };
    total.merge(&other);
    total.merge(&Conditions { clock_step_ns: Some(4), ..first });
    assert_eq!((total.wall_ns, total.suspended_ns, total.suspensions, total.migrations), (3 * S, S, 1, 1));
    assert_eq!((total.clock_step_ns, total.others_runnable, total.load_1min), (Some(-5), Some(9), Some(4.0)));
    assert_eq!(total.frequency, Some(Frequency { lowest_khz: 5, highest_khz: 3_000_000 }));
    assert_eq!(total.cpu.unwrap().capacity_ns, 4 * S);
    assert_eq!((total.pressure.unwrap().watched_ns, total.thermal_events), (2 * S, Some(2)));
    close(total.others_cpus(), 1.6 / 3.0);
}

#[test]
fn a_tick_too_many_does_not_disturb_a_short_trial() {
    let trial = |busy_ms| Conditions {
        wall_ns: 50 * MS,
        cpu: Some(CpuTime {
            capacity_ns: 100 * MS,
            busy_ns: busy_ms * MS,
            own_ns: Some(50 * MS),
            irq_ns: 0,
            steal_ns: 0,
        }),
        ..Conditions::default()
    };
    assert!(!trial(70).is_disturbed());
    assert!(trial(80).is_disturbed());
}

/// The findings, as severities and kinds.
#[track_caller]
fn found(total: &Conditions, facts: &Facts, beside: &Beside, want: &[(Severity, Kind)]) {
    let want: Vec<Finding> =
        want.iter().map(|(severity, kind)| Finding { kind: kind.clone(), severity: *severity }).collect();
    assert_eq!(diagnose(total, facts, beside), want);
}

/// A quiet second, in which we used one of two processors.
fn quiet() -> Conditions {
    let cpu = CpuTime { capacity_ns: 2 * S, busy_ns: S, own_ns: Some(S), irq_ns: 0, steal_ns: 0 };
    Conditions { wall_ns: S, cpu: Some(cpu), load_1min: Some(1.0), ..Conditions::default() }
}

fn with_cpu(change: impl Fn(&mut CpuTime)) -> Conditions {
    let mut conditions = quiet();
    conditions.cpu.iter_mut().for_each(change);
    conditions
}

#[test]
fn a_quiet_machine_has_no_findings() {
    found(&quiet(), &facts(), &Beside::default(), &[]);
    let beside = Beside {
        collector_share: Some(0.1),
        involuntary_switches_per_s: Some(10.0),
        gaps: vec![Gaps { cpu: 0, watched_ns: S, count: 9, taken_ns: MS, longest_ns: MS }],
    };
    found(&quiet(), &facts(), &beside, &[]);
}

#[test]
fn time_that_others_took_is_found_by_its_share() {
    use Severity::{Disturbing, Note, Severe};
    let nobody = Beside::default();
    let steal = |ms: u64| with_cpu(|cpu| cpu.steal_ns = ms * MS);
    found(&steal(9), &facts(), &nobody, &[]);
    found(&steal(10), &facts(), &nobody, &[(Note, Kind::Steal { share: 0.005 })]);
    found(&steal(40), &facts(), &nobody, &[(Disturbing, Kind::Steal { share: 0.02 })]);
    found(&steal(240), &facts(), &nobody, &[(Severe, Kind::Steal { share: 0.12 })]);
    let busy = |ms: u64| with_cpu(|cpu| cpu.busy_ns = S + ms * MS);
    found(&busy(49), &facts(), &nobody, &[]);
    found(&busy(50), &facts(), &nobody, &[(Note, Kind::Neighbours { cpus: 0.05, of: 2 })]);
    found(&busy(800), &facts(), &nobody, &[(Severe, Kind::Neighbours { cpus: 0.8, of: 2 })]);
    let irq = with_cpu(|cpu| cpu.irq_ns = 200 * MS);
    found(&irq, &facts(), &nobody, &[(Disturbing, Kind::Interrupts { share: 0.1 })]);
}

#[test]
fn load_and_waiting_are_told_only_where_nothing_plainer_is_seen() {
    let nobody = Beside::default();
    let pressure = |ms| Some(Pressure { waited_ns: ms * MS, watched_ns: S });
    let loaded = Conditions { load_1min: Some(3.0), ..quiet() };
    found(&loaded, &facts(), &nobody, &[(Severity::Note, Kind::Load { load_1min: 3.0, cpus: 2 })]);
    found(&Conditions { load_1min: Some(2.0), ..quiet() }, &facts(), &nobody, &[]);
    let waiting = Conditions { pressure: pressure(200), ..quiet() };
    found(&waiting, &facts(), &nobody, &[(Severity::Note, Kind::Waiting { share: 0.2 })]);
    let both_ours =
        Conditions { pressure: pressure(200), ..with_cpu(|cpu| (cpu.busy_ns, cpu.own_ns) = (2 * S, Some(2 * S))) };
    found(&both_ours, &facts(), &nobody, &[]);
    let plain = Conditions { load_1min: Some(9.0), pressure: pressure(500), ..with_cpu(|cpu| cpu.busy_ns = 2 * S) };
    found(&plain, &facts(), &nobody, &[(Severity::Severe, Kind::Neighbours { cpus: 1.0, of: 2 })]);
}

#[test]
fn a_quota_is_found_by_what_it_did_and_else_by_its_size() {
    let nobody = Beside::default();
    let quota = Facts { quota_cpus: Some(1.5), ..facts() };
    let throttled = |throttled_periods| Conditions {
        throttling: Some(Throttling { periods: 10_000, throttled_periods, throttled_ns: 0 }),
        ..quiet()
    };
    let by_size = (Severity::Note, Kind::Quota { quota_cpus: 1.5, cpus: 2 });
    found(&quiet(), &quota, &nobody, std::slice::from_ref(&by_size));
    found(&throttled(9), &quota, &nobody, &[by_size]);
    let by_deed = Kind::Throttled { share: 0.3, quota_cpus: Some(1.5) };
    found(&throttled(3000), &quota, &nobody, &[(Severity::Severe, by_deed)]);
    let half = Kind::Quota { quota_cpus: 0.5, cpus: 2 };
    found(&quiet(), &Facts { quota_cpus: Some(0.5), ..facts() }, &nobody, &[(Severity::Disturbing, half)]);
    found(&quiet(), &Facts { quota_cpus: Some(2.0), ..facts() }, &nobody, &[]);
}

#[test]
fn a_laptop_has_much_to_tell_and_the_gravest_comes_first() {
    use Severity::{Disturbing, Note, Severe};
    let laptop = Facts { governor: Some("powersave".into()), cores_physical: 1, ..facts() };
    let day = Conditions {
        suspensions: 1,
        suspended_ns: 3 * S,
        clock_step_ns: Some(-60),
        migrations: 2,
        frequency: Some(Frequency { lowest_khz: 1_200_000, highest_khz: 3_400_000 }),
        thermal_events: Some(4),
        ..quiet()
    };
    let beside = Beside {
        collector_share: Some(0.4),
        involuntary_switches_per_s: Some(150.0),
        gaps: vec![
            Gaps { cpu: 0, watched_ns: S, count: 9, taken_ns: 50 * MS, longest_ns: MS },
            Gaps { cpu: 1, watched_ns: S, count: 1, taken_ns: 10 * MS, longest_ns: 10 * MS },
        ],
    };
    let want = [
        (Severe, Kind::Migrated { times: 2 }),
        (Disturbing, Kind::Suspended { times: 1, total_ns: 3 * S }),
        (Disturbing, Kind::Gaps { share: 0.03, longest_ns: 10 * MS, cpu: 1 }),
        (Disturbing, Kind::FrequencyMoved { lowest_khz: 1_200_000, highest_khz: 3_400_000 }),
        (Disturbing, Kind::Thermal { events: 4 }),
        (Note, Kind::ClockStepped { step_ns: -60 }),
        (Note, Kind::Governor { governor: "powersave".into() }),
        (Note, Kind::SharedCores { cpus: 2, cores: 1 }),
        (Note, Kind::Collector { share: 0.4 }),
        (Note, Kind::Preempted { per_s: 150.0 }),
    ];
    found(&day, &laptop, &beside, &want);
    let advice: Vec<Option<Advice>> = diagnose(&day, &laptop, &beside).iter().map(Finding::advice).collect();
    assert_eq!(advice[..3], [Some(Advice::OtherMachine), Some(Advice::KeepAwake), None]);
}

#[test]
fn gaps_of_one_processor_add_up() {
    let mut gaps = Gaps { watched_ns: 1000, count: 1, taken_ns: 30, longest_ns: 30, ..Gaps::on(7) };
    gaps.merge(&Gaps { watched_ns: 1000, count: 2, taken_ns: 50, longest_ns: 26, ..Gaps::on(7) });
    assert_eq!(gaps, Gaps { cpu: 7, watched_ns: 2000, count: 3, taken_ns: 80, longest_ns: 30 });
    close(gaps.share(), 0.04);
    assert_eq!(Gaps::on(7).share(), None);
}

#[test]
fn conditions_survive_being_stored() {
    let conditions = a_second().with_slow(&slow(1), &slow(2));
    let json = serde_json::to_string(&conditions).unwrap();
    assert_eq!(serde_json::from_str::<Conditions>(&json).unwrap(), conditions);
}

/// Fork pairs of which every second one is disturbed, with its spread multiplied.
fn fork_pairs(seed: u64, count: usize, spread_disturbed: f64) -> Vec<(bool, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let normal = |random: &mut ChaCha8Rng| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    (0..count)
        .map(|i| (i % 2 == 1, 0.05 + normal(&mut random) * if i % 2 == 1 { spread_disturbed } else { 1.0 } * 0.01))
        .collect()
}

#[test]
fn disturbances_cost_what_they_add_to_the_spread() {
    // Half of the values with four times the spread: sqrt((1 + 16) / 2).
    let mut costs: Vec<f64> = (0..100).map(|seed| disturbance_cost(&fork_pairs(seed, 100, 4.0)).unwrap()).collect();
    costs.sort_by(f64::total_cmp);
    assert!((2.3..3.3).contains(&costs[50]), "{}", costs[50]);
    assert!(costs[0] > 1.0);
}

#[test]
fn disturbances_that_change_nothing_are_seldom_blamed() {
    let blamed =
        |count| (0..400).filter(|&seed| disturbance_cost(&fork_pairs(seed, count, 1.0)).unwrap() > 1.0).count();
    for count in [8, 12, 40] {
        assert!(blamed(count) <= 20, "{} of 400 with {count}", blamed(count));
    }
}

#[test]
fn the_cost_is_unknown_with_too_few_and_without_spread() {
    assert_eq!(disturbance_cost(&fork_pairs(1, 7, 4.0)), None);
    assert!(disturbance_cost(&fork_pairs(1, 8, 4.0)).is_some());
    let flat: Vec<(bool, f64)> = (0..20).map(|i| (i % 2 == 1, 0.1)).collect();
    assert_eq!(disturbance_cost(&flat), None);
    let broken: Vec<(bool, f64)> = fork_pairs(1, 20, 1.0).into_iter().map(|(d, v)| (d, v / 0.0)).collect();
    assert_eq!(disturbance_cost(&broken), None);
    assert_eq!(disturbance_cost(&[]), None);
}
