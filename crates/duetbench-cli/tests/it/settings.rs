//! The table of options: what follows from it elsewhere, and that every way to set an option has an effect.

use std::path::Path;

use clap::{Arg, Command, CommandFactory, Parser};
use duetbench_cli::args::Cli;
use duetbench_cli::options::{Layer, OPTIONS, Row};

/// The commands, also those of commands, by the words that are typed.
fn commands() -> Vec<(String, Command)> {
    let mut all = Cli::command();
    all.build();
    let with_words = |prefix: &str, command: &Command| (format!("{prefix}{}", command.get_name()), command.clone());
    let below = |(words, command): (String, Command)| {
        let inner: Vec<_> = command.get_subcommands().map(|c| with_words(&format!("{words} "), c)).collect();
        if inner.is_empty() { vec![(words, command)] } else { inner }
    };
    all.get_subcommands()
        // Former names have the options of their successors.
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .map(|command| with_words("", command))
        .flat_map(below)
        .collect()
}

/// The row's argument of a command. One of the same name that can only be typed has another help.
fn argument<'a>(row: &Row, command: &'a Command) -> Option<&'a Arg> {
    let help = |arg: &Arg| arg.get_help().map(ToString::to_string);
    command.get_arguments().find(|arg| arg.get_id() == row.key && help(arg) == Some(row.help()))
}

/// The words that a row takes, where these are few.
fn words(row: &Row) -> Vec<String> {
    let arg = commands().iter().find_map(|(_, command)| argument(row, command).cloned());
    let values = arg.map_or_else(Vec::new, |arg| arg.get_possible_values());
    values.iter().map(|value| value.get_name().to_owned()).collect()
}

/// A type without `Option` around it.
fn kind(row: &Row) -> &str {
    row.kind.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(row.kind)
}

/// The property in the JSON schema of `duet.toml`.
fn property(row: &Row) -> String {
    let rules = match kind(row) {
        "bool" => r#""enum": [true, false, "true", "false", "yes", "no", "on", "off", "1", "0", 1, 0]"#.to_owned(),
        "String" | "PathBuf" | "Duration" => r#""type": "string""#.to_owned(),
        "Vec<String>" => {
            r#""anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]"#.to_owned()
        }
        "u32" | "u64" => r#""type": ["integer", "string"]"#.to_owned(),
        "f64" | "Dollars" => r#""type": ["number", "string"]"#.to_owned(),
        _ => format!("\"enum\": [\"{}\"]", words(row).join("\", \"")),
    };
    let help = row.help().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\": {{ \"description\": \"{help}\", {rules} }}", row.key)
}

/// A value that the row takes.
fn sample(row: &Row) -> String {
    match kind(row) {
        "bool" => "true".into(),
        "u32" | "u64" => if row.key == "memory" { "512" } else { "4" }.into(),
        "f64" | "Dollars" => "0.5".into(),
        "String" | "PathBuf" | "Duration" | "Vec<String>" => "3s".into(),
        _ => words(row).swap_remove(0),
    }
}

#[test]
fn every_option_can_be_set_by_its_key() {
    for row in OPTIONS {
        let layer: Layer = toml::from_str(&format!("{} = '{}'", row.key, sample(row))).unwrap();
        assert_ne!(layer, Layer::default(), "`{}` had no effect", row.key);
    }
}

