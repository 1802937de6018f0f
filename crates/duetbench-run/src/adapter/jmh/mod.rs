//! JMH: unmodified jars, hooked by a profiler of ours on the class path.
//!
//! JMH lets a profiler see the beginning and the end of every iteration. Ours meets its peer there, so that the iterations of
//! two JVMs take turns or run side by side. Nothing of JMH or of the benchmarks is changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Discovered, Redefinition, Style};
use duetbench_core::spec::{HarnessSpec, JmhSpec};
use duetbench_core::{BenchmarkId, Role};
use sha2::{Digest, Sha256};

use super::{
    Adapter, Around, Artifact, Build, Built, Identity, Listing, Manifest, OF_PACKAGES, Order, Subject, Wish, hex, shown,
};
use crate::adapter;
use crate::error::RunError;
use crate::process::Launch;
use crate::processors::usable_cpus;
use crate::source::Source;

mod entry;
mod hook;
mod jar;
mod jvm;
mod list;
mod options;
mod project;

use entry::Entry;
pub use hook::CLASSES;
use jvm::Jvm;
use list::Tried;
use options::Given;
use project::Made;

/// The one package of a build: a jar is built, and differs, as a whole.
const JAR: &str = "jar";

/// Variables of the JVM.
const VARIABLES: [&str; 1] = ["JAVA_HOME"];

/// The Java Microbenchmark Harness.
#[derive(Debug)]
pub struct Kind;

impl adapter::Kind for Kind {
    fn name(&self) -> &'static str {
        "jmh"
    }

    fn manifests(&self) -> &'static [Manifest] {
        &[
            Manifest { file: "pom.xml", project: "a Maven project" },
            Manifest { file: "build.gradle", project: "a Gradle project" },
            Manifest { file: "build.gradle.kts", project: "a Gradle project" },
            Manifest { file: "settings.gradle", project: "a Gradle project" },
            Manifest { file: "settings.gradle.kts", project: "a Gradle project" },
        ]
    }

    fn runs(&self, version: &Source) -> bool {
        version.jar().is_some()
    }

    fn asked_by(&self, settings: &HarnessSpec) -> Option<&'static str> {
        (settings.jmh != JmhSpec::default()).then_some("JMH")
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn open(&self, wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
        Ok(Box::new(Jmh::new(wish, versions, scratch)?))
    }
}

/// Builds and starts JMH benchmarks.
#[derive(Debug)]
pub struct Jmh {
    /// The JVM of the baseline and that of the candidate.
    jvms: [Jvm; 2],
    spec: JmhSpec,
    /// Options for JMH, as typed after `--`.
    given: Vec<Given>,
    /// Where the hook's classes are.
    hook: PathBuf,
    scratch: PathBuf,
    around: Around,
    /// Listed benchmarks, by the digest of the jar.
    listed: BTreeMap<String, BTreeMap<BenchmarkId, Entry>>,
}

