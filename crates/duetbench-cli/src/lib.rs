//! The `duet` command: arguments, settings, printing, exit codes. What is measured and judged lives elsewhere.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use duetbench_run::error::About;
use duetbench_run::process::{adopt_orphans, end_leftovers, ignores, told_leftovers};
use duetbench_run::{RunError, interrupt_tools};

use crate::args::{Cli, Command, FleetCommand};
use crate::commands::Context;
use crate::failure::{Failure, code};
use crate::options::Layer;
use crate::printer::Printer;
use crate::settings::Settings;

pub mod args;
pub mod assemble;
pub mod bisection;
pub mod calibration;
pub mod commands;
pub mod demo;
pub mod display;
pub mod dry_run;
pub mod failure;
pub mod fleet;
pub mod forecast;
pub mod gate;
pub mod metric;
mod moved;
pub mod options;
pub mod planned;
pub mod printer;
pub mod progress;
pub mod project;
pub mod render;
pub mod seed;
pub mod self_tests;
pub mod session;
pub mod settings;
pub mod sites;
pub mod staleness;
pub mod steadiness;
pub mod tuning;
mod unkept;
pub mod waiting;
pub mod warm_up;

/// A program with a command line, settings and output as `duet` has them.
pub trait Program: Parser {
    /// The program's name.
    const NAME: &str;

    /// The words of the command line, with those of other programs in its own.
    ///
    /// # Errors
    /// When a word is another program's and means nothing here.
    fn understood(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
        Ok(words)
    }

    /// The command line as the strongest layer of settings.
    fn typed(&self) -> Layer;

    /// Whether it measures versions of a project.
    fn measures(&self) -> bool {
        false
    }

    /// Whether it looks out for signals, because it has something to keep or to remove. Whatever else there is ends at once.
    fn ends_orderly(&self) -> bool;

    /// Does what was asked for; gives the exit code.
    ///
    /// # Errors
    /// When it cannot be done.
    fn carry_out(&self, context: &Context) -> Result<u8, Failure>;

    /// The exit code for whoever called, of one for people.
    fn exit(&self, code: u8) -> u8 {
        code
    }

    /// The exit code where this command line is none.
    fn exit_of_misuse(_words: &[OsString]) -> u8 {
        code::USAGE
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run::<Cli>()
}

/// Runs the command line of this process as that of a program.
pub fn run<P: Program>() -> ExitCode {
    // A process that is measured must not read our environment, in which there may be secrets, from /proc. Where that cannot be had,
    // the rest still works.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    adopt_orphans();
    if ignores(signal_hook::consts::SIGCHLD) {
        // Else the end of a process would be nobody's to see.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
    }
    let typed: Vec<OsString> = std::env::args_os().collect();
    match parsed::<P>(typed.clone()) {
        Ok(program) => {
            let exit = dispatch(&program, &typed).unwrap_or_else(|failure| {
                Printer::failure(P::NAME, &failure);
                failure.exit_code()
            });
            program.exit(exit).into()
        }
        Err(Misuse::Told(failure)) => {
            Printer::failure(P::NAME, &failure);
            P::exit_of_misuse(&typed).into()
        }
        Err(Misuse::Clap(e)) => {
            let exit = if e.use_stderr() { P::exit_of_misuse(&typed) } else { code::CLEAN };
            let _ = e.print();
            exit.into()
        }
    }
}

/// A command line that is none, or that asks for help alone.
enum Misuse {
    Told(Failure),
    Clap(clap::Error),
}

fn parsed<P: Program>(typed: Vec<OsString>) -> Result<P, Misuse> {
    let words = P::understood(typed).map_err(Misuse::Told)?;
    P::try_parse_from(&words).map_err(|e| match args::of_another_command(e, &P::command(), &words) {
        Ok(failure) => Misuse::Told(failure),
        Err(e) => Misuse::Clap(e),
    })
}

fn dispatch<P: Program>(program: &P, typed: &[OsString]) -> Result<u8, Failure> {
    let cwd = std::env::current_dir().map_err(|e| RunError::file("read", Path::new("."), e))?;
    let settings = Settings::gather(program.typed(), &cwd, program.measures())?;
    let interrupted = Arc::new(AtomicBool::new(false));
    if program.ends_orderly() {
        heed_signals(&interrupted)?;
    }
    let context = Context { printer: Printer::new(&settings, &cwd), settings, cwd, interrupted: interrupted.clone() };
    if program.ends_orderly() {
        let db = (!context.settings.dry_run()).then(|| context.db());
        if let Err(failure) = context.printer.check_destination(db.as_deref()) {
            Printer::failure(P::NAME, &failure);
            return Ok(P::exit_of_misuse(typed));
        }
    }
    let done = program.carry_out(&context);
    end_leftovers("measured code");
    // Where a report was made, it has told the rest.
    told_leftovers().iter().for_each(|words| context.printer.note(words));
    done.map_err(|failure| match failure {
        // A tool that was told to end says that it failed.
        Failure::Run(
            RunError::Tool { .. }
            | RunError::Build { .. }
            | RunError::Told { about: About::Toolchain | About::Version, .. },
        ) if interrupted.load(Ordering::Relaxed) => Failure::Run(RunError::Interrupted),
        other => other,
    })
}

/// Has the first signal set the flag and tools end, and the second one end us at once.
fn heed_signals(interrupted: &Arc<AtomicBool>) -> std::io::Result<()> {
    let heeded = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
    // Under `nohup` the end of the terminal is nobody's affair; shells have jobs in the background ignore the others, and they mean us.
    let is_heeded = |signal: &i32| *signal != signal_hook::consts::SIGHUP || !ignores(*signal);
    let heeded: Vec<i32> = heeded.into_iter().filter(is_heeded).collect();
    for &signal in &heeded {
        // In this order: what is registered first is done first, and then finds the flag as it was before this signal.
        signal_hook::flag::register_conditional_shutdown(signal, code::INTERRUPTED.into(), interrupted.clone())?;
        signal_hook::flag::register(signal, interrupted.clone())?;
    }
    let mut signals = signal_hook::iterator::Signals::new(heeded)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in signals.forever() {
            interrupt_tools();
        }
    })?;
    Ok(())
}