#[test]
fn every_option_has_an_effect_wherever_it_can_be_typed() {
    let typed = |words: &[String]| {
        let words = ["duet".to_owned()].into_iter().chain(words.iter().cloned());
        Layer::typed(&Cli::try_parse_from(words).unwrap_or_else(|e| panic!("{e}")))
    };
    let mut seen = 0;
    // A command with arguments that must be typed has no options of the table but those of all commands.
    let bare = |command: &Command| !command.get_arguments().any(Arg::is_required_set);
    for (words, command) in commands().into_iter().filter(|(_, command)| bare(command)) {
        for (row, arg) in OPTIONS.iter().filter_map(|row| Some((row, argument(row, &command)?))) {
            let on = if command.get_arguments().any(|arg| arg.get_id() == "on") && row.key != "on" {
                " --on lambda"
            } else {
                ""
            };
            let good = if command.get_arguments().any(|arg| arg.get_id() == "good") { " HEAD~9" } else { "" };
            let base: Vec<String> = format!("{words}{good}{on}").split(' ').map(String::from).collect();
            let option = match arg.get_long() {
                None => vec!["--".to_owned(), sample(row)],
                Some(long) if !arg.get_action().takes_values() => vec![format!("--{long}")],
                Some(long) => vec![format!("--{long}={}", sample(row))],
            };
            assert_ne!(
                typed(&base),
                typed(&[base.clone(), option].concat()),
                "`{}` of `{words}` had no effect",
                row.key
            );
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn lists_are_split_at_whitespace_wherever_they_are_typed() {
    let typed = |words: &[&str]| Layer::typed(&Cli::try_parse_from([&["duet", "list"], words].concat()).unwrap());
    for option in ["--packages", "--pass-env"] {
        let apart = typed(&[option, "a", option, "b"]);
        for together in ["a b", " a\n b  ", "a\tb"] {
            assert_eq!(typed(&[option, together]), apart, "{option} {together:?}");
        }
    }
}

/// Compares a part of a file with what follows from the table, or writes it when `DUET_BLESS` is set.
fn check(file: &str, from: &str, to: &str, want: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(from).unwrap_or_else(|| panic!("`{file}` has no `{from}`"));
    let end = start + text[start..].find(to).unwrap_or_else(|| panic!("`{file}` has no `{to}` there"));
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::write(&path, [&text[..start], want, &text[end..]].concat()).unwrap();
    } else {
        assert!(
            text[start..end] == *want,
            "`{file}` does not follow from the table (`DUET_BLESS=1 cargo test` renews it)"
        );
    }
}

#[test]
fn the_schema_has_the_options_of_the_table() {
    let rows: String = OPTIONS.iter().map(|row| format!("    {},\n", property(row))).collect();
    let (start, end) = ("  \"properties\": {\n", "    \"jmh\": {\n");
    check("schema/settings-v1.schema.json", start, end, &format!("{start}{rows}"));
}

/// The column of the option as it is typed.
fn typed(arg: &Arg) -> String {
    let words: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let value = match arg.get_value_names() {
        _ if !arg.get_action().takes_values() => String::new(),
        Some(names) if arg.is_require_equals_set() => format!("[={}]", names[0]),
        _ if !words.is_empty() => format!(" {}", words.join("\\|")),
        names => format!(" {}", names.unwrap_or_default().first().map_or("VALUE", |name| name.as_str())),
    };
    let short = arg.get_short().map_or_else(String::new, |short| format!("`-{short}`, "));
    arg.get_long().map_or("flags after `--`".into(), |long| format!("{short}`--{long}{value}`"))
}

/// The column of the default, as the help says it.
fn default(row: &Row) -> String {
    let help = row.help();
    let stated: Vec<&str> = help.split("[default: ").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    match (stated.is_empty(), kind(row) == "bool") {
        (true, true) => "no".into(),
        (true, false) => "none".into(),
        (false, _) => stated.join("; "),
    }
}

#[test]
fn the_table_of_the_documents_is_that_of_the_options() {
    let commands = commands();
    let line = |row: &Row| {
        let with: Vec<_> = commands.iter().filter_map(|(words, c)| Some((words, argument(row, c)?))).collect();
        let names: Vec<&str> = with.iter().map(|(words, _)| words.as_str()).collect();
        let everywhere = with.iter().any(|(_, arg)| arg.is_global_set());
        let place = if everywhere { "all".into() } else { names.join(", ") };
        let option = with.first().map_or_else(String::new, |(_, arg)| typed(arg));
        let columns = [option, format!("`{}`", row.variable()), format!("`{}`", row.key), default(row), place];
        format!("| {} |\n", columns.join(" | ")).replace("|  |", "| |")
    };
    let head = "| option | variable | key | default | commands |\n| --- | --- | --- | --- | --- |\n";
    let table: String = OPTIONS.iter().map(line).collect();
    check("docs/settings.md", head, "\n\n", (head.to_owned() + &table).trim_end());
}