impl Jmh {
    /// An adapter with the JVM of each side.
    ///
    /// # Errors
    /// When there is no JVM that can be used, or an argument would change what duet asks of JMH.
    pub fn new(wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Jmh, RunError> {
        let given = options::given(wish.arguments)?;
        check_jvm_args(&wish.harness.jmh)?;
        let scratch = scratch.join("jmh");
        fs::create_dir_all(&scratch).map_err(|e| RunError::file("create", &scratch, e))?;
        Ok(Jmh {
            jvms: jvms(&wish.harness.jmh, versions)?,
            spec: wish.harness.jmh.clone(),
            given,
            hook: hook::write(&scratch.join("hook"))?,
            around: wish.conditions.around(VARIABLES)?,
            listed: BTreeMap::new(),
            scratch,
        })
    }

    fn jvm(&self, role: Role) -> &Jvm {
        &self.jvms[role.index()]
    }

    /// Arguments of the settings for the JVM of a side: those of both, then its own.
    fn jvm_args(&self, role: Role) -> impl Iterator<Item = &String> {
        self.spec.jvm_args.iter().chain(&self.spec.side(role).jvm_args)
    }

    /// Facts about how benchmarks run that a reader should know.
    fn notes(&self, role: Role, tried: &[Tried]) -> Vec<String> {
        let about = |why: &str, concerned: &dyn Fn(&Entry) -> bool| {
            let concerned = tried.iter().filter(|(_, entry, _)| concerned(entry));
            let names: Vec<String> = concerned.map(|(id, ..)| format!("`{}`", id.name)).collect();
            (!names.is_empty()).then(|| format!("{why}; this concerns {}", shown(names.into_iter())))
        };
        let own_jvm = "the JVM that `@Fork(jvm)` names ran, not the one that this report names: set `jvm` in `[jmh.base]` and `[jmh.head]` of duet.toml";
        let has_own = |entry: &Entry| entry.jvm.is_some() && self.spec.side(role).jvm.is_none();
        let cold = "JMH measures the first call of single shots without a warm-up, and duet the later ones, when all is loaded and compiled: compare cold starts as whole programs, `duet compare --command`";
        [about(own_jvm, &has_own), about(cold, &|entry| entry.is_cold)].into_iter().flatten().collect()
    }

    /// The argument by which files go to our own folder that JMH leaves behind when it is killed.
    fn temporary(&self) -> OsString {
        format!("-Djava.io.tmpdir={}", self.scratch.display()).into()
    }

    /// The JVM in a jar's directory with everything on its class path, our classes first.
    fn base_launch(&self, artifact: &Artifact) -> Launch {
        let own = [self.hook.clone(), artifact.program.clone()];
        let more = artifact.build_args.iter().skip(1).map(PathBuf::from);
        let class_path: Vec<OsString> = own.into_iter().chain(more).map(PathBuf::into_os_string).collect();
        Launch {
            args: ["-cp".into()].into_iter().chain([class_path.join(":".as_ref())]).collect(),
            env: self.around.passed.clone(),
            sandbox: self.around.sandbox.clone(),
            ..Launch::of(&self.jvm(role_of(artifact)).program, &artifact.dir)
        }
    }
}

/// Shortest iteration of more threads than processors, nanoseconds: one that gets no turn in it counts as an operation as long as that.
const CROWDED_NS: u64 = 100_000_000;

/// Flags for the JVM that only starts the measured one: two JMH may run at once, and it should be up soon.
const STARTER: [&str; 3] = ["-Djmh.ignoreLock=true", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// An argument of a fork that changes nothing: the lock is that of the JVM which starts it.
const WITHOUT_EFFECT: &str = STARTER[0];

impl Adapter for Jmh {
    fn toolchain(&self) -> String {
        if !self.tells_sides_apart() {
            return self.jvm(Role::Candidate).words();
        }
        let side = |role: Role| {
            let own = &self.spec.side(role).jvm_args;
            let with = if own.is_empty() { String::new() } else { format!(", `{}`", own.join(" ")) };
            format!("{} on {}{with}", role.side(), self.jvm(role).words())
        };
        Role::BOTH.map(side).join("; ")
    }

    fn tells_sides_apart(&self) -> bool {
        self.spec.base != self.spec.head
    }

    fn build(&self, source: &Source, _: &[String], subject: Subject<'_>) -> Result<Built, RunError> {
        let place = self.scratch.join(subject.role.word());
        fs::create_dir_all(&place).map_err(|e| RunError::file("create", &place, e))?;
        let Made { jar: found, dir: made_in, note } = match source.jar() {
            Some(path) => Made { jar: path.to_owned(), dir: source.dir.clone(), note: None },
            None => project::build(source, &self.spec, &place, subject)?,
        };
        let kind = jar::kind(&found)?;
        if !kind.has_benchmarks {
            let what = format!("`{}` holds no JMH benchmarks", found.display());
            return Err(RunError::nothing_to_measure(what).hint(
                "benchmarks are in a jar that was built with JMH's annotation processor, as `target/benchmarks.jar` of its \
                 Maven archetype",
            ));
        }
        // A copy of our own: the next build of the user's would change it while it is measured.
        let program = place.join("benchmarks.jar");
        fs::copy(&found, &program).map_err(|e| RunError::file("copy", &found, e))?;
        let side = self.spec.side(subject.role);
        // Build tools write into a jar when it was made, and a run that goes on makes it again.
        let mut digest = Sha256::new_with_prefix(jar::digest_of(&program)?);
        if self.tells_sides_apart() {
            digest.update(format!("{side:?}"));
        }
        let class_path = self.spec.class_path.iter().map(|entry| entry_of_class_path(entry, &made_in, &source.dir));
        let beside = jar::class_path(&found)?.into_iter().map(|entry| entry.to_string_lossy().into_owned());
        let class_path: Vec<String> = class_path.chain(beside).collect();
        for entry in &class_path {
            digest.update(jar::digest_of_entry(Path::new(entry))?);
        }
        let build_args = std::iter::once(subject.role.word().to_owned()).chain(class_path).collect();
        let artifact = Artifact { program, dir: source.dir.clone(), digest: hex(&digest.finalize()), build_args };
        let build = Build { artifacts: BTreeMap::from([(JAR.to_owned(), artifact)]), ..Build::default() };
        Ok(Built { build, notes: note.into_iter().collect() })
    }

    fn identical(&self, [baseline, candidate]: [&Build; 2], [from, to]: [&Source; 2]) -> BTreeMap<String, Identity> {
        let (Some(a), Some(b)) = (baseline.artifacts.get(JAR), candidate.artifacts.get(JAR)) else {
            return BTreeMap::new();
        };
        // Files beside the jar may be read: only in one directory are they the same for both.
        let identity = if self.tells_sides_apart() {
            Identity::Different("the two versions run on different JVMs, or with different arguments".into())
        } else if from.dir != to.dir {
            Identity::Different("the two versions run in different directories".into())
        } else if a.build_args[1..] != b.build_args[1..] {
            Identity::Different("the two versions have different class paths".into())
        } else {
            match (jar::content_digest(&a.program), jar::content_digest(&b.program)) {
                (Ok(a), Ok(b)) if a == b => Identity::Identical,
                (Ok(_), Ok(_)) => Identity::Different("the jars hold different files".into()),
                (Err(e), _) | (_, Err(e)) => Identity::Different(e.to_string()),
            }
        };
        // Benchmarks know their package by its Java name.
        let listed = self.listed.get(&a.digest).into_iter().flat_map(BTreeMap::keys);
        listed.map(|id| (id.package.clone(), identity.clone())).collect()
    }

    fn ignored(&self) -> &'static [&'static str] {
        &OF_PACKAGES
    }

    fn redefined(&self, builds: [&Build; 2]) -> BTreeMap<BenchmarkId, Redefinition> {
        let listed = builds.map(|build| self.listed.get(&build.artifacts.get(JAR)?.digest));
        let [Some(baseline), Some(candidate)] = listed else { return BTreeMap::new() };
        let is_replaced = |option: &str| match option {
            "jvm" => Role::BOTH.iter().any(|role| self.spec.side(*role).jvm.is_some()),
            option => self.given.iter().any(|given| given.option == option),
        };
        let redefined = |id, base: &Entry| base.redefined(candidate.get(id)?, is_replaced);
        baseline.iter().filter_map(|(id, base)| Some((id.clone(), redefined(id, base)?))).collect()
    }

    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        let Some(artifact) = build.artifacts.get(JAR) else { return Ok(Listing::default()) };
        let mut launch = self.base_launch(artifact);
        launch.args.splice(0..0, self.jvm_args(role_of(artifact)).map(OsString::from));
        launch.args.insert(0, self.temporary());
        launch.args.push("duetbench.hook.Lister".into());
        let lister = list::Lister {
            launch,
            file: self.scratch.join("list"),
            timeout: self.around.timeout,
            filter: &self.around.filter,
        };
        let tried = lister.run(interrupted)?;
        let entries = tried.iter().map(|(id, entry, _)| (id.clone(), entry.clone())).collect();
        let mut listing = Listing { notes: self.notes(role_of(artifact), &tried), ..Listing::default() };
        let processors = usable_cpus().len();
        for (id, entry, outcome) in tried {
            let threads = options::threads(&self.given).unwrap_or(entry.threads);
            let least = if threads as usize > processors { CROWDED_NS } else { 0 };
            let first = outcome.and_then(|ns| usable(&entry).map(|()| ns.max(least)));
            let one = Discovered::of(id, Style::Iteration, first);
            listing.found.push(Discovered { threads, runtime_threads: true, qualified: true, ..one });
        }
        self.listed.insert(artifact.digest.clone(), entries);
        Ok(listing)
    }

