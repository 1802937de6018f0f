//! The printed policies, with a server that asks them.

use duetbench_lambda::policy::{ROLE_NAME, Scope, coordinator};
use duetbench_run::fleet::{Engine, Reply};
use serde_json::{Value, json};

use crate::Case;
use crate::ministack::{ACCOUNT, Ministack, Options, REGION, ROOT};
use crate::place::{BUCKET, call, connect, connect_to, large_package, must_answer, package, place, wish};

pub const CASES: &[Case] = &[
    ("the_whole_flow_passes_with_the_printed_policy", the_whole_flow_passes_with_the_printed_policy),
    ("what_the_policy_does_not_grant_is_denied", what_the_policy_does_not_grant_is_denied),
    ("a_wrong_secret_is_refused_with_a_remedy", a_wrong_secret_is_refused_with_a_remedy),
    ("what_was_made_is_removed_when_the_rest_is_denied", what_was_made_is_removed_when_the_rest_is_denied),
    ("calls_that_are_not_allowed_are_refused", calls_that_are_not_allowed_are_refused),
];

const AUTH: Options = Options { auth: true, concurrency: None };

/// The printed policy without some actions. The server holds `CreateFunction` against no function's name, so that the tests must allow
/// it for all; AWS does not need that.
fn policy_without(dropped: &[&str]) -> Value {
    let scope = Scope { region: REGION, account: ACCOUNT, role: ROLE_NAME, bucket: Some(BUCKET) };
    let mut policy: Value = serde_json::from_str(&coordinator(&scope)).unwrap();
    let statements = policy["Statement"].as_array_mut().unwrap();
    for actions in statements.iter_mut().filter_map(|s| s["Action"].as_array_mut()) {
        actions.retain(|action| !dropped.contains(&action.as_str().unwrap()));
    }
    statements.push(json!({ "Effect": "Allow", "Action": "lambda:CreateFunction", "Resource": "*" }));
    policy
}

/// A user with this policy and no other; gives the keys.
fn user(server: &Ministack, policy: &Value) -> (String, String) {
    let name = json!({ "UserName": "ci" });
    let attached = json!({ "UserName": "ci", "PolicyName": "duet", "PolicyDocument": policy.to_string() });
    let requests =
        json!([["iam", "create_user", name], ["iam", "put_user_policy", attached], ["iam", "create_access_key", name]]);
    let made = server.ask(ROOT, &requests);
    let key = |part: &str| made[2]["AccessKey"][part].as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned();
    (key("AccessKeyId"), key("SecretAccessKey"))
}

fn the_whole_flow_passes_with_the_printed_policy() {
    let server = place(AUTH);
    let (key, secret) = user(&server, &policy_without(&[]));
    let lambda = connect_to(&server.endpoint(), (&key, &secret), true).unwrap();
    assert!(lambda.limits().unwrap().parallel > 10);
    assert!(lambda.caveats().is_empty());
    for package in [package(&server), large_package(&server)] {
        let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
        must_answer(&*deployed, &json!({ "do": "nothing" }));
        let swept = lambda.sweep(&|leftover| leftover.has_expired(std::time::SystemTime::now())).unwrap();
        let left: Vec<&str> = swept.left.iter().map(|leftover| leftover.run.as_str()).collect();
        assert_eq!((swept.removed.len(), left), (0, vec!["r1"]));
        deployed.remove().unwrap();
    }
    let left = server.ask(ROOT, &json!([["s3", "list_objects_v2", { "Bucket": BUCKET }]]));
    assert_eq!(left[0]["KeyCount"], 0);
    assert!(server.functions().is_empty());
}

fn what_the_policy_does_not_grant_is_denied() {
    let server = place(AUTH);
    let (key, secret) = user(&server, &policy_without(&[]));
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let own = json!({ "FunctionName": "duet-r1" });
    let other = json!({ "FunctionName": "other" });
    let code = json!({ "FunctionName": "duet-r1", "ZipFile": "" });
    let variables = json!({ "FunctionName": "duet-r1", "Environment": { "Variables": { "A": "b" } } });
    let requests = json!([
        ["lambda", "get_function", own],
        ["lambda", "get_function", other],
        ["lambda", "delete_function", other],
        ["lambda", "invoke", other],
        ["lambda", "put_function_concurrency", { "FunctionName": "other", "ReservedConcurrentExecutions": 1 }],
        ["lambda", "update_function_code", code],
        ["lambda", "update_function_configuration", variables],
        ["iam", "create_user", { "UserName": "another" }],
        ["iam", "create_role", { "RoleName": "another", "AssumeRolePolicyDocument": "{}" }],
        ["iam", "put_role_policy", { "RoleName": ROLE_NAME, "PolicyName": "p", "PolicyDocument": "{}" }],
        ["s3", "put_object", { "Bucket": BUCKET, "Key": "other/x", "Body": "" }],
        ["s3", "list_objects_v2", { "Bucket": BUCKET }],
        ["s3", "create_bucket", { "Bucket": "another" }]
    ]);
    let answers = server.ask((&key, &secret), &requests);
    assert!(answers[0].get("error").is_none(), "{:?}", answers[0]);
    for (answer, request) in answers.iter().zip(requests.as_array().unwrap()).skip(1) {
        let denied = answer["error"].as_str().is_some_and(|code| code.starts_with("AccessDenied"));
        assert!(denied, "{request}: {answer}");
    }
    deployed.remove().unwrap();
}

fn a_wrong_secret_is_refused_with_a_remedy() {
    let server = place(AUTH);
    let (key, secret) = user(&server, &policy_without(&[]));
    let wrong = connect_to(&server.endpoint(), (&key, "wrong"), true).unwrap();
    let error = wrong.limits().unwrap_err();
    assert!(error.what.contains("InvalidSignatureException"), "{error:?}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("aws sso login")), "{error:?}");
    let package = large_package(&server);
    assert!(wrong.deploy(&wish(&package, "r1")).is_err());
    // With the right one the same passes.
    assert!(connect_to(&server.endpoint(), (&key, &secret), true).unwrap().limits().is_ok());
}

fn what_was_made_is_removed_when_the_rest_is_denied() {
    let server = place(AUTH);
    let (key, secret) = user(&server, &policy_without(&["lambda:PutFunctionConcurrency"]));
    let lambda = connect_to(&server.endpoint(), (&key, &secret), true).unwrap();
    let package = large_package(&server);
    let error = lambda.deploy(&wish(&package, "r1")).err().unwrap();
    assert!(error.what.contains("10 calls at once cannot be set aside"), "{error:?}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("duet fleet policy")), "{error:?}");
    assert!(!error.what.contains(ACCOUNT), "{error:?}");
    assert!(server.functions().is_empty());
    let left = server.ask(ROOT, &json!([["s3", "list_objects_v2", { "Bucket": BUCKET }]]));
    assert_eq!(left[0]["KeyCount"], 0);
}

fn calls_that_are_not_allowed_are_refused() {
    let server = place(AUTH);
    let (key, secret) = user(&server, &policy_without(&["lambda:InvokeFunction"]));
    let lambda = connect_to(&server.endpoint(), (&key, &secret), false).unwrap();
    let package = package(&server);
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let reply = call(&*deployed, &json!({ "do": "nothing" }));
    assert!(matches!(&reply, Reply::Refused(said) if said.contains("lambda:InvokeFunction")), "{reply:?}");
    deployed.remove().unwrap();
}
