//! Small programs, each with one way from a benchmark to what differs.

use super::*;

/// A program under construction, by names. `start` is its root, `list` holds the benchmarks.
#[derive(Clone)]
struct Made(Graph);

fn digest(text: &str) -> Digest {
    let mut all = [0; 16];
    for (n, byte) in text.bytes().enumerate() {
        all[n % 16] ^= byte.rotate_left((n / 16) as u32);
    }
    all
}

impl Made {
    fn new() -> Made {
        let mut made = Made(Graph::default());
        made.symbol("start").is_root = true;
        made.symbol("list").is_list = true;
        made.uses("start", "list");
        made
    }

    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.0.symbols.iter().position(|symbol| symbol.name == name) {
            return number;
        }
        let part = Part { is_kept: true, ..Part::default() };
        self.0.symbols.push(Symbol { name: name.into(), content: digest("same"), part, ..Symbol::default() });
        self.0.symbols.len() - 1
    }

    fn symbol(&mut self, name: &str) -> &mut Part {
        let number = self.number(name);
        &mut self.0.symbols[number].part
    }

    fn edge(&mut self, from: &str, edge: Edge) {
        let number = self.number(from);
        self.0.symbols[number].edges.push(edge);
    }

    fn uses(&mut self, from: &str, to: &str) {
        let to = self.number(to);
        self.edge(from, Edge::Uses(to));
    }

    fn benchmark(&mut self, name: &str, uses: &[&str]) {
        self.uses("list", name);
        let number = self.number(name);
        self.0.entries.insert(name.to_owned(), vec![number]);
        uses.iter().for_each(|to| self.uses(name, to));
    }

    /// A type with one method.
    fn method(&mut self, of: &str, name: &str, code: &str) {
        self.symbol(of).is_type = true;
        let target = Some(self.number(code));
        let (signature, digest_of_name) = (digest(&format!("{name}()")), digest(name));
        let exported = name.starts_with(char::is_uppercase);
        self.edge(
            of,
            Edge::Method(Method { signature, name: digest_of_name, exported, targets: [None, target, target] }),
        );
    }

    fn converts(&mut self, from: &str, to: &str) {
        let to = self.number(to);
        self.edge(from, Edge::Converts(to));
    }

    fn found(&mut self, name: &str, parts: &[&str], finder: Option<&str>) {
        let parts = parts.iter().map(|part| self.number(part)).collect();
        let finders = finder.map(|finder| {
            let finder = self.number(finder);
            self.0.finders.push(vec![finder]);
            self.0.finders.len() - 1
        });
        let number = self.number(name);
        self.0.symbols[number].found = Some(Found { parts, finders });
    }

    /// The same program with another content of these symbols.
    fn with(&self, changed: &[&str]) -> Made {
        let mut made = self.clone();
        for name in changed {
            let number = made.number(name);
            made.0.symbols[number].content = digest("other");
        }
        made
    }

    /// Whether each benchmark is affected, in the order of names.
    fn affected(&self, head: &Made) -> Vec<bool> {
        let versions = Versions::new([&self.0, &head.0]);
        self.0.entries.keys().map(|name| versions.reach(name) != Reach::Same).collect()
    }
}

/// Checks which of the benchmarks A and B a change of one symbol affects.
fn check(made: &Made, changed: &str, affected: [bool; 2]) {
    assert_eq!(made.affected(&made.with(&[changed])), affected, "{changed}");
    assert_eq!(made.affected(made), [false, false], "nothing changed");
}

fn two() -> Made {
    let mut made = Made::new();
    made.benchmark("A", &["a"]);
    made.benchmark("B", &["b"]);
    made
}

#[test]
fn a_call_leads_to_what_is_called_and_to_nothing_else() {
    let mut made = two();
    made.uses("a", "deep");
    made.uses("start", "init");
    check(&made, "deep", [true, false]);
    check(&made, "b", [false, true]);
    check(&made, "A", [true, false]);
    check(&made, "init", [true, true]);
    check(&made, "list", [false, false]);
}

#[test]
fn a_method_is_reached_by_who_converts_its_type_and_calls_the_interface() {
    let mut made = two();
    made.method("type:T", "Run", "T.Run");
    made.uses("a", "type:T");
    made.converts("a", "type:T");
    made.edge("a", Edge::CallsMethod(digest("Run()")));
    // B knows the type, and calls no such method.
    made.uses("b", "type:T");
    made.converts("b", "type:T");
    check(&made, "T.Run", [true, false]);
    // Converted by an initialiser, which B has too; only who calls differs.
    let mut made = two();
    made.method("type:T", "Run", "T.Run");
    made.uses("start", "type:T");
    made.converts("start", "type:T");
    made.edge("a", Edge::CallsMethod(digest("Run()")));
    made.edge("b", Edge::CallsMethod(digest("Walk()")));
    check(&made, "T.Run", [true, false]);
}