    fn counts(&self) -> Result<Duration, String> {
        Err("a JVM compiles while it runs, and what it has compiled when depends on time: no two processes execute the same instructions".into())
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, order: &Order) -> Option<Launch> {
        let artifact = build.artifacts.get(JAR)?;
        let entry = self.listed.get(&artifact.digest)?.get(id)?;
        let mut launch = self.base_launch(artifact);
        let iterations = order.warmup_slices.saturating_add(order.slices);
        let mut args: Vec<String> = vec!["org.openjdk.jmh.Main".into(), format!("^\\Q{}\\E$", entry.username)];
        launch.args.splice(0..0, STARTER.map(OsString::from));
        launch.args.insert(0, self.temporary());
        args.extend(entry.parameters.iter().flat_map(|(name, value)| ["-p".into(), format!("{name}={value}")]));
        // Warm-up iterations are ours too: only those that count for JMH come by the profiler with their score.
        let fixed =
            ["-f", "1", "-wf", "0", "-wi", "0", "-foe", "true", "-v", "SILENT", "-prof", "duetbench.hook.DuetProfiler"];
        args.extend(["-bm".into(), entry.mode.clone(), "-i".into(), iterations.to_string()]);
        args.extend(["-r".into(), format!("{}us", (order.slice_ns / 1000).max(1))]);
        args.extend(fixed.map(String::from));
        // These replace those of the annotation, which therefore have to be said again: the first ones and the last ones too, or what the
        // annotation appends would come after ours and win. They also keep the measured JVM from inheriting what makes the one that
        // only starts it start sooner.
        let role = role_of(artifact);
        let asked: Vec<String> = entry.jvm_args.iter().chain(self.jvm_args(role)).cloned().collect();
        // Ours come first, since a file that an argument names may say otherwise.
        let jvm_args: Vec<String> = self.jvm(role).pinned(&asked).into_iter().chain(asked).map(quoted).collect();
        args.extend(["-jvmArgs".into(), jvm_args.join(" ")]);
        // Else that of an annotation would run both versions.
        if self.spec.side(role).jvm.is_some() {
            args.extend(["-jvm".into(), self.jvm(role).program.to_string_lossy().into_owned()]);
        }
        args.extend(["-jvmArgsPrepend", WITHOUT_EFFECT, "-jvmArgsAppend", WITHOUT_EFFECT].map(String::from));
        args.extend(self.given.iter().flat_map(|Given { option, value }| [format!("-{option}"), value.clone()]));
        launch.args.extend(args.into_iter().map(OsString::from));
        Some(launch)
    }
}

