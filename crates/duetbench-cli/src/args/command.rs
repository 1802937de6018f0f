//! Arguments for measuring whole programs.

use std::collections::BTreeMap;

use clap::Args;
use duetbench_core::spec::{CommandSpec, StandardOutput};

use crate::options::{Group, Layer};

/// Options for versions that are command lines. Typed only: `duet.toml` has `[[command]]` tables instead.
#[derive(Debug, Args)]
#[command(next_help_heading = "Whole programs")]
pub struct CommandArgs {
    /// Each version is a command line, whose whole process is measured; it is split into words as a shell would, and no shell runs:
    /// who needs one writes `sh -c '…'`
    #[arg(long)]
    pub command: bool,
    /// Name of the results [default: the command line]
    #[arg(long, value_name = "NAME", requires = "command")]
    pub command_name: Option<String>,
    /// Command line that runs once before anything of a benchmark is measured, for each version
    #[arg(long, value_name = "CMD", requires = "command")]
    pub setup: Option<String>,
    /// Command line that runs before every measured process
    #[arg(long, value_name = "CMD", requires = "command")]
    pub prepare: Option<String>,
    /// Command line that runs after every measured process
    #[arg(long, value_name = "CMD", requires = "command")]
    pub conclude: Option<String>,
    /// Command line that runs once when all measuring is over, for each benchmark of each version
    #[arg(long, value_name = "CMD", requires = "command")]
    pub cleanup: Option<String>,
    /// Shell that runs the command lines, as `sh`, `bash` or `none`; its start is measured with them [default: none]
    #[arg(long, value_name = "SHELL", requires = "command")]
    pub shell: Option<String>,
    /// File that every measured process reads as its standard input [default: nothing]
    #[arg(long, alias = "input", value_name = "FILE", requires = "command")]
    pub stdin: Option<String>,
    /// Destination of the standard output of measured processes: `pipe`, which is read and thrown away, `null`, or a file [default: pipe]
    #[arg(long, value_name = "DESTINATION", requires = "command")]
    pub stdout: Option<String>,
    /// Values, separated by commas, for `{NAME}` in the command lines; may be repeated, and every combination is a benchmark
    #[arg(short = 'L', long, num_args = 2, allow_hyphen_values = true, value_names = ["NAME", "VALUES"], requires = "command")]
    pub parameter_list: Vec<String>,
    /// Exit codes that mean success, separated by commas, as `0,1` for grep and diff [default: 0]. There is no way to ignore them: a
    /// program that fails does not do its work
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, requires = "command")]
    pub exit_code: Vec<i32>,
    /// The program has a loop of its own and takes part in the lock-step: its iterations are measured, and not its processes
    #[arg(long, requires = "command")]
    pub lockstep: bool,
    /// In duet mode, starts the shorter side again, unmeasured, until the longer one ends, so that both have company all the time
    #[arg(long, requires = "command")]
    pub refill: bool,
}

impl Group for CommandArgs {
    fn put(&self, layer: &mut Layer) {
        layer.command = self.spec().map(|spec| vec![spec]);
    }
}

impl CommandArgs {
    /// The program that was asked for; absent where the versions are no command lines.
    pub fn spec(&self) -> Option<CommandSpec> {
        self.command.then(|| CommandSpec {
            name: self.command_name.clone().unwrap_or_default(),
            setup: self.setup.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            cleanup: self.cleanup.clone(),
            // As hyperfine says it.
            shell: self.shell.clone().filter(|shell| shell != "none"),
            exit_code: self.exit_code.clone().into(),
            stdin: self.stdin.clone(),
            stdout: self.stdout.clone().map_or_else(StandardOutput::default, StandardOutput::from),
            parameters: self.parameters(),
            lockstep: self.lockstep,
            refill: self.refill,
            ..CommandSpec::default()
        })
    }

    fn parameters(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.parameter_list.chunks(2) {
            if let [name, values] = pair {
                // A name that is given twice has the values of both.
                all.entry(name.clone()).or_default().extend(values.split(',').map(String::from));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn parsed(words: &[&str]) -> CommandArgs {
        match Cli::try_parse_from([&["duet", "compare", "--command"], words].concat()).unwrap().command {
            Command::Compare(args) => args.program,
            _ => unreachable!("`compare` was typed"),
        }
    }

    #[test]
    fn parameters_are_lists_and_may_be_several() {
        let args = parsed(&["a {n} {m}", "b {n} {m}", "-L", "n", "1,2", "--parameter-list", "m", "x"]);
        let parameters = args.spec().unwrap().parameters;
        assert_eq!(parameters["n"], ["1", "2"]);
        assert_eq!(parameters["m"], ["x"]);
        let options = parsed(&["gzip {l} -c f", "pigz {l} -c f", "-L", "l", "-1,-9"]).spec().unwrap().parameters;
        assert_eq!(options["l"], ["-1", "-9"]);
    }

    #[test]
    fn options_of_whole_programs_need_one() {
        let words = ["duet", "compare", "v1", "v2", "--prepare", "make"];
        let error = Cli::try_parse_from(words).unwrap_err().to_string();
        assert!(error.contains("--command"), "{error}");
    }
}
