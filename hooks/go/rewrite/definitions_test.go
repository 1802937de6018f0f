package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const bench = "func BenchmarkA(b *testing.B) { for b.Loop() { f(x) } }\n"
const calls = "func BenchmarkA(b *testing.B) { for b.Loop() { buffer.Write(nil) } }\n"

// pairs: two versions of a package's test files, and the parts of BenchmarkA in which they differ.
var pairs = []struct {
	name       string
	base, head map[string]string
	differ     string
}{
	{"layout and comments", files("// one\n" + bench), files("// two\n" + strings.ReplaceAll(bench, "{ ", "{\n// three\n")), ""},
	{"the function", files(bench), files(strings.Replace(bench, "f(x)", "f(x, 1)", 1)), "BenchmarkA"},
	{"a directive", files(bench), files("//go:noinline\n" + bench), "BenchmarkA"},
	{"a helper behind another", files(bench + "func f(int) { g() }\nfunc g() {}\n"), files(bench + "func f(int) { g() }\nfunc g() { f(1) }\n"), "g"},
	{"a helper that is not used", files(bench + "func g() {}\n"), files(bench + "func g() { println() }\n"), ""},
	{"another benchmark", files(bench + "func BenchmarkB(b *testing.B) {}\n"), files(bench + "func BenchmarkB(b *testing.B) { f() }\n"), ""},
	{"a variable", files(bench + "var x = 1\n"), files(bench + "var x = 2\n"), "x"},
	{"another of several variables", files(bench + "var (\n\tx = 1\n\ty = 2\n)\n"), files(bench + "var (\n\tx = 1\n\ty = 3\n)\n"), ""},
	{"a group around another one", files("var y = 1\n" + bench), files("var (\n\ty = 1\n)\n" + bench), ""},
	{"one of several variables", files(bench + "var (\n\ty = 2\n\tx = 1\n)\n"), files(bench + "var (\n\ty = 2\n\tx = 3\n)\n"), "x"},
	{"one of several constants", files(bench + "const (\n\ty = iota\n\tx\n)\n"), files(bench + "const (\n\ty = iota + 1\n\tx\n)\n"), "y"},
	{"a method of a type", files(bench + "var x T\ntype T int\nfunc (t *T) Read() {}\n"), files(bench + "var x T\ntype T int\nfunc (t *T) Read() { println() }\n"), "Read"},
	{"a method of a type that is not used", files(calls), files(calls + "type T int\nfunc (t *T) Write(p []byte) {}\n"), ""},
	{"a method of a type of the package", files(calls + "func (t *T) Write(p []byte) {}\n"), files(calls + "func (t *T) Write(p []byte) { println() }\n"), "Write"},
	{"init that fills a variable", files(bench + "var x int\nfunc init() { x = 1 }\n"), files(bench + "var x int\nfunc init() { x = 2 }\n"), "init"},
	{"init of something else", files(bench + "var y int\nfunc init() { y = 1 }\n"), files(bench + "var y int\nfunc init() { y = 2 }\n"), ""},
	{"another import of this name", files("import f \"a\"\n" + bench), files("import f \"b\"\n" + bench), "BenchmarkA"},
	{"a name behind a dot is none of ours", files("func BenchmarkA(b *testing.B) { for b.Loop() { p.x() } }\nvar x = 1\n"), files("func BenchmarkA(b *testing.B) { for b.Loop() { p.x() } }\nvar x = 2\n"), ""},
	{"moved to another file", map[string]string{"a_test.go": head + bench, "b_test.go": head}, map[string]string{"a_test.go": head, "b_test.go": head + bench}, ""},
	{"data", with("testdata/in.txt", "1", "os.Open(\"testdata/in.txt\")"), with("testdata/in.txt", "2", "os.Open(\"testdata/in.txt\")"), "testdata/in.txt"},
	{"other data", with("testdata/in.txt", "1", "os.Open(\"testdata/other.txt\")"), with("testdata/in.txt", "2", "os.Open(\"testdata/other.txt\")"), ""},
	{"a folder of data", with("testdata/a/in.txt", "1", "filepath.Join(\"testdata\", \"a\")"), with("testdata/a/in.txt", "2", "filepath.Join(\"testdata\", \"a\")"), "testdata"},
	{"a word that names a package", with("json/json.go", "1", "b.Run(\"json\", g)"), with("json/json.go", "2", "b.Run(\"json\", g)"), ""},
	{"code of the package as data", with("p.go", "1", "os.Open(\"p.go\")"), with("p.go", "2", "os.Open(\"p.go\")"), ""},
	{"a pattern that embeds nothing", with("p.txt", "1", "glob(\"*.txt\")"), with("p.txt", "2", "glob(\"*.txt\")"), ""},
	{"embedded files", embedding("1"), embedding("2"), "*.txt"},
	{"data beside the folder", with("../in.txt", "1", "os.Open(\"../in.txt\")"), with("../in.txt", "2", "os.Open(\"../in.txt\")"), "../in.txt"},
	{"data beside the folder, joined", with("../testdata/in.txt", "1", "filepath.Join(\"..\", \"testdata\", \"in.txt\")"), with("../testdata/in.txt", "2", "filepath.Join(\"..\", \"testdata\", \"in.txt\")"), "../testdata"},
	{"data outside of the module", with("../../in.txt", "1", "os.Open(\"../../in.txt\")"), with("../../in.txt", "2", "os.Open(\"../../in.txt\")"), ""},
	{"data by a pattern", with("testdata/in.txt", "1", "filepath.Glob(\"testdata/*.txt\")"), with("testdata/in.txt", "2", "filepath.Glob(\"testdata/*.txt\")"), "testdata/*.txt"},
	{"data by a name that is put together", with("testdata/in.txt", "1", "fmt.Sprintf(\"./testdata/%s.txt\", n)"), with("testdata/in.txt", "2", "fmt.Sprintf(\"./testdata/%s.txt\", n)"), "./testdata/%s.txt"},
	{"embedded files that another names", embeddingTwice("1"), embeddingTwice("2"), "corpus"},
	{"what external tests use", external("1"), external("2"), "Inputs"},
	{"what a function sets of the package before", files(bench + "func init() { size = 1 }\n"), files(bench + "func init() { size = 2 }\n"), "init"},
	{"what a function sets of its own before", files(bench + "func init() { size := 1; size++ }\n"), files(bench + "func init() { size := 2; size++ }\n"), ""},
	{"a path out of the folder", with("in.txt", "1", "os.Open(\"../in.txt\")"), with("in.txt", "2", "os.Open(\"../in.txt\")"), ""},
}

