//! Both halves of a build pair are laid out alike: linked by real toolchains, and looked at with Go's own `nm`.
//!
//! Other releases than the installed one come through the module proxy. A test whose toolchain is not to be had is listed as
//! ignored.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use duetbench_core::Role;
use duetbench_core::spec::{Arch, LayoutChoice};
use duetbench_run::adapter::go::{Go, GoArguments, Toolchain};
use duetbench_run::adapter::{
    Adapter, Artifact, Build, Conditions, Layout, PairLayouts, Relink, Shipping, Subject, Urgency,
};
use duetbench_run::source::{Source, VersionRequest};
use libtest_mimic::{Arguments, Failed, Trial};
use modules::{BASE, C_OF_BASE, C_OF_HEAD, HEAD, executable, published, write_module};

const PACKAGE: &str = "example.com/m";
/// A published module in two versions, with its dependencies.
const ZAP: &str = "go.uber.org/zap";
const OF_ZAP: [&str; 2] = ["v1.22.0", "v1.23.0"];
/// Releases with a linker that can be given an order, beside the installed one.
const RELEASES: [&str; 3] = ["go1.23.12", "go1.24.13", "go1.25.9"];

/// Does something with the toolchain at a place.
type Act = fn(&Path) -> Result<(), Failed>;

fn main() {
    let installed = root_of("local");
    let test = |name: &str, needs: &str, root: Option<PathBuf>, act: Act| {
        let absent = root.is_none();
        let run = move || root.as_deref().map_or(Ok(()), act);
        Trial::test(name.to_owned(), run).with_kind(format!("needs {needs}")).with_ignored_flag(absent)
    };
    let mut trials: Vec<Trial> = RELEASES
        .map(|release| test(&format!("{release}_lays_out_alike"), release, root_of(release), lays_out_alike))
        .into();
    let zap_is_here = published_zap().is_some();
    for release in ["local"].into_iter().chain(RELEASES) {
        let root = root_of(release).filter(|_| zap_is_here);
        let name = format!("zap_is_laid_out_alike_by_{}", release.replace("local", "the_installed_go"));
        trials.push(test(&name, "the toolchain and go.uber.org/zap", root, lays_out_zap_alike));
    }
    let with_installed: [(&str, Act); 14] = [
        ("the_installed_go_lays_out_alike", lays_out_alike),
        ("random_layouts_are_drawn_by_a_plan_too", random_ones_have_a_plan),
        ("programs_for_a_fleet_have_their_data_elsewhere_each_time", fleet_draws_data),
        ("c_code_in_one_version_alone_moves_nothing", c_code_moves_nothing),
        ("programs_with_c_are_laid_out_alike", linked_by_the_system),
        ("programs_for_arm64_are_laid_out_alike", lays_out_alike_for_arm64),
        ("the_first_link_is_what_go_makes_itself", first_link_is_gos),
        ("a_link_by_a_plan_is_not_taken_from_a_cache", link_is_not_stale),
        ("a_recorded_link_makes_what_the_go_command_makes", record_is_followed),
        ("what_was_saved_since_is_in_no_link", saved_since_is_not_linked),
        ("flags_for_the_linker_in_goflags_are_kept", goflags_are_kept),
        ("another_plan_for_one_half_is_noticed", other_plan_is_noticed),
        ("where_our_linker_does_not_work_gos_own_links", linker_is_refused),
        ("the_users_toolexec_is_called_as_ever", toolexec_is_called),
    ];
    trials.extend(with_installed.map(|(name, act)| test(name, "go", installed.clone(), act)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Where a toolchain lies, fetched where it has to be.
fn root_of(toolchain: &str) -> Option<PathBuf> {
    let output = Command::new("go").args(["env", "GOROOT"]).env("GOTOOLCHAIN", toolchain).output().ok()?;
    let root = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    output.status.success().then_some(root).filter(|root| root.join("bin/go").exists())
}

/// Where both versions of zap lie, fetched where they have to be.
fn published_zap() -> Option<[PathBuf; 2]> {
    let [old, new] = OF_ZAP.map(|version| published(&format!("{ZAP}@{version}")));
    Some([old?, new?])
}

/// Two versions of a module, built.
struct Pair {
    go: Go,
    /// The package whose programs are linked.
    package: &'static str,
    builds: [Build; 2],
    dir: tempfile::TempDir,
}

/// Options for building the two programs.
#[derive(Default)]
struct How {
    /// For the go command.
    flags: Vec<String>,
    /// Runs in place of the go command, which is its first argument.
    instead: Option<&'static str>,
    /// Whatever runs in its place is to set them.
    goflags: &'static str,
    layouts: Option<LayoutChoice>,
    /// Head imports this package too.
    import: Option<&'static str>,
}

fn matched() -> How {
    How { layouts: Some(LayoutChoice::Matched), ..How::default() }
}

impl Pair {
    /// The small module of these tests.
    fn new(root: &Path, how: How) -> Pair {
        let import = how.import;
        Pair::of(PACKAGE, root, how, &mut |role, module| {
            write_module(module, if role == Role::Baseline { BASE } else { HEAD });
            if let Some(import) = import.filter(|_| role == Role::Candidate) {
                fs::write(module.join("more.go"), format!("package m\n\nimport _ \"{import}\"\n")).unwrap();
            }
        })
    }

    /// A package in two versions, whose files are written by `write`.
    fn of(package: &'static str, root: &Path, how: How, write: &mut dyn FnMut(Role, &Path)) -> Pair {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        // Go 1.25 and later refuse overlays of files in the module cache, where toolchains lie that were fetched.
        let seen = place("goroot");
        std::os::unix::fs::symlink(root, &seen).unwrap();
        let go = how.instead.map_or(seen.join("bin/go"), |script| executable(&place("go"), script));
        let version = fs::read_to_string(root.join("VERSION")).unwrap().lines().next().unwrap().to_owned();
        let toolchain = Toolchain { go, root: seen, version, flags: how.goflags.to_owned(), native: Vec::new() };
        let arguments = GoArguments { build: how.flags, ..GoArguments::default() };
        let conditions = Conditions {
            timeout: Duration::from_secs(60),
            pass_env: &[],
            layouts: how.layouts,
            reach: false,
            selection: None,
            sandbox: None,
        };
        fs::create_dir(place("scratch")).unwrap();
        let mut go = Go::new(toolchain, arguments, &place("scratch"), conditions).unwrap();
        go.prepare_layouts(&mut || {});
        let builds = [Role::Baseline, Role::Candidate].map(|role| {
            let module = place(role.word());
            write(role, &module);
            let request = VersionRequest::Directory { typed: "m".into(), path: module };
            let source = Source::resolve(&request, Path::new("/"), &place("scratch"), &[]).unwrap();
            go.build(&source, &[".".to_owned()], Subject { role, version: "m" }).unwrap().build
        });
        go.decide_layouts([&builds[0], &builds[1]]);
        Pair { go, package, builds, dir }
    }

    fn artifact(&self, side: usize) -> &Artifact {
        &self.builds[side].artifacts[self.package]
    }

    fn layouts(&self) -> &PairLayouts {
        self.go.pair_layouts().unwrap()
    }

    fn plan(&self) -> PathBuf {
        self.layouts().plan(self.package).unwrap_or_else(|| panic!("{:?}", self.layouts().used())).file
    }

    /// One half, linked again.
    fn link(&self, side: usize, layout: Layout<'_>, name: &str) -> Result<PathBuf, String> {
        let program = self.dir.path().join(format!("{name}-{side}"));
        let wanted = Relink { layout, program: &program, urgency: Urgency::Now };
        let relinking = self.go.relink(self.artifact(side), wanted).map_err(|e| e.to_string())?;
        relinking.finish().map_err(|e| e.to_string())
    }

    /// The baseline as it is sent to a fleet.
    fn ship(&self, layout_seed: Option<u32>) -> Result<PathBuf, Failed> {
        let program = self.dir.path().join("shipped");
        self.go.ship(self.artifact(0), Shipping { arch: Arch::X86_64, layout_seed }, &program)?;
        Ok(program)
    }

    /// Both halves by the plan.
    fn link_alike(&self, seed: u32) -> [PathBuf; 2] {
        let plan = self.plan();
        [0, 1].map(|side| self.link(side, Layout::Planned { seed, plan: &plan }, &format!("alike-{seed}")).unwrap())
    }
}

/// Addresses by kind (`T` code, `D` what can be written) and name.
type Symbols = BTreeMap<(char, String), Vec<u64>>;

/// A name with # in place of every number: the compiler counts closures and tables anew in every version, but not types.
fn unnumbered(name: &str) -> String {
    if name.starts_with("type:") || name.starts_with("go:") {
        return name.to_owned();
    }
    let mut shorter = name.replace(|c: char| c.is_ascii_digit(), "#");
    while shorter.contains("##") {
        shorter = shorter.replace("##", "#");
    }
    shorter
}

/// The symbols of a program, as Go's own tool tells them.
fn symbols(program: &Path) -> Symbols {
    let output = Command::new("go").args(["tool", "nm"]).arg(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut symbols = Symbols::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.trim_start().splitn(3, ' ');
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
        let Ok(address) = u64::from_str_radix(address, 16) else { continue };
        let kind = match kind {
            "T" | "t" => 'T',
            "D" | "d" | "B" | "b" => 'D',
            _ => continue,
        };
        symbols.entry((kind, unnumbered(name))).or_default().push(address);
    }
    symbols.values_mut().for_each(|addresses| addresses.sort_unstable());
    symbols
}

/// The number of names of one kind that both programs have, and those of them that are elsewhere.
fn compare([a, b]: &[Symbols; 2], kind: char) -> (usize, Vec<String>) {
    let both: Vec<_> =
        a.iter().filter(|((k, _), _)| *k == kind).filter_map(|(key, at)| Some((key, at, b.get(key)?))).collect();
    let within = |a: &[u64], b: &[u64]| a.iter().all(|at| b.contains(at));
    let elsewhere = both.iter().filter(|(_, at, other)| !within(at, other) && !within(other, at));
    let elsewhere = elsewhere.map(|((_, name), ..)| name.clone());
    (both.len(), elsewhere.collect())
}

/// Asserts that whatever both programs have lies at the same address in both.
fn common_lie_alike(programs: &[PathBuf; 2]) -> [Symbols; 2] {
    let sides = [symbols(&programs[0]), symbols(&programs[1])];
    assert_common_lie_alike(&sides);
    sides
}

fn assert_common_lie_alike(sides: &[Symbols; 2]) {
    let (functions, elsewhere) = compare(sides, 'T');
    assert!(functions > 2000 && elsewhere.is_empty(), "{} of {functions}: {:?}", elsewhere.len(), elsewhere.first());
    let (variables, elsewhere) = compare(sides, 'D');
    assert!(variables > 500 && elsewhere.is_empty(), "{} of {variables}: {:?}", elsewhere.len(), elsewhere.first());
}

fn alike(programs: &[PathBuf; 2]) -> [Symbols; 2] {
    let sides = common_lie_alike(programs);
    let at = |side: usize, name: &str| &sides[side][&('T', format!("{PACKAGE}{name}"))];
    assert_eq!(at(0, ".(*parser).value"), at(1, "/q.(*Parser).Value"), "a function that moved");
    assert_eq!(at(0, ".name"), at(1, ".title"), "a function with another name");
    let [old, new] = programs.each_ref().map(|program| code(program, "Look"));
    assert!(old.contains("look.go") && old == new, "it has its table and its closure where it had them: {old}\n{new}");
    sides
}

/// A function's instructions, with all the addresses in them.
fn code(program: &Path, function: &str) -> String {
    let pattern = format!("^{PACKAGE}\\.{function}$");
    let output = Command::new("go").args(["tool", "objdump", "-s", &pattern]).arg(program).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// Names of functions in the order of their addresses.
fn order(symbols: &Symbols) -> Vec<&str> {
    let mut functions: Vec<(u64, &str)> =
        symbols.iter().filter(|((kind, _), _)| *kind == 'T').map(|((_, name), at)| (at[0], name.as_str())).collect();
    functions.sort_unstable();
    functions.into_iter().map(|(_, name)| name).collect()
}

/// Packages of functions in their order, each once for a stretch of its functions.
fn packages<'a>(functions: &[&'a str]) -> Vec<&'a str> {
    let package = |name: &'a str| {
        let path = name.split('[').next().unwrap_or(name);
        let last = path.rfind('/').map_or(0, |at| at + 1);
        path[last..].find('.').map_or(path, |dot| &path[..last + dot])
    };
    let mut stretches: Vec<&str> = functions.iter().map(|name| package(name)).collect();
    stretches.dedup();
    stretches
}

