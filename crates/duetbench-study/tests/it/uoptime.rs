//! `duet-study uoptime` by the real binary, on small made-up recordings.

use crate::common::{Place, recording};
use crate::study;

fn place() -> Place {
    let place = Place::new();
    place.write("p-1.0.csv", &recording(&[("A", 100.0), ("B", 100.0), ("C", 50.0)]));
    place.write("p-1.1.csv", &recording(&[("A", 120.0), ("B", 100.0), ("D", 50.0)]));
    place
}

#[test]
fn a_study_writes_tables_and_figures() {
    let place = place();
    let ran = study(&place, &["uoptime", ".", "--out", "tables", "--warmup", "2", "--format", "markdown"]).expect(0);
    for title in ["RQ1: time saved by tuning", "RQ2", "RQ3", "RQ4: performance changes found"] {
        assert!(ran.stdout.contains(title), "{title} in\n{}", ran.stdout);
    }
    let read = |name: &str| std::fs::read_to_string(place.path().join("tables").join(name)).unwrap();
    let changes = read("rq4.csv");
    assert!(
        changes.starts_with("project,method,v1,v2,n,full,min,fp,fn\np,uOpTime,p-1.0,p-1.1,2,1,1,0,0\n"),
        "{changes}"
    );
    assert!(read("rq1.csv").contains("\np,1.1,p-1.1,true,uOpTime,cv,") && read("rq3.csv").contains(",2,"));
    assert!(read("rq1-saved.svg").starts_with("<svg"));
}

#[test]
fn a_study_of_nothing_says_so() {
    let place = Place::new();
    study(&place, &["uoptime", "."]).expect(1).says(&["no result files"]);
    place.write("p-1.csv", "not,a\nresult,file\n");
    study(&place, &["uoptime", "."]).expect(1).says(&["p-1.csv"]);
    study(&place, &["uoptime", ".", "--format", "json"]).expect(2).says(&["--out DIR"]);
}