const head = "package p\nimport \"testing\"\n"

func files(text string) map[string]string {
	return map[string]string{"a_test.go": head + text}
}

func with(name, content, call string) map[string]string {
	return map[string]string{name: content, "a_test.go": head + "func BenchmarkA(b *testing.B) { for b.Loop() { " + call + " } }\n"}
}

func embedding(content string) map[string]string {
	return map[string]string{"p.txt": content, "a_test.go": head + "import _ \"embed\"\n//go:embed *.txt\nvar x string\n" + bench}
}

// embeddingTwice embeds a folder that a literal of the benchmark names, too.
func embeddingTwice(content string) map[string]string {
	text := "import \"embed\"\n//go:embed corpus\nvar corpus embed.FS\nfunc BenchmarkA(b *testing.B) { f := corpus.ReadDir(\"corpus\"); for b.Loop() { use(f) } }\n"
	return map[string]string{"corpus/in.txt": content, "a_test.go": head + text}
}

// external has the benchmark in a package of its own, which uses what the package's own tests declare for it.
func external(content string) map[string]string {
	return map[string]string{
		"export_test.go": head + "func Inputs() string { return \"" + content + "\" }\n",
		"a_test.go":      "package p_test\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) { for b.Loop() { f(p.Inputs()) } }\n",
	}
}

func TestDefinitionsTellChangedBenchmarks(t *testing.T) {
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			base, head := definitionOf(t, pair.base), definitionOf(t, pair.head)
			var differ []string
			for name, digest := range head {
				if base[name] != digest {
					differ = append(differ, name)
				}
			}
			if strings.Join(differ, " ") != pair.differ {
				t.Errorf("%q differ, want %q", differ, pair.differ)
			}
		})
	}
}

// definitionOf returns the digests of BenchmarkA's parts by name.
func definitionOf(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	return definitionIn(t, files, func(string) {})
}

