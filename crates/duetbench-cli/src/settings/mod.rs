//! From what was typed, set and configured to a [`Spec`]: the one place where the three meet.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use duetbench_core::Spec;
use duetbench_core::instructions::Countable;
use duetbench_core::plan::Repetitions;
use duetbench_core::report::Typed;
use duetbench_core::spec::{Decision, Effort, HarnessSpec, LayoutChoice, ModeChoice, Selection, SoloSpec, defaults};
use duetbench_formats::bounded;

use crate::failure::Failure;
use crate::options::{CountArg, Format, HarnessName, Layer};
use crate::project;
use crate::render::command_line::quote;

mod bounds;
mod environment;
mod fleet;
mod policy;

pub use bounds::{check_link, real};
pub use fleet::Account;

/// Longest silence of a benchmark when nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(60);

/// All sources, the strongest first.
#[derive(Debug, Clone)]
pub struct Settings {
    layers: Vec<Layer>,
    /// A continuous-integration service says that it runs us.
    in_ci: bool,
    /// The branch that the change is for, where something says so.
    branch: Option<String>,
}

impl Settings {
    /// Reads the environment and the `duet.toml` of the project around `cwd`. Whoever `measures` runs the repository's code anyway; for all
    /// others its file names no output, since looking overwrites nothing.
    ///
    /// # Errors
    /// Names the variable, or the file and line, that cannot be understood.
    pub fn gather(typed: Layer, cwd: &Path, measures: bool) -> Result<Settings, Failure> {
        environment::check_names(std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()))?;
        let mut layers = vec![typed, environment::read(|name| std::env::var_os(name))?];
        if let Some(path) = project::settings_file(cwd) {
            let text = bounded::read_text(&path, bounded::TEXT_MAX)
                .map_err(|e| Failure::usage(format!("cannot read `{}`: {e}", path.display())))?;
            let mut layer = layer(&text)
                .map_err(|why| Failure::usage(format!("`{}` cannot be understood: {why}", path.display())))?;
            bounds::check(&layer, &layers, cwd)?;
            layer.output = layer.output.filter(|_| measures);
            layers.push(layer);
        }
        for layer in &layers {
            check_lists(layer)?;
            if layer.timeout.is_some_and(|limit| limit.is_zero()) {
                return Err(Failure::usage("`--timeout` must be longer than nothing"));
            }
            if layer.no_wait == Some(true) && layer.wait.is_some() {
                return Err(Failure::usage("`wait` and `no_wait` exclude each other"));
            }
        }
        let in_ci = std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false");
        let branch = policy::branch(|name| std::env::var(name).ok());
        Ok(Settings { layers, in_ci, branch })
    }

    fn first<T>(&self, pick: impl Fn(&Layer) -> Option<T>) -> Option<T> {
        self.layers.iter().find_map(pick)
    }

    /// The request, with every default filled in; `drawn` is the seed when none is set.
    ///
    /// # Errors
    /// When a number is out of range or one source asks for both forks and a budget.
    pub fn spec(&self, drawn: u64) -> Result<Spec, Failure> {
        Ok(Spec {
            selection: self.selection(),
            effort: self.effort()?,
            decision: self.decision(Decision::default())?,
            mode: self.first(|l| l.mode).unwrap_or(ModeChoice::Auto),
            layouts: self.first(|l| l.layouts).unwrap_or(LayoutChoice::Matched),
            measure_identical: self.first(|l| l.measure_identical).unwrap_or(false),
            reach: self.first(|l| l.reach).unwrap_or(false),
            same_benchmarks: self.first(|l| l.same_benchmarks).unwrap_or(false),
            benchmarks_from: self.first(|l| l.benchmarks_from),
            seed: self.first(|l| l.seed).unwrap_or(drawn),
            harness_args: self.harness_args(),
            harness: self.harness(),
            rules: self.rules()?,
            fleet: self.fleet()?,
        })
    }

    /// The request for a run of one version, with every default filled in; `drawn` is the seed when none is set.
    pub fn solo_spec(&self, repetitions: Repetitions, drawn: u64) -> SoloSpec {
        SoloSpec {
            selection: self.selection(),
            repetitions,
            seed: self.first(|l| l.seed).unwrap_or(drawn),
            harness_args: self.harness_args(),
            harness: self.harness(),
        }
    }

    fn harness_args(&self) -> Vec<String> {
        self.first(|l| l.harness.clone()).unwrap_or_default()
    }

    /// Notes for readers of the report about options that the repository's file set.
    pub fn notes(&self) -> Vec<String> {
        let file = self.layers.get(2).and_then(|file| bounds::programs(file, &self.layers[..2]));
        file.into_iter().collect()
    }

    /// Options for the harness.
    fn harness(&self) -> HarnessSpec {
        let asked = self.first(|l| l.warmup);
        let mut commands = self.first(|l| l.command.clone()).unwrap_or_default();
        // Iterations of programs with a loop of their own are those of any other harness.
        let of_loops = commands.iter().filter(|c| c.lockstep && c.warmup > 0).map(|c| c.warmup).max();
        if let Some(warmup) = asked {
            commands.iter_mut().for_each(|command| command.warmup = warmup);
        }
        HarnessSpec {
            name: self.first(|l| l.adapter.clone()).map(|HarnessName(name)| name),
            warmup: asked.or(of_loops),
            jmh: self.first(|l| l.jmh.clone()).unwrap_or_default(),
            commands,
        }
    }

    /// The selection of benchmarks.
    pub fn selection(&self) -> Selection {
        Selection {
            bench: self.first(|l| l.bench.clone()),
            exclude: self.first(|l| l.exclude.clone()),
            packages: self.first(|l| l.packages.clone()).unwrap_or_else(|| vec![defaults::PACKAGES.into()]),
        }
    }

    /// The same with another selection of benchmarks.
    pub fn selecting(&self, selection: &Selection) -> Settings {
        let Selection { bench, exclude, packages } = selection.clone();
        let chosen = Layer { bench, exclude, packages: Some(packages), ..self.layers[0].clone() };
        let mut settings = self.clone();
        settings.layers[0] = chosen;
        if selection.exclude.is_none() {
            settings.layers.iter_mut().for_each(|layer| layer.exclude = None);
        }
        settings
    }

    fn effort(&self) -> Result<Effort, Failure> {
        let (forks, budget) = self.extent()?;
        Ok(Effort {
            forks,
            budget,
            builds: self.first(|l| l.builds),
            fixed: self.first(|l| l.fixed).unwrap_or(false),
            confirm: self.first(|l| l.confirm).unwrap_or(self.in_ci),
        })
    }

    /// Fork pairs or a budget: the strongest source that says either.
    fn extent(&self) -> Result<(Option<u32>, Option<Duration>), Failure> {
        let possible = 1..=i64::from(defaults::FORKS_MAX);
        within("builds", self.first(|l| l.builds), possible.clone())?;
        if let Some(builds) = self.first(|l| l.builds).filter(|builds| (2..defaults::UNITS_MIN).contains(builds)) {
            let needed = defaults::UNITS_MIN;
            return Err(Failure::usage(format!(
                "`--builds {builds}` can never answer: an interval needs {needed} build pairs"
            ))
            .hint(format!("`--builds {needed}` is the least; `--builds 1` compares just the two binaries")));
        }
        let Some(layer) = self.layers.iter().find(|l| l.forks.is_some() || l.budget.is_some()) else {
            return Ok((None, None));
        };
        match (layer.forks, layer.budget) {
            (Some(_), Some(_)) => Err(Failure::usage(
                "`--forks` and `--budget` exclude each other: a budget decides how many forks there are",
            )),
            (_, Some(budget)) if budget.is_zero() => Err(Failure::usage("`--budget` must be longer than nothing")),
            extent => within("forks", extent.0, possible).map(|()| extent),
        }
    }

    /// Parameters of the decision: those that are set here, the rest from `fallback`.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn decision(&self, fallback: Decision) -> Result<Decision, Failure> {
        Decision {
            threshold: self.first(|l| l.threshold).unwrap_or(fallback.threshold),
            alpha: self.first(|l| l.alpha).unwrap_or(fallback.alpha),
            false_discovery_rate: self.first(|l| l.fdr).unwrap_or(fallback.false_discovery_rate),
            power: fallback.power,
            // The file's rules are about its own threshold.
            typed: self.layers.iter().take(2).any(|l| l.threshold.is_some()) || fallback.typed,
        }
        .check()
        .map_err(|e| Failure::usage(e.to_string()))
    }

    /// Only what was typed: a stored run keeps its own decision unless the command line says otherwise.
    pub fn typed_only(&self) -> Settings {
        Settings { layers: self.layers[..1].to_vec(), in_ci: self.in_ci, branch: self.branch.clone() }
    }

    /// Longest silence of a benchmark.
    pub fn timeout(&self) -> Duration {
        self.first(|l| l.timeout).unwrap_or(TIMEOUT)
    }

    /// The options that no stored run keeps, as they were typed: whoever goes on with a run types them again.
    pub fn bounds_typed(&self) -> String {
        // Whoever goes on with a run goes on with its plan.
        let Typed { store, bounds, .. } = self.typed();
        store + &bounds
    }

    /// The same, the store apart.
    pub fn typed(&self) -> Typed {
        let typed = &self.layers[0];
        let flag = |name: &str, set: Option<bool>| set.filter(|is_wanted| *is_wanted).map(|_| format!(" --{name}"));
        let count = typed.count.map(|count| match count {
            CountArg::Changed => " --count".to_owned(),
            CountArg::All => " --count=all".to_owned(),
            CountArg::None => " --count=none".to_owned(),
        });
        let timeout = typed.timeout.map(|limit| {
            let words = humantime::format_duration(limit).to_string().replace(' ', "");
            format!(" --timeout {words}")
        });
        let passed = typed.pass_env.iter().flatten().map(|name| format!(" --pass-env {}", quote(name)));
        let flags =
            [flag("sandbox", typed.sandbox), flag("profile", typed.profile), count, flag("strict", typed.strict)];
        let bounds = timeout.into_iter().chain(passed).chain(flags.into_iter().flatten());
        let plan = typed.plan.as_ref().map(|plan| format!(" --plan {}", quote(&plan.display().to_string())));
        let bounds = bounds.chain(fleet::account_typed(typed)).collect();
        Typed { store: self.db_typed(), plan: plan.unwrap_or_default(), bounds }
    }

    /// The store that was typed, as an option; empty where none was.
    pub fn db_typed(&self) -> String {
        let path = self.layers[0].db.as_ref();
        path.map_or_else(String::new, |path| format!(" --db {}", quote(&path.display().to_string())))
    }

    /// Variables that benchmarks may see on top of the allow-list.
    pub fn pass_env(&self) -> Vec<String> {
        self.first(|l| l.pass_env.clone()).unwrap_or_default()
    }

    /// Whether measured code is kept apart from network, files and other processes.
    pub fn sandbox(&self) -> bool {
        self.first(|l| l.sandbox).unwrap_or(false)
    }

    /// Where runs are stored, if it was set.
    pub fn db(&self) -> Option<PathBuf> {
        self.first(|l| l.db.clone())
    }

    /// Where runs are stored: as set, or at the root of the checkout around the current directory.
    pub fn store(&self, cwd: &Path) -> PathBuf {
        self.db().unwrap_or_else(|| project::root(cwd).join(".duet/duet.db"))
    }

    /// The plan file, if one was set.
    pub fn plan(&self) -> Option<PathBuf> {
        self.first(|l| l.plan.clone())
    }

    /// Form of the report.
    pub fn format(&self) -> Format {
        self.first(|l| l.format).unwrap_or(Format::Text)
    }

    /// File for the report, if it was set.
    pub fn output(&self) -> Option<PathBuf> {
        self.first(|l| l.output.clone())
    }

    /// Whether the intervals are drawn, if it was set.
    pub fn plot(&self) -> Option<bool> {
        self.first(|l| l.plot)
    }

    /// `--all`.
    pub fn all(&self) -> bool {
        self.first(|l| l.all).unwrap_or(false)
    }

    /// `--quiet`.
    pub fn quiet(&self) -> bool {
        self.first(|l| l.quiet).unwrap_or(false)
    }

    /// `--no-color`.
    pub fn no_color(&self) -> bool {
        self.first(|l| l.no_color).unwrap_or(false)
    }

    /// Longest wait for another run: `--wait`, or none with `--no-wait`, whichever the stronger source has.
    pub fn wait(&self) -> Option<Duration> {
        // A layer that says `no_wait = false` takes back what a weaker one says of that, and nothing of its `wait`.
        let waits_anyhow = self.first(|l| l.no_wait) == Some(false);
        let nobody_waits = |l: &Layer| (l.no_wait == Some(true) && !waits_anyhow).then_some(Duration::ZERO);
        self.first(|l| nobody_waits(l).or(l.wait))
    }

    /// `--profile`.
    pub fn profile(&self) -> bool {
        self.first(|l| l.profile).unwrap_or(false)
    }

    /// `--count`: the benchmarks whose instructions are counted; absent: none at all.
    pub fn count(&self) -> Option<Countable> {
        match self.first(|l| l.count) {
            None => Some(Countable::Ruled),
            Some(CountArg::Changed) => Some(Countable::Changed),
            Some(CountArg::All) => Some(Countable::All),
            Some(CountArg::None) => None,
        }
    }

    /// `--dry-run`.
    pub fn dry_run(&self) -> bool {
        self.first(|l| l.dry_run).unwrap_or(false)
    }

    /// Whether a dry run was asked for by somebody else than who typed the command.
    pub fn dry_run_is_set(&self) -> bool {
        self.dry_run() && self.layers.first().is_none_or(|typed| typed.dry_run.is_none())
    }
}