fn runs(pair: &Pair, side: usize, program: &Path) {
    let args = ["-test.run=^$", "-test.bench=.", "-test.benchtime=1x"];
    let output = Command::new(program).args(args).current_dir(&pair.artifact(side).dir).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Package net comes with C code where there is a C compiler, which Go's linker puts in front of all else.
fn c_code_moves_nothing(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, How { import: Some("net"), ..matched() });
    let programs = pair.link_alike(7);
    pair.layouts().check([&programs[0], &programs[1]])?;
    (0..2).for_each(|side| runs(&pair, side, &programs[side]));
    Ok(())
}

/// The system's linker puts sections wherever it likes, but not at other places in a page.
fn linked_by_the_system(root: &Path) -> Result<(), Failed> {
    let pair = Pair::of(PACKAGE, root, matched(), &mut |role, module| {
        write_module(module, if role == Role::Baseline { BASE } else { HEAD });
        fs::write(module.join("c.go"), if role == Role::Baseline { C_OF_BASE } else { C_OF_HEAD }).unwrap();
    });
    for seed in [7, 9] {
        let programs = pair.link_alike(seed);
        pair.layouts().check([&programs[0], &programs[1]])?;
        (0..2).for_each(|side| runs(&pair, side, &programs[side]));
        let mut sides = [symbols(&programs[0]), symbols(&programs[1])];
        // Code that starts the program, and C code that is seldom run, lies in front.
        let is_gos = |name: &str| name.contains(['.', ':']) && !name.ends_with(".cold");
        sides.iter_mut().for_each(|side| side.retain(|(_, name), _| is_gos(name)));
        let data = sides.iter_mut().flatten().filter(|((kind, _), _)| *kind == 'D');
        data.flat_map(|(_, addresses)| addresses).for_each(|address| *address %= 4096);
        assert_common_lie_alike(&sides);
    }
    Ok(())
}

