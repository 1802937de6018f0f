//! Build pairs: the same sources linked again, with their functions in another order.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use duetbench_core::Role;
use duetbench_core::plan::Mode;

use super::Needed;
use super::placement::Placements;
use crate::adapter::{Adapter, Artifact, Build, Layout, Plan, Relink, Relinking, Urgency};
use crate::error::RunError;

/// Half of a build pair: which it is.
type Key = (Role, String, u32);

/// One program that is to be linked.
#[derive(Debug)]
struct Link {
    key: Key,
    artifact: Artifact,
    /// The baseline's, which both halves follow where there is a plan, and this half's own.
    layout_seeds: [u32; 2],
    urgency: Urgency,
}

/// One program that is being linked.
#[derive(Debug)]
struct Underway {
    key: Key,
    relinking: Relinking,
    plan: Option<Plan>,
    urgency: Urgency,
}

/// One program that was linked.
#[derive(Debug)]
struct Linked {
    program: PathBuf,
    /// It followed a plan that lays both halves out alike, and was not yet compared with the other half of its build pair.
    unchecked: bool,
}

/// A linker of builds in other orders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linker<'a> {
    pub(super) adapter: &'a dyn Adapter,
    /// The two versions, baseline first.
    pub(super) builds: &'a [Build; 2],
    /// Programs that are linked at a time.
    pub(super) at_once: usize,
    pub(super) interrupted: &'a AtomicBool,
}

/// The build pairs at hand, and those that will be. Older ones are removed when newer ones are asked for, because a program takes
/// megabytes.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    programs: HashMap<Key, Linked>,
    underway: Vec<Underway>,
    /// To be linked when a processor is free, the next one last.
    foreseen: Vec<Link>,
}

impl Layouts {
    /// The program of one half; empty where it was not provided.
    pub(super) fn program(&self, role: Role, package: &str, build: u32) -> &Path {
        self.programs.get(&(role, package.to_owned(), build)).map_or(Path::new(""), |linked| &linked.program)
    }

    /// The processes that link.
    pub(super) fn linkers(&self) -> Vec<u32> {
        self.underway.iter().filter_map(|one| one.relinking.process()).collect()
    }

    /// Links what is missing of what is needed, several programs at a time; nothing is measured meanwhile. Programs that are needed
    /// neither now nor next are removed.
    ///
    /// # Errors
    /// The first failure. On an interrupt.
    pub(super) fn provide(
        &mut self,
        needed: &[Needed],
        next: &[Needed],
        linker: &Linker<'_>,
        placements: &mut Placements,
    ) -> Result<(), RunError> {
        self.foreseen.clear();
        let is_wanted = |key: &Key| is_among(needed, key) || is_among(next, key);
        let (underway, given_up): (Vec<_>, Vec<_>) = self.underway.drain(..).partition(|one| is_wanted(&one.key));
        self.underway = underway;
        given_up.into_iter().for_each(|one| one.relinking.give_up());
        self.programs.retain(|key, linked| {
            let kept = is_wanted(key);
            if !kept {
                placements.forget(&linked.program);
            }
            kept || fs::remove_file(&linked.program).is_err()
        });
        // Twice, for those that failed beside a trial.
        self.link_missing(needed, linker, placements)?;
        self.link_missing(needed, linker, placements)?;
        self.check_alike(needed, linker.adapter);
        // Programs that could not be linked by a plan, or were not alike, are linked once more, each half by itself.
        self.link_missing(needed, linker, placements)
    }

    /// Links what is missing of what is needed, and waits for it.
    fn link_missing(
        &mut self,
        needed: &[Needed],
        linker: &Linker<'_>,
        placements: &mut Placements,
    ) -> Result<(), RunError> {
        let mut links = self.missing(needed, linker.builds, Urgency::Now).into_iter();
        loop {
            let free = linker.at_once.saturating_sub(self.underway.len()).max(1);
            for link in links.by_ref().take(free) {
                self.start(link, linker, placements)?;
            }
            let Some(first) = self.underway.iter().position(|one| is_among(needed, &one.key)) else { return Ok(()) };
            self.finish(first, linker)?;
        }
    }

