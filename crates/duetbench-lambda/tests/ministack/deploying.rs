//! Deployments: everything is made as it should be, and nothing of it is left.

use std::time::{Duration, UNIX_EPOCH};

use duetbench_run::fleet::{Deployment, Engine, Reply};
use serde_json::json;

use crate::ministack::{Options, ROOT};
use crate::place::{BUCKET, call, connect, connect_to, large_package, must_answer, package, place, role, wish};
use crate::{ASK_LIMITS, Case};

pub const CASES: &[Case] = &[
    ("what_is_made_is_what_was_wished_for", what_is_made_is_what_was_wished_for),
    ("nothing_is_left_after_removing", nothing_is_left_after_removing),
    ("a_large_package_goes_through_the_bucket", a_large_package_goes_through_the_bucket),
    ("another_run_s_function_is_not_touched", another_run_s_function_is_not_touched),
    ("a_role_that_does_not_exist_is_told", a_role_that_does_not_exist_is_told),
    ("the_endpoint_of_the_environment_is_honoured", the_endpoint_of_the_environment_is_honoured),
    ("who_has_no_credentials_hears_how_to_log_in", who_has_no_credentials_hears_how_to_log_in),
];

fn what_is_made_is_what_was_wished_for() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let expires = UNIX_EPOCH + Duration::from_secs(1_900_000_000);
    let deployed = lambda.deploy(&Deployment { expires, ..wish(&package, "r7") }).unwrap();
    let name = deployed.name().to_owned();
    assert_eq!(name, "duet-r7");
    let found = server.ask(ROOT, &json!([["lambda", "get_function", { "FunctionName": name }]])).remove(0);
    let made = &found["Configuration"];
    let of = |key: &str| made[key].clone();
    assert_eq!(of("Runtime"), "provided.al2023");
    assert_eq!(of("Handler"), "bootstrap");
    assert_eq!(of("Role"), role());
    assert_eq!(of("Architectures"), json!(["x86_64"]));
    assert_eq!(of("MemorySize"), 2048);
    assert_eq!(of("EphemeralStorage"), json!({ "Size": 600 }));
    assert_eq!(of("Timeout"), 60);
    assert!(made.get("Environment").is_none_or(|e| e["Variables"] == json!({})), "{made}");
    assert_eq!(found["Concurrency"]["ReservedConcurrentExecutions"], 10);
    assert_eq!(found["Tags"]["duet:run"], "r7");
    assert_eq!(found["Tags"]["duet:expires"], "1900000000");
    deployed.remove().unwrap();
}

fn nothing_is_left_after_removing() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    assert_eq!(server.functions(), ["duet-r1"]);
    deployed.remove().unwrap();
    assert!(server.functions().is_empty());
    deployed.remove().unwrap();
    let reply = call(&*deployed, &json!({ "do": "nothing" }));
    assert!(matches!(&reply, Reply::Refused(said) if said.contains("not found")), "{reply:?}");
}

fn a_large_package_goes_through_the_bucket() {
    let server = place(Options::default());
    let package = large_package(&server);
    let error = connect(&server).deploy(&wish(&package, "r1")).err().unwrap();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("--bucket")), "{error:?}");
    let lambda = connect_to(&server.endpoint(), ROOT, true).unwrap();
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let list = json!([["s3", "list_objects_v2", { "Bucket": BUCKET }]]);
    assert_eq!(server.ask(ROOT, &list)[0]["Contents"][0]["Key"], "duet/duet-r1.zip");
    must_answer(&*deployed, &json!({ "do": "nothing" }));
    deployed.remove().unwrap();
    assert!(server.functions().is_empty());
    assert_eq!(server.ask(ROOT, &list)[0]["KeyCount"], 0);
}

fn another_run_s_function_is_not_touched() {
    let server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let error = lambda.deploy(&wish(&package, "r1")).err().unwrap();
    assert!(error.what.contains("`duet-r1` already") && error.hint.is_some(), "{error:?}");
    must_answer(&*deployed, &json!({ "do": "nothing" }));
    deployed.remove().unwrap();
}

/// The server does not look at whom a role trusts; what is said to that has a test beside the words.
fn a_role_that_does_not_exist_is_told() {
    let server = place(Options { auth: true, concurrency: None });
    let (lambda, package) = (connect(&server), package(&server));
    server.ask(ROOT, &json!([["iam", "delete_role", { "RoleName": "duet-exec" }]]));
    let error = lambda.deploy(&wish(&package, "r1")).err().unwrap();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("--role")), "{error:?}");
    assert!(server.functions().is_empty());
}

fn the_endpoint_of_the_environment_is_honoured() {
    let server = place(Options { concurrency: Some(177), ..Options::default() });
    let this = std::env::current_exe().unwrap();
    let mut asking = std::process::Command::new(this);
    let output = asking.env(ASK_LIMITS, "1").envs(server.variables()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "77", "{output:?}");
}

fn who_has_no_credentials_hears_how_to_log_in() {
    let settings = |region: Option<&str>| duetbench_lambda::Settings {
        region: region.map(str::to_owned),
        role_arn: role(),
        ..Default::default()
    };
    let error = duetbench_lambda::Lambda::connect(settings(Some("eu-central-1"))).unwrap_err();
    assert_eq!(error.what, "there are no AWS credentials");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("aws sso login")), "{error:?}");
    let error = duetbench_lambda::Lambda::connect(settings(None)).unwrap_err();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("AWS_REGION")), "{error:?}");
}
