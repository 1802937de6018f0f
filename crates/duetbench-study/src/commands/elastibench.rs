//! `duet-study elastibench`: ElastiBench's own statistics on stored comparisons.

use duetbench_cli::assemble;
use duetbench_cli::commands::{Context, check_fractions};
use duetbench_cli::failure::{Failure, code};
use duetbench_core::report::VersionInfo;
use duetbench_run::RunError;
use duetbench_run::store::{RunHead, Store, StoredRun};

use crate::args::{AgreementArgs, ElastibenchArgs, ElastibenchQuestion, RepetitionsArgs};
use crate::papers::elastibench::{Agreement, Experiment, Findings, Procedure, Target};
use crate::render::elastibench::{Beside, Elastibench, ElastibenchAnswer, Wanted, document};
use crate::stored;

/// Answers a question about stored comparisons and prints the answer.
///
/// # Errors
/// When there is no such run, it is no comparison, no benchmark has enough results, or a number is out of range.
pub fn run(args: &ElastibenchArgs, context: &Context) -> Result<u8, Failure> {
    check(args, context)?;
    let procedure = Procedure { confidence: args.confidence, ..Procedure::PAPER };
    let mut study = Study { store: Store::open_to_read(&context.db())?, procedure, warnings: Vec::new() };
    let answer = match &args.question {
        ElastibenchQuestion::Changes(args) => study.changes(&args.run)?,
        ElastibenchQuestion::Agreement(args) => study.agreement(args)?,
        ElastibenchQuestion::Repetitions(args) => study.repetitions(args)?,
        ElastibenchQuestion::Aa(args) => study.aa(&args.run)?,
    };
    let duet_version = env!("CARGO_PKG_VERSION").to_owned();
    let found = Elastibench { duet_version, procedure, answer, warnings: study.warnings };
    context.printer.document(&document(&found))?;
    Ok(code::CLEAN)
}

fn check(args: &ElastibenchArgs, context: &Context) -> Result<(), Failure> {
    context.check_form("what a study finds")?;
    check_fractions(&[("confidence", args.confidence)])?;
    match &args.question {
        ElastibenchQuestion::Repetitions(RepetitionsArgs { width: Some(width), .. }) if *width <= 0.0 => {
            Err(Failure::usage(format!("`--width` is {width}, not more than 0")))
        }
        _ => Ok(()),
    }
}

/// A study that is being made.
struct Study {
    store: Store,
    procedure: Procedure,
    warnings: Vec<String>,
}

impl Study {
    fn changes(&mut self, run: &str) -> Result<ElastibenchAnswer, Failure> {
        let run = self.load(run)?;
        let findings = self.findings(&stored::experiment(&run))?;
        let beside = assemble::report(run).benchmarks.into_iter().filter_map(|report| {
            let benchmark = report.id.to_string();
            let left_out = || findings.left_out.iter().find(|out| out.benchmark == benchmark).cloned();
            let paper = findings.of(&benchmark).cloned().map(Ok).or_else(|| left_out().map(Err))?;
            Some(Beside { paper, verdict: report.verdict, estimate: report.estimate, benchmark })
        });
        Ok(ElastibenchAnswer::Changes { beside: beside.collect(), findings })
    }

    fn agreement(&mut self, args: &AgreementArgs) -> Result<ElastibenchAnswer, Failure> {
        let (first, second) = (self.load(&args.first)?, self.load(&args.second)?);
        self.warn_of_other_versions(&first, &second);
        let (first, second) =
            (self.findings(&stored::experiment(&first))?, self.findings(&stored::experiment(&second))?);
        let agreement = Agreement::of(&first, &second);
        if agreement.compared.is_empty() {
            let what = format!(
                "`{}` and `{}` have no benchmark in common with {} results in each",
                first.experiment, second.experiment, self.procedure.results_min
            );
            let hint = format!("`duet-study elastibench changes {}` shows how many there are", first.experiment);
            return Err(RunError::nothing_to_measure(what).hint(hint).into());
        }
        Ok(ElastibenchAnswer::Agreement { first, second, agreement })
    }

