//! From a source tree to a jar with benchmarks, by the project's own build.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::path::{Component, Path, PathBuf};

use duetbench_core::spec::JmhSpec;

use super::jar;
use crate::adapter::Subject;
use crate::error::RunError;
use crate::source::Source;
use crate::tool::{Tool, words_of_build};
use crate::tree;

/// Folders that a build writes to.
const MADE: [&str; 3] = ["target", "build", "out"];
/// File that tells Maven how to build, into `target` beside it.
const MAVEN_FILES: [&str; 1] = ["pom.xml"];
/// Files that tell Gradle the same, into the others.
const GRADLE_FILES: [&str; 4] = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
/// Folders that tools keep for themselves.
const KEPT_BY_TOOLS: [&str; 3] = [".gradle", ".duet", "node_modules"];
/// Greatest depth below a version's directory at which a module with benchmarks, or another project, is looked for.
const DEPTH_MAX: usize = 6;

/// A version that was built.
pub(super) struct Made {
    /// The jar with its benchmarks.
    pub(super) jar: PathBuf,
    /// The directory that was built, in whichever copy.
    pub(super) dir: PathBuf,
    /// A note where it was built apart from the project around it.
    pub(super) note: Option<String>,
}

/// Builds a version and gives the jar with its benchmarks.
///
/// The user's checkout is left as it is: a tree that is not ours is copied first.
///
/// # Errors
/// When the version does not build (the build tool's words), or when there is not exactly one jar with benchmarks after it.
pub(super) fn build(source: &Source, spec: &JmhSpec, place: &Path, subject: Subject<'_>) -> Result<Made, RunError> {
    let tree = if source.is_ours() { source.tree.clone() } else { place.join("tree") };
    if !source.is_ours() {
        tree::copy(&source.tree, &tree, &is_source)?;
    }
    let dir = tree.join(source.dir.strip_prefix(&source.tree).unwrap_or(Path::new("")));
    let usual = || usual_command(&dir, &tree);
    let own = || Command { dir: dir.clone(), words: spec.build.clone() };
    let command = if spec.build.is_empty() { usual()? } else { own() };
    let (program, args) = command.words.split_first().ok_or_else(|| {
        RunError::toolchain("`build` in `[jmh]` is empty")
            .hint("as in `build = [\"mvn\", \"-q\", \"-DskipTests\", \"package\"]`, or leave it out")
    })?;
    let wrong = |output| RunError::Build { role: subject.role, version: subject.version.to_owned(), output };
    let output = Tool::new(program, args, &command.dir).output().map_err(|e| match e {
        // A script of the version's own: another version may have it.
        RunError::Start { source, .. } if program.contains('/') => wrong(format!("{program}: {source}")),
        e => RunError::toolchain(format!("{} (`{}`) cannot be built: {e}", subject.role.side(), subject.version))
            .hint("install the build tool, or set `build` in `[jmh]` of duet.toml"),
    })?;
    if !output.status.success() {
        return Err(wrong(words_of_build(&output)));
    }
    let jar = match &spec.jar {
        Some(name) => dir.join(name),
        None => find(&dir, subject, !spec.class_path.is_empty())?,
    };
    let note = (spec.build.is_empty() && is_apart(&dir, &tree)).then(|| {
        format!(
            "{} (`{}`) was built apart from other Maven projects of its tree: what it needs of those is what `mvn install` left last, for both versions, unless `build` in `[jmh]` of duet.toml makes it",
            subject.role.side(),
            subject.version
        )
    });
    Ok(Made { jar, dir, note })
}

/// A build command and the folder in which it is started.
struct Command {
    dir: PathBuf,
    words: Vec<String>,
}

/// The build command that fits the project's build file.
fn usual_command(dir: &Path, tree: &Path) -> Result<Command, RunError> {
    let has = |name: &str| dir.join(name).exists();
    if has("pom.xml") {
        return Ok(maven(dir, tree));
    }
    if !has("gradlew") && !GRADLE_FILES.into_iter().any(has) {
        return Err(RunError::nothing_to_measure(format!(
            "`{}` has neither a `pom.xml` nor a `build.gradle`",
            dir.display()
        ))
        .hint("name two jars, or set `build` and `jar` in `[jmh]` of duet.toml"));
    }
    // The wrapper of the project around it, which knows the release that it needs.
    let mut around = dir.ancestors().take_while(|folder| folder.starts_with(tree)).map(|folder| folder.join("gradlew"));
    let wrapper = around.find(|path| path.exists()).map(|path| path.display().to_string());
    let program = wrapper.unwrap_or_else(|| "gradle".into());
    let words = [&program, "-q", "--no-daemon", "jmhJar"].map(str::to_owned).into();
    Ok(Command { dir: dir.to_owned(), words })
}

