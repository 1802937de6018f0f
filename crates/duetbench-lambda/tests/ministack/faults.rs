//! Answers that do not arrive, or that say that something is wrong on the other side.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use duetbench_run::fleet::{Deployed, Engine, Reply};
use serde_json::json;

use crate::Case;
use crate::ministack::{Ministack, Options, ROOT};
use crate::place::{call, connect, connect_to, must_answer, package, place, wish};
use crate::proxy::{Fault, Proxy};

pub const CASES: &[Case] = &[
    ("a_call_is_never_sent_again", a_call_is_never_sent_again),
    ("a_lost_answer_does_not_lose_the_function", a_lost_answer_does_not_lose_the_function),
    ("an_account_that_may_not_be_asked_has_the_usual_limits", an_account_that_may_not_be_asked_has_the_usual_limits),
    ("calls_are_lost_with_the_server", calls_are_lost_with_the_server),
];

const INVOKE: &str = "POST /2015-03-31/functions/duet-r1/invocations";
const DENIED: &str = "HTTP/1.1 403 Forbidden\r\nx-amzn-ErrorType: AccessDeniedException\r\nContent-Length: 16\r\nConnection: close\r\n\r\n\
                      {\"Message\":\"no\"}";
const BROKEN: &str = "HTTP/1.1 500 Internal Server Error\r\nx-amzn-ErrorType: ServiceException\r\nContent-Length: 20\r\n\
                      Connection: close\r\n\r\n{\"Message\":\"broken\"}";
const BUSY: &str = "HTTP/1.1 409 Conflict\r\nx-amzn-ErrorType: ResourceConflictException\r\nContent-Length: 18\r\n\
                    Connection: close\r\n\r\n{\"Message\":\"busy\"}";

/// A new folder for marks.
fn folder(server: &Ministack) -> PathBuf {
    let folder = server.dir().join("marks");
    fs::create_dir(&folder).unwrap();
    folder
}

fn a_call_is_never_sent_again() {
    let server = place(Options::default());
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let folder = folder(&server);
    let event = json!({ "do": "meet", "folder": folder, "count": 1 });
    must_answer(&*deployed, &event);
    for (sent, answer) in [(2, ""), (3, BROKEN)] {
        proxy.suffer(Fault { begin: INVOKE, times: 5, answer });
        let reply = call(&*deployed, &event);
        assert!(matches!(&reply, Reply::Lost(_)), "{reply:?}");
        assert_eq!(proxy.left(), 4);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), sent);
    }
    proxy.suffer(Fault { begin: INVOKE, times: 0, answer: "" });
    must_answer(&*deployed, &event);
    deployed.remove().unwrap();
}

fn a_lost_answer_does_not_lose_the_function() {
    let server = place(Options::default());
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    proxy.suffer(Fault { begin: "POST /2015-03-31/functions HTTP", times: 1, answer: "" });
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    assert_eq!(proxy.left(), 0);
    must_answer(&*deployed, &json!({ "do": "nothing" }));
    for answer in [BROKEN, BUSY, ""] {
        proxy.suffer(Fault { begin: "DELETE /2015-03-31/functions/duet-r1", times: 2, answer });
        deployed.remove().unwrap();
        assert_eq!(proxy.left(), 0);
    }
    assert!(server.functions().is_empty());
}

/// The server itself lets everybody ask.
fn an_account_that_may_not_be_asked_has_the_usual_limits() {
    let server = place(Options::default());
    let (proxy, package) = (Proxy::start(&server.endpoint()), package(&server));
    let lambda = connect_to(&proxy.endpoint, ROOT, false).unwrap();
    assert!(lambda.caveats().is_empty());
    proxy.suffer(Fault { begin: "GET /2016-08-19/account-settings", times: 9, answer: DENIED });
    assert_eq!(lambda.limits().unwrap().parallel, 900);
    assert_eq!(lambda.caveats().len(), 1);
    lambda.deploy(&wish(&package, "r1")).unwrap().remove().unwrap();
    assert_eq!(proxy.left(), 6);
}

fn calls_are_lost_with_the_server() {
    let mut server = place(Options::default());
    let (lambda, package) = (connect(&server), package(&server));
    let deployed = lambda.deploy(&wish(&package, "r1")).unwrap();
    let folder = folder(&server);
    // A meeting of more than are called never ends.
    let event = json!({ "do": "meet", "folder": folder, "count": 9 });
    let deployed: &dyn Deployed = &*deployed;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| call(deployed, &event))).collect();
        while fs::read_dir(&folder).unwrap().count() < 4 {
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