/// The layer of a `duet.toml`.
fn layer(text: &str) -> Result<Layer, String> {
    toml::from_str(text).map_err(|e| {
        // A table where a list of tables belongs.
        let hint = if e.message().ends_with("expected a sequence") {
            "\na table that may come more than once stands in two brackets: `[[rule]]`, `[[command]]`"
        } else {
            ""
        };
        format!("{}{hint}", e.to_string().trim_end())
    })
}

/// Checks lists of words: no package at all would be another one's, and what is no variable's name passes nothing.
fn check_lists(layer: &Layer) -> Result<(), Failure> {
    if layer.packages.as_ref().is_some_and(|all| all.is_empty() || all.iter().any(|one| one.trim().is_empty())) {
        return Err(Failure::usage("`packages` has no package, or one without a name")
            .hint("`./...` is all that there is; is the variable behind it set?"));
    }
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    };
    match layer.pass_env.iter().flatten().find(|name| !is_name(name)) {
        Some(name) => Err(Failure::usage(format!("`pass_env` has `{name}`, which is no name of a variable"))
            .hint("benchmarks see its value as it is for `duet`; name several as `--pass-env A --pass-env B`")),
        None => Ok(()),
    }
}

/// Checks a number, wherever it was set.
fn within(name: &str, value: Option<u32>, range: RangeInclusive<i64>) -> Result<(), Failure> {
    match value {
        Some(value) if !range.contains(&value.into()) => {
            Err(Failure::usage(format!("`{name}` must be between {} and {}", range.start(), range.end())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Layer {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_table_in_one_bracket_is_told_of_the_other() {
        for name in ["rule", "command"] {
            let why = layer(&format!("[{name}]\nname = 'A'")).unwrap_err();
            assert!(why.contains("line 1") && why.contains(&format!("`[[{name}]]`")), "{why}");
        }
        assert!(!layer("threshold = []").unwrap_err().contains("[["));
    }

    #[test]
    fn the_stronger_source_wins_and_the_weaker_fills_in() {
        let typed = Layer { threshold: Some(0.05), ..Layer::default() };
        let settings = Settings {
            layers: vec![typed, file("threshold = '1%'\nseed = 7\nmode = 'duet'")],
            in_ci: false,
            branch: None,
        };
        let spec = settings.spec(1).unwrap();
        assert_eq!((spec.decision.threshold, spec.seed, spec.mode), (0.05, 7, ModeChoice::Duet));
    }

    #[test]
    fn a_threshold_that_was_typed_or_set_beats_rules_and_that_of_the_file_does_not() {
        let layers = ["", "", "[[rule]]\nthreshold = '20%'"];
        let id = duetbench_core::BenchmarkId { package: "p".into(), name: "BenchmarkA".into() };
        for (at, want) in [(0, 0.05), (1, 0.05), (2, 0.2)] {
            let mut layers = layers.map(file).to_vec();
            layers[at].threshold = Some(0.05);
            let spec = Settings { layers, in_ci: false, branch: None }.spec(1).unwrap();
            assert_eq!(spec.thresholds().of(&id, &duetbench_core::spec::Metric::Time), want, "{at}");
        }
    }

    #[test]
    fn a_stronger_budget_beats_weaker_forks() {
        let settings = Settings { layers: vec![file("budget = '2m'"), file("forks = 5")], in_ci: false, branch: None };
        let effort = settings.spec(1).unwrap().effort;
        assert_eq!((effort.forks, effort.budget), (None, Some(Duration::from_secs(120))));
        let both = Settings { layers: vec![file("budget = '2m'\nforks = 5")], in_ci: false, branch: None };
        assert!(both.spec(1).is_err());
    }

    #[test]
    fn a_stronger_source_takes_back_that_nobody_waits() {
        let wait =
            |layers: [&str; 2]| Settings { layers: layers.map(file).to_vec(), in_ci: false, branch: None }.wait();
        assert_eq!(wait(["", "no_wait = true"]), Some(Duration::ZERO));
        assert_eq!(wait(["no_wait = false", "no_wait = true"]), None);
        assert_eq!(wait(["no_wait = false", "wait = '5m'"]), Some(Duration::from_secs(300)));
        assert_eq!(wait(["wait = '5m'", "no_wait = true"]), Some(Duration::from_secs(300)));
    }

    #[test]
    fn what_no_run_keeps_is_told_as_it_was_typed() {
        let told = |layers: Vec<Layer>| Settings { layers, in_ci: false, branch: None }.bounds_typed();
        let typed = "timeout = '90s'\npass_env = ['HOME', 'LANG']\nsandbox = true";
        assert_eq!(told(vec![file(typed)]), " --timeout 1m30s --pass-env HOME --pass-env LANG --sandbox");
        let more =
            "profile = true\ncount = 'all'\nstrict = true\nrole = 'a:b'\nregion = 'eu-west-1'\nworker = 'my worker'";
        let words = " --profile --count=all --strict --role a:b --region eu-west-1 --worker 'my worker'";
        assert_eq!(told(vec![file(more)]), words);
        assert_eq!(told(vec![file("profile = false\nstrict = false\nsandbox = false\ncount = 'changed'")]), " --count");
        // The file is read again.
        assert_eq!(told(vec![file(""), file(typed)]), "");
    }

    #[test]
    fn unknown_keys_are_named() {
        assert!(toml::from_str::<Layer>("treshold = 1").unwrap_err().to_string().contains("treshold"));
    }
}
