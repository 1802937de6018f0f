//! `duet init`: it writes for each kind of repository, says what it wrote, and touches nothing that is there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use yaml_rust2::{Yaml, YamlLoader};

use crate::common::{Place, Ran};

const WORKFLOW: &str = ".github/workflows/duet.yml";
const PUBLISH: &str = ".github/workflows/duet-publish.yml";

fn repository(sign: &str) -> Place {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write(sign, "module example.com/m\n\ngo 1.21\n");
    place
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn yaml(place: &Place, name: &str) -> Yaml {
    YamlLoader::load_from_str(&read(place, name)).unwrap().remove(0)
}

/// The actions of a workflow's only job, without their versions. Those of others are pinned to commits.
fn actions(workflow: &Yaml) -> Vec<String> {
    let jobs = workflow["jobs"].as_hash().unwrap();
    let steps = jobs.values().next().unwrap()["steps"].as_vec().unwrap();
    let action = |step: &Yaml| {
        let (name, version) = step["uses"].as_str().unwrap().split_once('@').unwrap();
        let is_commit = version.len() == 40 && version.chars().all(|c| c.is_ascii_hexdigit());
        assert!(is_commit || name.starts_with("duetbench/"), "{name}@{version}");
        name.to_owned()
    };
    steps.iter().map(action).collect()
}

fn guide(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).unwrap()
}

#[test]
fn a_go_module_gets_the_files_that_the_guide_shows() {
    let place = repository("go.mod");
    let out = place.duet(&["init"]).expect(0).stdout;
    for said in
        ["found    a Go module (`go.mod`)\n", "written  duet.toml\n", "written  .gitignore\n", "next: `duet list`"]
    {
        assert!(out.contains(said), "`{said}` is not in\n{out}");
    }
    place.duet(&["config", "check"]).expect(0);
    assert_eq!(read(&place, ".gitignore"), ".duet/\nduet-report/\nduet-report.html\n");
    let measured = actions(&yaml(&place, WORKFLOW));
    assert_eq!(measured, ["actions/checkout", "actions/setup-go", "duetbench/duetbench", "actions/upload-artifact"]);
    assert_eq!(actions(&yaml(&place, PUBLISH)), ["actions/download-artifact", "duetbench/duetbench/publish"]);
    for (name, page) in [(WORKFLOW, "add-duet-to-your-repository.md"), (PUBLISH, "pull-requests-from-forks.md")] {
        // The guide is of a release, which has a commit.
        let shown = guide(page).replace("@COMMIT  # the commit of a release", "@main");
        assert!(shown.contains(&format!("```yaml\n{}```", read(&place, name))), "{page} shows another {name}");
    }
}

#[test]
fn a_maven_project_gets_java() {
    let place = repository("pom.xml");
    assert!(place.duet(&["init"]).expect(0).stdout.contains("a Maven project (`pom.xml`)"));
    place.duet(&["config", "check"]).expect(0);
    assert_eq!(actions(&yaml(&place, WORKFLOW))[1], "actions/setup-java");
}