    fn repetitions(&mut self, args: &RepetitionsArgs) -> Result<ElastibenchAnswer, Failure> {
        let run = self.load(&args.run)?;
        let experiment = stored::experiment(&run);
        self.findings(&experiment)?;
        let reference = match &args.reference {
            Some(reference) => {
                let reference = self.load(reference)?;
                self.warn_of_other_versions(&run, &reference);
                Some(self.findings(&stored::experiment(&reference))?)
            }
            None => None,
        };
        let (target, wanted) = match (&reference, args.width) {
            (Some(findings), _) => (Target::Reference(findings), Wanted::Reference(findings.experiment.clone())),
            (None, Some(width)) => (Target::Width(width), Wanted::Width(width)),
            (None, None) => return Err(Failure::usage("one of `--reference RUN` and `--width PERCENT` is needed")),
        };
        let narrowing = self.procedure.narrowing(&experiment, target);
        if narrowing.benchmarks.is_empty() {
            let what = format!(
                "no benchmark's intervals in `{}` and in the reference have a value in common",
                experiment.name
            );
            let hint =
                format!("`duet-study elastibench repetitions {} --width 5%` needs no reference", experiment.name);
            return Err(RunError::nothing_to_measure(what).hint(hint).into());
        }
        Ok(ElastibenchAnswer::Repetitions { experiment: experiment.name, target: wanted, narrowing })
    }

    fn aa(&mut self, run: &str) -> Result<ElastibenchAnswer, Failure> {
        let run = self.load(run)?;
        let RunHead { baseline, candidate, .. } = &run.head;
        if !is_same(baseline, candidate) {
            self.warnings.push(format!(
                "`{}` compared {} with {}, so what is called changed may be",
                run.name, baseline.resolved, candidate.resolved
            ));
        }
        Ok(ElastibenchAnswer::Aa { findings: self.findings(&stored::experiment(&run))? })
    }

    /// A stored comparison; says what may be wrong with it as an experiment.
    fn load(&mut self, name: &str) -> Result<StoredRun<RunHead>, Failure> {
        let run = self.store.load(name)?.comparison()?;
        if !run.complete {
            self.warnings.push(format!("`{}` did not come to its end, so benchmarks lack results", run.name));
        }
        if run.head.plan.benchmarks.iter().any(|planned| planned.configuration.design.sequential) {
            self.warnings.push(format!(
                "in `{}` benchmarks ended when they were settled, which the procedure does not know: `--fixed` gives all the same number of results",
                run.name
            ));
        }
        Ok(run)
    }

    /// Findings of the procedure; an error if there are none.
    fn findings(&self, experiment: &Experiment) -> Result<Findings, Failure> {
        let findings = self.procedure.findings(experiment);
        if !findings.found.is_empty() {
            return Ok(findings);
        }
        let most = findings.left_out.iter().map(|out| out.results).max().unwrap_or(0);
        let (run, needed) = (&experiment.name, self.procedure.results_min);
        let what = format!("no benchmark of `{run}` has {needed} results, the most that one has is {most}");
        let hint = "`duet compare --forks 45 --fixed` gives each benchmark 45";
        Err(RunError::nothing_to_measure(what).hint(hint).into())
    }

    fn warn_of_other_versions(&mut self, first: &StoredRun<RunHead>, second: &StoredRun<RunHead>) {
        let (a, b) = (&first.head, &second.head);
        if !is_same(&a.baseline, &b.baseline) || !is_same(&a.candidate, &b.candidate) {
            self.warnings.push(format!(
                "`{}` and `{}` did not compare the same versions, so they need not agree",
                first.name, second.name
            ));
        }
    }
}

/// Whether two versions are known to be the same: by where they came from, or by what was built.
pub(super) fn is_same(a: &VersionInfo, b: &VersionInfo) -> bool {
    a.resolved == b.resolved || (!a.artifact_digest.is_empty() && a.artifact_digest == b.artifact_digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_the_same_by_origin_or_by_what_was_built() {
        let version = |resolved: &str, digest: &str| VersionInfo {
            requested: "main".into(),
            resolved: resolved.into(),
            artifact_digest: digest.into(),
        };
        let check = |a: (&str, &str), b: (&str, &str), want| {
            assert_eq!(is_same(&version(a.0, a.1), &version(b.0, b.1)), want, "{a:?} {b:?}");
        };
        check(("1a2b", "00"), ("1a2b", "11"), true);
        check(("1a2b", "00"), ("3c4d", "00"), true);
        check(("1a2b", "00"), ("3c4d", "11"), false);
        check(("1a2b", ""), ("3c4d", ""), false);
    }
}
