//! Carries out a workflow as GitHub would: steps in order, actions of ours from their own files, inputs and outputs by
//! expressions. What GitHub's own actions bring is there already, or copied.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

/// A machine that carries out steps in one directory.
pub struct Runner {
    /// Where the project lies.
    pub workspace: PathBuf,
    /// Values that expressions may name: `github.token`, `steps.duet.outputs.folder`.
    pub context: BTreeMap<String, String>,
    /// Environment variables of all commands.
    pub variables: Vec<(String, String)>,
    /// Inputs of our actions that the page leaves out.
    pub inputs: Vec<(String, String)>,
    /// Where artifacts are kept between workflows.
    pub artifacts: PathBuf,
    /// Everything that was printed.
    pub printed: String,
}

/// The steps of the only job of a workflow.
pub fn steps_of(workflow: &str) -> Vec<Yaml> {
    let documents = YamlLoader::load_from_str(workflow).unwrap();
    let jobs = documents[0]["jobs"].as_hash().unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.values().next().unwrap()["steps"].as_vec().unwrap().clone()
}

impl Runner {
    /// Carries out all steps; gives the exit code of the first that failed, after which only those that always run are.
    pub fn run(&mut self, steps: &[Yaml]) -> i32 {
        let mut code = 0;
        for step in steps {
            if code == 0 || step["if"].as_str() == Some("always()") {
                let ended = self.step(step);
                code = if code == 0 { ended } else { code };
            }
        }
        code
    }

    fn step(&mut self, step: &Yaml) -> i32 {
        let with = strings(&step["with"]);
        let (action, _version) = step["uses"].as_str().unwrap().split_once('@').unwrap();
        match action {
            "actions/setup-go" => 0,
            "actions/checkout" => {
                assert_eq!(with.get("fetch-depth").map(String::as_str), Some("0"), "the merge base must be there");
                0
            }
            "actions/upload-artifact" => copy(&self.workspace.join(&with["path"]), &self.artifacts.join(&with["name"])),
            "actions/download-artifact" => {
                assert!(
                    !self.evaluated(&with["run-id"]).is_empty() && !self.evaluated(&with["github-token"]).is_empty()
                );
                copy(&self.artifacts.join(&with["name"]), &self.workspace.join(&with["path"]))
            }
            "duetbench/duetbench" => self.composite(Path::new(""), &with, step["id"].as_str()),
            "duetbench/duetbench/publish" => self.composite(Path::new("publish"), &with, step["id"].as_str()),
            other => panic!("the page uses `{other}`, which this walk does not know"),
        }
    }

    /// One of our own actions, from its file.
    fn composite(&mut self, folder: &Path, with: &BTreeMap<String, String>, id: Option<&str>) -> i32 {
        let folder = super::root().join(folder);
        let text = fs::read_to_string(folder.join("action.yml")).unwrap();
        let action = &YamlLoader::load_from_str(&text).unwrap()[0];
        let known = action["inputs"].as_hash().unwrap();
        for (name, about) in known {
            let name = name.as_str().unwrap();
            let given = with.get(name).cloned().or_else(|| about["default"].as_str().map(str::to_owned));
            let more = self.inputs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            let value = more.or(given).unwrap_or_default();
            let value = self.evaluated(&value);
            self.context.insert(format!("inputs.{name}"), value);
        }
        let unknown = with.keys().find(|key| !known.contains_key(&Yaml::String((*key).clone())));
        assert_eq!(unknown, None, "the action has no such input");
        let steps = action["runs"]["steps"].as_vec().unwrap();
        let code = steps.iter().map(|step| self.shell(step, &folder)).find(|code| *code != 0).unwrap_or(0);
        for (name, about) in action["outputs"].as_hash().into_iter().flatten() {
            let value = self.evaluated(about["value"].as_str().unwrap());
            self.context.insert(format!("steps.{}.outputs.{}", id.unwrap_or_default(), name.as_str().unwrap()), value);
        }
        code
    }

    /// A step of an action: a command of bash.
    fn shell(&mut self, step: &Yaml, folder: &Path) -> i32 {
        let output = self.artifacts.with_extension("output");
        fs::write(&output, "").unwrap();
        let directory = step["working-directory"].as_str().map_or_else(String::new, |text| self.evaluated(text));
        let mut command = Command::new("bash");
        command.args(["-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
        command.current_dir(self.workspace.join(directory));
        let ours = |name: &str| ["DUET_", "GITHUB_", "ACTION_", "CI"].iter().any(|start| name.starts_with(start));
        for (name, _) in std::env::vars_os().filter(|(name, _)| ours(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().cloned()).env("GITHUB_OUTPUT", &output).env("GITHUB_ACTION_PATH", folder);
        command.envs(strings(&step["env"]).into_iter().map(|(name, value)| (name, self.evaluated(&value))));
        let ended = command.output().unwrap();
        self.printed += &String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat());
        let id = step["id"].as_str().unwrap_or_default();
        for (key, value) in fs::read_to_string(&output).unwrap().lines().filter_map(|line| line.split_once('=')) {
            self.context.insert(format!("steps.{id}.outputs.{key}"), value.to_owned());
        }
        ended.status.code().unwrap_or(-1)
    }

    /// A text with its expressions replaced: of alternatives the first that is not empty.
    fn evaluated(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
        let (expression, after) = rest.split_once("}}").unwrap();
        let values = expression.split("||").filter_map(|name| self.context.get(name.trim()));
        let value = values.into_iter().find(|value| !value.is_empty()).cloned().unwrap_or_default();
        format!("{before}{value}{}", self.evaluated(after))
    }
}

/// A table of texts; other scalars as they are written.
fn strings(table: &Yaml) -> BTreeMap<String, String> {
    let text = |value: &Yaml| match value {
        Yaml::String(text) | Yaml::Real(text) => text.clone(),
        Yaml::Integer(number) => number.to_string(),
        Yaml::Boolean(truth) => truth.to_string(),
        other => panic!("{other:?} is no scalar"),
    };
    let entries = table.as_hash().into_iter().flatten();
    entries.map(|(key, value)| (key.as_str().unwrap().to_owned(), text(value))).collect()
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> i32 {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    0
}
