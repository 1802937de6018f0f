//! `duet config`: what the repository's own files say.

use duetbench_core::recording::Better;
use duetbench_core::spec::{Action, Metric, Rule};
use duetbench_run::adapter::command;

use super::Context;
use crate::args::{ConfigCommand, ConfigFile};
use crate::failure::{Failure, code};
use crate::gate::{WaiverFile, today};
use crate::project::{policy_dir, settings_file};
use crate::render::format::one_line;
use crate::render::waiver::percent;

const SETTINGS_SCHEMA: &str = include_str!("../../../../schema/settings-v1.schema.json");
const WAIVERS_SCHEMA: &str = include_str!("../../../../schema/waivers-v1.schema.json");

/// Carries out one of these commands.
///
/// # Errors
/// When a file cannot be understood, or the output cannot be written.
pub fn run(command: &ConfigCommand, context: &Context) -> Result<u8, Failure> {
    match command {
        ConfigCommand::Check => check(context),
        ConfigCommand::Schema { file } => {
            context.printer.data(match file {
                ConfigFile::Settings => SETTINGS_SCHEMA,
                ConfigFile::Waivers => WAIVERS_SCHEMA,
            })?;
            Ok(code::CLEAN)
        }
    }
}

/// Checks the files and prints what they come to.
fn check(context: &Context) -> Result<u8, Failure> {
    // The file of settings was understood before any command began; whether it makes sense is asked here.
    let spec = context.settings.spec(0)?;
    spec.selection.filter()?;
    let commands = command::names(&spec.harness.commands)?;
    let mut out = match settings_file(&context.cwd) {
        Some(path) => format!("settings: `{}`\n", path.display()),
        None => "settings: no `duet.toml`\n".into(),
    };
    out += &format!("threshold: {}\n", percent(spec.decision.threshold));
    out += &spec.rules.rules().enumerate().map(|(i, rule)| describe(i + 1, rule)).collect::<String>();
    for pattern in spec.rules.without_package(std::iter::empty()) {
        let fitting = pattern.replacen('^', r"\.", 1);
        out += &one_line(&format!("  `{pattern}` fits none: names begin with the package; `{fitting}` does"));
        out += "\n";
    }
    out += &commands.iter().map(|name| format!("command: `{}`\n", one_line(name))).collect::<String>();
    let branches = context.settings.strict_on();
    let on =
        if branches.is_empty() { String::new() } else { format!(" (on branches: {})", one_line(&branches.join(", "))) };
    out += &format!("strict: {}{on}\n", if context.settings.strict() { "yes" } else { "no" });
    let file = WaiverFile::read(&policy_dir(&context.cwd))?;
    out += &if file.path.exists() {
        format!("waivers: {} in `{}`\n", file.waivers.len(), file.path.display())
    } else {
        "waivers: no `duet-waivers.toml`\n".into()
    };
    for waiver in &file.waivers {
        let expired = if today() > waiver.expires { " (expired)" } else { "" };
        out += &format!(
            "  {} of {}: up to {} until {}{expired}\n",
            one_line(waiver.metric.word()),
            one_line(&waiver.benchmark),
            percent(waiver.ceiling),
            waiver.expires
        );
    }
    context.printer.data(&out)?;
    Ok(code::CLEAN)
}

fn describe(number: usize, rule: &Rule) -> String {
    let what = rule.metric.as_ref().map_or("everything", Metric::word);
    let of = rule.benchmarks.as_ref().map_or_else(|| "all benchmarks".into(), |pattern| format!("`{pattern}`"));
    let tolerated = rule.threshold.map(|threshold| format!("{} tolerated", percent(threshold)));
    let action = rule.action.map(|action| verb(action).to_owned());
    let open = rule.inconclusive.map(|action| format!("inconclusive {}", verb(action)));
    let slower = rule.slower.map(|action| format!("slower {}", verb(action)));
    let redefined = rule.redefined.map(|action| format!("changed benchmark {}", verb(action)));
    let better = rule.better.map(|better| match better {
        Better::Lower => "less is better".to_owned(),
        Better::Higher => "more is better".to_owned(),
    });
    let says: Vec<String> =
        better.into_iter().chain(tolerated).chain(action).chain(open).chain(slower).chain(redefined).collect();
    // To name a unit is enough to have it judged.
    let says = if says.is_empty() { "gates".to_owned() } else { says.join(", ") };
    format!("{}\n", one_line(&format!("rule {number}: {what} of {of}: {says}")))
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Gate => "gates",
        Action::Inform => "informs",
    }
}