#[test]
fn a_type_inside_a_converted_one_is_converted_too() {
    let mut made = two();
    made.method("type:Inner", "Run", "Inner.Run");
    made.symbol("type:Outer").is_type = true;
    made.uses("type:Outer", "type:Inner");
    for from in ["a", "b"] {
        made.edge(from, Edge::CallsMethod(digest("Run()")));
        made.uses(from, "type:Outer");
    }
    made.converts("a", "type:Outer");
    check(&made, "Inner.Run", [true, false]);
}

#[test]
fn a_lookup_of_unknown_names_calls_every_exported_method() {
    let mut made = two();
    made.method("type:T", "Run", "T.Run");
    made.method("type:T", "walk", "T.walk");
    for from in ["a", "b"] {
        made.uses(from, "type:T");
        made.converts(from, "type:T");
    }
    made.symbol("a").looks_up_methods = true;
    // Nobody calls it, so no linker keeps it.
    made.symbol("T.walk").is_kept = false;
    check(&made, "T.Run", [true, false]);
    check(&made, "T.walk", [false, false]);
}

#[test]
fn a_lookup_of_one_name_calls_methods_of_that_name() {
    let mut made = two();
    made.method("type:T", "Run", "T.Run");
    made.uses("start", "type:T");
    made.converts("start", "type:T");
    made.edge("a", Edge::CallsNamed(digest("Run")));
    made.edge("b", Edge::CallsNamed(digest("Walk")));
    check(&made, "T.Run", [true, false]);
}

#[test]
fn what_was_linked_for_no_known_reason_is_everybodys() {
    let mut made = two();
    made.number("odd");
    check(&made, "odd", [true, true]);
}

#[test]
fn what_running_code_finds_by_its_parts_is_reached_by_who_has_them() {
    let mut made = two();
    made.found("type:[]T", &["type:T"], Some("SliceOf"));
    made.uses("a", "type:T");
    made.uses("b", "type:T");
    made.uses("a", "SliceOf");
    made.uses("list", "type:[]T");
    check(&made, "type:[]T", [true, false]);
}

#[test]
fn one_more_of_what_can_be_found_counts() {
    let mut base = two();
    base.uses("a", "type:T");
    base.uses("a", "SliceOf");
    let mut head = base.clone();
    head.found("type:[]T", &["type:T"], Some("SliceOf"));
    head.uses("list", "type:[]T");
    assert_eq!(base.affected(&head), [true, false]);
    assert_eq!(head.affected(&base), [true, false]);
}

#[test]
fn two_variables_of_equal_content_do_not_stand_for_each_other() {
    let mut base = two();
    let mut head = base.clone();
    for (made, second) in [(&mut base, "v1"), (&mut head, "v2")] {
        made.uses("a", "v1");
        made.uses("a", "v2");
        made.uses("deep", second);
        made.uses("a", "deep");
    }
    assert_eq!(base.affected(&head), [true, false]);
}

#[test]
fn numbers_in_names_may_shift_and_names_may_not_change() {
    let mut base = two();
    base.uses("a", "p..stmp_9");
    let renamed = |name: &str| {
        let mut made = base.clone();
        let number = made.number("p..stmp_9");
        made.0.symbols[number].name = name.into();
        made
    };
    assert_eq!(base.affected(&renamed("p..stmp_10")), [false, false]);
    assert_eq!(base.affected(&renamed("p.other")), [true, false]);
}

#[test]
fn variables_that_the_collector_scans_are_everybodys() {
    let mut base = two();
    base.uses("a", "v");
    let mut head = base.clone();
    let number = head.number("v");
    head.0.symbols[number].scanned = Some(digest("large"));
    assert_eq!(base.affected(&head), [true, true]);
}

#[test]
fn code_that_may_decide_what_runs_is_affected_by_all() {
    let mut base = two();
    base.uses("a", "os.Args");
    base.symbol("os.Args").is_guarded = true;
    assert_eq!(base.affected(&base), [true, false]);
    base.symbol("a").is_trusted = true;
    assert_eq!(base.affected(&base), [false, false]);
}

#[test]
fn lines_count_for_who_asks_for_them() {
    let mut base = two();
    base.uses("a", "runtime.Caller");
    base.symbol("runtime.Caller").tells_lines = true;
    let mut head = base.clone();
    for name in ["a", "b"] {
        let number = head.number(name);
        head.0.symbols[number].lines = digest("lower");
    }
    assert_eq!(base.affected(&head), [true, false]);
}

#[test]
fn a_benchmark_of_one_version_and_other_beginnings_are_no_proof() {
    let base = two();
    let mut head = base.clone();
    head.0.entries.remove("A");
    assert_eq!(base.affected(&head), [true, false]);
    let mut head = base.clone();
    head.symbol("other").is_root = true;
    assert_eq!(base.affected(&head), [true, true]);
    let nothing = Graph::default();
    assert!(matches!(Versions::new([&nothing, &nothing]).reach("A"), Reach::Differs(_)));
}