#[test]
fn a_folder_with_nothing_to_measure_gets_nothing() {
    let place = Place::new();
    place.duet(&["init"]).expect(2).says(&["`go.mod`, `Cargo.toml`, `pom.xml`", "duet init --command"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_command_is_written_as_it_was_typed() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    let typed = r#"sh -c 'exit $((1-1)) # "x"'"#;
    place.duet(&["init", "--command", typed]).expect(0);
    place.duet(&["config", "check"]).expect(0);
    let settings: toml::Table = toml::from_str(&read(&place, "duet.toml")).unwrap();
    assert_eq!(settings["command"][0]["command"].as_str(), Some(typed));
    assert!(place.duet(&["list"]).expect(0).stdout.contains("program"));
    assert_eq!(actions(&yaml(&place, WORKFLOW)).len(), 3);
    // The settings then say what is measured.
    assert!(place.duet(&["init"]).expect(0).stdout.contains("found    commands (`duet.toml`)"));
}

#[test]
fn what_is_there_stays_unless_told_otherwise() {
    let place = repository("go.mod");
    place
        .write("duet.toml", "threshold = '5%'\n")
        .write(".gitignore", "/bin\nduet-report/")
        .write(WORKFLOW, "theirs\n");
    let out = place.duet(&["init"]).expect(0).stdout;
    for said in ["kept     duet.toml\n", "extended .gitignore\n", "kept     .github/workflows/duet.yml\n"] {
        assert!(out.contains(said), "`{said}` is not in\n{out}");
    }
    assert_eq!((read(&place, "duet.toml"), read(&place, WORKFLOW)), ("threshold = '5%'\n".into(), "theirs\n".into()));
    assert_eq!(read(&place, ".gitignore"), "/bin\nduet-report/\n.duet/\nduet-report.html\n");
    assert!(place.duet(&["init", "--force"]).expect(0).stdout.contains("replaced .github/workflows/duet.yml\n"));
    assert_eq!(actions(&yaml(&place, WORKFLOW)).len(), 4);
    assert_eq!(read(&place, ".gitignore"), "/bin\nduet-report/\n.duet/\nduet-report.html\n", "nothing is added twice");
}

#[test]
fn gitlab_gets_a_job_and_keeps_its_pipeline() {
    let place = repository("go.mod");
    place.write(".gitlab-ci.yml", "theirs: {}\n");
    let out = place.duet(&["init", "--force"]).expect(0).stdout;
    assert!(
        out.contains("kept     .gitlab-ci.yml\n") && out.contains("add `include: [{ local: duet.gitlab-ci.yml }]`"),
        "{out}"
    );
    assert_eq!(read(&place, ".gitlab-ci.yml"), "theirs: {}\n");
    assert!(yaml(&place, "duet.gitlab-ci.yml")["duet"]["script"].as_vec().is_some());
    assert!(!place.path().join(".github").exists());

    for (manifest, image) in [("build.gradle", ":maven"), ("Cargo.toml", ":rust")] {
        let other = repository(manifest);
        other.duet(&["init", "--gitlab", "--github"]).expect(0);
        assert_eq!(yaml(&other, ".gitlab-ci.yml")["include"][0]["local"].as_str(), Some("duet.gitlab-ci.yml"));
        assert!(yaml(&other, "duet.gitlab-ci.yml")["duet"]["image"].as_str().unwrap().ends_with(image), "{image}");
        assert!(other.path().join(WORKFLOW).exists());
        other.duet(&["config", "check"]).expect(0);
    }
}

#[test]
fn a_cargo_package_gets_a_lock_file_where_git_keeps_none() {
    let locks = |place: &Place, dir: &str| {
        let mut command = place.command(&["init", "--github", "--gitlab", "--force"]);
        Ran::from(command.current_dir(place.path().join(dir)).output().unwrap()).expect(0);
        let (workflow, job) = (yaml(place, WORKFLOW), yaml(place, "duet.gitlab-ci.yml"));
        let steps = workflow["jobs"]["duet"]["steps"].as_vec().unwrap();
        let step = steps.iter().position(|step| step["run"].as_str() == Some("cargo generate-lockfile"));
        let step = step.map(|at| {
            assert_eq!(steps[at + 1]["id"].as_str(), Some("duet"), "it comes just before");
            steps[at]["working-directory"].as_str().unwrap_or(".").to_owned()
        });
        let script: Vec<&str> = job["duet"]["script"].as_vec().unwrap().iter().flat_map(Yaml::as_str).take(2).collect();
        assert_eq!(script.contains(&"cargo generate-lockfile"), step.is_some(), "{script:?}");
        assert!(step.is_none() || dir.is_empty() || script[0].starts_with("cd "), "{script:?}");
        step
    };
    let place = repository("Cargo.toml");
    assert_eq!(locks(&place, ""), Some(".".into()));
    // As libraries often have it.
    place.write("Cargo.lock", "").write(".gitignore", "Cargo.lock\n").write("tools/a: b/Cargo.toml", "");
    assert_eq!(locks(&place, ""), Some(".".into()));
    assert_eq!(locks(&place, "tools/a: b"), Some("tools/a: b".into()));
    place.write(".gitignore", "");
    assert_eq!((locks(&place, ""), locks(&place, "tools/a: b")), (None, None));
}

#[test]
fn a_module_below_the_root_is_measured_where_it_lies() {
    let place = repository("tools/a: b/go.mod");
    let mut command = place.command(&["init", "--github", "--gitlab"]);
    command.current_dir(place.path().join("tools/a: b"));
    Ran::from(command.output().unwrap()).expect(0);
    let workflow = yaml(&place, WORKFLOW);
    let steps = workflow["jobs"]["duet"]["steps"].as_vec().unwrap();
    assert_eq!(steps[2]["with"]["working-directory"].as_str(), Some("tools/a: b"));
    assert_eq!(steps[3]["with"]["path"].as_str(), Some("tools/a: b/duet-report"));
    let job = &yaml(&place, "duet.gitlab-ci.yml")["duet"];
    assert_eq!(job["script"][0].as_str(), Some("cd 'tools/a: b'"));
    assert_eq!(job["artifacts"]["paths"][0].as_str(), Some("tools/a: b/duet-report"));
    assert!(
        place.path().join("tools/a: b/.gitignore").exists()
            && place.path().join("tools/a: b/duet.toml").exists()
            && !place.path().join("duet.toml").exists()
    );
}

#[test]
fn no_link_leads_out_of_the_repository() {
    let (place, outside) = (repository("go.mod"), Place::new());
    symlink(outside.path(), place.path().join(".github")).unwrap();
    place.duet(&["init"]).expect(2).says(&[".github/workflows/duet.yml", "a link leads out of the repository"]);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);

    let (place, outside) = (repository("go.mod"), Place::new());
    outside.write("precious", "threshold = '5%'\n");
    symlink(outside.path().join("precious"), place.path().join("duet.toml")).unwrap();
    place.duet(&["init", "--force"]).expect(0);
    assert_eq!(read(&outside, "precious"), "threshold = '5%'\n");
    assert!(read(&place, "duet.toml").contains("threshold = \"3%\""));

    let (place, outside) = (repository("go.mod"), Place::new());
    outside.write("precious", "theirs\n");
    symlink(outside.path().join("precious"), place.path().join(".gitignore")).unwrap();
    place.duet(&["init"]).expect(2).says(&[".gitignore", "a link leads out of the repository"]);
    assert_eq!(read(&outside, "precious"), "theirs\n");
}

#[test]
fn a_dry_run_prints_and_writes_nothing() {
    let place = repository("go.mod");
    let out = place.duet(&["init", "--dry-run"]).expect(0).stdout;
    assert!(
        out.contains("--- .gitignore (lines to add)\n.duet/\n") && out.contains("uses: duetbench/duetbench@"),
        "{out}"
    );
    let names = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<std::collections::BTreeSet<_>>().len(), 2, "`.git` and `go.mod`");
}
