//! The JVM that measures, and what it would be if it were left alone.

use std::path::{Path, PathBuf};

use duetbench_core::spec::JvmSide;

use crate::error::RunError;
use crate::process::words_of_death;
use crate::processors::usable_cpus;
use crate::tool::Tool;

/// The oldest release that the hook's classes run on.
const RELEASE_MIN: u32 = 9;

/// The collectors that a JVM may choose by itself.
const COLLECTORS: [&str; 5] = ["UseSerialGC", "UseParallelGC", "UseG1GC", "UseZGC", "UseShenandoahGC"];

/// Further collectors, of which a JVM has at most one too.
const CHOSEN_ONLY: [&str; 3] = ["UseEpsilonGC", "UseConcMarkSweepGC", "UseParallelOldGC"];

/// The `java` of a home, or this itself.
fn java_of(asked: &Path) -> PathBuf {
    if asked.is_dir() { asked.join("bin/java") } else { asked.to_owned() }
}

/// A JVM, with what it chose when it was free to use the whole machine.
///
/// A JVM that is confined to one processor takes itself for a small machine and becomes another JVM: another collector, fewer
/// threads for it. The measured JVM should be the one that users run, so both sides are told what it would have chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jvm {
    /// The `java` command.
    pub(super) program: PathBuf,
    /// Version, such as `17.0.15`.
    version: String,
    /// Name, such as `OpenJDK 64-Bit Server VM`.
    name: String,
    /// Collector, one of [`COLLECTORS`]; absent where the JVM does not say.
    collector: Option<String>,
    /// Largest heap by its own choice, bytes.
    heap_max: Option<u64>,
    processors: usize,
}

impl Jvm {
    /// The JVM that a side asks for, else that of `JAVA_HOME`, else the one on the `PATH`; what it chose is asked with the arguments
    /// of both sides and of that side, which may choose otherwise, in the version's directory, where they may name files.
    ///
    /// # Errors
    /// When there is none, it is too old for the hook, or refuses these arguments.
    pub(super) fn find(side: &JvmSide, common: &[String], dir: &Path) -> Result<Jvm, RunError> {
        let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
        let usual = || home.map_or_else(|| PathBuf::from("java"), |home| Path::new(&home).join("bin/java"));
        let program = side.jvm.as_deref().map_or_else(usual, |asked| java_of(Path::new(asked)));
        let hint = match &side.jvm {
            Some(asked) => format!(
                "`jvm` in `[jmh.base]` or `[jmh.head]` of duet.toml is `{asked}`: it names the home of a JDK or its `java`, and `jvm_args` what that `java` takes"
            ),
            None => "install a JDK (Java 9 or newer), and set `JAVA_HOME` or put `java` on the `PATH`".into(),
        };
        let refused = match side.jvm_args.join(" ") {
            none if none.is_empty() => hint.clone(),
            asked => format!("`jvm_args` in `[jmh.base]` or `[jmh.head]` of duet.toml is `{asked}`"),
        };
        let missing = |e: RunError| {
            RunError::toolchain(format!("JMH benchmarks need Java, and it cannot be used: {e}")).hint(hint.clone())
        };
        let ask = |common: &[String]| {
            let asked = ["-XX:+PrintFlagsFinal", "-XshowSettings:properties", "-version"].map(str::to_owned);
            let asked = common.iter().chain(&side.jvm_args).cloned().chain(asked);
            let output = Tool::new(&program.to_string_lossy(), asked, dir).output().map_err(missing)?;
            let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            // A container may give less than the processors that may be used.
            let quota = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
            let refusal = || {
                let words = words_of_death("`java` does not say what it is", &text);
                RunError::toolchain(format!("JMH benchmarks need Java, and {words}")).hint(refused.clone())
            };
            Ok(Jvm::parse(program.clone(), &text, usable_cpus().len().min(quota)).ok_or_else(refusal))
        };
        // Arguments of both sides may name files that only the build makes: then the JVM is asked without them.
        let jvm = match ask(common)? {
            Err(_) if !common.is_empty() => ask(&[])?,
            asked => asked,
        }?;
        match jvm.release() {
            Some(release) if release < RELEASE_MIN => Err(RunError::toolchain(format!(
                "JMH benchmarks need Java {RELEASE_MIN} or newer, and `java` is {}",
                jvm.version
            ))
            .hint("set `JAVA_HOME` to a newer JDK: it runs classes of older ones too")),
            _ => Ok(jvm),
        }
    }