/// Refuses arguments of the settings that JMH's command line cannot pass: it drops every quotation mark.
fn check_jvm_args(spec: &JmhSpec) -> Result<(), RunError> {
    let all = [&spec.jvm_args, &spec.base.jvm_args, &spec.head.jvm_args];
    match all.into_iter().flatten().find(|argument| argument.contains('"')) {
        None => Ok(()),
        Some(argument) => Err(RunError::toolchain(format!(
            "`jvm_args` of duet.toml has `{argument}`, and JMH's command line cannot pass a quotation mark"
        ))
        .hint("put it into a file that `jvm_args` names, as in `@options.txt`")),
    }
}

/// The JVM of each side, asked in the directory of its version, where files may be that its arguments name; it is one where nothing else
/// was asked.
fn jvms(spec: &JmhSpec, versions: &[Source]) -> Result<[Jvm; 2], RunError> {
    let dirs =
        [versions.first(), versions.last()].map(|version| version.map_or(Path::new("."), |version| &version.dir));
    let head = Jvm::find(&spec.head, &spec.jvm_args, dirs[1])?;
    let is_one = spec.base == spec.head && dirs[0] == dirs[1];
    let base = if is_one { head.clone() } else { Jvm::find(&spec.base, &spec.jvm_args, dirs[0])? };
    Ok([base, head])
}