/// Maven's command. A module is built from the project around it together with the modules that it needs: by itself Maven takes those
/// from where they were installed once, the same for both versions.
fn maven(dir: &Path, tree: &Path) -> Command {
    let root = maven_root(dir, maven_folders(tree));
    let wrapper = [&root, dir, tree].map(|folder| folder.join("mvnw")).into_iter().find(|path| path.exists());
    let program = wrapper.map_or_else(|| "mvn".into(), |path| path.display().to_string());
    let in_tree = |folder: &Path| folder.strip_prefix(tree).map(Path::to_owned).unwrap_or_default();
    let beside = || in_tree(&root).components().map(|_| Component::ParentDir).collect::<PathBuf>().join(in_tree(dir));
    let inside = dir.strip_prefix(&root).map_or_else(|_| beside(), Path::to_owned).display().to_string();
    let fixed = [&program, "-B", "-q", "-DskipTests", "package"];
    let module = ["-pl", &inside, "-am"];
    let module = module.iter().filter(|_| !inside.is_empty());
    Command { dir: root, words: fixed.iter().chain(module).map(|word| (*word).to_owned()).collect() }
}

/// The outermost of these folders whose Maven project has this one among its modules, or among theirs. It stands above it, or beside it.
fn maven_root(dir: &Path, mut folders: Vec<PathBuf>) -> PathBuf {
    folders.sort_by_key(|folder| (!dir.starts_with(folder), Reverse(folder.components().count())));
    let mut root = dir.to_owned();
    while let Some(at) = folders.iter().position(|folder| has_module(folder, &root)) {
        root = folders.remove(at);
    }
    root
}

/// Folders of a tree with a Maven project.
fn maven_folders(tree: &Path) -> Vec<PathBuf> {
    let mut poms = Vec::new();
    collect(tree, DEPTH_MAX, &mut poms, &|path| path.ends_with("pom.xml"));
    poms.iter().filter_map(|pom| pom.parent()).map(Path::to_owned).collect()
}

/// Whether a Maven project is built by itself though another one stands around it, or one that it names elsewhere in the tree.
fn is_apart(dir: &Path, tree: &Path) -> bool {
    if !dir.join("pom.xml").exists() {
        return false;
    }
    let (own, folders) = (pom_of(dir), maven_folders(tree));
    let names = |folder: &Path| {
        artifact_of(folder).is_some_and(|name| own.contains(&format!("<artifactId>{name}</artifactId>")))
    };
    let is_other =
        |folder: &PathBuf| folder != dir && (dir.starts_with(folder) || (!folder.starts_with(dir) && names(folder)));
    folders.iter().any(is_other) && maven_root(dir, folders) == dir
}

/// The text of a folder's Maven project that holds whatever is chosen: a module of a profile is there only where that is.
fn pom_of(folder: &Path) -> String {
    let pom = fs::read_to_string(folder.join("pom.xml")).unwrap_or_default();
    without(&without(&pom, ["<!--", "-->"]), ["<profiles>", "</profiles>"])
}

/// The name of a folder's Maven project.
fn artifact_of(folder: &Path) -> Option<String> {
    let own = without(&pom_of(folder), ["<parent>", "</parent>"]);
    Some(own.split("<artifactId>").nth(1)?.split("</artifactId>").next()?.trim().to_owned())
}

/// Whether a folder's Maven project names another folder as a module.
fn has_module(folder: &Path, module: &Path) -> bool {
    let pom = pom_of(folder);
    let named = pom.split("<module>").skip(1).filter_map(|rest| rest.split("</module>").next());
    named
        .map(|name| tree::without_parents(&folder.join(name.trim())))
        .any(|path| path == module || path == module.join("pom.xml"))
}

