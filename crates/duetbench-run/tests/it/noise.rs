//! The watch on machines made of files: what it understands, and that nothing it cannot understand stops it.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use duetbench_core::noise::{ClockReading, Conditions, Facts, Frequency, Pressure, Spoilt, Throttling};
use duetbench_run::noise::{Clocks, SystemClocks, Watch, facts_at};
use tempfile::TempDir;

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// Clocks that a test moves.
#[derive(Clone)]
struct Hands {
    at: Rc<Cell<ClockReading>>,
    own_ns: Rc<Cell<u64>>,
}

impl Hands {
    fn new() -> Hands {
        let start = ClockReading { monotonic_ns: 5 * S, boottime_ns: 5 * S, realtime_ns: 99 * S, uncertainty_ns: 0 };
        Hands { at: Rc::new(Cell::new(start)), own_ns: Rc::default() }
    }

    fn pass(&self, ns: u64) {
        let ClockReading { monotonic_ns, boottime_ns, realtime_ns, .. } = self.at.get();
        let [monotonic_ns, boottime_ns, realtime_ns] = [monotonic_ns, boottime_ns, realtime_ns].map(|clock| clock + ns);
        self.at.set(ClockReading { monotonic_ns, boottime_ns, realtime_ns, uncertainty_ns: 0 });
    }

    fn sleep(&self, ns: u64) {
        let now = self.at.get();
        self.at.set(ClockReading { boottime_ns: now.boottime_ns + ns, realtime_ns: now.realtime_ns + ns, ..now });
    }
}

impl Clocks for Hands {
    fn read(&mut self) -> ClockReading {
        self.at.get()
    }

    fn own_ns(&mut self) -> Option<u64> {
        Some(self.own_ns.get())
    }
}

/// A machine made of files.
struct Machine {
    root: TempDir,
    hands: Hands,
}

