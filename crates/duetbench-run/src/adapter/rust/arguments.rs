//! Arguments for cargo, as typed after `--`.

use crate::error::RunError;

/// Flags of cargo that say what duet has to say itself, with what to use instead.
const OWNED: [(&str, &str); 21] = [
    ("-p", "use `--packages` instead"),
    ("--package", "use `--packages` instead"),
    ("--workspace", "use `--packages` instead"),
    ("--all", "use `--packages` instead"),
    ("--exclude", "use `--packages` instead"),
    ("--bench", "use `--bench` before the `--` instead"),
    ("--benches", "duet builds all benches that it can measure"),
    ("--all-targets", "duet builds all benches that it can measure"),
    ("--target", "programs must run on this machine"),
    ("--target-dir", "duet builds in a folder of its own"),
    ("--manifest-path", "compare directories instead"),
    ("--message-format", "duet reads cargo's messages"),
    ("--no-run", "duet only builds with cargo"),
    ("-v", "duet has cargo be quiet"),
    ("-vv", "duet has cargo be quiet"),
    ("--verbose", "duet has cargo be quiet"),
    ("-q", "duet has cargo be quiet"),
    ("--quiet", "duet has cargo be quiet"),
    ("--lockfile-path", "versions are built with the lock file that they have"),
    ("--build-plan", "duet needs programs"),
    ("--locked", "versions with a lock file are built by it in any case"),
];
/// Settings of cargo's that say where it builds, and for which machine.
const PLACES: [&str; 2] = ["build.target", "build.build-dir"];
/// Flags with a value.
const WITH_VALUE: [&str; 8] = ["-F", "--features", "--profile", "--config", "-j", "--jobs", "--color", "-Z"];

/// Flags for cargo, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CargoArguments {
    /// All of them, as typed.
    pub(super) all: Vec<String>,
    /// Those that choose features, which `cargo metadata` takes too.
    pub(super) features: Vec<String>,
    /// Those that set settings of cargo's, which all of its commands take.
    pub(super) config: Vec<String>,
    /// The profile, where one is named.
    pub(super) profile: Option<String>,
}

impl CargoArguments {
    pub(super) fn parse(arguments: &[String]) -> Result<CargoArguments, RunError> {
        let mut sorted = CargoArguments { all: arguments.to_vec(), ..CargoArguments::default() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let refused = |why: &str| Err(RunError::argument(argument, why));
            let (name, inline) = name_and_value(argument);
            if let Some((_, why)) = OWNED.iter().find(|(owned, _)| *owned == name) {
                return refused(why);
            }
            if !name.starts_with('-') || name == "--" {
                return refused("only flags of `cargo bench` may follow `--`; `--bench` chooses benchmarks");
            }
            let value = match inline {
                None if WITH_VALUE.contains(&name) => match rest.next() {
                    None => return refused("its value is missing"),
                    some => some.map(String::as_str),
                },
                inline => inline,
            };
            match name {
                "--profile" => sorted.profile = value.map(str::to_owned),
                "--config" if PLACES.iter().any(|place| value.is_some_and(|set| set.contains(place))) => {
                    return refused("duet builds in a folder of its own, for this machine");
                }
                "--config" => sorted.config.push(format!("--config={}", value.unwrap_or_default())),
                "--all-features" | "--no-default-features" => sorted.features.push(name.to_owned()),
                "-F" | "--features" => sorted.features.push(format!("--features={}", value.unwrap_or_default())),
                _ => {}
            }
        }
        Ok(sorted)
    }
}

/// An option and the value that is written with it: `--features=a`, or `-Fa` where the name is one letter.
fn name_and_value(argument: &str) -> (&str, Option<&str>) {
    let is_short = !argument.starts_with("--");
    match argument.split_at_checked(2) {
        Some((name, value)) if is_short && name.starts_with('-') && !value.is_empty() => {
            (name, Some(value.strip_prefix('=').unwrap_or(value)))
        }
        _ => argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<CargoArguments, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        CargoArguments::parse(&words).map_err(|e| e.to_string())
    }

    #[test]
    fn features_and_profile_are_told_from_the_rest() {
        let sorted = parse("--features a,b -F c --no-default-features --profile=fast -j 1").unwrap();
        assert_eq!(sorted.features, ["--features=a,b", "--features=c", "--no-default-features"]);
        assert_eq!((sorted.profile.as_deref(), sorted.all.len()), (Some("fast"), 8));
        assert_eq!(parse("--color never -Z build-std").unwrap().all.len(), 4);
        assert_eq!(parse("-Fsimd -F=std --offline").unwrap().features, ["--features=simd", "--features=std"]);
        let config = parse("--config profile.bench.lto=true --config=a.toml").unwrap().config;
        assert_eq!(config, ["--config=profile.bench.lto=true", "--config=a.toml"]);
    }

    #[test]
    fn flags_that_duet_sets_are_refused_with_the_alternative() {
        for line in ["-p x", "-px", "-p=x"] {
            assert!(parse(line).unwrap_err().contains("--packages"), "{line}");
        }
        assert!(parse("--target=arm").unwrap_err().contains("this machine"));
        assert!(parse("--config build.target=\"arm\"").unwrap_err().contains("this machine"));
        assert!(parse("--config=build.target-dir=\"/x\"").is_err());
        assert!(parse("name").unwrap_err().contains("--bench"));
        assert!(parse("--features").unwrap_err().contains("missing"));
    }
}