// definitionIn is the same in a folder with more in it.
func definitionIn(t *testing.T, files map[string]string, add func(dir string)) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..", "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(dir)
	var units []*unit
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			u, err := parseUnit(path, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			units = append(units, u)
		}
	}
	parts := map[string]string{}
	for _, definition := range definitionsOf(units)[dir] {
		if definition.Benchmark == "BenchmarkA" {
			if definition.Parts[0].Name != "BenchmarkA" {
				t.Errorf("%q is the first part", definition.Parts[0].Name)
			}
			for _, p := range definition.Parts {
				parts[p.Name] += p.Digest
			}
		}
	}
	if len(parts) == 0 {
		t.Fatal("it has no definition")
	}
	return parts
}

func TestDataBehindALinkCounts(t *testing.T) {
	of := func(content string) map[string]string {
		shared := t.TempDir()
		if err := os.WriteFile(filepath.Join(shared, "in.txt"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return definitionIn(t, with("other", "", "filepath.Join(\"testdata\", name)"), func(dir string) {
			if err := os.Symlink(shared, filepath.Join(dir, "testdata")); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, other := of("1"), of("2"); reflect.DeepEqual(one, other) {
		t.Errorf("%v is the definition in both", one)
	}
}

func TestABenchmarkWithoutABodyIsDefinedToo(t *testing.T) {
	definitionOf(t, files("func BenchmarkA(b *testing.B)\n"))
}

func TestPartsHaveTheirLine(t *testing.T) {
	u, err := parseUnit("/p/a_test.go", []byte(head+"\n\nvar x = 1\n"+bench))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range definitionsOf([]*unit{u})["/p"][0].Parts {
		lines = append(lines, p.Line)
	}
	if want := []int{6, 5}; !reflect.DeepEqual(lines, want) {
		t.Errorf("lines are %v, want %v", lines, want)
	}
}

func TestBenchmarksThatNeverLoop(t *testing.T) {
	for body, want := range map[string]bool{
		"for i := 0; i < b.N; i++ {}":                  true,
		"for b.Loop() {}":                              true,
		"b.Run(\"x\", func(b *testing.B) {})":          true,
		"help(b)":                                      true,
		"s := suite{b}; s.run()":                       true,
		"b.ReportAllocs(); if f() { b.Fatal(\"no\") }": false,
		"f()": false,
		"":    false,
	} {
		u, err := parseUnit("/p/a_test.go", []byte(head+"func BenchmarkA(b *testing.B) { "+body+" }"))
		if err != nil {
			t.Fatal(err)
		}
		if got := definitionsOf([]*unit{u})["/p"][0].Loops; got != want {
			t.Errorf("%q loops: %v, want %v", body, got, want)
		}
	}
}

func TestLeavesAreBenchmarksThatCannotHaveSubBenchmarks(t *testing.T) {
	const source = `package p

import "testing"

func BenchmarkPlain(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		defer func() { b.StopTimer() }()
	}
}
func BenchmarkNameless(*testing.B)  {}
func BenchmarkBlank(_ *testing.B)   {}
func BenchmarkParent(b *testing.B)  { b.Run("x", func(b *testing.B) {}) }
func BenchmarkMethod(b *testing.B)  { run := b.Run; run("x", nil) }
func BenchmarkPassing(b *testing.B) { help(b) }
func BenchmarkKeeping(b *testing.B) { c := b; c.Run("x", nil) }
func BenchmarkField(b *testing.B)   { x.b.Run("x", nil) }
`
	u, err := parseUnit("p_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var leaves []string
	found := definitionsOf([]*unit{u})["."]
	for _, one := range found {
		if one.Leaf {
			leaves = append(leaves, one.Benchmark)
		}
	}
	if len(found) != 8 || strings.Join(leaves, " ") != "BenchmarkBlank BenchmarkNameless BenchmarkPlain" {
		t.Errorf("%v of %v are leaves", leaves, found)
	}
}

func TestPackagesOfOneFolderMayNameABenchmarkAlike(t *testing.T) {
	var units []*unit
	for name, text := range map[string]string{
		"a_test.go": "package p\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) { b.Run(\"x\", f) }\n",
		"b_test.go": "package p_test\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) { f() }\n",
	} {
		u, err := parseUnit("/p/"+name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, u)
	}
	found := definitionsOf(units)["/p"]
	if len(found) != 1 || !found[0].Loops || found[0].Leaf || len(found[0].Parts) != 2 {
		t.Errorf("%+v", found)
	}
}
