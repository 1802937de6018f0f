//! Layouts of build pairs: in words, and as a part of the JSON report.

use std::collections::BTreeMap;

use duetbench_core::Report;
use duetbench_core::report::LayoutsUsed;
use duetbench_core::spec::LayoutChoice;
use serde_json::{Value, json};

/// The layouts in a few words.
pub(super) fn words(used: &LayoutsUsed) -> String {
    match (used.matched.len(), used.random.len()) {
        (_, 0) => "matched layouts (what both versions have lies at the same address in both)".to_owned(),
        (0, _) => "random layouts (each version has an order of its own)".to_owned(),
        (matched, random) => format!("matched layouts in {matched} of {} packages", matched + random),
    }
}

/// Packages whose layouts are random though they were to be matched, with the reason and what would be enough.
pub(crate) fn fallen_back(report: &Report) -> Vec<String> {
    let used = report.layouts.as_ref().filter(|_| report.spec.layouts == LayoutChoice::Matched);
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (package, reason) in used.iter().flat_map(|used| &used.random) {
        by_reason.entry(reason).or_default().push(package);
    }
    let words = |(reason, packages): (&str, Vec<&str>)| {
        format!(
            "layouts of `{}` are random and not matched, which takes several times as many build pairs: {reason}",
            packages.join("`, `")
        )
    };
    by_reason.into_iter().map(words).collect()
}

/// As the JSON report has it.
pub(super) fn json(used: &LayoutsUsed) -> Value {
    let random = used.random.iter().map(|(package, reason)| json!({ "package": package, "reason": reason }));
    json!({ "matched": used.matched, "random": random.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_say_how_many_packages_are_matched() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
        let reasons = |packages: &[&str]| names(packages).into_iter().map(|name| (name, "why".to_owned())).collect();
        let of = |matched: &[&str], random: &[&str]| {
            words(&LayoutsUsed { matched: names(matched), random: reasons(random) })
        };
        assert!(of(&["a"], &[]).starts_with("matched layouts ("));
        assert!(of(&[], &["a"]).starts_with("random layouts ("));
        assert_eq!(of(&["a"], &["b", "c"]), "matched layouts in 1 of 3 packages");
    }
}