fn lays_out_alike(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, matched());
    let seeds = [7, 9].map(|seed| {
        let programs = pair.link_alike(seed);
        pair.layouts().check([&programs[0], &programs[1]]).unwrap();
        (0..2).for_each(|side| runs(&pair, side, &programs[side]));
        alike(&programs)
    });
    let orders = seeds.each_ref().map(|sides| packages(&order(&sides[0])));
    assert_ne!(orders[0], orders[1], "packages are shuffled");
    assert!(
        orders.iter().all(|order| order.iter().collect::<BTreeSet<_>>().len() > order.len() / 2),
        "{:?}",
        orders[0]
    );
    let (functions, elsewhere) = compare(&seeds.each_ref().map(|sides| sides[0].clone()), 'T');
    assert!(elsewhere.len() > functions * 9 / 10, "{} of {functions}", elsewhere.len());
    let data = seeds.each_ref().map(|sides| &sides[0][&('D', format!("{PACKAGE}.table"))]);
    assert_ne!(data[0], data[1], "data begin elsewhere with another seed");
    // By orders of their own, hardly any function is at the same address, be they Go's or the plan's, which draws data too.
    let plan = pair.plan();
    let by_go = [0, 1].map(|side| pair.link(side, Layout::Random(7), "random").unwrap());
    let by_plan =
        [7, 8].map(|seed| pair.link(0, Layout::Planned { seed, plan: &plan }, &format!("own-{seed}")).unwrap());
    for apart in [by_go, by_plan.clone()] {
        let (functions, elsewhere) = compare(&[symbols(&apart[0]), symbols(&apart[1])], 'T');
        assert!(elsewhere.len() > functions / 2, "{} of {functions}", elsewhere.len());
        assert!(pair.layouts().check([&apart[0], &apart[1]]).unwrap_err().contains("lie elsewhere"));
    }
    assert!(!compare(&[symbols(&by_plan[0]), symbols(&by_plan[1])], 'D').1.is_empty());
    Ok(())
}