/// A text without the parts between such marks.
fn without(text: &str, [begin, end]: [&str; 2]) -> String {
    let mut parts = text.split(begin);
    let first = parts.next().unwrap_or_default();
    [first].into_iter().chain(parts.filter_map(|part| part.split_once(end)).map(|(_, rest)| rest)).collect()
}

/// The one jar below a directory that holds benchmarks: of several the one that also holds JMH, as what `java -jar` runs does.
fn find(dir: &Path, subject: Subject<'_>, has_class_path: bool) -> Result<PathBuf, RunError> {
    let mut jars = Vec::new();
    collect(dir, DEPTH_MAX, &mut jars, &|path| path.extension() == Some(OsStr::new("jar")));
    jars.sort();
    // A jar that cannot be read is a build's leftover and none of ours.
    let kinds = jars.into_iter().filter_map(|path| jar::kind(&path).ok().map(|kind| (path, kind)));
    let mut found: Vec<(PathBuf, jar::Kind)> = kinds.filter(|(_, kind)| kind.has_benchmarks).collect();
    // A checkout may hold jars of other builds. One without JMH is of use where `class_path` has that.
    let is_made = |path: &Path| path.ancestors().take_while(|folder| *folder != dir).any(is_written_by_a_build);
    if found.iter().any(|(path, kind)| is_made(path) && (kind.has_jmh || has_class_path)) {
        found.retain(|(path, _)| is_made(path));
    }
    if found.iter().any(|(_, kind)| kind.has_jmh) {
        found.retain(|(_, kind)| kind.has_jmh);
    }
    let version = format!("{} (`{}`)", subject.role.side(), subject.version);
    match &found[..] {
        [(only, _)] => Ok(only.clone()),
        [] => {
            let what = format!("{version} was built, but no jar of it holds JMH benchmarks");
            Err(RunError::nothing_to_measure(what).hint(
                "a jar made by the shade plugin or `jmhJar` holds them; `build` and `jar` in `[jmh]` of duet.toml choose \
                 what is built",
            ))
        }
        several => {
            let inside = |path: &PathBuf| path.strip_prefix(dir).unwrap_or(path).display().to_string();
            let names: Vec<String> = several.iter().map(|(path, _)| inside(path)).collect();
            let what = format!("{version} has benchmarks in several jars: {}", names.join(", "));
            Err(RunError::nothing_to_measure(what)
                .hint("choose one with `jar` in `[jmh]` of duet.toml, or run duet in the module's folder"))
        }
    }
}

/// Files below a folder that are wanted; links are not followed.
fn collect(dir: &Path, depth: usize, found: &mut Vec<PathBuf>, is_wanted: &dyn Fn(&Path) -> bool) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, is_dir) = (entry.path(), entry.file_type().is_ok_and(|t| t.is_dir()));
        if is_dir && depth > 0 && entry.file_name() != ".git" {
            collect(&path, depth - 1, found, is_wanted);
        } else if !is_dir && is_wanted(&path) {
            found.push(path);
        }
    }
}

/// Whether a folder is one that a build writes, which stands beside the build's file.
fn is_written_by_a_build(folder: &Path) -> bool {
    let beside = |files: &[&str]| files.iter().any(|file| folder.with_file_name(file).exists());
    match MADE.iter().position(|made| folder.file_name().is_some_and(|name| name == *made)) {
        Some(0) => beside(&MAVEN_FILES),
        Some(_) => beside(&GRADLE_FILES),
        None => false,
    }
}