    /// Reads what `java` says of itself; absent where it does not tell its version.
    pub(super) fn parse(program: PathBuf, text: &str, processors: usize) -> Option<Jvm> {
        let property = |name: &str| {
            let value =
                |line: &str| Some(line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim().to_owned());
            text.lines().find_map(value)
        };
        let flag = |name: &str| text.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
        let value = |name: &str| flag(name)?.split('=').nth(1)?.split_whitespace().next().map(str::to_owned);
        let chosen = |name: &&&str| value(name).as_deref() == Some("true");
        Some(Jvm {
            program,
            version: property("java.version")?,
            name: property("java.vm.name").unwrap_or_else(|| "Java".into()),
            collector: COLLECTORS.iter().find(chosen).map(|name| (*name).to_owned()),
            heap_max: value("MaxHeapSize").and_then(|bytes| bytes.parse().ok()),
            processors,
        })
    }

    /// `8` of `1.8.0_392`, `17` of `17.0.15`.
    fn release(&self) -> Option<u32> {
        let text = self.version.strip_prefix("1.").unwrap_or(&self.version);
        text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Flags that keep a measured JVM the one it would be on the whole machine: processors, collector and largest heap, each where
    /// it is not chosen already.
    pub(super) fn pinned(&self, chosen: &[String]) -> Vec<String> {
        let says = |starts: &[&str]| chosen.iter().any(|arg| starts.iter().any(|start| arg.starts_with(start)));
        let collectors = || COLLECTORS.iter().chain(&CHOSEN_ONLY);
        // A file of arguments may choose one too.
        let is_file =
            |arg: &String| ["@", "-XX:Flags=", "-XX:VMOptionsFile="].iter().any(|start| arg.starts_with(start));
        let is_collector = |arg: &String| collectors().any(|name| arg.ends_with(name)) || is_file(arg);
        let mut flags = Vec::new();
        if !says(&["-XX:ActiveProcessorCount"]) {
            flags.push(format!("-XX:ActiveProcessorCount={}", self.processors));
        }
        if let Some(collector) = self.collector.as_ref().filter(|_| !chosen.iter().any(is_collector)) {
            flags.push(format!("-XX:+{collector}"));
        }
        // A first heap that is larger raises the largest, unless that is said.
        let of_heap = ["-Xm", "-XX:MaxHeapSize", "-XX:MaxRAM", "-XX:InitialHeapSize", "-XX:MinHeapSize"];
        if let Some(heap) = self.heap_max.filter(|_| !says(&of_heap)) {
            flags.push(format!("-XX:MaxHeapSize={heap}"));
        }
        flags
    }

    /// Description of the JVM in a few words, for the report.
    pub(super) fn words(&self) -> String {
        let mut words = format!("{} {}", self.name, self.version);
        if let Some(collector) = &self.collector {
            words += &format!(", {}", collector.trim_start_matches("Use").trim_end_matches("GC"));
        }
        words += &format!(", {} processors", self.processors);
        if let Some(heap) = self.heap_max {
            words += &format!(", heap up to {:.1} GiB", heap as f64 / f64::from(1 << 30));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "[Global flags]
     bool UseG1GC                                  = true                                      {product} {ergonomic}
     bool UseSerialGC                              = false                                     {product} {default}
   size_t MaxHeapSize                              = 6442450944                                {product} {ergonomic}
Property settings:
    java.version = 17.0.15
    java.version.date = 2025-04-15
    java.vm.name = OpenJDK 64-Bit Server VM
openjdk version \"17.0.15\" 2025-04-15
";

    fn jvm(text: &str) -> Option<Jvm> {
        Jvm::parse("java".into(), text, 2)
    }

    #[test]
    fn a_jvm_tells_what_it_would_choose() {
        let jvm = jvm(SAID).unwrap();
        assert_eq!(jvm.words(), "OpenJDK 64-Bit Server VM 17.0.15, G1, 2 processors, heap up to 6.0 GiB");
        assert_eq!(jvm.release(), Some(17));
        let pinned = |chosen: &[&str]| jvm.pinned(&chosen.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (processors, collector, heap) =
            ("-XX:ActiveProcessorCount=2", "-XX:+UseG1GC", "-XX:MaxHeapSize=6442450944");
        assert_eq!(pinned(&[]), [processors, collector, heap]);
        assert_eq!(pinned(&["-XX:+UseZGC"]), [processors, heap]);
        assert_eq!(pinned(&["-XX:ActiveProcessorCount=1", "-Xmx1g"]), [collector]);
        assert_eq!(pinned(&["-XX:MaxRAMPercentage=50"]), [processors, collector]);
        assert_eq!(pinned(&["-Xms9g"]), [processors, collector]);
        for chosen in ["-XX:+UseEpsilonGC", "@options.txt", "-XX:VMOptionsFile=options.txt"] {
            assert_eq!(pinned(&[chosen]), [processors, heap], "{chosen}");
        }
    }

    #[test]
    fn a_jvm_that_says_less_is_told_less() {
        assert_eq!(jvm("nothing"), None);
        let old = jvm("    java.version = 1.8.0_392\n").unwrap();
        assert_eq!((old.release(), old.pinned(&[])), (Some(8), vec!["-XX:ActiveProcessorCount=2".to_owned()]));
    }
}
