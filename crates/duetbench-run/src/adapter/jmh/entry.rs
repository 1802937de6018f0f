//! The lister's output, line by line.

use std::collections::{BTreeMap, HashMap};

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Difference, Redefinition};
use duetbench_core::sample::with_parameters;

use crate::adapter::growing::unescaped;

/// One benchmark in one mode with one set of parameters, as JMH would run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Number among those of its jar.
    pub(super) index: usize,
    /// Class and method.
    pub(super) username: String,
    /// JMH's short word: `thrpt`, `avgt`, `sample` or `ss`.
    pub(super) mode: String,
    /// Threads that it asks for.
    pub(super) threads: u32,
    /// It is a single shot without a warm-up.
    pub(super) is_cold: bool,
    /// Operations of an invocation.
    operations: String,
    /// Invocations of a shot or a sample.
    batch: String,
    /// Threads of each method of its group, as `3+1`.
    groups: String,
    /// The JVM that its annotation names.
    pub(super) jvm: Option<String>,
    /// Version of JMH that runs it.
    jmh: String,
    /// Names and values of its parameters, in the order in which JMH prints them.
    pub(super) parameters: Vec<(String, String)>,
    /// Arguments for its JVM.
    pub(super) jvm_args: Vec<String>,
}

/// A setting by which JMH measures a benchmark.
struct Setting {
    annotation: &'static str,
    /// The option of JMH's command line that replaces it, without its hyphen; empty where none does.
    option: &'static str,
    value: String,
}

/// Everything that a pass of the lister wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) entries: Vec<Entry>,
    /// Time of a short iteration of those that worked, nanoseconds, by index.
    pub(super) done: BTreeMap<usize, u64>,
    /// Words of those that failed, by index.
    pub(super) failed: BTreeMap<usize, String>,
    /// The one that was tried last.
    pub(super) last_started: Option<usize>,
    /// It came to its end.
    pub(super) ended: bool,
}

impl Lines {
    /// Reads what was written; a line that is cut off or makes no sense counts for nothing.
    pub(super) fn parse(text: &str) -> Lines {
        let mut lines = Lines::default();
        let mut jmh = String::new();
        for line in text.lines() {
            let fields: Vec<String> = line.split('\t').map(unescaped).collect();
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            match fields[..] {
                ["jmh", version] => jmh = version.to_owned(),
                ["entry", ref rest @ ..] => lines.entries.extend(Entry::parse(rest, &jmh)),
                ["start", index] => lines.last_started = index.parse().ok(),
                ["done", index, ns] => {
                    if let (Ok(index), Ok(ns)) = (index.parse(), ns.parse()) {
                        lines.done.insert(index, ns);
                    }
                }
                ["fail", index, words] => {
                    if let Ok(index) = index.parse() {
                        lines.failed.insert(index, words.to_owned());
                    }
                }
                ["end"] => lines.ended = true,
                _ => {}
            }
        }
        lines
    }
}

impl Entry {
    /// `INDEX USERNAME MODE THREADS COLD OPERATIONS BATCH GROUPS JVM NPARAMS (k v)… NJVMARGS arg…`
    fn parse(fields: &[&str], jmh: &str) -> Option<Entry> {
        let [index, username, mode, threads, cold, operations, batch, groups, jvm, rest @ ..] = fields else {
            return None;
        };
        let (count, rest) = rest.split_first()?;
        let count: usize = count.parse().ok()?;
        let (pairs, rest) = rest.split_at_checked(count.checked_mul(2)?)?;
        let (count, jvm_args) = rest.split_first()?;
        if count.parse() != Ok(jvm_args.len()) {
            return None;
        }
        let owned = |text: &str| text.to_owned();
        Some(Entry {
            index: index.parse().ok()?,
            username: owned(username),
            mode: owned(mode),
            threads: threads.parse::<u32>().ok()?.max(1),
            is_cold: *cold == "1",
            operations: owned(operations),
            batch: owned(batch),
            groups: owned(groups),
            jvm: Some(owned(jvm)).filter(|jvm| !jvm.is_empty()),
            jmh: owned(jmh),
            parameters: pairs.chunks_exact(2).map(|pair| (owned(pair[0]), owned(pair[1]))).collect(),
            jvm_args: jvm_args.iter().map(|arg| owned(arg)).collect(),
        })
    }

