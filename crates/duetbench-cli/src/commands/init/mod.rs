//! `duet init`: writes what a repository needs to be measured, and asks nothing.

use duetbench_core::foreign::one_line;

use super::Context;
use crate::args::InitArgs;
use crate::failure::{Failure, code};
use crate::project;

mod files;
mod found;
mod write;

use files::Asked;
use found::Found;
use write::Became;

/// Writes settings, workflows and lines to ignore into the repository, and says so.
///
/// # Errors
/// When nothing here can be measured, or a file cannot be written.
pub fn run(args: &InitArgs, context: &Context) -> Result<u8, Failure> {
    let root = project::root(&context.cwd).to_owned();
    let spec = context.settings.spec(0)?;
    let found = Found::look(&root, &context.cwd, &spec.harness, args.command.as_deref())?;
    let at = |name: &str| root.join(name).exists();
    let gitlab = args.gitlab || at(".gitlab-ci.yml");
    // GitHub is left out only where another service is used, and nothing says that GitHub is too.
    let github = args.github || !gitlab || at(".github");
    let planned = files::planned(&found, &Asked { github, gitlab, command: args.command.as_deref() });
    if args.dry_run {
        context.printer.data(&planned.iter().map(files::Planned::shown).collect::<String>())?;
        return Ok(code::CLEAN);
    }
    let mut out = format!("found    {}\n", one_line(&found.words));
    // A command line that was typed is measured only if the settings have it.
    let mut left = None;
    for file in &planned {
        let became = write::carry_out(file, &root, args.force)?;
        out += &format!("{:<8} {}\n", became.word(), file.path);
        if became == Became::Kept && file.path.ends_with(files::SETTINGS_FILE) {
            left = args.command.as_deref().map(|command| (&file.path, files::command_table(command)));
        }
    }
    if let Some((path, table)) = left {
        out += &format!("next: add this to `{path}`, if it is not there:\n\n{table}\n");
    }
    context.printer.data(&(out + &next(&found, gitlab && at(".gitlab-ci.yml"))))?;
    Ok(code::CLEAN)
}

/// Words for what is left to do.
fn next(found: &Found, has_pipeline: bool) -> String {
    let place =
        if found.directory.is_empty() { String::new() } else { format!(" (in `{}`)", one_line(&found.directory)) };
    let include = "      add `include: [{ local: duet.gitlab-ci.yml }]` to `.gitlab-ci.yml`, if it is not there\n";
    format!(
        "next: `duet list`{place} shows what will be measured, `duet compare` measures your work tree\n{}      commit the files, and each change is measured where it is proposed\n",
        if has_pipeline { include } else { "" }
    )
}
