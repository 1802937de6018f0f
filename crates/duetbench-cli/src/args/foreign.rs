//! Options as people type them who come from `go test`, hyperfine, JMH or criterion: put into our words where they mean the same, and answered at once
//! with the right option where they do not. Without this, `-bench=Foo` would be `-b ench=Foo`.

use std::ffi::OsString;

use clap::CommandFactory;

use super::{Cli, scan};
use crate::failure::Failure;

/// The commands that measure.
const MEASURING: [&str; 5] = ["compare", "bisect", "run", "list", "calibrate"];

/// One option of another tool.
struct Foreign {
    /// Its spellings.
    typed: &'static [&'static str],
    /// Whether a value follows.
    valued: bool,
    when: When,
    means: Means,
}

/// Command lines in which an option is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Whole programs are measured.
    Programs,
    /// Whole programs are measured, and the value is no file for the report.
    Destination,
    /// The benchmarks of a project are measured.
    Projects,
    /// The same, and the value is a number, which our option of this name does not take.
    Number,
    /// Those of one version, by `duet run`.
    OneVersion,
}

/// Meaning of an option.
#[derive(Clone, Copy)]
enum Means {
    /// This option of ours.
    Same(&'static str),
    /// A flag that the harness takes behind `--`.
    Harness,
    /// That which happens anyway.
    Usual,
    /// Something that is done otherwise here; `VALUE` in the advice stands for the value.
    Instead(&'static str),
}

use Means::{Harness, Instead, Same, Usual};
use When::{Always, Destination, Number, OneVersion, Programs, Projects};

/// An option with a value.
const fn valued(when: When, typed: &'static [&'static str], means: Means) -> Foreign {
    Foreign { typed, valued: true, when, means }
}

/// An option without one.
const fn switch(when: When, typed: &'static [&'static str], means: Means) -> Foreign {
    Foreign { typed, valued: false, when, means }
}

/// The tools with their options; of rows with the same spelling the first that fits counts.
const TOOLS: [(&str, &[Foreign]); 4] =
    [("`go test`", GO), ("hyperfine", HYPERFINE), ("JMH", JMH), ("criterion", CRITERION)];

const GO: &[Foreign] = &[
    valued(Projects, &["-bench"], Same("--bench")),
    valued(Projects, &["-skip", "--skip"], Same("--exclude")),
    valued(Projects, &["-cpu", "--cpu", "-tags", "--tags"], Harness),
    switch(Projects, &["-short", "--short", "-race", "--race"], Harness),
    valued(Projects, &["-run", "--run"], Usual),
    switch(Projects, &["-benchmem", "--benchmem"], Usual),
    valued(Projects, &["-count"], COUNT),
    valued(Number, &["--count"], COUNT),
    valued(Number, &["-p"], Harness),
    switch(
        Projects,
        &["-v"],
        Instead("`--all` shows every benchmark in the table, and `duet why` tells all that is known of one change"),
    ),
    valued(
        Projects,
        &["-benchtime", "--benchtime"],
        Instead(
            "duet finds the length of what it times itself; `--budget 2m` bounds the time for all benchmarks together",
        ),
    ),
    valued(
        Projects,
        &["-timeout"],
        Instead("`--timeout 60s` ends a single benchmark that hangs, and `--budget 2m` bounds the whole"),
    ),
    valued(
        Projects,
        &["-cpuprofile", "--cpuprofile"],
        Instead("`--profile` shows which functions regressions come from, and keeps profiles of both versions"),
    ),
    switch(Projects, &["-json", "--json"], Instead("`--format json`")),
];

const COUNT: Means = Instead(
    "`--forks VALUE` measures at most so many pairs of fresh processes; without it measuring ends when it knows",
);

const HYPERFINE: &[Foreign] = &[
    valued(Programs, &["-w"], Same("--warmup")),
    valued(Programs, &["-p"], Same("--prepare")),
    valued(Programs, &["-C"], Same("--conclude")),
    valued(Programs, &["-s"], Same("--setup")),
    valued(Programs, &["-c"], Same("--cleanup")),
    valued(Programs, &["-S"], Same("--shell")),
    valued(Programs, &["-n"], Same("--command-name")),
    valued(Destination, &["--output"], Same("--stdout")),
    switch(Programs, &["-N"], Usual),
    valued(Programs, &["-r", "-m", "-M"], RUNS),
    valued(Always, &["--runs", "--min-runs", "--max-runs"], RUNS),
    switch(Always, &["--ignore-failure"], IGNORE),
    switch(Programs, &["-i"], IGNORE),
    switch(Always, &["--show-output"], Instead("`--stdout FILE` writes what the program prints into a file")),
    valued(
        Always,
        &["--export-json"],
        Instead(
            "`duet export latest --as hyperfine -o VALUE` writes hyperfine's form afterwards; `--format json -o VALUE` is duet's own",
        ),
    ),
    valued(Always, &["--export-markdown"], Instead("`--format markdown -o VALUE`")),
    valued(Always, &["--export-csv"], Instead("`--format csv -o VALUE`")),
    valued(
        Always,
        &["--export-asciidoc", "--export-orgmode"],
        Instead("`--format markdown -o VALUE` is the nearest form"),
    ),
    valued(Programs, &["-D", "--parameter-step-size"], Instead("it belongs to a scan, as in `-P NAME 1 9 -D 2`")),
    valued(Always, &["--reference"], Instead("the first command line is what the others are compared with")),
];

