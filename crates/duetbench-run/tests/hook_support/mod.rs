//! Duties of every implementation of "Iterations of a loop of its own", whatever language it is in.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, dead_code, reason = "every test binary uses another part of it")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use duetbench_core::plan::Style;
use duetbench_run::page::{NO_CORE, Page, PageHeader, PageMode, Record};
use serde_json::Value;
use tempfile::TempDir;

/// Longest time that anything here may take on a busy machine. Nothing takes a hundredth of it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The protocol's `turn` and side 0's `arrive`, which only the sides use.
const TURN: usize = 192;
pub const ARRIVE: usize = 256 + 8;
/// Iterations of a program that is still running whenever its peer is killed.
const ENDLESS: u32 = 1_000_000;

/// The programs of `hooks/*/test` in one language.
pub struct Hook {
    /// Prints what the implementation makes of the golden files' questions.
    pub check: Vec<String>,
    /// The program with a loop: `LOOP ITERATIONS MICROSECONDS`.
    pub looping: Vec<String>,
}

pub fn hooks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks")
}

/// Runs a command to its end, which must be a good one.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

pub fn golden(name: &str) -> Value {
    let path = hooks().join("protocol/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove("DUET_PAGE").stdin(Stdio::null());
    command
}

impl Hook {
    pub fn checked(&self, arguments: &[String]) -> String {
        String::from_utf8(run(command(&self.check).args(arguments)).stdout).unwrap()
    }

    /// Every offset that the implementation names is the protocol's.
    pub fn has_the_golden_layout(&self) {
        let layout = golden("layout.json");
        let told = self.checked(&["layout".into()]);
        assert!(told.lines().count() > 20, "{told}");
        for line in told.lines() {
            let (name, value) = line.split_once(' ').unwrap();
            let want = match name.split_once('.') {
                Some(("page_size", capacity)) => {
                    let sizes = layout["page_size"].as_array().unwrap();
                    sizes.iter().find(|s| s["capacity"].as_u64() == capacity.parse().ok()).unwrap()["size"].as_u64()
                }
                Some((part, field)) => {
                    let fields = layout[part].as_array().unwrap();
                    fields.iter().find(|f| f["name"] == *field).unwrap_or_else(|| panic!("no `{name}`"))["offset"]
                        .as_u64()
                }
                None if name == "magic" => {
                    Some(u64::from_le_bytes(layout["magic"].as_str().unwrap().as_bytes().try_into().unwrap()))
                }
                None => layout[name].as_u64(),
            };
            assert_eq!(value.parse().ok(), want, "{name}");
        }
    }

    pub fn writes_the_golden_record(&self) {
        let record = golden("record.json");
        let names =
            ["slice", "flags", "invocations", "wall_ns", "cpu_ns", "allocs", "bytes", "start_ns", "gcs", "block"];
        let mut arguments = vec!["record".to_owned()];
        arguments.extend(names.map(|name| record["fields"][name].to_string()));
        assert_eq!(self.checked(&arguments).trim(), record["hex"].as_str().unwrap());
    }

    pub fn leads_as_the_golden_file_says(&self) {
        for case in golden("lead.json").as_array().unwrap() {
            let leads = case["leads"].as_array().unwrap();
            let told = self.checked(&["turns".into(), case["seed"].to_string(), leads.len().to_string()]);
            for (slice, lead) in leads.iter().enumerate() {
                let line = format!("turn {} {lead}", 2 + 2 * slice);
                assert!(told.lines().any(|l| l == line), "seed {}: no `{line}` in {told}", case["seed"]);
            }
        }
    }

    pub fn takes_the_golden_turns(&self) {
        for case in golden("iterations.json").as_array().unwrap() {
            let (mut turns, mut slices) = (String::new(), String::new());
            let events = case["interleaved"].as_array().unwrap();
            for event in events.iter().filter(|e| e["does"] != "leave") {
                writeln!(turns, "turn {} {}", event["turn"], event["side"]).unwrap();
            }
            for pair in events.iter().filter(|e| e["does"] == "slice").collect::<Vec<_>>().chunks(2) {
                writeln!(slices, "slice {} {} {}", pair[0]["slice"], pair[0]["turn"], pair[1]["turn"]).unwrap();
            }
            let want = format!("{turns}{slices}end {}\n", events.last().unwrap()["turn"]);
            let total = case["warmup"].as_u64().unwrap() + case["slices"].as_u64().unwrap();
            assert_eq!(self.checked(&["turns".into(), case["seed"].to_string(), total.to_string()]), want);
        }
    }

    pub fn does_nothing_when_it_is_not_measured(&self) {
        let output = run(command(&self.looping).args(["3", "1"]));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "wanted 0 active false\nactive false\n");
    }

    pub fn refuses_what_is_no_page(&self) {
        let dir = tempfile::tempdir().unwrap();
        let other_version = [b"DUETPAG1".as_slice(), &[2, 0, 0, 0], &[0; 8192]].concat();
        for (name, bytes) in [("short", b"DUETPAG1".to_vec()), ("other", vec![0; 8192]), ("version", other_version)] {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let output = command(&self.looping).args(["1", "1"]).env("DUET_PAGE", &path).output().unwrap();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && words.contains(path.to_str().unwrap()), "{name}: {words}");
        }
    }

    /// Slices of the two sides never overlap, all that were asked for are there, and later iterations are nobody's affair.
    pub fn interleaves(&self) {
        let case = &golden("iterations.json")[0];
        let mut trial = Trial::golden(case, PageMode::Interleaved);
        trial.start(self, [(15, 2000), (13, 1000)]);
        let said = trial.end_well();
        assert_eq!(said[0], "wanted 11 active true\nactive false\n");
        let mut all = Vec::new();
        for side in 0..2 {
            let records = trial.page.records(side);
            check_records(&records, 3, 8);
            all.extend(records.iter().map(|r| (r.start_ns, r.start_ns + r.wall_ns, r.slice, side)));
        }
        all.sort_unstable();
        for pair in all.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "slices overlap: {pair:?}");
        }
        let order: Vec<Value> = all.iter().map(|(_, _, slice, side)| serde_json::json!([slice, side])).collect();
        let slices = case["interleaved"].as_array().unwrap().iter().filter(|e| e["does"] == "slice");
        let want: Vec<Value> = slices.map(|e| serde_json::json!([e["slice"], e["side"]])).collect();
        assert_eq!(order, want);
        assert_eq!(trial.word(TURN), case["interleaved"].as_array().unwrap().last().unwrap()["turn"]);
    }

    /// Work of one side between its iterations is no part of the other one's slices.
    pub fn works_between_iterations_in_nobodys_slice(&self) {
        let mut trial = Trial::new(PageMode::Interleaved, 1, 10);
        for side in 0..2 {
            trial.spawn(side, command(&self.looping).args(["11", "1000", "2000"]));
        }
        for (side, said) in trial.end_well().iter().enumerate() {
            let records = trial.page.records(1 - side);
            let gaps = said.lines().filter_map(|line| line.strip_prefix("between ")?.split_once(' '));
            let gaps = gaps.map(|(from, to)| (from.parse::<u64>().unwrap(), to.parse::<u64>().unwrap()));
            let gaps: Vec<(u64, u64)> = gaps.collect();
            assert_eq!((gaps.len(), records.len()), (10, 11));
            for (from, to) in gaps {
                let within = records.iter().find(|r| r.start_ns < to && from < r.start_ns + r.wall_ns);
                assert_eq!(within, None, "side {side} works from {from} to {to}");
            }
        }
    }

    /// No side begins a slice before both have ended the one before.
    pub fn meets_at_barriers(&self) {
        let case = &golden("iterations.json")[0];
        let mut trial = Trial::golden(case, PageMode::Duet);
        trial.start(self, [(15, 3000), (11, 500)]);
        trial.end_well();
        let sides = [0, 1].map(|side| trial.page.records(side));
        sides.iter().for_each(|records| check_records(records, 3, 8));
        for j in 1..11 {
            let ended = sides.iter().map(|r| r[j - 1].start_ns + r[j - 1].wall_ns).max();
            assert!(ended <= sides.iter().map(|r| r[j].start_ns).min(), "slice {j} began too early");
        }
        assert_eq!(trial.word(ARRIVE), case["duet"].as_array().unwrap().len() as u64);
    }

    pub fn measures_alone(&self) {
        let mut trial = Trial::new(PageMode::Solo, 2, 4);
        trial.start_one(self, 0, (9, 500));
        trial.end_well();
        check_records(&trial.page.records(0), 2, 4);
    }

    /// With no number asked for, the side with the fewest iterations says how many there are, and nobody left early.
    pub fn runs_as_many_as_there_are(&self) {
        for mode in [PageMode::Duet, PageMode::Interleaved] {
            let mut trial = Trial::new(mode, 2, 0);
            trial.start(self, [(6, 500), (9, 500)]);
            trial.end_well();
            let counts = [0, 1].map(|side| trial.page.records(side).len());
            // In turns, the longer side may lead in the slice that the other one does not have.
            assert!(
                counts[0] == 6 && (counts[1] == 6 || mode == PageMode::Interleaved && counts[1] == 7),
                "{counts:?}"
            );
        }
        let mut trial = Trial::new(PageMode::Solo, 2, 0);
        trial.start_one(self, 0, (Trial::CAPACITY + 5, 10));
        trial.end_well();
        assert_eq!(trial.page.records(0).len(), Trial::CAPACITY as usize);
    }

    /// The peer of a process that is killed, wherever it may be, is released.
    pub fn outlives_its_peer(&self) {
        for mode in [PageMode::Duet, PageMode::Interleaved] {
            for killed in 0..2 {
                let mut trial = Trial::new(mode, 2, 100_000);
                trial.start(self, [(ENDLESS, 300), (ENDLESS, 300)]);
                trial.until_records(5);
                trial.kill(killed);
                trial.page.mark_gone(killed);
                trial.until(|t| t.page.status(1 - killed).left_early);
                assert!(!trial.page.status(killed).left_early);
            }
        }
    }

    /// A side whose own program ends too early is the cause, and its peer only left because of it.
    pub fn tells_who_ended_first(&self) {
        for mode in [PageMode::Duet, PageMode::Interleaved] {
            let mut trial = Trial::new(mode, 2, 20);
            trial.start(self, [(8, 300), (22, 300)]);
            trial.wait();
            assert_eq!([0, 1].map(|side| trial.page.status(side).left_early), [false, true]);
        }
    }

    pub fn stops(&self) {
        for mode in [PageMode::Duet, PageMode::Interleaved, PageMode::Solo] {
            let mut trial = Trial::new(mode, 2, 100_000);
            let sides = if mode == PageMode::Solo { 1 } else { 2 };
            (0..sides).for_each(|side| trial.start_one(self, side, (ENDLESS, 300)));
            trial.until_records(5);
            trial.page.stop();
            (0..sides).for_each(|side| trial.until(|t| t.page.status(side).left_early));
        }
    }

    /// A side that waits for a peer which never comes ends with the controller, although that cannot tell it.
    pub fn ends_with_the_controller(&self) {
        for mode in [PageMode::Duet, PageMode::Interleaved] {
            let mut trial = Trial::new(mode, 2, 10);
            let mut controller = Command::new("sleep").arg("600").spawn().unwrap();
            trial.controller = Some(controller.id());
            trial.start_one(self, 1, (5, 300));
            trial.until(|t| t.page.status(1).arrived);
            assert!(trial.children[0].1.try_wait().unwrap().is_none(), "it did not wait for its peer");
            controller.kill().unwrap();
            controller.wait().unwrap();
            trial.wait();
            assert!(trial.page.records(1).is_empty());
        }
    }

    /// A side to which nobody has the controller's number, as where `/proc` is mounted with `hidepid`, goes on.
    pub fn bears_a_hidden_controller(&self) {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let mut trial = Trial::new(PageMode::Solo, 0, 4);
        trial.controller = Some(gone.id());
        trial.start_one(self, 0, (4, 200_000));
        trial.end_well();
    }
}

