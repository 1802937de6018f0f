//! The report: everything a renderer shows, already computed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use crate::analysis::{BenchmarkReport, Confirmation, Counted, ForkPair, ForkSide, Layout};
use crate::analysis::{SuiteChange, Warning};
use crate::calibrate::CalibrationNote;
use crate::environment::Environment;
use crate::fleet::FleetReport;
use crate::gate::{Breach, Found, Gate, Standing};
use crate::history::PastRun;
use crate::hotspot::{BenchmarkProfile, BenchmarkStacks};
use crate::instructions::BenchmarkInstructions;
use crate::noise::Diagnosis;
use crate::picture::Picture;
use crate::plan::{Plan, PlannedBenchmark};
use crate::reported::ReportedMetric;
use crate::sample::BenchmarkId;
use crate::spec::{Metric, Spec};
use crate::stats;
use crate::verdict::Verdict;

/// One version of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionInfo {
    /// The version as the user typed it, or the words that stood in for it.
    pub requested: String,
    /// The version that was found: a commit, a directory, a module version.
    pub resolved: String,
    /// Digest over its test binaries, hexadecimal.
    pub artifact_digest: String,
}

impl VersionInfo {
    /// Name of a version that was not typed because it is the checkout as it is.
    pub const WORK_TREE: &'static str = "work tree";
}

/// Layouts of the halves of build pairs, by package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutsUsed {
    /// Packages in which everything that both versions have lay at the same address in both.
    pub matched: BTreeSet<String>,
    /// Packages in which each half had an order of its own, with the reason.
    pub random: BTreeMap<String, String>,
}

impl LayoutsUsed {
    /// The part that concerns a plan: packages of which build pairs are linked; absent where there are none.
    pub fn concerning(mut self, plan: &Plan) -> Option<LayoutsUsed> {
        let linked = plan.benchmarks.iter().filter(|b| b.configuration.design.by_build);
        let packages: BTreeSet<&str> = linked.map(|b| b.id.package.as_str()).collect();
        self.matched.retain(|package| packages.contains(package.as_str()));
        self.random.retain(|package, _| packages.contains(package.as_str()));
        (!self.matched.is_empty() || !self.random.is_empty()).then_some(self)
    }

    /// Those of a run of which earlier sittings used others: a package in which halves once had orders of their own is not matched.
    #[must_use]
    pub fn after(mut self, earlier: &LayoutsUsed) -> LayoutsUsed {
        self.matched.retain(|package| !earlier.random.contains_key(package));
        self.random.extend(earlier.random.clone());
        self
    }
}

/// Options that no stored run keeps, as whoever asks for a report typed them: each begins with a space, and commands that the report
/// offers have them again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// The store.
    pub store: String,
    /// The plan that was followed.
    pub plan: String,
    /// All others.
    pub bounds: String,
}

/// The whole answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the run in its store.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Whether it was measured to its end.
    pub complete: bool,
    /// Whether it was measured by somebody who is not trusted: then nothing that it names is offered to be run.
    #[serde(skip)]
    pub untrusted: bool,
    /// Options that commands which it offers are typed with again.
    #[serde(skip)]
    pub typed: Typed,
    /// The request.
    pub spec: Spec,
    /// The plan.
    pub plan: Plan,
    /// The baseline.
    pub baseline: VersionInfo,
    /// The candidate.
    pub candidate: VersionInfo,
    /// The machine.
    pub environment: Environment,
    /// Layouts of the halves of its build pairs; absent where none were linked, or before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<LayoutsUsed>,
    /// Wall time spent measuring, seconds.
    pub measured_s: f64,
    /// One entry per benchmark, in name order.
    pub benchmarks: Vec<BenchmarkReport>,
    /// By how much the suite changed as a whole, where its benchmarks have units in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteChange>,
    /// Disturbances of its measuring.
    pub noise: Diagnosis,
    /// Number, time and cost of its calls, where it was measured on a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetReport>,
    /// Policy and waivers applied to it, where the repository has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The calibration of this suite, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationNote>,
    /// Where regressions come from, as far as they were profiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<BenchmarkProfile>,
    /// Instructions of its benchmarks, as far as they were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<BenchmarkInstructions>,
    /// Metrics that benchmarks report themselves, under the units that rules name, in the order of the benchmarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<ReportedMetric>,
    /// A picture of each benchmark, in their order; empty where nobody looks at pictures.
    #[serde(skip)]
    pub pictures: Vec<Option<Picture>>,
    /// Call stacks of benchmarks that were profiled, where somebody looks at them.
    #[serde(skip)]
    pub stacks: Vec<BenchmarkStacks>,
    /// Earlier runs and this one, the last, where somebody looks at them.
    #[serde(skip)]
    pub history: Vec<PastRun>,
    /// Warnings about the run as a whole.
    pub warnings: Vec<String>,
}

