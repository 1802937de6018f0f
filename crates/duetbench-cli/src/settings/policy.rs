//! Rules of `duet.toml` for some benchmarks only, and for some branches.

use duetbench_core::spec::{Policy, Rule};

use super::Settings;
use crate::failure::Failure;

/// Variables in which services of continuous integration say which branch a change is for: first those of a pull request, whose
/// own branch is not the question.
const BRANCH_VARIABLES: [&str; 4] =
    ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_REF_NAME", "CI_COMMIT_BRANCH"];

/// The branch that a change is for, where something says so.
pub(super) fn branch(read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let named = BRANCH_VARIABLES.into_iter().filter_map(read).find(|name| !name.is_empty())?;
    // A merge queue tries changes on branches of its own: `gh-readonly-queue/main/pr-12-…`.
    match named.strip_prefix("gh-readonly-queue/").and_then(|rest| rest.rsplit_once("/pr-")) {
        Some((branch, _)) => Some(branch.to_owned()),
        None => Some(named),
    }
}

/// Whether a branch is meant by a pattern in which `*` stands for anything.
fn is_meant(branch: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| branch.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl Settings {
    /// The repository's rules for some of its benchmarks.
    ///
    /// # Errors
    /// Names the first rule that is none.
    pub fn rules(&self) -> Result<Policy, Failure> {
        let tables = self.first(|l| l.rule.clone()).unwrap_or_default();
        let numbered = tables.into_iter().enumerate();
        let rules: Vec<Rule> = numbered.map(|(i, table)| table.rule(i + 1)).collect::<Result<_, _>>()?;
        Policy::new(&rules).map_err(|e| Failure::usage(format!("`duet.toml`: {e}")))
    }

    /// Patterns of the branches for whose changes an open question is as good as a failure.
    pub fn strict_on(&self) -> Vec<String> {
        self.first(|l| l.strict_on.clone()).unwrap_or_default()
    }

    /// Whether an open question is as good as a failure: always, or for changes of this branch.
    pub fn strict(&self) -> bool {
        let always = self.first(|l| l.strict);
        let branches = self.strict_on();
        let here = |branch: &String| branches.iter().any(|pattern| is_meant(branch, pattern));
        always.unwrap_or_else(|| self.branch.as_ref().is_some_and(here))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Layer;

    fn settings(typed: Layer, file: &str, branch: Option<&str>) -> Settings {
        let file = toml::from_str(file).unwrap();
        Settings { layers: vec![typed, file], in_ci: false, branch: branch.map(str::to_owned) }
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (branch, pattern, want) in [
            ("main", "main", true),
            ("main", "mai", false),
            ("release/1.2", "release/*", true),
            ("prerelease/1.2", "release/*", false),
            ("release/1.2/fix", "release/*/fix", true),
            ("a-b-c", "a*b*c", true),
            ("ab", "a*b*c", false),
            ("aba", "aba*aba", false),
            ("anything", "*", true),
        ] {
            assert_eq!(is_meant(branch, pattern), want, "{branch} {pattern}");
        }
    }

    #[test]
    fn some_branches_want_answers() {
        let file = "strict_on = ['main', 'release/*']";
        let strict = |branch| settings(Layer::default(), file, branch).strict();
        assert_eq!([Some("main"), Some("release/2"), Some("topic"), None].map(strict), [true, true, false, false]);
        let typed = Layer { strict: Some(false), ..Layer::default() };
        assert!(!settings(typed, file, Some("main")).strict());
        let of_pull_request = branch(|name| match name {
            "GITHUB_BASE_REF" => Some("main".into()),
            "GITHUB_REF_NAME" => Some("12/merge".into()),
            _ => None,
        });
        assert_eq!(of_pull_request.as_deref(), Some("main"));
        assert_eq!(branch(|name| (name == "GITHUB_REF_NAME").then(|| "topic".into())).as_deref(), Some("topic"));
        assert_eq!(branch(|_| Some(String::new())), None);
        let queued = |name: &str| (name == "GITHUB_REF_NAME").then(|| "gh-readonly-queue/release/2/pr-7-1f".into());
        assert_eq!(branch(queued).as_deref(), Some("release/2"));
    }

    #[test]
    fn rules_that_are_none_are_refused() {
        let refused = |file: &str| settings(Layer::default(), file, None).rules().unwrap_err().to_string();
        assert!(refused("[[rule]]\nbenchmarks = '('\naction = 'gate'").contains("rule 1"));
        assert!(toml::from_str::<Layer>("[[rule]]\nbenchmark = 'A'").unwrap_err().to_string().contains("benchmark"));
    }
}