const RUNS: Means = Instead(
    "`--forks VALUE` measures at most so many pairs of trials, each of as many processes as fit into 0.2 s; without it measuring ends when it knows",
);
const IGNORE: Means =
    Instead("`--exit-code 0,1` names the exit codes that mean success; a program that fails does not do its work");

const JMH: &[Foreign] = &[
    valued(Projects, &["-f"], Same("--forks")),
    valued(Projects, &["-wi"], Same("--warmup")),
    valued(Projects, &["-e"], Same("--exclude")),
    valued(OneVersion, &["-i"], Same("--iterations")),
    valued(OneVersion, &["-r"], Same("--seconds")),
    valued(
        Projects,
        &["-i", "-r"],
        Instead(
            "`duet compare` decides how many iterations there are and how long they take; `duet run` has `--iterations` and `--seconds`",
        ),
    ),
    valued(
        Projects,
        &["-w"],
        Instead("`--warmup N` counts iterations; without it as many warm up as a benchmark is found to need"),
    ),
    valued(Projects, &["-wf"], Instead("every process warms up for itself: `--warmup N` counts its iterations")),
    valued(Projects, &["-t", "-to", "-gc", "-si", "-opi"], Harness),
    valued(Projects, &["-foe"], Usual),
    valued(Projects, &["-prof"], Instead("run JMH itself with `-prof VALUE`: a profiler would be measured along")),
    valued(Projects, &["-p"], Instead("`--bench` chooses parameters by name, as `--bench 'size=100'`")),
    valued(
        Projects,
        &["-bm"],
        Instead("each benchmark is measured in the modes that its annotations say; `--bench` sees them in names"),
    ),
    valued(Projects, &["-rf"], Instead("`--format json`, or afterwards `duet export latest --as jmh`")),
    valued(Projects, &["-rff"], Instead("`-o VALUE`")),
    valued(
        Projects,
        &["-jvm", "-jvmArgs", "-jvmArgsAppend", "-jvmArgsPrepend"],
        Instead("`jvm_args` in `[jmh]` of duet.toml; the JVM is that of `JAVA_HOME`"),
    ),
];

const CRITERION: &[Foreign] = &[valued(
    Projects,
    &["--baseline", "--baseline-lenient", "--load-baseline", "--save-baseline"],
    Instead("`duet compare VALUE` measures that revision and your work tree side by side, and needs no saved results"),
)];

/// A command line while it is put into our words.
struct Line {
    command: String,
    /// Whole programs are measured.
    programs: bool,
    ours: Vec<OsString>,
    /// Flags for the harness.
    behind: Vec<OsString>,
}