/// Whether a folder of a tree may hold sources: it is none that tools keep or mark as a cache, as Cargo does, and none that a build
/// writes. A package of a language may have any name.
fn is_source(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    !is_written_by_a_build(&folder.path())
        && !tree::is_cache(&folder.path())
        && !KEPT_BY_TOOLS.iter().any(|kept| name == *kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_built_from_its_project_with_what_it_needs() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path();
        let dir = tree.join("jvm/benchmarks");
        fs::create_dir_all(&dir).unwrap();
        let write = |path: &str, text: &str| fs::write(tree.join(path), text).unwrap();
        let command = || {
            let Command { dir, words } = usual_command(&dir, tree).unwrap();
            (dir.strip_prefix(tree).unwrap().to_owned(), words.join(" ").replace(&tree.display().to_string(), "TREE"))
        };
        let alone = ("jvm/benchmarks".into(), "mvn -B -q -DskipTests package".to_owned());
        write("jvm/benchmarks/pom.xml", "<project/>");
        assert_eq!(command(), alone);
        // A project that stands above and does not name it has nothing to do with it.
        write("jvm/pom.xml", "<modules><module>core</module></modules>");
        assert_eq!(command(), alone);
        for hidden in [
            "<!-- <modules><module>benchmarks</module></modules> -->",
            "<profiles><module>benchmarks</module></profiles>",
        ] {
            write("jvm/pom.xml", hidden);
            assert_eq!(command(), alone);
        }
        write("jvm/pom.xml", "<modules><module>core</module>\n<module> benchmarks/ </module></modules>");
        assert_eq!(command(), ("jvm".into(), "mvn -B -q -DskipTests package -pl benchmarks -am".to_owned()));
        write("pom.xml", "<modules><module>jvm</module></modules>");
        write("mvnw", "");
        let words = "TREE/mvnw -B -q -DskipTests package -pl jvm/benchmarks -am".to_owned();
        assert_eq!(command(), (PathBuf::new(), words));
    }

    #[test]
    fn a_module_beside_its_project_is_built_from_there() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path();
        let dir = tree.join("jvm/benchmarks");
        let write = |path: &str, text: &str| {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), text).unwrap();
        };
        let artifact =
            |name: &str| format!("<parent><artifactId>all</artifactId></parent><artifactId>{name}</artifactId>");
        write(
            "jvm/benchmarks/pom.xml",
            &(artifact("benchmarks") + "<dependencies><artifactId>core</artifactId></dependencies>"),
        );
        write("other/pom.xml", &artifact("other"));
        assert!(!is_apart(&dir, tree), "projects that have nothing to do with each other");
        write("core/pom.xml", &artifact("core"));
        assert!(is_apart(&dir, tree), "another project of the tree is needed");
        write("parent/pom.xml", "<modules><module>../core</module><module>../jvm/./benchmarks</module></modules>");
        assert!(!is_apart(&dir, tree));
        let Command { dir: from, words } = usual_command(&dir, tree).unwrap();
        assert_eq!(from, tree.join("parent"));
        assert_eq!(words.join(" "), "mvn -B -q -DskipTests package -pl ../jvm/benchmarks -am");
    }

    #[test]
    fn a_gradle_project_is_built_by_the_wrapper_of_the_one_around_it() {
        let place = tempfile::tempdir().unwrap();
        let (tree, dir) = (place.path().join("tree"), place.path().join("tree/benchmarks"));
        fs::create_dir_all(&dir).unwrap();
        let words = |dir: &Path| {
            let words = usual_command(dir, &tree).map(|command| command.words.join(" "));
            words.map(|words| words.replace(&tree.display().to_string(), "TREE")).ok()
        };
        fs::write(place.path().join("gradlew"), "").unwrap();
        assert_eq!(words(&dir), None);
        fs::write(dir.join("build.gradle.kts"), "").unwrap();
        assert_eq!(
            words(&dir).unwrap(),
            "gradle -q --no-daemon jmhJar",
            "a wrapper outside of the tree is another project's"
        );
        fs::write(tree.join("settings.gradle.kts"), "").unwrap();
        fs::write(tree.join("gradlew"), "").unwrap();
        for dir in [&tree, &dir] {
            assert_eq!(words(dir).unwrap(), "TREE/gradlew -q --no-daemon jmhJar");
        }
    }

    #[test]
    fn a_package_may_be_called_what_builds_call_their_folders() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path();
        let sources = "core/src/main/java/org/x";
        let folders = [
            "target",
            "core/build",
            ".gradle",
            "native/target",
            &format!("{sources}/build"),
            &format!("{sources}/target"),
        ];
        folders.iter().for_each(|folder| fs::create_dir_all(tree.join(folder)).unwrap());
        for file in ["pom.xml", "core/build.gradle", "native/target/CACHEDIR.TAG"] {
            fs::write(tree.join(file), "").unwrap();
        }
        let entry = |path: &str| {
            let path = tree.join(path);
            let beside = fs::read_dir(path.parent().unwrap()).unwrap();
            beside.flatten().find(|entry| entry.path() == path).unwrap()
        };
        assert_eq!(folders.map(|folder| is_source(&entry(folder))), [false, false, false, false, true, true]);
    }
}
