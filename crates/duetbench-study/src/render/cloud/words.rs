//! Words and sentences that several forms have.

use duetbench_cli::render::format::{many, share};
use duetbench_core::recording::Level;

use super::Cloud;
use crate::papers::cloud::{Against, Comparison, Detectable, Question, Sampling, Studied, Test, Typical};

/// A source of variance in a word for people: the things between which values differ.
pub(super) fn source(level: Level) -> &'static str {
    match level {
        Level::Instance => "instances",
        Level::SuiteRun => "trials",
        Level::Fork => "forks",
        Level::Iteration | Level::Second => "values",
    }
}

/// The same in machine formats.
pub(super) fn source_word(level: Level) -> &'static str {
    match level {
        Level::Instance => "instance",
        Level::SuiteRun => "trial",
        Level::Fork => "fork",
        Level::Iteration | Level::Second => "value",
    }
}

/// The test between groups, for people.
pub(super) fn test(test: Test) -> &'static str {
    match test {
        Test::Pooled => "Wilcoxon, all values (the paper's)",
        Test::TrialMeans => "Wilcoxon, trial means",
        Test::InstanceMeans => "Wilcoxon, instance means",
        Test::House => "duet: trimmed t, instance log ratios",
    }
}

/// A fraction in percent that there may not be.
pub(super) fn known(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "?".to_owned(), share)
}

/// A mean with its standard deviation in brackets.
pub(super) fn typical(typical: Option<Typical>) -> String {
    match typical {
        Some(Typical { mean, standard_deviation: Some(sd), .. }) => format!("{} ({})", share(mean), share(sd)),
        Some(Typical { mean, .. }) => share(mean),
        None => "?".to_owned(),
    }
}

/// The three answers to which regression is the smallest: on the paper's grid, without it, and by the sources.
pub(super) fn detectable(found: &Detectable) -> String {
    let grid = found.corrected().map_or_else(|| "no".to_owned(), share);
    format!("{grid} / {} / {}", share(found.closed_form()), known(found.by_sources))
}

/// Results of Algorithm 1 as it is printed; absent where nothing was sampled so.
pub(super) fn as_printed(cloud: &Cloud, sampling: Sampling) -> Option<String> {
    let all = cloud.environments.iter().flat_map(|studied| &studied.benchmarks).flat_map(|one| &one.detectable);
    let printed: Vec<Option<f64>> = all.filter(|found| found.sampling == sampling).map(Detectable::printed).collect();
    let largest = printed.iter().filter(|printed| **printed == Some(1.0)).count();
    let nothing = printed.iter().filter(|printed| printed.is_none()).count();
    let of = many(printed.len(), "case", "cases");
    (!printed.is_empty()).then(|| {
        format!(
            "Algorithm 1 as printed ends with the largest regression that passes: 100% in {largest} of {of}, less in {}, none in {nothing}",
            printed.len() - largest - nothing
        )
    })
}

/// The questions for which an environment has too few instances, a sentence each.
fn lacking(cloud: &Cloud, studied: &Studied) -> Vec<String> {
    let trials = format!("each needs {} trials", 2 * cloud.settings.trials);
    let questions = [
        (Question::Alarms, "A/A experiments", trials.clone()),
        (Question::Detectable(Sampling::Instances), "regressions by instance", "as many others are needed".to_owned()),
        (Question::Detectable(Sampling::Trials), "regressions by trial", trials),
    ];
    let (lacking, all) = (studied.lacking(), studied.benchmarks.len());
    let sentence = |(question, what, needs): (Question, &str, String)| {
        let these = lacking.iter().filter(|lacking| lacking.question == question).map(|lacking| {
            let instances = many(lacking.instances, "instance", "instances");
            format!("{instances} ({} of {})", lacking.benchmarks, many(all, "benchmark", "benchmarks"))
        });
        let these: Vec<String> = these.collect();
        (!these.is_empty()).then(|| format!("`{}`: no {what} with {}: {needs}", studied.environment, these.join(", ")))
    };
    questions.into_iter().filter_map(sentence).collect()
}

/// Warnings; the same one about several environments is said once.
pub(super) fn warnings(cloud: &Cloud) -> Vec<String> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for studied in &cloud.environments {
        for warning in &studied.warnings {
            match said.iter_mut().find(|(known, _)| known == warning) {
                Some((_, environments)) if environments.last() == Some(&studied.environment.as_str()) => {}
                Some((_, environments)) => environments.push(&studied.environment),
                None => said.push((warning, vec![&studied.environment])),
            }
        }
    }
    let list = |environments: Vec<&str>| {
        environments.iter().map(|environment| format!("`{environment}`")).collect::<Vec<_>>().join(", ")
    };
    let said = said.into_iter().map(|(warning, environments)| format!("{}: {warning}", list(environments)));
    said.chain(cloud.environments.iter().flat_map(|studied| lacking(cloud, studied))).collect()
}

/// The steadiest environment over all benchmarks, in sentences.
pub(super) fn overall(comparison: &Comparison) -> Vec<String> {
    let Some(best) = comparison.scores.first() else {
        return vec![
            "no benchmark varies in all environments, so that these cannot be compared over all of them".into(),
        ];
    };
    let of = many(comparison.common, "benchmark", "benchmarks");
    let head = format!("`{}` is the steadiest environment over the {of} that all have", best.environment);
    let against = comparison.against.iter().map(|other| against(&best.environment, other, comparison.common));
    std::iter::once(head).chain(against).collect()
}

fn against(best: &str, other: &Against, common: usize) -> String {
    let chance = match other.p_value {
        Some(p) if other.is_clear() => format!("that is more than chance ({})", p_value(p)),
        Some(p) => format!("that may be chance ({})", p_value(p)),
        None => "whether that is chance cannot be told".to_owned(),
    };
    format!(
        "what benchmarks vary in `{best}` is {:.2} times what they vary in `{}`, and less for {} of {common}; {chance}",
        other.ratio, other.environment, other.steadier_for
    )
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// Whether one environment is steadier for a benchmark beyond chance.
pub(super) fn clear(clear: Option<bool>) -> &'static str {
    match clear {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    }
}