fn random_ones_have_a_plan(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, How { layouts: Some(LayoutChoice::Random), ..How::default() });
    assert!(!pair.layouts().plan(PACKAGE).ok_or("there is none")?.alike);
    assert_eq!(pair.layouts().used().random[PACKAGE], "random layouts were asked for");
    // A program that is linked once and for all needs no plan, and no linker of ours.
    assert_eq!(Pair::new(root, How::default()).layouts().plan(PACKAGE), None);
    Ok(())
}

fn fleet_draws_data(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, How { layouts: Some(LayoutChoice::Random), ..How::default() });
    // Where read-only data lie in a page, as a string shows.
    let place = |seed| -> Result<usize, Failed> {
        let text = fs::read(pair.ship(seed)?)?;
        let found = text.windows(5).position(|bytes| bytes == b"%d-%s").ok_or("the string is not there")?;
        Ok(found % 4096)
    };
    let places = [Some(7), Some(8), Some(9)].map(place).into_iter().collect::<Result<BTreeSet<_>, _>>()?;
    assert!(places.len() > 1, "{places:?}");
    assert_eq!(place(Some(7))?, place(Some(7))?);
    Ok(())
}

fn lays_out_zap_alike(root: &Path) -> Result<(), Failed> {
    let [old, new] = published_zap().ok_or("zap was there a moment ago")?;
    let pair = Pair::of(ZAP, root, matched(), &mut |role, module| {
        modules::copy(if role == Role::Baseline { &old } else { &new }, module);
    });
    let programs = pair.link_alike(7);
    pair.layouts().check([&programs[0], &programs[1]])?;
    let sides = common_lie_alike(&programs);
    let of_zap = |side: &Symbols| side.keys().filter(|(kind, name)| *kind == 'T' && name.starts_with(ZAP)).count();
    assert!(sides.iter().all(|side| of_zap(side) > 500), "{:?}", sides.each_ref().map(of_zap));
    assert!(sides[0] != sides[1], "the versions differ");
    Ok(())
}