/// Numbers without a gap, the first ones flagged, each with the operations and the times that its loop told.
fn check_records(records: &[Record], warm_up: u32, slices: u32) {
    assert_eq!(records.iter().map(|r| r.slice).collect::<Vec<_>>(), (0..warm_up + slices).collect::<Vec<_>>());
    for r in records {
        assert_eq!(r.warm_up, r.slice < warm_up, "{r:?}");
        assert!(r.invocations == 7 && r.wall_ns > 0 && r.has_cpu && !r.has_memory && r.block == 0, "{r:?}");
    }
    assert!(records.iter().any(|r| r.cpu_ns > 0));
}

/// A page with the processes that share it. All that still run are killed in the end.
pub struct Trial {
    pub page: Page,
    children: Vec<(usize, Child)>,
    /// Absent for most: a side that looks after its controller also looks up from its sleep, which would hide that nobody woke it.
    controller: Option<u32>,
    _dir: TempDir,
}

impl Trial {
    const CAPACITY: u32 = 1000;

    pub fn new(mode: PageMode, warmup_slices: u32, slices: u32) -> Trial {
        Trial::with_seed(mode, warmup_slices, slices, 7)
    }

    fn golden(case: &Value, mode: PageMode) -> Trial {
        let number = |name: &str| case[name].as_u64().unwrap();
        let [warm_up, slices] = ["warmup", "slices"].map(|name| u32::try_from(number(name)).unwrap());
        Trial::with_seed(mode, warm_up, slices, number("seed"))
    }