/// Where an entry of the class path lies: entries of the user's are meant relative to where the version was built, which for the user's own
/// tree is a copy of it, or else to its directory or where duet was started.
fn entry_of_class_path(entry: &str, made_in: &Path, dir: &Path) -> String {
    let made = made_in.join(entry);
    // `*` stands for all jars of a folder.
    let exists = made.exists() || made.parent().is_some_and(|folder| entry.ends_with("/*") && folder.is_dir());
    let found = if exists { made } else { dir.join(entry) };
    found.to_string_lossy().into_owned()
}

/// The side that a jar was built for.
fn role_of(artifact: &Artifact) -> Role {
    let is_base = artifact.build_args.first().is_some_and(|word| word == Role::Baseline.word());
    if is_base { Role::Baseline } else { Role::Candidate }
}

/// An argument as JMH takes it apart again: at white space, unless it is quoted.
fn quoted(argument: String) -> String {
    if argument.contains(char::is_whitespace) { format!("\"{argument}\"") } else { argument }
}

/// Refuses what JMH's command line cannot name.
fn usable(entry: &Entry) -> Result<(), String> {
    let why = |value: &str| match () {
        () if value.contains(',') => Some("a comma, which JMH's command line cannot pass"),
        () if !value.is_ascii() && !is_utf8_locale(|name| std::env::var(name).ok()) => {
            Some("more than ASCII, which Java reads from a command line only in a locale like `LC_ALL=C.UTF-8`")
        }
        () => None,
    };
    if let Some(argument) = entry.jvm_args.iter().find(|argument| argument.contains('"')) {
        return Err(format!(
            "its JVM argument `{argument}` has a quotation mark, which JMH's command line cannot pass"
        ));
    }
    match entry.parameters.iter().find_map(|(name, value)| Some((name, why(value)?))) {
        Some((name, why)) => Err(format!("the value of its parameter `{name}` has {why}")),
        None => Ok(()),
    }
}

/// Whether the locale of these variables has UTF-8, as C libraries read them: the first that is set counts.
fn is_utf8_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    set.is_some_and(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Entry points for `fuzz/` into the private modules.
#[cfg(any(fuzzing, debug_assertions))]
pub mod fuzzing {
    /// Reads what the lister writes.
    pub fn listed(text: &str) {
        super::entry::ids(&super::entry::Lines::parse(text).entries);
    }

    /// Reads what a JVM says of itself.
    pub fn jvm(text: &str) {
        super::jvm::Jvm::parse("java".into(), text, 2);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use duetbench_core::spec::JmhSpec;

    use super::{check_jvm_args, entry_of_class_path};

    #[test]
    fn entries_of_the_class_path_lie_where_the_version_was_built_if_they_are_there() {
        let place = tempfile::tempdir().unwrap();
        let (made, own) = (place.path().join("made"), place.path().join("own"));
        std::fs::create_dir_all(made.join("lib")).unwrap();
        std::fs::write(made.join("lib/core.jar"), "").unwrap();
        let check = |entry: &str, want: &Path| {
            assert_eq!(Path::new(&entry_of_class_path(entry, &made, &own)), want, "{entry}");
        };
        check("lib/core.jar", &made.join("lib/core.jar"));
        check("lib/*", &made.join("lib/*"));
        check("deps/core.jar", &own.join("deps/core.jar"));
        check("deps/*", &own.join("deps/*"));
        check("/opt/core.jar", Path::new("/opt/core.jar"));
    }

    #[test]
    fn arguments_of_the_settings_that_jmh_would_change_are_refused() {
        let with = |argument: &str| JmhSpec { jvm_args: vec![argument.to_owned()], ..JmhSpec::default() };
        assert!(check_jvm_args(&with("-Dname=with blanks")).is_ok());
        let said = check_jvm_args(&with("-Dx={\"a\":1}")).unwrap_err().to_string();
        assert!(said.contains("`-Dx={\"a\":1}`"), "{said}");
    }
}