fn lays_out_alike_for_arm64(root: &Path) -> Result<(), Failed> {
    // Programs that run here while building are still built for this machine.
    let instead = "case $1 in test) GOARCH=arm64; export GOARCH ;; esac\nexec go \"$@\"";
    let pair = Pair::new(root, How { instead: Some(instead), ..matched() });
    let programs = pair.link_alike(7);
    assert_eq!(fs::read(&programs[0])?[18], 183, "for another processor");
    alike(&programs);
    Ok(())
}

fn first_link_is_gos(root: &Path) -> Result<(), Failed> {
    let digests = [matched(), How::default()].map(|how| {
        let pair = Pair::new(root, how);
        [0, 1].map(|side| pair.artifact(side).digest.clone())
    });
    assert_eq!(digests[0], digests[1]);
    Ok(())
}

fn link_is_not_stale(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, matched());
    let plan = pair.plan();
    let layouts = [Layout::Random(7), Layout::Planned { seed: 7, plan: &plan }];
    let programs = ["first", "again"].map(|name| {
        layouts
            .map(|layout| fs::read(pair.link(0, layout, &format!("{name}-{}", layout == layouts[0])).unwrap()).unwrap())
    });
    assert!(programs[0][0] != programs[0][1], "the plan is not among what go takes for the reason to link");
    assert!(programs[0] == programs[1], "the same order gives the same program");
    Ok(())
}

fn record_is_followed(root: &Path) -> Result<(), Failed> {
    // Flags of the user's that the linker must see in both ways.
    let flags = vec!["-ldflags=-X example.com/m.set=linked".to_owned()];
    let pair = Pair::new(root, How { flags, ..matched() });
    let plan = pair.plan();
    let links = |name: &str| {
        let layouts = [Layout::Planned { seed: 7, plan: &plan }, Layout::Random(7)];
        layouts.map(|layout| {
            let name = format!("{name}-{}", layout == layouts[0]);
            [0, 1].map(|side| symbols(&pair.link(side, layout, &name).unwrap()))
        })
    };
    let recorded = links("recorded");
    for side in [0, 1] {
        fs::remove_dir_all(pair.artifact(side).program.with_extension("link"))?;
    }
    assert_eq!(recorded, links("by-go"));
    Ok(())
}

fn saved_since_is_not_linked(root: &Path) -> Result<(), Failed> {
    for flags in [vec![], vec!["-buildmode=pie".to_owned()]] {
        let pair = Pair::new(root, How { flags, ..matched() });
        fs::write(pair.artifact(0).dir.join("saved.go"), "package m\n\nhalf a fun")?;
        let [one, other] = [7, 8].map(|seed| pair.link(0, Layout::Random(seed), &format!("random-{seed}")));
        let programs = [one?, other?];
        runs(&pair, 0, &programs[0]);
        let (functions, elsewhere) = compare(&programs.map(|program| symbols(&program)), 'T');
        assert!(elsewhere.len() > functions / 2, "{} of {functions}", elsewhere.len());
    }
    Ok(())
}

