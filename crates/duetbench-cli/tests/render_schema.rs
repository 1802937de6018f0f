//! The golden JSON reports keep to the published schema.
//!
//! The validator below knows exactly the keywords that the schema uses, and refuses the schema if it meets another. It is
//! stricter than the schema in one point: a key that the schema does not describe is an error.

use std::path::Path;

use serde_json::{Value, json};

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

const REPORT: &str = "../../schema/report-v1.schema.json";
const TUNE: &str = "../../schema/tune-v1.schema.json";

/// Everything in which a report departs from its schema.
fn departures(value: &Value) -> Vec<String> {
    departures_from(REPORT, value)
}

/// Everything in which a value departs from a schema.
fn departures_from(schema: &str, value: &Value) -> Vec<String> {
    let root = read(schema);
    Validator { root: &root }.check(&root, value, "report")
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    /// Every rule of a schema against one value; `at` says where the value stands in the report.
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let rules = schema.as_object().expect("a schema is an object");
        rules.iter().flat_map(|(keyword, rule)| self.check_keyword((keyword, rule), value, at)).collect()
    }

    fn check_keyword(&self, (keyword, rule): (&str, &Value), value: &Value, at: &str) -> Vec<String> {
        let holds = match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "type" => has_type(rule, value),
            "const" => rule == value,
            "enum" => list(rule).contains(value),
            "minimum" => value.as_f64().is_none_or(|v| Some(v) >= rule.as_f64()),
            "maximum" => value.as_f64().is_none_or(|v| Some(v) <= rule.as_f64()),
            "required" => list(rule).iter().filter_map(Value::as_str).all(|key| value.get(key).is_some()),
            "$ref" => return self.check(self.definition(rule), value, at),
            "anyOf" => return self.check_any(list(rule), value, at),
            "items" => return self.check_items(rule, value, at),
            "properties" => return self.check_properties(rule, value, at),
            unknown => panic!("the validator does not know the keyword `{unknown}`"),
        };
        if holds { Vec::new() } else { vec![format!("{at}: {keyword} {rule} does not hold")] }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().and_then(|r| r.strip_prefix('#')).expect("references are local");
        self.root.pointer(pointer).unwrap_or_else(|| panic!("no definition {pointer}"))
    }

    /// Nothing if one alternative holds, else what is wrong with the last and most detailed one.
    fn check_any(&self, alternatives: &[Value], value: &Value, at: &str) -> Vec<String> {
        let tried: Vec<Vec<String>> = alternatives.iter().map(|schema| self.check(schema, value, at)).collect();
        if tried.iter().any(Vec::is_empty) { Vec::new() } else { tried.into_iter().next_back().unwrap_or_default() }
    }

    fn check_items(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let items = value.as_array().into_iter().flatten().enumerate();
        items.flat_map(|(index, item)| self.check(schema, item, &format!("{at}[{index}]"))).collect()
    }

    fn check_properties(&self, rules: &Value, value: &Value, at: &str) -> Vec<String> {
        let entries = value.as_object().into_iter().flatten();
        let check = |(key, inner): (&String, &Value)| match rules.get(key) {
            Some(rule) => self.check(rule, inner, &format!("{at}.{key}")),
            None => vec![format!("{at}.{key}: the schema does not describe this key")],
        };
        entries.flat_map(check).collect()
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("the rule is a list")
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the validator does not know the type `{unknown}`"),
    };
    match rule {
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        name => is(name.as_str().expect("a type is a string or a list")),
    }
}

#[test]
fn rendered_reports_keep_to_the_schema() {
    for golden in ["tests/golden/everything.json", "tests/golden/empty.json", "tests/golden/fleet.json"] {
        assert_eq!(departures(&read(golden)), Vec::<String>::new(), "{golden}");
    }
}

#[test]
fn the_schema_describes_everything_in_words() {
    fn check(schema: &Value, at: &str) {
        for (key, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let described = inner.get("description").is_some() || inner.get("$ref").is_some();
            assert!(described, "{at}.{key} has no description");
            check(inner, &format!("{at}.{key}"));
        }
    }
    for root in [REPORT, TUNE].map(read) {
        check(&root, "report");
        for (name, definition) in root["$defs"].as_object().expect("there are definitions") {
            check(definition, name);
        }
    }
}

#[test]
fn what_tune_finds_keeps_to_its_schema() {
    let mut found = read("tests/golden/tune.json");
    assert_eq!(departures_from(TUNE, &found), Vec::<String>::new());
    found["recordings"][0]["results"][0]["benchmarks"][0]["stable"] = json!("yes");
    let at = "report.recordings[0].results[0].benchmarks[0].stable: type";
    assert!(departures_from(TUNE, &found).iter().any(|departure| departure.starts_with(at)));
}

#[test]
fn departures_from_the_schema_are_seen() {
    let check = |break_it: fn(&mut Value), want: &str| {
        let mut report = read("tests/golden/everything.json");
        break_it(&mut report);
        let found = departures(&report);
        assert!(found.iter().any(|departure| departure.starts_with(want)), "{want} not in {found:?}");
    };
    check(|r| r["schema_version"] = json!(2), "report.schema_version: const");
    check(|r| r["benchmarks"][0]["verdict"] = json!("slower"), "report.benchmarks[0].verdict: enum");
    check(|r| r["benchmarks"][1]["ratio"] = json!("1.05"), "report.benchmarks[1].ratio: type");
    check(|r| r["exit_code"] = json!(256), "report.exit_code: maximum");
    check(|r| r["seed"] = json!(-1), "report.seed: minimum");
    check(|r| r["surprise"] = json!(1), "report.surprise: the schema does not describe");
    check(|r| r["benchmarks"][1]["counts"]["forks"] = json!(1.5), "report.benchmarks[1].counts.forks: type");
    check(|r| drop(r.as_object_mut().and_then(|o| o.remove("plan"))), "report: required");
}
