//! Sweeping away the leftovers of runs that died.

use std::time::{Duration, UNIX_EPOCH};

use duetbench_run::fleet::{Deployment, Engine, Leftover};
use serde_json::{Value, json};

use crate::Case;
use crate::ministack::{Options, ROOT};
use crate::place::{BUCKET, connect, connect_to, large_package, package, place, role, wish};

pub const CASES: &[Case] = &[("only_our_own_expired_functions_are_swept", only_our_own_expired_functions_are_swept)];

/// A request for a function that is not ours.
fn foreign(name: &str, tags: &Value) -> Value {
    let function = json!({
        "FunctionName": name,
        "Runtime": "provided.al2023",
        "Handler": "bootstrap",
        "Role": role(),
        "Code": { "S3Bucket": "nowhere", "S3Key": "nothing" },
        "Tags": tags
    });
    json!(["lambda", "create_function", function])
}

fn only_our_own_expired_functions_are_swept() {
    let server = place(Options::default());
    let (package, large) = (package(&server), large_package(&server));
    let lambda = connect_to(&server.endpoint(), ROOT, true).unwrap();
    let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
    let first = lambda.deploy(&Deployment { expires: at(1_000), ..wish(&package, "old") }).unwrap();
    let second = lambda.deploy(&Deployment { expires: at(1_000), ..wish(&large, "old-large") }).unwrap();
    let third = lambda.deploy(&Deployment { expires: at(3_000), ..wish(&package, "new") }).unwrap();
    let tags = json!({ "duet:run": "x", "duet:expires": "1000" });
    let mut requests = vec![
        foreign("other", &tags),
        foreign("duet-untagged", &json!({})),
        foreign("duet-without-run", &json!({ "duet:expires": "1000" })),
        foreign("duet-copy", &json!({ "duet:run": "old", "duet:expires": "1000", "duet:token": "x" })),
        foreign("duet-nonsense", &json!({ "duet:run": "x", "duet:expires": "soon" })),
    ];
    // More than one page of a list.
    requests.extend((0..60).map(|i| foreign(&format!("a-{i:02}"), &tags)));
    let made = server.ask(ROOT, &Value::Array(requests));
    assert!(made.iter().all(|answer| answer.get("error").is_none()), "{:?}", made[0]);
    // Another machine sweeps, and knows of no bucket.
    let names = |found: &[Leftover]| found.iter().map(|leftover| leftover.name.clone()).collect::<Vec<_>>();
    let expired = |leftover: &Leftover| leftover.has_expired(at(2_000));
    let swept = connect(&server).sweep(&expired).unwrap();
    assert_eq!(names(&swept.removed), ["duet-old", "duet-old-large"]);
    assert_eq!(swept.left, [Leftover { name: "duet-new".into(), run: "new".into(), expires: at(3_000) }]);
    let left: Vec<_> = server.functions().into_iter().filter(|name| !name.starts_with("a-")).collect();
    assert_eq!(left, ["duet-copy", "duet-new", "duet-nonsense", "duet-untagged", "duet-without-run", "other"]);
    let objects = server.ask(ROOT, &json!([["s3", "list_objects_v2", { "Bucket": BUCKET }]]));
    assert_eq!(objects[0]["KeyCount"], 0);
    assert!(connect(&server).sweep(&expired).unwrap().removed.is_empty());
    // At once goes what is ours, and nothing else.
    let swept = connect(&server).sweep(&|_| true).unwrap();
    assert_eq!((names(&swept.removed), swept.left), (vec!["duet-new".to_owned()], Vec::new()));
    let left: Vec<_> = server.functions().into_iter().filter(|name| !name.starts_with("a-")).collect();
    assert_eq!(left, ["duet-copy", "duet-nonsense", "duet-untagged", "duet-without-run", "other"]);
    for deployed in [first, second, third] {
        deployed.remove().unwrap();
    }
}