/// Outcome of a run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No regression found.
    Clean,
    /// Something failed, or nothing was compared, or not long enough for any answer.
    Failed,
    /// At least one regression.
    Regression,
    /// No regression that was not accepted, but a waiver that has to go.
    StaleWaiver,
    /// No regression, but not everything was decided.
    Inconclusive,
}

impl Report {
    /// The conclusion on a benchmark.
    pub fn benchmark(&self, id: &BenchmarkId) -> Option<&BenchmarkReport> {
        self.benchmarks.iter().find(|one| one.id == *id)
    }

    /// The plan for a benchmark.
    pub fn planned(&self, id: &BenchmarkId) -> Option<&PlannedBenchmark> {
        self.plan.benchmarks.iter().find(|one| one.id == *id)
    }

    /// The profiles of a benchmark.
    pub fn profile(&self, id: &BenchmarkId) -> Option<&BenchmarkProfile> {
        self.profiles.iter().find(|one| one.id == *id)
    }

    /// The counts of a benchmark's instructions.
    pub fn instructions_of(&self, id: &BenchmarkId) -> Option<&BenchmarkInstructions> {
        self.instructions.iter().find(|one| one.id == *id)
    }

    /// Takes warnings of a kind from all benchmarks.
    pub fn silence(&mut self, is_meant: fn(&Warning) -> bool) {
        for benchmark in &mut self.benchmarks {
            benchmark.warnings.retain(|warning| !is_meant(warning));
        }
    }

    /// Number of benchmarks with this verdict (by [`Verdict::word`]).
    pub fn count(&self, word: &str) -> usize {
        self.benchmarks.iter().filter(|b| b.verdict.word() == word).count()
    }

    /// Regressions that are worth a profile, the largest first: where later rounds were measured, those that they confirmed.
    pub fn to_profile(&self) -> Vec<&BenchmarkReport> {
        let sure = |b: &&BenchmarkReport| b.confirmation.as_ref().is_none_or(Confirmation::confirmed);
        let regressed = self.benchmarks.iter().filter(|b| matches!(b.verdict, Verdict::Regression));
        let mut found: Vec<&BenchmarkReport> = regressed.filter(sure).collect();
        let change = |b: &BenchmarkReport| b.change().unwrap_or(0.0);
        found.sort_by(|a, b| change(b).total_cmp(&change(a)));
        found
    }

    /// Layout's effect on the suite: the median over its benchmarks of each number; absent where no benchmark has several builds.
    pub fn typical_layout(&self) -> Option<Layout> {
        let median = |number: fn(&Layout) -> f64| {
            let numbers: Vec<f64> = self.benchmarks.iter().filter_map(|b| b.layout.as_ref()).map(number).collect();
            stats::median(&numbers).ok()
        };
        Some(Layout {
            sd_between: median(|l| l.sd_between)?,
            sd_within: median(|l| l.sd_within)?,
            share: median(|l| l.share)?,
        })
    }