/// A command line in our words: options of other tools are replaced where there is an exact equivalent.
///
/// # Errors
/// Names the option that has none, with what to type instead.
pub(crate) fn understood(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let Some(command) = words.iter().find_map(|word| word.to_str().filter(|word| MEASURING.contains(word))) else {
        return Ok(words);
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let programs = words[..end].iter().any(|word| word == "--command");
    let mut line = Line { command: command.to_owned(), programs, ours: Vec::new(), behind: Vec::new() };
    let scanned = if programs { scan::as_lists(&words[..end])? } else { words[..end].to_vec() };
    let mut rest = scanned.iter();
    while let Some(word) = rest.next() {
        let (option, inline) = split(word);
        let value = || inline.or_else(|| rest.as_slice().first().and_then(|next| next.to_str()));
        let Some((tool, foreign)) = option.and_then(|option| line.find(option, value())) else {
            line.ours.push(word.clone());
            continue;
        };
        // A switch is turned off by what follows in the same word.
        let typed = if foreign.valued { (option, value()) } else { (word.to_str(), None) };
        line.take(Typed { tool, option: typed.0.unwrap_or_default(), value: typed.1 }, foreign.means)?;
        if foreign.valued && inline.is_none() {
            rest.next();
        }
    }
    let Line { ours, behind, .. } = line;
    patterns_once(&ours)?;
    if programs {
        given_once(&ours)?;
    }
    let typed_behind = words.get(end + 1..).unwrap_or_default().iter().cloned();
    let behind: Vec<OsString> = behind.into_iter().chain(typed_behind).collect();
    let separator = (!behind.is_empty() || end < words.len()).then(|| OsString::from("--"));
    Ok(ours.into_iter().chain(separator).chain(behind).collect())
}

/// Options that hyperfine takes once for every command, and we for all of them.
const ONCE: [&str; 5] = ["--setup", "--prepare", "--conclude", "--cleanup", "--command-name"];

/// The last of several would silently hold for all.
fn given_once(words: &[OsString]) -> Result<(), Failure> {
    let times = |option: &&str| words.iter().filter(|word| split(word).0 == Some(*option)).count();
    match ONCE.iter().find(|option| times(option) > 1) {
        Some(option) => {
            Err(Failure::usage(format!("`{option}` is given more than once, but holds for all command lines"))
                .hint("let it start a script that does what each of them needs"))
        }
        None => Ok(()),
    }
}

/// The last of several would hold alone.
fn patterns_once(words: &[OsString]) -> Result<(), Failure> {
    let is_short =
        |option: &str| option.strip_prefix('-').is_some_and(|rest| rest.trim_start_matches('q').starts_with('b'));
    for (name, spelled) in [("bench", "--bench"), ("exclude", "--exclude")] {
        let is_it = |option: &str| option == spelled || (name == "bench" && is_short(option));
        if words.iter().filter(|word| split(word).0.is_some_and(is_it)).count() > 1 {
            return Err(Failure::usage(format!("`{spelled}` is given more than once, and the last would hold alone"))
                .hint(format!("one pattern may fit several names: `{spelled} 'A|B'`")));
        }
    }
    Ok(())
}

/// Whether a command has this long option itself.
fn is_ours(command: &str, option: &str) -> bool {
    let known = Cli::command();
    let long = option.strip_prefix("--");
    long.is_some_and(|long| {
        known.find_subcommand(command).is_some_and(|c| c.get_arguments().any(|arg| arg.get_long() == Some(long)))
    })
}

/// An option, where a word is one, and the value that is written into the same word.
fn split(word: &OsString) -> (Option<&str>, Option<&str>) {
    let option = word.to_str().filter(|word| word.starts_with('-'));
    match option.and_then(|word| word.split_once('=')) {
        Some((option, value)) => (Some(option), Some(value)),
        None => (option, None),
    }
}

/// An option of another tool as it was typed.
struct Typed<'a> {
    tool: &'static str,
    option: &'a str,
    value: Option<&'a str>,
}

impl Line {
    /// The row for an option that is followed by this value.
    fn find(&self, option: &str, value: Option<&str>) -> Option<(&'static str, &'static Foreign)> {
        let fits = |foreign: &&Foreign| {
            foreign.typed.contains(&option)
                && (matches!(foreign.when, Destination | Number) || !is_ours(&self.command, option))
                && match foreign.when {
                    Always => true,
                    Programs => self.programs,
                    Destination => self.programs && matches!(value, Some("null" | "pipe")),
                    Projects => !self.programs,
                    Number => !self.programs && value.is_some_and(|value| value.parse::<u32>().is_ok()),
                    OneVersion => !self.programs && self.command == "run",
                }
        };
        TOOLS.iter().find_map(|(tool, options)| Some((*tool, options.iter().find(fits)?)))
    }