    fn with_seed(mode: PageMode, warmup_slices: u32, slices: u32, seed: u64) -> Trial {
        Trial::of(PageHeader { seed, ..Trial::header(mode, warmup_slices, slices) })
    }

    /// As short and as simple as a trial can be.
    pub fn header(mode: PageMode, warmup_slices: u32, slices: u32) -> PageHeader {
        PageHeader {
            mode,
            seed: 7,
            slice_ns: 0,
            trial_ns: 0,
            warmup_slices,
            capacity: Trial::CAPACITY.max(warmup_slices + slices),
            block_slices: 1,
            stretch: 0,
            gc_ns: 0,
            warm_ns: 0,
            k_hint: 0,
            cores: [NO_CORE; 2],
            swap: false,
            slices,
        }
    }

    pub fn of(header: PageHeader) -> Trial {
        let dir = tempfile::tempdir().unwrap();
        let page = Page::create(&dir.path().join("page"), &header).unwrap();
        Trial { page, children: Vec::new(), controller: None, _dir: dir }
    }

    fn start(&mut self, hook: &Hook, loops: [(u32, u32); 2]) {
        (0..2).for_each(|side| self.start_one(hook, side, loops[side]));
    }

    fn start_one(&mut self, hook: &Hook, side: usize, (iterations, micros): (u32, u32)) {
        let mut program = command(&hook.looping);
        program.args([iterations.to_string(), micros.to_string()]);
        self.spawn(side, &mut program);
    }

