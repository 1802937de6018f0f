//! Options that a command does not have.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::failure::Failure;

/// The failure of an option that other commands have and this one has not.
///
/// # Errors
/// The error itself where no command has it, without a hint at an option that is not meant for people.
pub(crate) fn of_another_command(mut error: Error, program: &Command, words: &[OsString]) -> Result<Failure, Error> {
    let Some((command, option)) = misplaced(&error, program, words) else { return Err(error) };
    let owners: Vec<String> = program
        .get_subcommands()
        .filter(|owner| !owner.is_hide_set() && has(owner, &option, false))
        .map(|owner| format!("`{}`", owner.get_name()))
        .collect();
    if owners.is_empty() {
        let hidden = |words: &String| has(command, words.trim_start_matches("--"), true);
        if matches!(error.get(ContextKind::SuggestedArg), Some(ContextValue::String(words)) if hidden(words)) {
            error.remove(ContextKind::SuggestedArg);
        }
        return Err(error);
    }
    Ok(Failure::usage(format!("`{} {}` has no `--{option}`", program.get_name(), command.get_name()))
        .hint(format!("it is an option of {}", owners.join(", "))))
}

/// The command that was typed, and an option that it does not know.
fn misplaced<'p>(error: &Error, program: &'p Command, words: &[OsString]) -> Option<(&'p Command, String)> {
    let command = program.find_subcommand(words.get(1)?)?;
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::UnknownArgument, ContextValue::String(option)) => {
            Some((command, option.strip_prefix("--")?.split('=').next()?.to_owned()))
        }
        _ => None,
    }
}

/// Whether a command has an option of this name, which people are told of or not.
fn has(command: &Command, option: &str, is_hidden: bool) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(option) && arg.is_hide_set() == is_hidden)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    fn said(line: &str) -> Result<String, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let error = Cli::try_parse_from(&words).err().unwrap();
        match of_another_command(error, &Cli::command(), &words) {
            Ok(Failure::Usage { what, hint: Some(hint) }) => Ok(format!("{what}: {hint}")),
            Ok(other) => panic!("{other}"),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn an_option_of_other_commands_is_named_as_theirs() {
        let words = said("duet show --threshold 5%").unwrap();
        assert!(words.starts_with("`duet show` has no `--threshold`: it is an option of "), "{words}");
        assert!(words.contains("`compare`") && words.contains("`analyze`"), "{words}");
        assert!(said("duet list --budget=3m").unwrap().contains("`compare`"));
    }

    #[test]
    fn a_slip_is_answered_by_what_it_is_like_if_people_know_that() {
        assert!(said("duet compare --treshold 5%").unwrap_err().contains("'--threshold'"));
        assert!(!said("duet calibrate --scripte").unwrap_err().contains("scripted"));
        assert!(said("duet nonsense").is_err());
    }
}
