//! Arguments after `--`: flags for building, flags for the test binary, and flags that duet owns.

use crate::error::RunError;

/// The user's flags, sorted by who gets them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoArguments {
    /// Flags for `go list` and `go test -c`.
    pub build: Vec<String>,
    /// Flags for the test binary, with the `test.` prefix where the binary wants it.
    pub binary: Vec<String>,
    /// `-cpu`: the GOMAXPROCS to measure with.
    pub cpu: Option<u32>,
}

/// Build flags that take a value.
const BUILD_WITH_VALUE: [&str; 16] = [
    "tags", "gcflags", "ldflags", "asmflags", "gccgoflags", "mod", "modfile", "pkgdir", "toolexec", "buildmode",
    "compiler", "covermode", "coverpkg", "pgo", "p", "installsuffix",
];
/// Build flags without a value.
const BUILD_SWITCHES: [&str; 8] = ["race", "msan", "asan", "cover", "a", "linkshared", "trimpath", "modcacherw"];
/// Test flags without a value; the binary knows them as `-test.X`.
const TEST_SWITCHES: [&str; 4] = ["short", "v", "failfast", "fullpath"];
/// Test flags with a value.
const TEST_WITH_VALUE: [&str; 2] = ["shuffle", "parallel"];
/// Flags about what duet does in its own way in any case, and that change nothing: those with a value, and those without.
const MOOT_WITH_VALUE: [&str; 1] = ["vet"];
const MOOT_SWITCHES: [&str; 3] = ["buildvcs", "x", "work"];
/// Flags that would take the measurement out of our hands, with what to use instead.
const OWNED: [(&str, &str); 19] = [
    ("bench", "use `--bench`"),
    ("run", "duet runs benchmarks only"),
    ("skip", "use `--exclude`"),
    ("list", "use `duet list`"),
    ("fuzz", "duet runs benchmarks only"),
    ("count", "use `--forks`"),
    ("benchtime", "use `--budget` or `--forks`"),
    ("benchmem", "allocations are always recorded"),
    ("timeout", "use `--timeout`"),
    ("overlay", "duet needs the overlay for its hook"),
    ("o", "duet places its binaries itself"),
    ("exec", "duet starts the processes itself"),
    ("c", "duet places its binaries itself"),
    ("C", "change into the directory first"),
    ("json", "use `--format json`"),
    ("cpuprofile", "use `--profile`"),
    ("memprofile", "allocations are always recorded"),
    ("blockprofile", "duet takes no such profile"),
    ("mutexprofile", "duet takes no such profile"),
];

impl GoArguments {
    /// Sorts what the user wrote after `--`.
    ///
    /// # Errors
    /// Names the flag that duet owns or whose value is missing.
    pub fn parse(args: &[String]) -> Result<GoArguments, RunError> {
        let mut sorted = GoArguments::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if arg == "-args" || arg == "--args" {
                sorted.binary.extend(rest.by_ref().cloned());
                break;
            }
            let Some(flag) = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')) else {
                return Err(RunError::argument(
                    arg,
                    "only flags may follow `--`; packages are chosen with `--packages`",
                ));
            };
            let (name, inline) = flag.split_once('=').map_or((flag, None), |(n, v)| (n, Some(v.to_owned())));
            let name = name.strip_prefix("test.").unwrap_or(name);
            if let Some((_, instead)) = OWNED.iter().find(|(owned, _)| *owned == name) {
                return Err(RunError::argument(arg, *instead));
            }
            let switch = BUILD_SWITCHES.contains(&name) || TEST_SWITCHES.contains(&name);
            let valued = [&BUILD_WITH_VALUE[..], &TEST_WITH_VALUE, &MOOT_WITH_VALUE, &["cpu"]].concat().contains(&name);
            let value = match inline {
                None if valued => {
                    Some(rest.next().cloned().ok_or_else(|| RunError::argument(arg, "its value is missing"))?)
                }
                other => other,
            };
            let with_value =
                |prefix: &str| value.as_ref().map_or(format!("-{prefix}{name}"), |v| format!("-{prefix}{name}={v}"));
            if MOOT_SWITCHES.contains(&name) || MOOT_WITH_VALUE.contains(&name) {
                continue;
            }
            if name == "cpu" {
                sorted.cpu = Some(cpu(arg, value.as_deref().unwrap_or_default())?);
            } else if BUILD_SWITCHES.contains(&name) || BUILD_WITH_VALUE.contains(&name) {
                sorted.build.push(with_value(""));
            } else if switch || valued {
                sorted.binary.push(with_value("test."));
            } else {
                // A flag of the project's own; the test binary will say so if it does not know it.
                sorted.binary.push(arg.clone());
            }
        }
        Ok(sorted)
    }

    /// An argument by which benchmarks may be given a file to read.
    pub(super) fn naming_a_file(&self) -> Option<&String> {
        self.binary.iter().find(|argument| !argument.starts_with("-test.") && argument.contains(['/', '.']))
    }
}

fn cpu(arg: &str, value: &str) -> Result<u32, RunError> {
    value
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| RunError::argument(arg, "give one number of processors; a list is not supported"))
}

#[cfg(test)]
mod tests {
    use super::GoArguments;

    fn parse(line: &str) -> Result<GoArguments, String> {
        let args: Vec<String> = line.split_whitespace().map(String::from).collect();
        GoArguments::parse(&args).map_err(|e| e.to_string())
    }

    #[test]
    fn flags_go_where_they_belong() {
        let sorted = parse("-tags integration -race -short -cpu=2 -mine=3 -args x -y").unwrap();
        assert_eq!(sorted.build, ["-tags=integration", "-race"]);
        assert_eq!(sorted.binary, ["-test.short", "-mine=3", "x", "-y"]);
        assert_eq!(sorted.cpu, Some(2));
        let sorted = parse("-pgo=off -pgo cpu.pprof -trimpath=false -test.parallel=4 --test.short --mine").unwrap();
        assert_eq!(sorted.build, ["-pgo=off", "-pgo=cpu.pprof", "-trimpath=false"]);
        // A flag that is not known goes to the binary as it was typed, whose error names it so.
        assert_eq!(sorted.binary, ["-test.parallel=4", "-test.short", "--mine"]);
        let sorted = parse("-vet=off -buildvcs=false -x -modcacherw -vet all -parallel 4 -fullpath").unwrap();
        assert_eq!(sorted.build, ["-modcacherw"]);
        assert_eq!(sorted.binary, ["-test.parallel=4", "-test.fullpath"]);
    }

    #[test]
    fn arguments_that_may_name_files_are_told() {
        let naming = |line| parse(line).unwrap().naming_a_file().cloned();
        assert_eq!(naming("-args -corpus=../big"), Some("-corpus=../big".into()));
        assert_eq!(naming("-args big.txt"), Some("big.txt".into()));
        assert_eq!(naming("-short -test.timeoutx=1.5 -args -n=3"), None);
    }

    #[test]
    fn owned_flags_are_refused_with_the_alternative() {
        assert!(parse("-count 10").unwrap_err().contains("--forks"));
        assert!(parse("-test.benchtime=1s").unwrap_err().contains("--budget"));
        assert!(parse("-test.list=.").unwrap_err().contains("`duet list`"));
        assert!(parse("-cpuprofile cpu.out").unwrap_err().contains("`--profile`"));
        assert!(parse("-cpu 1,2").unwrap_err().contains("list"));
        assert!(parse("./...").unwrap_err().contains("--packages"));
        assert!(parse("-tags").unwrap_err().contains("missing"));
    }
}
