//! Whether a JSON report keeps to the published schema.
//!
//! The validator knows exactly the keywords that the schema uses, and refuses the schema if it meets another. It is
//! stricter than the schema in one point: a key that the schema does not describe is an error.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "every test binary uses another part of it")]

use std::path::Path;

use serde_json::Value;

pub fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub const REPORT: &str = "../../schema/report-v1.schema.json";
pub const WHY: &str = "../../schema/why-v1.schema.json";
pub const BISECT: &str = "../../schema/bisect-v1.schema.json";
pub const TUNE: &str = "../../schema/tune-v1.schema.json";
pub const PLAN_CHECK: &str = "../../schema/plan-check-v1.schema.json";
pub const DETECTION: &str = "../../schema/detection-v1.schema.json";
pub const RUN: &str = "../../schema/run-v1.schema.json";
pub const CALIBRATE: &str = "../../schema/calibrate-v1.schema.json";
pub const DRY_RUN: &str = "../../schema/dry-run-v1.schema.json";
pub const LIST: &str = "../../schema/list-v1.schema.json";
pub const DRY_RUN_OF_ONE: &str = "../../schema/dry-run-of-one-v1.schema.json";
pub const PLAN: &str = "../../schema/plan-v1.schema.json";
pub const SETTINGS: &str = "../../schema/settings-v1.schema.json";
pub const WAIVERS: &str = "../../schema/waivers-v1.schema.json";

/// Everything in which a report departs from its schema.
pub fn departures(value: &Value) -> Vec<String> {
    departures_from(REPORT, value)
}

/// Everything in which a value departs from a schema.
pub fn departures_from(schema: &str, value: &Value) -> Vec<String> {
    let root = read(schema);
    Validator { root: &root }.check(&root, value, "report")
}

/// Fails where a value departs from its schema.
#[track_caller]
pub fn assert_keeps_to(schema: &str, value: &Value) {
    assert_eq!(departures_from(schema, value), Vec::<String>::new(), "{value:#}");
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
            // Keys that a schema does not describe are refused in any case.
            "$schema" | "$id" | "$defs" | "title" | "description" | "additionalProperties" => true,
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
