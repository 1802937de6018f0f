//! From what was typed, set and configured to a [`Spec`]: the one place where the three meet.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use duetbench_core::Spec;
use duetbench_core::spec::{Decision, Effort, ModeChoice, Selection, defaults};
use serde::{Deserialize, Deserializer};

use crate::args::{DecideArgs, Format, MeasureArgs, ModeArg, SelectArgs, ShowArgs, parse_fraction};
use crate::failure::Failure;

/// How long a benchmark may be silent when nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(60);

/// One source of settings: the command line, the environment, or a file. Absent: the next source decides.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    bench: Option<String>,
    exclude: Option<String>,
    packages: Option<Words>,
    #[serde(deserialize_with = "number")]
    forks: Option<u32>,
    #[serde(deserialize_with = "duration")]
    budget: Option<Duration>,
    #[serde(deserialize_with = "number")]
    builds: Option<u32>,
    #[serde(deserialize_with = "switch")]
    fixed: Option<bool>,
    #[serde(deserialize_with = "switch")]
    confirm: Option<bool>,
    #[serde(deserialize_with = "switch")]
    measure_identical: Option<bool>,
    #[serde(deserialize_with = "fraction")]
    threshold: Option<f64>,
    #[serde(deserialize_with = "fraction")]
    alpha: Option<f64>,
    #[serde(deserialize_with = "fraction")]
    fdr: Option<f64>,
    #[serde(deserialize_with = "choice")]
    mode: Option<ModeArg>,
    #[serde(deserialize_with = "number")]
    seed: Option<u64>,
    #[serde(deserialize_with = "choice")]
    format: Option<Format>,
    output: Option<PathBuf>,
    db: Option<PathBuf>,
    #[serde(deserialize_with = "duration")]
    timeout: Option<Duration>,
    pass_env: Option<Words>,
    #[serde(deserialize_with = "switch")]
    strict: Option<bool>,
    #[serde(deserialize_with = "switch")]
    quiet: Option<bool>,
    #[serde(deserialize_with = "switch")]
    no_color: Option<bool>,
    #[serde(deserialize_with = "switch")]
    no_wait: Option<bool>,
    #[serde(deserialize_with = "switch")]
    dry_run: Option<bool>,
    harness: Option<Words>,
}

/// The keys of a [`Layer`], for the environment: `DUET_BENCH` is `bench`.
const KEYS: [&str; 25] = [
    "bench",
    "exclude",
    "packages",
    "forks",
    "budget",
    "builds",
    "fixed",
    "confirm",
    "measure_identical",
    "threshold",
    "alpha",
    "fdr",
    "mode",
    "seed",
    "format",
    "output",
    "db",
    "timeout",
    "pass_env",
    "strict",
    "quiet",
    "no_color",
    "no_wait",
    "dry_run",
    "harness",
];

/// A list, or one string of words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Line(String),
}

impl Words {
    fn list(self) -> Vec<String> {
        match self {
            Words::List(list) => list,
            Words::Line(line) => line.split_whitespace().map(String::from).collect(),
        }
    }
}

/// All sources, the strongest first.
#[derive(Debug, Clone)]
pub struct Settings {
    layers: Vec<Layer>,
    /// A continuous-integration service says that it runs us.
    in_ci: bool,
}

