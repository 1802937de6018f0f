//! The guide, walked further: pages on what follows a comparison, or is asked instead of one.

use crate::common::{Place, Ran};
use crate::go_bisect::published;
use crate::walk_support::{Page, commands, in_shell};

/// Plants are so large that these find them on any machine.
const SHORT: [(&str, &str); 2] = [("DUET_BUILDS", "1"), ("DUET_THRESHOLD", "20%")];

/// Two functions that do so many rounds of the same work, with a benchmark each.
fn write(place: &Place, [encode, decode]: [u32; 2], remark: &str) {
    let function = |name: &str, rounds: u32| {
        format!(
            "\n//go:noinline\nfunc {name}(page []byte) (sum [32]byte) {{\n\tfor i := 0; i < {rounds}; i++ {{\n\
             \t\tsum = sha256.Sum256(page)\n\t}}\n\treturn sum\n}}\n"
        )
    };
    let benchmark = |name: &str| {
        format!(
            "\nfunc Benchmark{name}(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\tsum = {name}(page[:])\n\t}}\n}}\n"
        )
    };
    let code = format!("// {remark}\npackage codec\n\nimport \"crypto/sha256\"\n");
    place.write("codec.go", &(code + &function("Encode", encode) + &function("Decode", decode)));
    let tests = "package codec\n\nimport \"testing\"\n\nvar page [4096]byte\nvar sum [32]byte\n".to_owned();
    place.write("codec_test.go", &(tests + &benchmark("Encode") + &benchmark("Decode")));
    place.write("go.mod", "module example.com/codec\n\ngo 1.21\n").write(".gitignore", ".duet\n");
}

/// The commit that makes encoding thrice the work, and the last one.
const PLANTED: usize = 3;
const LAST: usize = 5;

/// A repository of which the first commit is `v1.2.0`.
fn history() -> Place {
    let place = Place::new();
    place.git(&["init", "-q", "-b", "main"]);
    for number in 0..=LAST {
        write(&place, [if number < PLANTED { 1 } else { 3 }, 1], &format!("Change {number}."));
        place.commit_all(&format!("change {number}"));
        if number == 0 {
            place.git(&["tag", "v1.2.0"]);
        }
    }
    place
}

#[test]
fn bisect() {
    let page = Page::read("bisect.md");
    let place = history();
    let typed = |line: &str| in_shell(&place, line, &SHORT);
    let lines = commands(&page.block("", "duet bisect v1.2.0"));
    let [plainly, narrowed, planned, releases] = <[String; 4]>::try_from(lines).expect("four commands");
    assert!(planned.contains("--dry-run") && narrowed.contains("--bench"), "{planned}\n{narrowed}");

    let commits = typed(&planned).expect(0).stdout;
    assert!(commits.contains("5 commits"), "{commits}");
    assert!(!place.path().join(".duet").exists());

    assert!(page.says("Exit codes: 3 named, 4 nothing slower"));
    let culprit = format!("change {PLANTED}");
    for line in [&plainly, &narrowed] {
        let named = typed(line).expect(3).stdout;
        assert!(named.contains(&culprit) && named.contains("Encode"), "{named}");
    }
    // The comparison with its parent is a stored run, as any.
    let run = typed("duet show").stdout;
    assert!(page.says("`duet show rN`") && run.contains("Encode"), "{run}");
    let before = format!("HEAD~{}", LAST - PLANTED + 1);
    let nothing = typed(&plainly.replace("v1.2.0", &format!("v1.2.0 {before}"))).expect(4).stdout;
    assert!(nothing.contains("nothing is slower") && page.says("**nothing is slower**"), "{nothing}");
    typed(&plainly.replace("v1.2.0", "HEAD")).expect(2);
    typed(&plainly.replace("v1.2.0", "v9")).expect(2);

    bisect_of_releases(&releases);
}

fn bisect_of_releases(line: &str) {
    let place = Place::new();
    published(&place, "example.com/m", &[1, 1, 1, 1, 1, 1, 3, 3, 3, 3]);
    let [proxy, cache] = ["proxy", "cache"].map(|name| place.path().join(name).display().to_string());
    let proxy = format!("file://{proxy}");
    let of_go = [("GOPROXY", proxy.as_str()), ("GOMODCACHE", cache.as_str()), ("GONOSUMDB", "*"), ("GOFLAGS", "")];
    let settings = [&SHORT[..], &of_go].concat();
    let named = in_shell(&place, line, &settings);
    // The client makes its cache read-only, which would outlive the place.
    in_shell(&place, "go clean -modcache", &settings).expect(0);
    let named = named.expect(3).stdout;
    assert!(named.contains("`v1.6.0` made Work slower"), "{named}");
}

#[test]
fn git_bisect_by_the_answers_of_duet() {
    let place = history();
    place.git(&["bisect", "start", "main", "v1.2.0"]);
    let line = Page::read("bisect.md").inline("git bisect run duet");
    let found = in_shell(&place, &line, &SHORT).expect(0).stdout;
    let culprit = place.git(&["rev-parse", &format!("main~{}", LAST - PLANTED)]);
    assert!(found.contains(&format!("{} is the first bad commit", culprit.trim())), "{found}");
}

#[test]
fn reach() {
    let page = Page::read("reach.md");
    let place = Place::new();
    place.git(&["init", "-q", "-b", "main"]);
    write(&place, [1, 1], "Codec.");
    place.commit_all("a codec");
    write(&place, [3, 1], "Codec.");
    let typed = |line: &str| -> Ran { in_shell(&place, line, &SHORT) };
    let lines = commands(&page.block("", "duet compare --reach"));
    let [compared, planned] = <[String; 2]>::try_from(lines).expect("two commands");

    let plan = typed(&planned).expect(0).stdout;
    assert!(plan.contains("BenchmarkDecode: not affected") && plan.contains("BenchmarkEncode"), "{plan}");
    assert!(!plan.contains("BenchmarkEncode: not affected"), "{plan}");
    assert!(!place.path().join(".duet").exists());
    let report = typed(&compared).expect(3).stdout;
    assert!(
        page.says("is *not affected*, and not measured") && report.contains("1 benchmark not affected"),
        "{report}"
    );
    assert!(report.contains("regressed"), "{report}");
    let every = typed(&format!("{planned} {}", page.inline("--measure-identical"))).expect(0).stdout;
    assert!(every.contains("BenchmarkDecode") && !every.contains("not affected"), "{every}");
    // A change of code that runs for every benchmark affects all.
    place.write("codec_init.go", "package codec\n\nfunc init() {\n\tprintln(len(\"anew\"))\n}\n");
    assert!(page.says("all initialisers") && !typed(&planned).stdout.contains("not affected"));
}