    /// Starts any program as a side.
    pub fn spawn(&mut self, side: usize, program: &mut Command) {
        program.env("DUET_PAGE", self.page.path()).env("DUET_SIDE", side.to_string());
        program.envs(self.controller.map(|pid| ("DUET_PARENT", pid.to_string())));
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        self.children.push((side, child.unwrap_or_else(|e| panic!("{program:?}: {e}"))));
    }

    /// The first line that a side prints.
    pub fn first_line(&mut self, side: usize) -> String {
        let (_, child) = self.children.iter_mut().find(|(s, _)| *s == side).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    /// A word of the page that the controller has no use for.
    pub fn word(&self, at: usize) -> u64 {
        let bytes = std::fs::read(self.page.path()).unwrap();
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()).into()
    }

    pub fn until(&mut self, condition: impl Fn(&Trial) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(Instant::now() < end, "it never came to that");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn until_records(&mut self, count: usize) {
        self.until(|t| t.children.iter().all(|(side, _)| t.page.records(*side).len() >= count));
    }

    pub fn kill(&mut self, side: usize) {
        let (_, child) = self.children.iter_mut().find(|(s, _)| *s == side).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits until all have ended, as the controller does: whoever has ended is marked as gone. Their exit codes by side.
    pub fn wait(&mut self) -> BTreeMap<usize, i32> {
        let mut codes = BTreeMap::new();
        let mut left: Vec<usize> = (0..self.children.len()).collect();
        let end = Instant::now() + PATIENCE;
        while !left.is_empty() {
            assert!(Instant::now() < end, "it never ended");
            let (children, page) = (&mut self.children, &self.page);
            left.retain(|&index| {
                let (side, child) = &mut children[index];
                let ended = child.try_wait().unwrap();
                if let Some(status) = ended {
                    page.mark_gone(*side);
                    codes.insert(*side, status.code().unwrap_or(-1));
                }
                ended.is_none()
            });
            std::thread::sleep(Duration::from_millis(1));
        }
        codes
    }

    /// Waits until all have ended well, none of them early; what they printed.
    pub fn end_well(&mut self) -> Vec<String> {
        self.end_well_by(Style::Iteration)
    }

    /// The same of sides that say that they have this style.
    pub fn end_well_by(&mut self, style: Style) -> Vec<String> {
        self.wait();
        let mut said = Vec::new();
        for (side, child) in self.children.drain(..) {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "side {side}: {}", String::from_utf8_lossy(&output.stderr));
            let status = self.page.status(side);
            assert!(status.arrived && !status.left_early && status.style == Some(style), "side {side}: {status:?}");
            said.push(String::from_utf8(output.stdout).unwrap());
        }
        said
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A test for each thing that every implementation must do.
#[macro_export]
macro_rules! every_hook {
    ($hook:expr) => {
        $crate::every_hook!(@tests $hook;
            has_the_golden_layout, writes_the_golden_record, leads_as_the_golden_file_says, takes_the_golden_turns,
            does_nothing_when_it_is_not_measured, refuses_what_is_no_page, interleaves,
            works_between_iterations_in_nobodys_slice, meets_at_barriers, measures_alone,
            runs_as_many_as_there_are, outlives_its_peer, tells_who_ended_first, stops, ends_with_the_controller);
    };
    (@tests $hook:expr; $($name:ident),*) => {
        $(#[test]
        fn $name() {
            $hook.$name();
        })*
    };
}