impl Settings {
    /// Reads the environment and the `duet.toml` of the project around `cwd`.
    ///
    /// # Errors
    /// Names the variable, or the file and line, that cannot be understood.
    pub fn gather(typed: Layer, cwd: &Path) -> Result<Settings, Failure> {
        check_names(std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()))?;
        let mut layers = vec![typed, from_environment(|name| std::env::var(name).ok())?];
        if let Some(path) = find_upward(cwd) {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| Failure::usage(format!("cannot read `{}`: {e}", path.display())))?;
            let layer = toml::from_str(&text).map_err(|e| {
                Failure::usage(format!("`{}` cannot be understood: {}", path.display(), e.to_string().trim_end()))
            })?;
            layers.push(layer);
        }
        let in_ci = std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false");
        Ok(Settings { layers, in_ci })
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
            mode: self.first(|l| l.mode).map_or(ModeChoice::Auto, ModeChoice::from),
            measure_identical: self.first(|l| l.measure_identical).unwrap_or(false),
            seed: self.first(|l| l.seed).unwrap_or(drawn),
            harness_args: self.first(|l| l.harness.clone()).map_or_else(Vec::new, Words::list),
        })
    }

    /// Which benchmarks.
    #[must_use]
    pub fn selection(&self) -> Selection {
        Selection {
            bench: self.first(|l| l.bench.clone()),
            exclude: self.first(|l| l.exclude.clone()),
            packages: self.first(|l| l.packages.clone()).map_or_else(|| vec![defaults::PACKAGES.into()], Words::list),
        }
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
        if self.first(|l| l.builds) == Some(0) {
            return Err(Failure::usage("`--builds` must be at least 1"));
        }
        let Some(layer) = self.layers.iter().find(|l| l.forks.is_some() || l.budget.is_some()) else {
            return Ok((None, None));
        };
        match (layer.forks, layer.budget) {
            (Some(_), Some(_)) => Err(Failure::usage(
                "`--forks` and `--budget` exclude each other: a budget decides how many forks there are",
            )),
            (Some(0), _) => Err(Failure::usage("`--forks` must be at least 1")),
            (_, Some(budget)) if budget.is_zero() => Err(Failure::usage("`--budget` must be longer than nothing")),
            extent => Ok(extent),
        }
    }

    /// How to judge: what is set here, the rest from `fallback`.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn decision(&self, fallback: Decision) -> Result<Decision, Failure> {
        Decision {
            threshold: self.first(|l| l.threshold).unwrap_or(fallback.threshold),
            alpha: self.first(|l| l.alpha).unwrap_or(fallback.alpha),
            false_discovery_rate: self.first(|l| l.fdr).unwrap_or(fallback.false_discovery_rate),
            power: fallback.power,
        }
        .check()
        .map_err(|e| Failure::usage(e.to_string()))
    }

    /// Only what was typed: a stored run keeps its own decision unless the command line says otherwise.
    #[must_use]
    pub fn typed_only(&self) -> Settings {
        Settings { layers: self.layers[..1].to_vec(), in_ci: self.in_ci }
    }

    /// How long a benchmark may hang.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.first(|l| l.timeout).unwrap_or(TIMEOUT)
    }

    /// Variables that benchmarks may see on top of the allow-list.
    #[must_use]
    pub fn pass_env(&self) -> Vec<String> {
        self.first(|l| l.pass_env.clone()).map_or_else(Vec::new, Words::list)
    }

    /// Where runs are stored, if it was set.
    #[must_use]
    pub fn db(&self) -> Option<PathBuf> {
        self.first(|l| l.db.clone())
    }

    /// Form of the report.
    #[must_use]
    pub fn format(&self) -> Format {
        self.first(|l| l.format).unwrap_or(Format::Text)
    }

    /// File for the report, if it was set.
    #[must_use]
    pub fn output(&self) -> Option<PathBuf> {
        self.first(|l| l.output.clone())
    }

    /// `--strict`.
    #[must_use]
    pub fn strict(&self) -> bool {
        self.first(|l| l.strict).unwrap_or(false)
    }

    /// `--quiet`.
    #[must_use]
    pub fn quiet(&self) -> bool {
        self.first(|l| l.quiet).unwrap_or(false)
    }

    /// `--no-color`.
    #[must_use]
    pub fn no_color(&self) -> bool {
        self.first(|l| l.no_color).unwrap_or(false)
    }

    /// `--no-wait`.
    #[must_use]
    pub fn no_wait(&self) -> bool {
        self.first(|l| l.no_wait).unwrap_or(false)
    }

    /// `--dry-run`.
    #[must_use]
    pub fn dry_run(&self) -> bool {
        self.first(|l| l.dry_run).unwrap_or(false)
    }
}

impl Layer {
    /// What was typed about the display.
    #[must_use]
    pub fn typed(show: &ShowArgs) -> Layer {
        let set = |typed: bool| typed.then_some(true);
        Layer {
            format: show.format,
            output: show.output.clone(),
            db: show.db.clone(),
            quiet: set(show.quiet),
            no_color: set(show.no_color),
            ..Layer::default()
        }
    }

    /// … and about the selection and the harness.
    #[must_use]
    pub fn with_selection(self, select: &SelectArgs, harness: &[String]) -> Layer {
        let list = |words: &[String]| (!words.is_empty()).then(|| Words::List(words.to_vec()));
        Layer {
            bench: select.bench.clone(),
            exclude: select.exclude.clone(),
            packages: list(&select.packages),
            timeout: select.timeout,
            pass_env: list(&select.pass_env),
            harness: list(harness),
            ..self
        }
    }

    /// … and about the measurement.
    #[must_use]
    pub fn with_measurement(self, measure: &MeasureArgs, dry_run: bool) -> Layer {
        Layer {
            forks: measure.forks,
            budget: measure.budget,
            builds: measure.builds,
            fixed: measure.fixed.then_some(true),
            confirm: measure.confirm,
            measure_identical: measure.measure_identical.then_some(true),
            mode: measure.mode,
            seed: measure.seed,
            no_wait: measure.no_wait.then_some(true),
            dry_run: dry_run.then_some(true),
            ..self
        }
    }

    /// … and about the decision.
    #[must_use]
    pub fn with_decision(self, decide: &DecideArgs) -> Layer {
        let strict = decide.strict.then_some(true);
        Layer { threshold: decide.threshold, alpha: decide.alpha, fdr: decide.fdr, strict, ..self }
    }

    /// The seed alone.
    #[must_use]
    pub fn with_seed(self, seed: Option<u64>) -> Layer {
        Layer { seed, ..self }
    }
}