    /// Compares the halves of build pairs that followed a plan. Where they are not laid out alike, each half of their package gets an
    /// order of its own from now on, and what followed the plan by a common seed is removed.
    fn check_alike(&mut self, needed: &[Needed], adapter: &dyn Adapter) {
        let Some(pairs) = adapter.pair_layouts() else { return };
        for Needed { package, build, .. } in needed {
            let key = |role| (role, package.clone(), *build);
            let unchecked = |role| self.programs.get(&key(role)).filter(|linked| linked.unchecked);
            if let [Some(base), Some(head)] = Role::BOTH.map(unchecked)
                && let Err(reason) = pairs.check([&base.program, &head.program])
            {
                // A plan that leaves data where they are is no better than what the toolchain draws.
                match pairs.plan(package).filter(|_| adapter.matches_data()) {
                    Some(plan) => pairs.decide_unlike(package, plan.file, &reason),
                    None => pairs.decide(package, Err(reason)),
                }
            }
            let planned = pairs.plan(package).is_some_and(|plan| plan.alike);
            for key in Role::BOTH.map(key) {
                if let Some(linked) = self.programs.remove(&key)
                    && (planned || !linked.unchecked || fs::remove_file(&linked.program).is_err())
                {
                    self.programs.insert(key, Linked { unchecked: false, ..linked });
                }
            }
        }
    }

    /// Notes what will be needed next. It is linked beside what is measured, as far as there is time until it is asked for.
    pub(super) fn foresee(&mut self, needed: &[Needed], builds: &[Build; 2]) {
        self.foreseen = self.missing(needed, builds, Urgency::Later);
        self.foreseen.reverse();
    }

    /// Leaves all cores to the trial that comes next, which may use them, or one to the linker beside it: one linker at a time, which
    /// gives way to everybody else.
    ///
    /// # Errors
    /// When the linker cannot be started. On an interrupt.
    pub(super) fn beside(
        &mut self,
        mode: Mode,
        linker: &Linker<'_>,
        placements: &mut Placements,
    ) -> Result<(), RunError> {
        if mode == Mode::InterleavedOneCore { self.go_on(linker, placements) } else { self.settle(linker) }
    }

    /// Waits for what is being linked. A failure counts where the program is needed, for which it is linked once more.
    fn settle(&mut self, linker: &Linker<'_>) -> Result<(), RunError> {
        while !self.underway.is_empty() {
            if self.finish(0, linker).is_err() {
                RunError::stop_if(linker.interrupted)?;
            }
        }
        Ok(())
    }

    /// Starts linking the next program that is foreseen, if none is being linked.
    fn go_on(&mut self, linker: &Linker<'_>, placements: &mut Placements) -> Result<(), RunError> {
        if self.underway.iter_mut().all(|one| one.relinking.has_ended())
            && let Some(link) = self.foreseen.pop()
        {
            self.start(link, linker, placements)?;
        }
        Ok(())
    }

    /// The links that are needed, and neither made nor being made.
    fn missing(&self, needed: &[Needed], builds: &[Build; 2], urgency: Urgency) -> Vec<Link> {
        let mut links = Vec::new();
        for (needed, role) in needed.iter().flat_map(|n| Role::BOTH.map(|role| (n, role))) {
            let key = (role, needed.package.clone(), needed.build);
            let side = role.index();
            // A package that one version lacks is not measured; its trials say so.
            if let Some(artifact) = builds[side].artifacts.get(&needed.package)
                && !self.programs.contains_key(&key)
                && !self.underway.iter().any(|one| one.key == key)
            {
                let layout_seeds = [needed.layout_seeds[0], needed.layout_seeds[side]];
                links.push(Link { key, artifact: artifact.clone(), layout_seeds, urgency });
            }
        }
        links
    }

    fn start(&mut self, link: Link, linker: &Linker<'_>, placements: &mut Placements) -> Result<(), RunError> {
        let Link { key, artifact, layout_seeds: [common, own], urgency } = link;
        let plan = linker.adapter.pair_layouts().and_then(|pairs| pairs.plan(&key.1));
        let layout = plan.as_ref().map_or(Layout::Random(own), |plan| Layout::Planned {
            seed: if plan.alike { common } else { own },
            plan: &plan.file,
        });
        let wanted = Relink { layout, program: &placements.fresh(), urgency };
        let relinking = linker.adapter.relink(&artifact, wanted)?;
        self.underway.push(Underway { key, relinking, plan, urgency });
        Ok(())
    }

