//! Answers that do not arrive.

use std::time::Duration;

use duetbench_run::fleet::{Deployed, Engine, Reply};
use serde_json::json;

use crate::Case;
use crate::ministack::{Options, ROOT};
use crate::place::{call, connect, connect_to, must_answer, package, place, wish};
use crate::proxy::Proxy;

pub const CASES: &[Case] = &[
    ("a_call_whose_answer_is_lost_is_not_sent_again", a_call_whose_answer_is_lost_is_not_sent_again),
    ("a_lost_answer_does_not_lose_the_function", a_lost_answer_does_not_lose_the_function),
    ("calls_are_lost_with_the_server", calls_are_lost_with_the_server),
];

fn a_call_whose_answer_is_lost_is_not_sent_again() {
    let server = place(Options::default());
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let folder = server.dir().join("marks");
    std::fs::create_dir(&folder).unwrap();
    let event = json!({ "do": "meet", "folder": folder, "count": 1 });
    must_answer(&*deployed, &event);
    proxy.lose_answer_to("POST /2015-03-31/functions/duet-r1/invocations");
    let reply = call(&*deployed, &event);
    assert!(matches!(&reply, Reply::Lost(_)), "{reply:?}");
    assert!(proxy.has_lost());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    must_answer(&*deployed, &event);
    deployed.remove().unwrap();
}

fn a_lost_answer_does_not_lose_the_function() {
    let server = place(Options::default());
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    proxy.lose_answer_to("POST /2015-03-31/functions HTTP");
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    assert!(proxy.has_lost());
    must_answer(&*deployed, &json!({ "do": "nothing" }));
    proxy.lose_answer_to("DELETE /2015-03-31/functions/duet-r1");
    deployed.remove().unwrap();
    assert!(proxy.has_lost());
    assert!(server.functions().is_empty());
}

fn calls_are_lost_with_the_server() {
    let mut server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let folder = server.dir().join("meeting");
    std::fs::create_dir(&folder).unwrap();
    // A meeting of more than are called never ends.
    let event = json!({ "do": "meet", "folder": folder, "count": 9 });
    let deployed: &dyn Deployed = &*deployed;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| call(deployed, &event))).collect();
        while std::fs::read_dir(&folder).unwrap().count() < 4 {
            std::thread::sleep(Duration::from_millis(20));
        }
        server.kill();
        for thread in calls {
            let reply = thread.join().unwrap();
            assert!(matches!(&reply, Reply::Lost(said) if !said.is_empty()), "{reply:?}");
        }
    });
    let reply = call(deployed, &event);
    assert!(matches!(&reply, Reply::Lost(_)), "{reply:?}");
    let error = deployed.remove().unwrap_err();
    assert!(error.what.contains("`duet-r1`") && error.hint.is_some(), "{error:?}");
}