fn goflags_are_kept(root: &Path) -> Result<(), Failed> {
    let goflags = "-mod=mod '-ldflags=-X example.com/m.set=as-goflags-say'";
    let instead = "GOFLAGS=\"-mod=mod '-ldflags=-X example.com/m.set=as-goflags-say'\" exec go \"$@\"";
    let how = How { goflags, instead: Some(instead), ..How::default() };
    let pair = Pair::of(PACKAGE, root, how, &mut |_, module| {
        write_module(module, BASE);
        let test =
            "package m\n\nimport \"testing\"\n\nvar set = \"nothing\"\n\nfunc TestSet(t *testing.T) { t.Log(set) }\n";
        fs::write(module.join("set_test.go"), test).unwrap();
    });
    let says = |program: &Path| memchr::memmem::find(&fs::read(program).unwrap(), b"as-goflags-say").is_some();
    assert!(says(&pair.artifact(0).program), "the first link");
    assert!(says(&pair.link(0, Layout::Random(7), "random")?));
    assert!(says(&pair.ship(None)?), "for a fleet");
    Ok(())
}

fn other_plan_is_noticed(root: &Path) -> Result<(), Failed> {
    let pair = Pair::new(root, matched());
    let whole = pair.plan();
    pair.go.decide_layouts([&pair.builds[0], &pair.builds[0]]);
    let of_base_alone = pair.plan();
    assert_ne!(whole, of_base_alone);
    let base = pair.link(0, Layout::Planned { seed: 7, plan: &of_base_alone }, "other")?;
    let head = pair.link(1, Layout::Planned { seed: 7, plan: &whole }, "whole")?;
    let reason = pair.layouts().check([&base, &head]).unwrap_err();
    assert!(reason.contains("common functions lie elsewhere"), "{reason}");
    let file = fs::read(&whole)?;
    let cut = pair.dir.path().join("cut.plan");
    fs::write(&cut, &file[..file.len() - 1])?;
    let reason = pair.link(0, Layout::Planned { seed: 7, plan: &cut }, "cut").unwrap_err();
    assert!(reason.contains("cut short"), "{reason}");
    Ok(())
}

fn toolexec_is_called(root: &Path) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("log");
    let spy = format!(
        "shift\n[ \"$2\" = -V=full ] && version=version\nprintf '%s %s\\n' \"$1\" \"$version\" >> '{}'\nexec \"$@\"",
        log.display()
    );
    let spy = executable(&dir.path().join("my spy"), &spy);
    // Another set of flags, so that something is compiled anew.
    let flags = vec![format!("-toolexec='{}' word", spy.display()), "-gcflags=-N".to_owned()];
    let pair = Pair::new(root, How { flags, ..matched() });
    let first = fs::read_to_string(&log)?;
    pair.link_alike(7);
    let tools: BTreeSet<&str> = first.lines().collect();
    let has = |end: &str| tools.iter().any(|tool| tool.ends_with(end));
    assert!(has("/compile version") && has("/compile ") && has("/link version"), "{tools:?}");
    assert!(!has("/link "), "ours is called in its place: {tools:?}");
    let all = fs::read_to_string(&log)?;
    let ours = all.lines().filter(|tool| tool.contains("/linkers/go") && tool.ends_with(' ')).count();
    assert_eq!(ours, 4, "two first links and two by the plan: {all}");
    Ok(())
}

fn linker_is_refused(root: &Path) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let guard = "case $1 in */linkers/*) echo 'an unknown tool' >&2; exit 1 ;; esac\nexec \"$@\"";
    let guard = executable(&dir.path().join("guard"), guard);
    let flags = vec![format!("-toolexec={}", guard.display())];
    let pair = Pair::new(root, How { flags, ..matched() });
    let reason = pair.layouts().used().random.remove(PACKAGE).unwrap_or_default();
    assert!(reason.starts_with("duet's linker does not work here: ") && reason.contains("an unknown tool"), "{reason}");
    runs(&pair, 0, &pair.link(0, Layout::Random(7), "random")?);
    pair.ship(Some(7))?;
    Ok(())
}