    /// The first setting in which the candidate's annotations differ from these, but for those that the command line replaces in both.
    pub(super) fn redefined(&self, candidate: &Entry, is_replaced: impl Fn(&str) -> bool) -> Option<Redefinition> {
        let mut pairs = self.settings().into_iter().zip(candidate.settings());
        let (base, head) = pairs.find(|(base, head)| base.value != head.value && !is_replaced(base.option))?;
        let difference = Difference::Value { base: base.value, head: head.value };
        Some(Redefinition { part: base.annotation.into(), difference, tolerated: false })
    }

    fn settings(&self) -> [Setting; 8] {
        let setting = |annotation, option, value: &str| Setting { annotation, option, value: value.to_owned() };
        // The other modes take no batches.
        let batch = if ["ss", "sample"].contains(&self.mode.as_str()) { &self.batch } else { "1" };
        let jvm_args = if self.jvm_args.is_empty() { "none".to_owned() } else { self.jvm_args.join(" ") };
        [
            // Another JMH measures otherwise: from 1.33 on results are consumed by the compiler, in less time.
            setting("JMH", "", &self.jmh),
            setting("@BenchmarkMode", "", &self.mode),
            setting("@OperationsPerInvocation", "opi", &self.operations),
            setting("@Measurement(batchSize)", "bs", batch),
            setting("@GroupThreads", "tg", &self.groups),
            setting("@Threads", "t", &self.threads.to_string()),
            setting("@Fork(jvmArgs)", "", &jvm_args),
            setting("@Fork(jvm)", "jvm", self.jvm.as_deref().unwrap_or("none")),
        ]
    }

    /// Its name with its parameters, as JMH's reports and [`duetbench_formats`] have it.
    fn name(&self) -> String {
        let sorted: BTreeMap<&String, &String> = self.parameters.iter().map(|(name, value)| (name, value)).collect();
        with_parameters(&self.username, sorted)
    }
}

/// Names of the entries: the mode is part of a name only where it would not be unique without.
pub(super) fn ids(entries: &[Entry]) -> Vec<BenchmarkId> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for entry in entries {
        *counts.entry(entry.name()).or_default() += 1;
    }
    let full = |entry: &Entry| {
        let name = entry.name();
        if counts.get(&name) == Some(&1) { name } else { format!("{name} ({})", entry.mode) }
    };
    entries.iter().map(|entry| id(&full(entry))).collect()
}