    /// Puts an option into our words.
    fn take(&mut self, typed: Typed<'_>, means: Means) -> Result<(), Failure> {
        let Typed { tool, option, value } = typed;
        match means {
            Same(ours) => self.ours.extend([ours].into_iter().chain(value).map(OsString::from)),
            Harness => self.behind.extend([option].into_iter().chain(value).map(OsString::from)),
            Usual => {}
            Instead(advice) => {
                return Err(Failure::usage(format!("`{option}` is an option of {tool}"))
                    .hint(advice.replace("VALUE", value.unwrap_or("N"))));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("duet").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn options_with_an_equivalent_are_understood() {
        for (typed, ours) in [
            ("compare -bench=Foo HEAD~1", "compare --bench Foo HEAD~1"),
            ("compare -bench . -benchmem -run=^$ v1", "compare --bench . v1"),
            ("compare -tags x --cpu=2 v1 -- -short", "compare v1 -- -tags x --cpu 2 -short"),
            ("list -short", "list -- -short"),
            ("compare -race=false v1", "compare v1 -- -race=false"),
            ("calibrate --run r1", "calibrate --run r1"),
            ("bisect -bench=Foo v1", "bisect --bench Foo v1"),
            ("compare --count v1", "compare --count v1"),
            ("compare --count=all v1", "compare --count=all v1"),
            ("compare --command a b -w 3 -N -p c -S bash", "compare --command a b --warmup 3 --prepare c --shell bash"),
            ("compare --command a b --output null", "compare --command a b --stdout null"),
            ("compare --command a b --output report.txt", "compare --command a b --output report.txt"),
            ("compare --command a b -s c -c d -C e", "compare --command a b --setup c --cleanup d --conclude e"),
            ("compare a.jar b.jar -f 5 -wi 10 -t 2", "compare a.jar b.jar --forks 5 --warmup 10 -- -t 2"),
            ("run a.jar -i 20 -r 0.1", "run a.jar --iterations 20 --seconds 0.1"),
            ("compare --command a -P n 1 3 b", "compare --command a -L n 1,2,3 b"),
            ("compare v1 v2 -- -count 10", "compare v1 v2 -- -count 10"),
            ("show -f", "show -f"),
        ] {
            assert_eq!(understood(words(typed)).unwrap(), words(ours), "{typed}");
        }
    }

    #[test]
    fn options_without_one_are_answered_with_the_right_one() {
        for (typed, tool, answer) in [
            ("compare -count 10", "`go test`", "`--forks 10`"),
            ("compare --count 10", "`go test`", "`--forks 10`"),
            ("compare --count=5 v1", "`go test`", "`--forks 5`"),
            ("bisect -count 3 v1", "`go test`", "`--forks 3`"),
            ("compare -v v1", "`go test`", "`--all`"),
            ("compare --benchtime=1s", "`go test`", "`--budget 2m`"),
            ("compare --runs 20 --command a b", "hyperfine", "`--forks 20`"),
            ("compare --command a b -r 20", "hyperfine", "`--forks 20`"),
            ("compare --command a b -i", "hyperfine", "`--exit-code 0,1`"),
            (
                "compare --command a b --export-json x.json",
                "hyperfine",
                "`duet export latest --as hyperfine -o x.json`",
            ),
            ("compare --command a b -D 2", "hyperfine", "`-P NAME 1 9 -D 2`"),
            ("compare a.jar b.jar -i 5", "JMH", "`duet run` has `--iterations`"),
            ("compare a.jar b.jar -prof gc", "JMH", "`-prof gc`"),
        ] {
            let Err(Failure::Usage { what, hint: Some(hint) }) = understood(words(typed)) else { panic!("{typed}") };
            assert!(what.ends_with(&format!("is an option of {tool}")), "{typed}: {what}");
            assert!(hint.contains(answer), "{typed}: {hint}");
        }
    }

    #[test]
    fn an_option_for_each_command_is_refused() {
        let refused = |typed| understood(words(typed)).is_err_and(|e| e.to_string().contains("`--prepare`"));
        assert!(refused("compare --command a b -p c --prepare=d") && !refused("compare --command a b -p c -C d"));
    }

    #[test]
    fn a_pattern_beside_another_is_refused() {
        for (typed, option) in [
            ("compare --bench A --bench B", "`--bench 'A|B'`"),
            ("compare -b A -bB", "`--bench 'A|B'`"),
            ("list -qb A --bench=B", "`--bench 'A|B'`"),
            ("run -bench A --bench B", "`--bench 'A|B'`"),
            ("calibrate --exclude A -e B", "`--exclude 'A|B'`"),
        ] {
            let Err(Failure::Usage { hint: Some(hint), .. }) = understood(words(typed)) else { panic!("{typed}") };
            assert!(hint.contains(option), "{typed}: {hint}");
        }
        for typed in ["compare --bench A --exclude B -q --budget 1m", "compare -b A -- -bench B"] {
            assert!(understood(words(typed)).is_ok(), "{typed}");
        }
    }

    #[test]
    fn rows_name_options_that_there_are() {
        for foreign in TOOLS.iter().flat_map(|(_, options)| options.iter()) {
            let Same(ours) = foreign.means else { continue };
            let ways = [&["compare", "a", "b"][..], &["compare", "--command", "a", "b"], &["run", "a"]];
            let known = |way: &&[&str]| {
                let words = ["duet"].iter().chain(*way).chain([&ours, &"1"]);
                Cli::try_parse_from(words).is_ok()
            };
            assert!(ways.iter().any(known), "{ours}");
        }
    }
}