impl Machine {
    fn new(files: &[(&str, &str)]) -> Machine {
        let machine = Machine { root: tempfile::tempdir().unwrap(), hands: Hands::new() };
        machine.write(files);
        machine
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn root(&self) -> &Path {
        self.root.path()
    }

    fn watch(&self, cpus: &[u32]) -> Watch<Hands> {
        Watch::at(self.root(), cpus, self.hands.clone())
    }

    fn facts(&self, cpus: &[u32]) -> Facts {
        facts_at(self.root(), cpus)
    }
}

const STAT: &str = "cpu  300 0 100 600 0 0 0 0 0 0\ncpu0 100 10 40 300 20 1 2 5 50 0\ncpu1 200 0 60 300 0 0 0 0 0 0\n\
                    intr 12345 0 0 17\nctxt 99\nprocs_running 3\nprocs_blocked 0\n";
/// Half a second later on the first processor: 20 busy, 10 idle, 5 irq, 15 stolen.
const STAT_LATER: &str = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 110 14 46 305 25 3 5 20 50 0\ncpu1 900 0 60 300 0 0 0 0 0 0\n\
                          intr 12346 0 0 17\nctxt 99\nprocs_running 5\nprocs_blocked 0\n";
/// A process with a name made to confuse; its children have used 7 + 3 ticks.
const SELF_STAT: &str = "42 (a) b) R 1 1 1 0 -1 4194560 1 2 3 4 500 600 7 3 20 0 1 0 99 0 0";
const SELF_STAT_LATER: &str = "42 (a) b) R 1 1 1 0 -1 4194560 1 2 3 4 500 600 12 6 20 0 1 0 99 0 0";

#[test]
fn a_virtual_machine_with_steal() {
    let machine = Machine::new(&[
        ("proc/stat", STAT),
        ("proc/self/stat", SELF_STAT),
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.096\nflags\t\t: fpu hypervisor\n"),
    ]);
    let mut watch = machine.watch(&[0]);
    machine.write(&[("proc/stat", STAT_LATER), ("proc/self/stat", SELF_STAT_LATER)]);
    machine.hands.pass(S / 2);
    machine.hands.own_ns.set(30 * MS);
    let got = watch.lap();
    let cpu = got.cpu.unwrap();
    assert_eq!((got.wall_ns, cpu.capacity_ns, cpu.busy_ns, cpu.steal_ns), (S / 2, 500 * MS, 200 * MS, 150 * MS));
    assert_eq!((cpu.irq_ns, cpu.own_ns, got.others_runnable), (50 * MS, Some(110 * MS), Some(4)));
    let facts = machine.facts(&[0]);
    assert_eq!((facts.virtualised, facts.cpus_usable, facts.cpus_online), (Some(true), 1, 2));
    assert_eq!(facts.cpu_model.as_deref(), Some("AMD EPYC"));
}

#[test]
fn a_processor_whose_name_is_that_of_many_has_its_numbers_too() {
    let check = |name: &str, want: &str| {
        let info = format!("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: {name}\n");
        let facts = Machine::new(&[("proc/cpuinfo", &info)]).facts(&[0]);
        assert_eq!(facts.cpu_model.as_deref(), Some(want));
    };
    check("AMD EPYC", "AMD EPYC, family 25, model 17");
    check("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel(R) Xeon(R) CPU @ 2.20GHz, family 25, model 17");
    check("AMD EPYC 7B13", "AMD EPYC 7B13");
}

#[test]
fn a_laptop_with_two_threads_on_a_core() {
    let cpu = |n: u32, core: &str, khz: &str| {
        let dir = format!("sys/devices/system/cpu/cpu{n}");
        let files = [
            ("topology/physical_package_id", "0\n"),
            ("topology/core_id", core),
            ("cpufreq/scaling_governor", "powersave\n"),
            ("cpufreq/cpuinfo_max_freq", "4800000\n"),
            ("cpufreq/scaling_cur_freq", khz),
            ("thermal_throttle/core_throttle_count", "4\n"),
            ("thermal_throttle/package_throttle_count", "10\n"),
        ];
        files.map(|(name, text)| (format!("{dir}/{name}"), text.to_owned()))
    };
    let machine = Machine::new(&[("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n")]);
    let write =
        |files: [(String, String); 7]| files.iter().for_each(|(n, t)| machine.write(&[(n.as_str(), t.as_str())]));
    write(cpu(0, "0\n", "3400000\n"));
    write(cpu(1, "0\n", "800000\n"));
    let facts = machine.facts(&[0, 1]);
    assert_eq!((facts.cores_physical, facts.governor.as_deref()), (1, Some("powersave")));
    assert_eq!((facts.frequency_max_khz, facts.virtualised), (Some(4_800_000), None));

    let mut watch = machine.watch(&[0, 1]);
    let dir = "sys/devices/system/cpu";
    machine.write(&[
        (&format!("{dir}/cpu0/cpufreq/scaling_cur_freq"), "1200000\n"),
        (&format!("{dir}/cpu0/thermal_throttle/core_throttle_count"), "6\n"),
        (&format!("{dir}/cpu0/thermal_throttle/package_throttle_count"), "13\n"),
        (&format!("{dir}/cpu1/thermal_throttle/package_throttle_count"), "13\n"),
        ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\nfull total=9\n"),
        ("proc/loadavg", "0.62 0.37 0.71 2/95 1097\n"),
    ]);
    machine.hands.pass(S - 1);
    assert_eq!(watch.lap().frequency, None, "not before a second has passed");
    machine.hands.pass(1);
    let got = watch.lap();
    assert_eq!(got.frequency, Some(Frequency { lowest_khz: 1_200_000, highest_khz: 3_400_000 }));
    assert_eq!(got.thermal_events, Some(5));
    assert_eq!(got.pressure, Some(Pressure { waited_ns: 250 * MS, watched_ns: S }));
    assert_eq!(got.load_1min, None, "a file that was not there at the start");
}

#[test]
fn quotas_of_both_versions_and_of_every_level_are_found() {
    let check = |files: &[(&str, &str)], quota: Option<f64>, stat: &str, want: Option<Throttling>| {
        let machine = Machine::new(files);
        assert_eq!(machine.facts(&[0]).quota_cpus, quota);
        let mut watch = machine.watch(&[0]);
        machine.write(&[(
            stat,
            "usage_usec 7\nnr_periods 40\nnr_throttled 12\nthrottled_usec 90\nthrottled_time 90000\n",
        )]);
        assert_eq!(watch.lap().throttling, want);
    };
    let before = "nr_periods 10\nnr_throttled 3\nthrottled_usec 50\nthrottled_time 50000\n";
    let throttled = Some(Throttling { periods: 30, throttled_periods: 9, throttled_ns: 40_000 });
    let v2 = "sys/fs/cgroup/user.slice/job";
    let nested = [
        ("proc/self/cgroup", "0::/user.slice/job\n"),
        ("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/user.slice/job/cpu.stat", before),
        ("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/user.slice/cpu.stat", before),
    ];
    check(&nested, Some(1.5), "sys/fs/cgroup/user.slice/cpu.stat", throttled);
    check(&nested[..3], None, &format!("{v2}/cpu.stat"), None);
    let inner = [("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n")];
    check(&[&nested[..], &inner].concat(), Some(0.5), &format!("{v2}/cpu.stat"), throttled);
    // The path of the host, seen from a container that has only its own group.
    let container = [
        ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/docker/1ddf\n0::/../..\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", before),
    ];
    check(&container, Some(2.0), "sys/fs/cgroup/cpu,cpuacct/cpu.stat", throttled);
    let unlimited = [("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")];
    check(&[&container[..], &unlimited].concat(), None, "sys/fs/cgroup/cpu,cpuacct/cpu.stat", None);
}

#[test]
fn a_sleep_is_noticed_in_the_lap_in_which_it_happens() {
    let machine = Machine::new(&[("proc/stat", STAT), ("proc/sys/kernel/random/boot_id", "a\n")]);
    let mut watch = machine.watch(&[0, 1]);
    machine.hands.pass(S / 10);
    machine.hands.sleep(3 * S);
    let got = watch.lap();
    assert_eq!((got.wall_ns, got.spoils()), (S / 10, Some(Spoilt::Suspended { ns: 3 * S })));
    machine.hands.pass(S / 10);
    assert_eq!(watch.lap().spoils(), None);
}

#[test]
fn waking_up_elsewhere_is_noticed_at_once() {
    let machine = Machine::new(&[("proc/sys/kernel/random/boot_id", "a\n")]);
    let mut watch = machine.watch(&[0]);
    machine.write(&[("proc/sys/kernel/random/boot_id", "b\n")]);
    machine.hands.pass(S / 10);
    machine.hands.sleep(S);
    assert_eq!(watch.lap().spoils(), Some(Spoilt::Migrated));
    assert_eq!(watch.lap().spoils(), None, "told once");
}

#[test]
fn another_machine_between_two_laps_is_noticed_in_the_next_one() {
    let machine = Machine::new(&[("proc/sys/kernel/random/boot_id", "a\n")]);
    let mut watch = machine.watch(&[0]);
    machine.hands.pass(2 * S);
    machine.write(&[("proc/sys/kernel/random/boot_id", "b\n")]);
    watch.begin_lap_beside(&[]);
    machine.hands.pass(S / 10);
    let got = watch.lap();
    assert_eq!((got.wall_ns, got.spoils()), (S / 10, Some(Spoilt::Migrated)));
}

#[test]
fn a_machine_that_tells_nothing_is_watched_all_the_same() {
    let machine = Machine::new(&[]);
    let mut watch = machine.watch(&[0, 1]);
    machine.hands.pass(2 * S);
    assert_eq!(watch.lap(), Conditions { wall_ns: 2 * S, ..Conditions::default() });
    let facts = machine.facts(&[0, 1]);
    assert_eq!((facts.cpus_usable, facts.cpus_online, facts.cores_physical), (2, 2, 2));
    assert_eq!((facts.cpu_model, facts.governor, facts.quota_cpus, facts.virtualised), (None, None, None, None));
}

#[test]
fn nonsense_is_as_good_as_nothing() {
    let endless = "9".repeat(40);
    let nonsense = [
        "",
        "\n\n",
        "cpu",
        "cpu0",
        "cpu0 1 2",
        "cpu0 x y z w",
        "some total=x\n",
        ")",
        "(",
        "0::",
        ":::",
        "nan nan",
        "-1 0",
        "procs_running",
        "processor: 0\ncpu MHz: 1e400\n",
        "nr_periods\n",
        "model name",
        "µ\u{0}µ",
        endless.as_str(),
    ];
    let names = [
        "proc/stat",
        "proc/self/stat",
        "proc/self/cgroup",
        "proc/cpuinfo",
        "proc/loadavg",
        "proc/pressure/cpu",
        "proc/sys/kernel/random/boot_id",
        "sys/fs/cgroup/cpu.max",
        "sys/fs/cgroup/cpu.stat",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "sys/devices/system/cpu/cpu0/topology/core_id",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
    ];
    for text in nonsense {
        let machine = Machine::new(&names.map(|name| (name, text)));
        let mut watch = machine.watch(&[0]);
        machine.hands.pass(2 * S);
        let got = watch.lap();
        assert_eq!((got.cpu, got.throttling, got.frequency, got.pressure), (None, None, None, None), "{text:?}");
        assert_eq!((got.spoils(), machine.facts(&[0]).quota_cpus), (None, None), "{text:?}");
    }
    // Neither bytes that are no text, nor a directory, nor numbers at the end of their range.
    let machine = Machine::new(&[("proc/loadavg/x", ""), ("proc/self/cgroup", "0::/\n")]);
    fs::write(machine.root().join("proc/stat"), [0xff, 0xfe, 0x00]).unwrap();
    let most = u64::MAX.to_string();
    machine.write(&[
        ("sys/fs/cgroup/cpu.max", "1 1\n"),
        ("sys/fs/cgroup/cpu.stat", &format!("nr_periods {most}\nnr_throttled {most}\nthrottled_usec {most}\n")),
        ("proc/self/stat", &SELF_STAT.replace(" 7 3 ", &format!(" {most} {most} "))),
    ]);
    let mut watch = machine.watch(&[0]);
    machine.hands.at.set(ClockReading {
        monotonic_ns: u64::MAX,
        boottime_ns: 0,
        realtime_ns: 0,
        uncertainty_ns: u64::MAX,
    });
    let got = watch.lap();
    assert_eq!((got.cpu, got.spoils()), (None, None));
}

#[test]
fn this_machine_is_understood() {
    let mut watch = Watch::start();
    let got = watch.lap();
    assert!(got.cpu.is_some(), "{got:?}");
    assert_eq!(got.spoils(), None);
    let (first, second) = (SystemClocks.read(), SystemClocks.read());
    assert!(second.monotonic_ns >= first.monotonic_ns && first.boottime_ns > 0 && first.realtime_ns > 0);
}