impl Program for Cli {
    const NAME: &str = "duet";

    fn understood(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
        args::understood(words)
    }

    fn typed(&self) -> Layer {
        Layer::typed(self)
    }

    fn measures(&self) -> bool {
        matches!(&self.command, Command::Compare(_) | Command::Bisect(_) | Command::Calibrate(_) | Command::Run(_))
    }

    fn ends_orderly(&self) -> bool {
        self.measures()
            || matches!(
                &self.command,
                Command::List(_) | Command::Demo(_) | Command::Doctor(_) | Command::Fleet(FleetCommand::Smoke(_))
            )
    }

    fn exit(&self, code: u8) -> u8 {
        match &self.command {
            Command::Compare(args) if args.classify => commands::compare::classified(code),
            _ => code,
        }
    }

    /// Git would take 2 for a slow commit.
    fn exit_of_misuse(words: &[OsString]) -> u8 {
        let asks = words.iter().take_while(|word| *word != "--").any(|word| word == "--classify");
        if asks { code::ENDS_SEARCH } else { code::USAGE }
    }

    fn carry_out(&self, context: &Context) -> Result<u8, Failure> {
        match &self.command {
            Command::Compare(args) => commands::compare::run(args, context),
            Command::Bisect(args) => commands::bisect::run(args, context),
            Command::Calibrate(args) => commands::calibrate::run(args, context),
            Command::List(args) => commands::list::run(args, context),
            Command::Show(args) => commands::show::run(args, context),
            Command::Why(args) => commands::why::run(args, context),
            Command::Runs => commands::runs::list(context),
            Command::Rm(args) => commands::runs::remove(args, context),
            Command::Completions(args) => commands::man::completions(args, context),
            Command::Man(args) => commands::man::pages(args, context),
            Command::Analyze(args) => commands::analyze::run(args, context),
            Command::Export(args) => commands::export::run(args, context),
            Command::Demo(args) => commands::demo::run(args, context),
            Command::Doctor(args) => commands::doctor::run(args, context),
            Command::Run(args) => commands::run::run(args, context),
            Command::Tune(args) => commands::tune::run(args, context),
            Command::Former(command) => commands::former::run(command, context),
            Command::Fleet(command) => commands::fleet::run(command, context),
            Command::Waive(args) => commands::waive::run(args, context),
            Command::Config(command) => commands::config::run(command, context),
            Command::Init(args) => commands::init::run(args, context),
        }
    }
}
