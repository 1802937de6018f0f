//! Options for JMH, as typed after `--`.

use crate::error::RunError;

/// An option that is passed on to JMH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    /// Its name, without hyphen.
    pub(super) option: &'static str,
    pub(super) value: String,
}

/// Options of JMH that change nothing which duet decides. Each has a value.
const ALLOWED: [&str; 7] = ["t", "tg", "opi", "bs", "tu", "to", "si"];

/// Others that say what duet has to say itself, with what to use instead.
const OURS: [(&[&str], &str); 15] = [
    (&["f", "wf"], "`--forks`"),
    // It runs before an iteration has its turn.
    (&["gc"], "nothing, since it would collect in the time of the other version,"),
    (&["i"], "`--iterations` of `duet run`; `duet compare` decides"),
    (&["wi", "w"], "`--warmup`"),
    (&["r"], "`--seconds` of `duet run`; `duet compare` decides"),
    (&["prof", "lprof"], "JMH itself: a profiler would measure along"),
    (&["bm", "p"], "`--bench`, which sees modes and parameters in names"),
    (&["rf"], "`--format`"),
    (&["rff", "o"], "`--output`"),
    (&["e"], "`--exclude`"),
    (&["l", "lp"], "`duet list`"),
    (&["v"], "`--quiet`"),
    (&["foe"], "no option (it is always on)"),
    (&["jvm"], "`jvm` in `[jmh.base]` and `[jmh.head]` of duet.toml"),
    (&["jvmArgs", "jvmArgsPrepend", "jvmArgsAppend"], "`jvm_args` in `[jmh]` of duet.toml"),
];

/// The options among arguments, the last of each. JMH takes `--t 4`, `-t=4` and `-t4` for `-t 4`.
///
/// # Errors
/// When an argument is another option, is none, or lacks its value. JMH takes much for an option that does not look like it: `-psize=1`
/// for `-p size=1`, and `-pro` for `-prof`.
pub(super) fn given(arguments: &[String]) -> Result<Vec<Given>, RunError> {
    let mut all: Vec<Given> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Err(RunError::argument(word, "use `--bench`, which chooses benchmarks by name, instead"));
        }
        let bare = word.trim_start_matches('-');
        let threads = bare.strip_prefix('t').filter(|value| *value == "max" || value.parse::<u32>().is_ok());
        let (name, attached) = match (bare.split_once('='), threads) {
            (Some((name, value)), _) => (name, Some(value)),
            (None, Some(threads)) => ("t", Some(threads)),
            (None, None) => (bare, None),
        };
        let Some(option) = ALLOWED.into_iter().find(|option| *option == name) else {
            return Err(RunError::argument(word, instead_of(name)));
        };
        let value = attached.or_else(|| words.next().map(String::as_str)).filter(|value| !value.starts_with('-'));
        let value = value.ok_or_else(|| RunError::argument(word, "it needs a value"))?.to_owned();
        // JMH refuses an option that is there twice.
        all.retain(|given| given.option != option);
        all.push(Given { option, value });
    }
    Ok(all)
}

/// The remedy for an option that is not passed on, which may be abbreviated.
fn instead_of(name: &str) -> String {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let called = |is: &dyn Fn(&str) -> bool| OURS.iter().find(|(names, _)| names.iter().any(|name| is(name)));
    match called(&|option| option == name).or_else(|| called(&|option| option.starts_with(name))) {
        Some((_, instead)) => format!("use {instead} instead"),
        None => format!("of JMH's options duet takes `-{}`", ALLOWED.join("`, `-")),
    }
}

/// The threads that `-t` asks for, which replace those of annotations; `max` is one for every processor.
pub(super) fn threads(given: &[Given]) -> Option<u32> {
    let value = &given.iter().find(|given| given.option == "t")?.value;
    if value == "max" {
        let all = std::thread::available_parallelism().ok()?;
        return u32::try_from(all.get()).ok();
    }
    value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Vec<Given>, String> {
        given(&line.split_whitespace().map(String::from).collect::<Vec<_>>()).map_err(|e| e.to_string())
    }

    #[test]
    fn options_that_duet_decides_are_refused_however_jmh_lets_them_be_written() {
        for (line, words) in [
            ("-foe true", "always on"),
            ("-foe=true", "always on"),
            ("--foe true", "always on"),
            ("-f2", "--forks"),
            ("-pro gc", "a profiler would measure along"),
            ("-jv /jdk", "[jmh.base]"),
            ("-jvmArgsP -Xint", "`jvm_args`"),
            ("-psize=10", "`-opi`"),
            ("-opi4", "`-opi`"),
            ("-wbs 3", "`-opi`"),
            ("-t2 Other", "--bench"),
            ("Other", "--bench"),
            ("-t", "needs a value"),
            ("-t -f", "needs a value"),
        ] {
            assert!(of(line).is_err_and(|said| said.contains(words)), "{line}: {:?}", of(line));
        }
        let both = of("-bs 10 --tg=1,3 -bs 20").unwrap();
        assert_eq!(
            both.iter().map(|given| (given.option, &*given.value)).collect::<Vec<_>>(),
            [("tg", "1,3"), ("bs", "20")]
        );
    }

    #[test]
    fn threads_that_are_asked_for_are_read_however_they_are_written() {
        for line in ["-t 3", "-opi 2 -t=3", "--t 3 -opi 2", "-t 2 -t 3", "-t3"] {
            assert_eq!(threads(&of(line).unwrap()), Some(3), "{line}");
        }
        assert!(["-t max", "-tmax"].iter().all(|line| threads(&of(line).unwrap()).is_some_and(|all| all > 0)));
        assert_eq!((threads(&[]), threads(&of("-tg 3").unwrap())), (None, None));
    }
}