/// `org.sample` and `Bench.method:size=10` of `org.sample.Bench.method:size=10`.
fn id(full: &str) -> BenchmarkId {
    let path = full.split([':', ' ']).next().unwrap_or(full);
    let class = path.rfind('.').unwrap_or(0);
    // The name begins at the class; a class in no package belongs to the package of no name, which is called `default` here.
    let (package, name) = match path[..class].rfind('.') {
        Some(dot) => (&full[..dot], &full[dot + 1..]),
        None => ("default", full),
    };
    BenchmarkId { package: package.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "jmh\t1.37\n\
        entry\t0\torg.a.B.m\tthrpt\t2\t0\t1\t1\t1\t/jdk\t2\tsize\t10\tkind\ta\\tb\t1\t-Xmx1g\n\
        entry\t1\torg.a.B.n\tavgt\t1\t0\t1\t1\t1\t\t0\t0\n\
        entry\t2\torg.a.B.n\tss\t1\t1\t1\t1\t1\t\t0\t0\n\
        entry\t3\torg.a.B.cut\tss\t1\t1\t1\t1\t1\t\t7\t0\n\
        start\t0\ndone\t0\t120\nstart\t1\nfail\t1\tno\\nluck\nstart\t2\n";

    #[test]
    fn lines_are_read_and_broken_ones_left_out() {
        let lines = Lines::parse(LINES);
        assert_eq!((lines.entries[0].jmh.as_str(), lines.entries.len(), lines.last_started), ("1.37", 3, Some(2)));
        assert_eq!((lines.entries[0].jvm.as_deref(), &lines.entries[1].jvm), (Some("/jdk"), &None));
        assert_eq!((lines.entries[1].is_cold, lines.entries[2].is_cold), (false, true));
        assert_eq!(lines.entries[0].parameters[1], ("kind".into(), "a\tb".into()));
        assert_eq!((lines.entries[0].threads, lines.entries[0].jvm_args.clone()), (2, vec!["-Xmx1g".to_owned()]));
        assert_eq!((lines.done.get(&0), lines.failed.get(&1).map(String::as_str)), (Some(&120), Some("no\nluck")));
        assert!(!lines.ended);
    }

    #[test]
    fn annotations_that_differ_redefine_a_benchmark_unless_the_command_line_replaces_them() {
        // Mode, threads, operations, batch, groups, JVM and its arguments.
        let entry = |fields: [&str; 7]| {
            let [mode, threads, operations, batch, groups, jvm, jvm_args] = fields;
            let jvm_args = jvm_args.split_whitespace().collect::<Vec<_>>();
            let count = jvm_args.len().to_string();
            let fixed = ["0", "org.a.B.m", mode, threads, "0", operations, batch, groups, jvm, "0", &count];
            Entry::parse(&[&fixed[..], &jvm_args].concat(), "1.37").unwrap()
        };
        let check = |base: [&str; 7], head: [&str; 7], replaced: &str| {
            let found = entry(base).redefined(&entry(head), |option| option == replaced)?;
            let Difference::Value { base, head } = found.difference else { panic!("it has no place in a source") };
            Some(format!("{} {base} {head}", found.part))
        };
        let plain = ["avgt", "1", "1", "1", "1", "", ""];
        for (head, replaced, want) in [
            (["ss", "1", "1", "9", "1", "", ""], "opi", Some("@BenchmarkMode avgt ss")),
            (["avgt", "2", "1", "1", "1", "", ""], "opi", Some("@Threads 1 2")),
            (["avgt", "2", "1", "1", "1", "", ""], "t", None),
            (["avgt", "4", "1", "1", "3+1", "", ""], "opi", Some("@GroupThreads 1 3+1")),
            (["avgt", "1", "10", "1", "1", "", ""], "t", Some("@OperationsPerInvocation 1 10")),
            (["avgt", "1", "10", "1", "1", "", "-Xint"], "opi", Some("@Fork(jvmArgs) none -Xint")),
            (["avgt", "1", "1", "1", "1", "/jdk", ""], "opi", Some("@Fork(jvm) none /jdk")),
            (["avgt", "1", "1", "1", "1", "/jdk", ""], "jvm", None),
            (["avgt", "1", "1", "9", "1", "", ""], "opi", None),
        ] {
            assert_eq!(check(plain, head, replaced).as_deref(), want, "{head:?}");
        }
        let shots = |batch| ["ss", "1", "1", batch, "1", "", ""];
        assert_eq!(check(shots("1"), shots("9"), "t").as_deref(), Some("@Measurement(batchSize) 1 9"));
        let updated = Entry { jmh: "1.32".into(), ..entry(plain) }.redefined(&entry(plain), |option| option == "t");
        assert_eq!(updated.map(|found| found.part).as_deref(), Some("JMH"));
    }

    #[test]
    fn a_mode_is_part_of_a_name_only_where_it_must_be() {
        let names: Vec<String> = ids(&Lines::parse(LINES).entries).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["org.a.B.m:kind=a\tb,size=10", "org.a.B.n (avgt)", "org.a.B.n (ss)"]);
        assert_eq!(id("B.m:x=1.5"), BenchmarkId { package: "default".into(), name: "B.m:x=1.5".into() });
        assert_eq!(id("org.a.B.m:x=1.5").name, "B.m:x=1.5");
    }
}