    /// Waits for a program that is being linked.
    fn finish(&mut self, number: usize, linker: &Linker<'_>) -> Result<(), RunError> {
        let Underway { key, relinking, plan, urgency } = self.underway.remove(number);
        let linked = relinking.finish();
        // An interrupt reaches the linker too, and it is not the linker that failed.
        RunError::stop_if(linker.interrupted)?;
        match (linked, linker.adapter.pair_layouts().filter(|_| plan.is_some())) {
            // Beside a trial it may have been short of memory or room: it is linked once more when it is needed.
            (Err(_), _) if urgency == Urgency::Later => {}
            // If the program itself cannot be linked, linking it without a plan tells.
            (Err(error), Some(pairs)) => pairs.decide(&key.1, Err(error.to_string())),
            (linked, _) => {
                let unchecked = plan.is_some_and(|plan| plan.alike);
                self.programs.insert(key, Linked { program: linked?, unchecked });
            }
        }
        Ok(())
    }
}

/// Whether this half belongs to one of these build pairs.
fn is_among(builds: &[Needed], key: &Key) -> bool {
    builds.iter().any(|n| n.build == key.2 && n.package == key.1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use duetbench_core::BenchmarkId;

    use super::*;
    use crate::adapter::{Built, CheckAlike, Identity, Listing, Order, PairLayouts, Subject};
    use crate::process::Launch;
    use crate::source::Source;
    use crate::tool::Tool;

    /// Links by copying; remembers the seeds that it was asked for, and whether by a plan.
    #[derive(Debug)]
    struct Copier {
        asked: Mutex<Vec<(u32, Urgency)>>,
        by_plan: Mutex<Vec<bool>>,
        pairs: PairLayouts,
        /// Program that it runs to link by a plan.
        planner: &'static str,
        /// Whether plans place data too.
        places_data: bool,
    }

    impl Adapter for Copier {
        fn toolchain(&self) -> String {
            String::new()
        }

        fn build(&self, _: &Source, _: &[String], _: Subject<'_>) -> Result<Built, RunError> {
            Ok(Built::default())
        }

        fn identical(&self, _: [&Build; 2], _: [&Source; 2]) -> BTreeMap<String, Identity> {
            BTreeMap::new()
        }

        fn list(&mut self, _: &Build, _: &AtomicBool) -> Result<Listing, RunError> {
            Ok(Listing::default())
        }

        fn launch(&self, _: &Build, _: &BenchmarkId, _: &Order) -> Option<Launch> {
            None
        }

        fn pair_layouts(&self) -> Option<&PairLayouts> {
            Some(&self.pairs)
        }

        fn matches_data(&self) -> bool {
            self.places_data
        }

        fn relink(&self, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
            let (seed, by_plan) = match wanted.layout {
                Layout::Random(seed) => (seed, false),
                Layout::Planned { seed, .. } => (seed, true),
            };
            self.asked.lock().unwrap().push((seed, wanted.urgency));
            self.by_plan.lock().unwrap().push(by_plan);
            let (program, dir) = (wanted.program.to_owned(), artifact.dir.clone());
            let linker =
                Tool::new(if by_plan { self.planner } else { "cp" }, [artifact.program.as_path(), &program], &dir)
                    .start()?;
            Ok(Relinking { linker, program, dir, check: |_, _| Ok(()) })
        }
    }

    /// Two builds of one package, and the layouts made of them.
    struct Bench {
        dir: tempfile::TempDir,
        adapter: Copier,
        builds: [Build; 2],
        interrupted: AtomicBool,
        placements: Placements,
        layouts: Layouts,
    }

    impl Bench {
        fn new() -> Bench {
            let dir = tempfile::tempdir().unwrap();
            let builds = ["base", "head"].map(|name| {
                let program = dir.path().join(name);
                fs::write(&program, name).unwrap();
                let artifact =
                    Artifact { program, dir: dir.path().into(), digest: name.into(), build_args: Vec::new() };
                Build { artifacts: BTreeMap::from([("p".to_owned(), artifact)]), ..Build::default() }
            });
            let place = dir.path().join("copies");
            fs::create_dir(&place).unwrap();
            Bench {
                adapter: Copier {
                    asked: Mutex::default(),
                    by_plan: Mutex::default(),
                    pairs: PairLayouts::new(|_| Ok(())),
                    planner: "cp",
                    places_data: true,
                },
                builds,
                interrupted: AtomicBool::new(false),
                placements: Placements::new(&place),
                layouts: Layouts::default(),
                dir,
            }
        }

        fn with<T>(&mut self, act: impl FnOnce(&mut Layouts, &Linker<'_>, &mut Placements) -> T) -> T {
            let Bench { adapter, builds, interrupted, placements, layouts, .. } = self;
            act(layouts, &Linker { adapter, builds, at_once: 2, interrupted }, placements)
        }

        fn provide(&mut self, build: u32) -> Result<(), RunError> {
            self.with(|layouts, linker, placements| {
                layouts.provide(&[needed(build)], &[needed(build + 1)], linker, placements)
            })
        }

        fn foresee(&mut self, build: u32) {
            self.layouts.foresee(&[needed(build)], &self.builds);
        }

        /// Links beside a trial of this mode, as far as that may be.
        fn beside(&mut self, mode: Mode) {
            self.with(|layouts, linker, placements| layouts.beside(mode, linker, placements)).unwrap();
        }

        /// Goes on until nothing is left to link.
        fn go_on(&mut self) {
            while !self.layouts.foreseen.is_empty() {
                self.beside(Mode::InterleavedOneCore);
            }
        }

        fn contents(&self, build: u32) -> [String; 2] {
            Role::BOTH.map(|role| fs::read_to_string(self.layouts.program(role, "p", build)).unwrap_or_default())
        }

        /// With a plan, by which `planner` links, and of which `check` says whether it was kept.
        fn planned(planner: &'static str, check: CheckAlike) -> Bench {
            let mut bench = Bench::new();
            bench.adapter.pairs = PairLayouts::new(check);
            bench.adapter.planner = planner;
            bench.adapter.pairs.decide("p", Ok(PathBuf::from("plan")));
            bench
        }

        /// The seeds that programs were linked by, and whether by a plan.
        fn links(&self) -> Vec<(u32, bool)> {
            let asked = self.adapter.asked.lock().unwrap();
            asked.iter().map(|(seed, _)| *seed).zip(self.adapter.by_plan.lock().unwrap().iter().copied()).collect()
        }

        /// Why the package has no layouts that are alike.
        fn reason(&self) -> Option<String> {
            self.adapter.pairs.used().random.remove("p")
        }

        fn files(&self) -> usize {
            fs::read_dir(self.dir.path().join("copies")).unwrap().count()
        }
    }

    fn needed(build: u32) -> Needed {
        Needed { package: "p".into(), build, layout_seeds: [2 * build, 2 * build + 1] }
    }

    #[test]
    fn what_was_foreseen_is_linked_once_beside_the_trials() {
        let mut bench = Bench::new();
        bench.provide(0).unwrap();
        bench.foresee(1);
        bench.beside(Mode::InterleavedOneCore);
        assert_eq!(bench.layouts.underway.len(), 1, "one at a time");
        assert_eq!(bench.contents(0), ["base", "head"], "still in use");
        // The next suite run of the same build pair.
        bench.provide(0).unwrap();
        bench.foresee(1);
        assert!(!bench.layouts.underway.is_empty(), "it goes on");
        bench.go_on();
        bench.provide(0).unwrap();
        bench.foresee(1);
        assert_eq!(bench.layouts.underway.len(), 2, "neither waited for nor given up");
        bench.provide(1).unwrap();
        assert_eq!(bench.contents(1), ["base", "head"]);
        assert_eq!(bench.files(), 2, "the former build pair is gone");
        let (now, later) = (Urgency::Now, Urgency::Later);
        assert_eq!(*bench.adapter.asked.lock().unwrap(), [(0, now), (1, now), (2, later), (3, later)]);
    }

    #[test]
    fn halves_that_are_not_to_be_alike_follow_the_plan_by_seeds_of_their_own() {
        let mut bench = Bench::planned("cp", |_| Err("nobody asks".into()));
        bench.adapter.pairs.decide_unlike("p", PathBuf::from("plan"), "asked for");
        bench.provide(3).unwrap();
        assert_eq!(bench.links(), [(6, true), (7, true)]);
        assert_eq!(bench.reason().as_deref(), Some("asked for"));
    }

    #[test]
    fn nothing_is_linked_beside_a_benchmark_that_uses_all_cores() {
        let mut bench = Bench::new();
        bench.foresee(0);
        bench.beside(Mode::InterleavedOneCore);
        assert_eq!(bench.layouts.underway.len(), 1);
        bench.beside(Mode::InterleavedAllCores);
        assert_eq!((bench.layouts.underway.len(), bench.contents(0)), (0, ["base".to_owned(), String::new()]));
        bench.beside(Mode::InterleavedOneCore);
        assert_eq!(bench.layouts.underway.len(), 1, "the other half is linked after it");
    }

    #[test]
    fn what_was_not_begun_in_time_is_linked_when_it_is_needed() {
        let mut bench = Bench::new();
        bench.foresee(0);
        bench.beside(Mode::InterleavedOneCore);
        bench.provide(0).unwrap();
        assert_eq!(bench.contents(0), ["base", "head"]);
        assert_eq!(*bench.adapter.asked.lock().unwrap(), [(0, Urgency::Later), (1, Urgency::Now)]);
    }

    #[test]
    fn what_was_foreseen_for_nothing_is_given_up() {
        let mut bench = Bench::new();
        bench.foresee(0);
        bench.beside(Mode::InterleavedOneCore);
        bench.provide(1).unwrap();
        assert_eq!(bench.contents(1), ["base", "head"]);
        assert_eq!((bench.contents(0), bench.layouts.underway.len()), ([String::new(), String::new()], 0));
        assert_eq!(bench.files(), 2);
    }

    #[test]
    fn halves_that_follow_a_plan_are_linked_by_the_same_seed() {
        let mut bench = Bench::planned("cp", |_| Ok(()));
        bench.provide(1).unwrap();
        bench.provide(1).unwrap();
        bench.foresee(2);
        bench.go_on();
        bench.provide(2).unwrap();
        assert_eq!(bench.links(), [(2, true), (2, true), (4, true), (4, true)]);
        assert_eq!((bench.reason(), bench.files()), (None, 2));
    }

    #[test]
    fn halves_that_are_not_alike_are_linked_again_each_by_a_seed_of_its_own() {
        for places_data in [true, false] {
            let mut bench = Bench::planned("cp", |programs| {
                assert!(programs.iter().all(|program| program.exists()));
                Err("`f` lies elsewhere".into())
            });
            bench.adapter.places_data = places_data;
            bench.provide(1).unwrap();
            assert_eq!(bench.contents(1), ["base", "head"]);
            bench.provide(2).unwrap();
            let alone = [2, 3, 4, 5].map(|seed| (seed, places_data));
            assert_eq!(bench.links(), [&[(2, true), (2, true)], &alone[..]].concat(), "by a plan that draws data too");
            assert_eq!((bench.reason().as_deref(), bench.files()), (Some("`f` lies elsewhere"), 2));
        }
    }

    #[test]
    fn what_cannot_be_linked_by_its_plan_is_linked_without() {
        let mut bench = Bench::planned("false", |_| panic!("there is nothing to compare"));
        bench.provide(0).unwrap();
        assert_eq!(bench.contents(0), ["base", "head"]);
        assert_eq!(bench.links()[2..], [(0, false), (1, false)]);
        assert!(bench.reason().unwrap().contains("false"));
    }

    #[test]
    fn a_failure_counts_where_the_program_is_needed() {
        let mut bench = Bench::new();
        fs::remove_file(bench.dir.path().join("head")).unwrap();
        bench.foresee(0);
        bench.go_on();
        bench.beside(Mode::InterleavedAllCores);
        let error = bench.provide(0).unwrap_err().to_string();
        assert!(error.contains("cp"), "{error}");
        bench.interrupted = AtomicBool::new(true);
        assert!(matches!(bench.provide(1), Err(RunError::Interrupted)));
    }
}