/// A misspelt variable would silently do nothing.
fn check_names(names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let known = |name: &str| {
        let key = name.strip_prefix("DUET_").map(str::to_lowercase);
        key.is_none_or(|key| KEYS.contains(&key.as_str()) || key == "lock")
    };
    match names.into_iter().find(|name| !known(name)) {
        Some(name) => {
            Err(Failure::usage(format!("there is no setting `{name}`; options are set by variables like DUET_BUDGET")))
        }
        None => Ok(()),
    }
}

fn from_environment(read: impl Fn(&str) -> Option<String>) -> Result<Layer, Failure> {
    let mut layer = toml::Table::new();
    for key in KEYS {
        let name = format!("DUET_{}", key.to_uppercase());
        if let Some(value) = read(&name) {
            layer.insert(key.into(), toml::Value::String(value));
            // One at a time, so that the message can name the variable.
            Layer::deserialize(layer.clone())
                .map_err(|e| Failure::usage(format!("`{name}` cannot be understood: {}", e.to_string().trim_end())))?;
        }
    }
    Layer::deserialize(layer).map_err(|e| Failure::usage(e.to_string()))
}

/// The nearest `duet.toml`, not beyond the root of the git checkout.
fn find_upward(cwd: &Path) -> Option<PathBuf> {
    for dir in cwd.ancestors() {
        let path = dir.join("duet.toml");
        if path.is_file() {
            return Some(path);
        }
        if dir.join(".git").exists() {
            return None;
        }
    }
    None
}

/// A value written as itself or as a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Loose {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Loose {
    fn text(self) -> String {
        match self {
            Loose::Bool(b) => b.to_string(),
            Loose::Integer(i) => i.to_string(),
            Loose::Float(f) => f.to_string(),
            Loose::Text(t) => t,
        }
    }
}

fn loosely<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = Loose::deserialize(from)?.text();
    parse(text.trim()).map(Some).map_err(|e| serde::de::Error::custom(format!("`{text}`: {e}")))
}

fn number<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(from: D) -> Result<Option<T>, D::Error> {
    loosely(from, |text| text.parse().map_err(|e: T::Err| e.to_string()))
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    loosely(from, |text| humantime::parse_duration(text).map_err(|e| e.to_string()))
}

fn fraction<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    loosely(from, parse_fraction)
}

fn choice<'de, D: Deserializer<'de>, T: clap::ValueEnum>(from: D) -> Result<Option<T>, D::Error> {
    loosely(from, |text| {
        T::from_str(text, true).map_err(|_| {
            let known: Vec<String> =
                T::value_variants().iter().filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned())).collect();
            format!("one of {}", known.join(", "))
        })
    })
}

fn switch<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    loosely(from, |text| match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err("say true or false".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Layer {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_stronger_source_wins_and_the_weaker_fills_in() {
        let typed = Layer { threshold: Some(0.05), ..Layer::default() };
        let settings =
            Settings { layers: vec![typed, file("threshold = '1%'\nseed = 7\nmode = 'duet'")], in_ci: false };
        let spec = settings.spec(1).unwrap();
        assert_eq!((spec.decision.threshold, spec.seed, spec.mode), (0.05, 7, ModeChoice::Duet));
    }

    #[test]
    fn a_stronger_budget_beats_weaker_forks() {
        let settings = Settings { layers: vec![file("budget = '2m'"), file("forks = 5")], in_ci: false };
        let effort = settings.spec(1).unwrap().effort;
        assert_eq!((effort.forks, effort.budget), (None, Some(Duration::from_secs(120))));
        let both = Settings { layers: vec![file("budget = '2m'\nforks = 5")], in_ci: false };
        assert!(both.spec(1).is_err());
    }

    #[test]
    fn every_key_can_be_set_by_a_variable() {
        let sample = |key: &str| match key {
            "forks" | "builds" | "seed" => "4",
            "budget" | "timeout" => "3s",
            "threshold" | "alpha" | "fdr" => "2%",
            "mode" => "sequential",
            "format" => "json",
            "strict" | "quiet" | "no_color" | "no_wait" | "dry_run" => "1",
            "fixed" | "confirm" | "measure_identical" => "true",
            _ => "a b",
        };
        for key in KEYS {
            let name = format!("DUET_{}", key.to_uppercase());
            let layer = from_environment(|asked| (asked == name).then(|| sample(key).to_owned())).unwrap();
            assert_ne!(layer, Layer::default(), "{name} had no effect");
        }
    }

    #[test]
    fn misspelt_variables_are_refused() {
        let check = |names: &[&str]| check_names(names.iter().map(|n| (*n).to_owned()));
        assert!(check(&["PATH", "DUET_BUDGET", "DUET_LOCK"]).is_ok());
        assert!(check(&["DUET_BUGDET"]).unwrap_err().to_string().contains("`DUET_BUGDET`"));
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let error = from_environment(|name| (name == "DUET_FORKS").then(|| "many".into())).unwrap_err();
        assert!(error.to_string().contains("`DUET_FORKS`"), "{error}");
        assert!(toml::from_str::<Layer>("treshold = 1").unwrap_err().to_string().contains("treshold"));
    }
}
