//! The policies that `duet fleet policy` prints, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;

use duetbench_lambda::policy::{ROLE_NAME, Scope, coordinator, execution_trust};

#[track_caller]
fn sealed(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{name}: `DUET_BLESS=1 cargo test` seals it anew");
}

const SCOPE: Scope<'_> = Scope { region: "eu-central-1", account: "123456789012", role: ROLE_NAME, bucket: None };

#[test]
fn the_coordinator_may_do_little() {
    sealed("coordinator.json", &coordinator(&SCOPE));
    sealed("coordinator_with_bucket.json", &coordinator(&Scope { bucket: Some("acme-duet"), ..SCOPE }));
}

#[test]
fn functions_may_do_nothing() {
    sealed("execution_trust.json", &execution_trust());
}
