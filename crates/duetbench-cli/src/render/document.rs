//! JSON documents, which every command writes in the same form.

use duetbench_core::foreign::in_json;
use serde::Serialize;

/// The document as JSON, indented, with a line end.
#[must_use]
pub fn json(document: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(document).expect("a document of plain values and string keys serialises");
    in_json(&json).into_owned() + "\n"
}
