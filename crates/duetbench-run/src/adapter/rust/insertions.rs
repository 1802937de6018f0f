//! The harnesses that can be hooked, and what is inserted into their sources.

/// A harness that can be hooked.
pub(super) struct Harness {
    /// Its crate, or one that is a copy of it.
    pub(super) package: &'static str,
    /// The oldest release in which all benchmarks come by the insertions.
    pub(super) since: [u64; 3],
    /// Releases that fit, in words.
    pub(super) supported: &'static str,
    pub(super) parts: &'static [Part],
}

/// A source file with its insertions.
pub(super) struct Part {
    /// The names that it has had.
    pub(super) files: &'static [&'static str],
    pub(super) insertions: &'static [Insertion],
}

/// One insertion.
pub(super) struct Insertion {
    /// The end of the line at which it is inserted.
    pub(super) anchor: &'static str,
    /// Number of times that the anchor must be there.
    pub(super) times: Times,
    pub(super) place: Place,
    pub(super) text: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum Times {
    Once,
    /// As often as the file's other anchors of this kind, and at least once.
    Alike,
    /// However often.
    Any,
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    Before,
    After,
}

pub(super) const HARNESSES: [Harness; 4] = [
    Harness { package: "criterion", since: [0, 4, 0], supported: "criterion 0.4 to 0.8", parts: &CRITERION },
    Harness {
        package: "codspeed-criterion-compat-walltime",
        since: [2, 0, 0],
        supported: "codspeed-criterion-compat 2 to 6",
        parts: &CRITERION,
    },
    Harness { package: "divan", since: [0, 1, 17], supported: "divan 0.1.17 to 0.1.21", parts: &DIVAN },
    Harness {
        package: "codspeed-divan-compat-walltime",
        since: [3, 0, 0],
        supported: "codspeed-divan-compat 3 to 6",
        parts: &DIVAN,
    },
];

/// The end of the line in which a method of criterion's that times notes that it was called, behind the name of what it is called on.
pub(super) const CALLED: &str = ".iterated = true;";

const fn before(anchor: &'static str, text: &'static str) -> Insertion {
    Insertion { anchor, times: Times::Once, place: Place::Before, text }
}

const fn after(anchor: &'static str, text: &'static str) -> Insertion {
    Insertion { anchor, times: Times::Once, place: Place::After, text }
}

/// Has a method with set-up ask for the size of its batches.
const fn batches(anchor: &'static str) -> Insertion {
    let text = "let batch_size = crate::duet::batch(@.iters, |iters| size.iters_per_batch(iters));\n";
    Insertion { anchor, times: Times::Any, place: Place::After, text }
}

const MODULE: &str = "#[allow(warnings)]\nmod duet;\n";

/// The body of every method that times, from noting that it was called to taking the elapsed time, goes round in a loop. For `@` stands the
/// name before [`CALLED`].
const CRITERION: [Part; 3] = [
    Part { files: &["lib.rs"], insertions: &[before("mod bencher;", MODULE)] },
    Part {
        files: &["benchmark_group.rs"],
        insertions: &[before(
            "        match &self.criterion.mode {",
            "        let duet_name = crate::duet::numbered(id.id());
        let duet_time = ::std::any::type_name::<crate::measurement::WallTime>();
        if crate::duet::takes(&duet_name, crate::duet::unless_time(::std::any::type_name::<M>(), duet_time), &mut || {
            func.bench(&self.criterion.measurement, &[1], input);
        }) {
            self.all_ids.push(id);
            return;
        }\n",
        )],
    },
    Part {
        files: &["bencher.rs"],
        insertions: &[
            Insertion {
                // Not only before the clock is read: the size of batches follows from the iterations.
                anchor: CALLED,
                times: Times::Alike,
                place: Place::After,
                text: "while crate::duet::more(&mut @.iters, @.measurement.to_f64(&@.value)) {\n",
            },
            batches("= size.iters_per_batch(self.iters);"),
            batches("= size.iters_per_batch(b.iters);"),
            Insertion {
                anchor: ".elapsed_time = time_start.elapsed();",
                times: Times::Alike,
                place: Place::After,
                text: "}\n",
            },
        ],
    },
];

/// All benchmarks come by one loop over samples, in whose place they are taken. Names are the way through the tree that divan paints.
/// Its arguments are not read: it is told to test, which saves it from measuring its clock.
const DIVAN: [Part; 4] = [
    Part { files: &["lib.rs"], insertions: &[before("mod divan;", MODULE)] },
    Part {
        files: &["divan.rs"],
        insertions: &[
            before(
                "let mut command = crate::cli::command();",
                "        if crate::duet::is_at_work() {
            self.action = Action::Test;
            return self;
        }\n",
            ),
            before(
                "with_bencher(Bencher::new(&mut bench_context));",
                "                if crate::duet::takes(&crate::duet::numbered(&crate::duet::path()), crate::duet::unless_one(thread_count.get()), &mut || {
                    with_bencher(Bencher::new(&mut bench_context));
                }) {
                    tree_painter.borrow_mut().finish_empty_leaf();
                    continue;
                }\n",
            ),
        ],
    },
    Part {
        files: &["tree_painter.rs"],
        insertions: &[
            after("pub fn start_parent(&mut self, name: &str, is_last: bool) {", "crate::duet::enter(name);\n"),
            after("pub fn start_leaf(&mut self, name: &str, is_last: bool) {", "crate::duet::enter(name);\n"),
            after("pub fn finish_parent(&mut self) {", "crate::duet::leave();\n"),
            after("pub fn finish_empty_leaf(&mut self) {", "crate::duet::leave();\n"),
        ],
    },
    Part {
        files: &["benchmark/mod.rs", "bench/mod.rs"],
        insertions: &[before(
            "let bench_overheads = timer.bench_overheads();",
            "        if crate::duet::is_at_work() {
            let stored = ::std::mem::size_of::<I>() != 0 || ::std::mem::needs_drop::<O>();
            let (mut iterations, mut ns) = (1, 0.0);
            while crate::duet::more(&mut iterations, ns) {
                ns = 0.0;
                for part in crate::duet::parts(iterations, stored) {
                    let taken = record_sample(part as usize, None, &mut |_| {});
                    let [start, end] = taken.0;
                    ns += end.duration_since(start, timer).picos as f64 / 1000.0;
                }
            }
            return;
        }\n",
        )],
    },
];