    /// The answers that a decision is about.
    pub fn found(&self) -> Found<'_> {
        Found { benchmarks: &self.benchmarks, reported: &self.reported, instructions: &self.instructions }
    }

    /// Benchmarks that stop the change: those that regressed, or what policy and waivers make of them.
    pub fn failing(&self) -> usize {
        match &self.gate {
            Some(gate) => gate.failing().map(|breach| &breach.id).collect::<BTreeSet<_>>().len(),
            None => self.count("regression"),
        }
    }

    /// Number of benchmarks whose time, or a metric that they report themselves, got this verdict.
    pub fn concerned(&self, word: &str) -> usize {
        self.concerned_where(|verdict| verdict.word() == word)
    }

    /// Number of benchmarks of which something could not be measured, or that failed so often that they were given up.
    pub fn failed(&self) -> usize {
        let given_up = self.benchmarks.iter().filter(|one| one.failed_too_often).map(|one| &one.id);
        let failed = self.those_where(|verdict| matches!(verdict, Verdict::Failed { .. }));
        failed.chain(given_up).collect::<BTreeSet<_>>().len()
    }

    /// Whether some benchmark's time, or something that it reports itself, changed.
    pub fn is_changed(&self) -> bool {
        self.concerned_where(Verdict::is_change) > 0
    }

    /// Number of benchmarks whose time, or something that they report themselves, is an open question.
    pub fn undecided(&self) -> usize {
        self.concerned_where(Verdict::is_open)
    }

    /// Number of benchmarks that got worse in something, whether that stops the change or was accepted; and of those that were accepted.
    pub fn worse(&self) -> (usize, usize) {
        let regressed = self.those_where(|verdict| *verdict == Verdict::Regression);
        let accepted: BTreeSet<_> = self.gate.iter().flat_map(Gate::waived).map(|breach| &breach.id).collect();
        let all: BTreeSet<_> = regressed.chain(accepted.iter().copied()).collect();
        (all.len(), accepted.len())
    }

    fn concerned_where(&self, is_meant: impl Fn(&Verdict) -> bool) -> usize {
        self.those_where(is_meant).collect::<BTreeSet<_>>().len()
    }

    /// Metrics that benchmarks report themselves, but for those of benchmarks that are another one in both versions.
    pub fn compared_units(&self) -> impl Iterator<Item = &ReportedMetric> {
        self.reported.iter().filter(|one| !self.found().is_redefined(&one.id))
    }

    fn those_where(&self, is_meant: impl Fn(&Verdict) -> bool) -> impl Iterator<Item = &BenchmarkId> {
        let times = self.benchmarks.iter().map(|one| (&one.id, &one.verdict));
        let all = times.chain(self.compared_units().map(|one| (&one.id, &one.verdict)));
        all.filter(move |(_, verdict)| is_meant(verdict)).map(|(id, _)| id)
    }

    /// Takes back what waivers and rules let pass of times, and of questions that are open.
    pub fn take_back_pardons(&mut self) {
        let Some(gate) = &mut self.gate else { return };
        let found = Found { benchmarks: &self.benchmarks, ..Found::default() };
        let of_time = |breach: &&mut Breach| breach.metric == Metric::Time && !found.is_redefined(&breach.id);
        gate.breaches.iter_mut().filter(of_time).for_each(|breach| breach.standing = Standing::Fails);
        gate.open.clear();
        gate.accepted.clear();
        gate.informing.clear();
        gate.stale.clear();
    }

    /// Whether measuring ended before any benchmark had an interval, so that nothing at all was answered.
    pub fn answers_nothing(&self) -> bool {
        let lacks_interval =
            |b: &BenchmarkReport| b.estimate.is_none() && matches!(b.verdict.of_times(), Verdict::Inconclusive { .. });
        let answered = |b: &BenchmarkReport| b.estimate.is_some() || b.verdict.is_proven();
        self.benchmarks.iter().any(lacks_interval) && !self.benchmarks.iter().any(answered)
    }

    /// Whether an open question stops the change: each does where open questions are not tolerated (`strict`), and where a rule says so.
    pub fn lacks_answers(&self, strict: bool) -> bool {
        self.gate.as_ref().unwrap_or(&Gate::default()).lacks_answers(self.found(), strict)
    }

    /// The outcome of the run: a regression outweighs a failure, a failure a waiver that has to go, and that an open question.
    pub fn outcome(&self) -> Outcome {
        let compared = self.benchmarks.iter().any(BenchmarkReport::was_compared);
        if self.failing() > 0 {
            Outcome::Regression
        } else if self.failed() > 0 || !compared || self.answers_nothing() {
            Outcome::Failed
        } else if self.gate.as_ref().is_some_and(|gate| !gate.stale.is_empty()) {
            Outcome::StaleWaiver
        } else if self.undecided() > 0 {
            Outcome::Inconclusive
        } else {
            Outcome::Clean
        }
    }
}
