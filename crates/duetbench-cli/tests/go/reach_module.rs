//! A module with a benchmark for every way in which code can lead to code.

pub(super) const LIB: &str = "p/lib.go";
pub(super) const TESTS: &str = "p/lib_test.go";

/// Number of benchmarks in the package.
pub(super) const BENCHMARKS: usize = 27;

pub(super) const FILES: &[(&str, &str)] = &[
    ("go.mod", "module example.com/m\n\ngo 1.22\n"),
    ("elsewhere/elsewhere.go", ELSEWHERE),
    ("hide/hidden.go", "package hide\n\n//go:noinline\nfunc secret(n int) int { return n + 51 }\n"),
    ("p/lib.go", LIBRARY),
    // A name that is in no data of the program, which else might open a file of that name.
    ("vxqzl/add.go", "package vxqzl\n\nfunc Add(n int) int\n"),
    ("vxqzl/add_amd64.s", "TEXT ·Add(SB), 4, $0-16\n\tMOVQ n+0(FP), AX\n\tADDQ $91, AX\n\tMOVQ AX, ret+8(FP)\n\tRET\n"),
    (
        "vxqzl/add_arm64.s",
        "TEXT ·Add(SB), 4, $0-16\n\tMOVD n+0(FP), R0\n\tADD $91, R0, R0\n\tMOVD R0, ret+8(FP)\n\tRET\n",
    ),
    ("p/data.txt", "embedded\n"),
    // Lets the compiler take functions without a body.
    ("p/empty.s", ""),
    ("p/testdata/case.txt", "1\n"),
    ("p/lib_test.go", BENCHMARKS_OF_IT),
];

const ELSEWHERE: &str = "package elsewhere

type Speaker interface{ Speak(n int) int }

type voice struct{ n int }

//go:noinline
func (v voice) Speak(n int) int { return n + 11 }

//go:noinline
func Make(n int) Speaker { return voice{n} }

var begun int

func init() { begun = 1 }
";

const LIBRARY: &str = r#"package p

import (
	_ "embed"
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	_ "unsafe"

	"example.com/m/elsewhere"
	_ "example.com/m/hide"
)

//go:noinline
func direct(n int) int { return n*3 + 7 }

func spoken(s elsewhere.Speaker, n int) int { return s.Speak(n) }

type late struct{}

//go:noinline
func (late) Word() string { return "late" }

var boxed any = late{}

func assertion() int { return len(boxed.(interface{ Word() string }).Word()) }

type named struct{}

//go:noinline
func (named) Alpha(n int) int { return n + 21 }

func call(method reflect.Value, n int) int {
	return int(method.Call([]reflect.Value{reflect.ValueOf(n)})[0].Int())
}

//go:noinline
func byName(name string, n int) int { return call(reflect.ValueOf(named{}).MethodByName(name), n) }

type fixed struct{}

//go:noinline
func (fixed) Beta(n int) int { return n + 31 }

//go:noinline
func byConstant(n int) int { return call(reflect.ValueOf(fixed{}).MethodByName("Beta"), n) }

type numbered struct{}

//go:noinline
func (numbered) Gamma(n int) int { return n + 41 }

//go:noinline
func byNumber(n int) int { return call(reflect.ValueOf(numbered{}).Method(0), n) }

//go:linkname hidden example.com/m/hide.secret
func hidden(n int) int

//go:noinline
func closure(step int) func(int) int {
	return func(n int) int { return n + step + 61 }
}

type bound struct{ n int }

//go:noinline
func (b *bound) Delta(n int) int { return n + 71 }

//go:noinline
func value(b *bound) func(int) int { return b.Delta }

//go:noinline
func sum[T int32 | int64](all []T) (total T) {
	for _, one := range all {
		total += one + 1
	}
	return total
}

type teller interface{ Tell(n int) int }

type tale struct{}

//go:noinline
func (tale) Tell(n int) int { return n + 81 }

//go:noinline
func told[T teller](t T, n int) int { return t.Tell(n) }

//go:noinline
func text() string { return "constant" }

var numbers = [...]int{1, 2, 3, 4}

var texts = []string{"red", "green"}

var level = 41

type record struct {
	a int8
	b int64
}

//go:noinline
func (r *record) sum() int { return int(r.a) + int(r.b) }

type key struct {
	text string
	n    int
}

//go:noinline
func keyed(m map[key]int, k key) int { return m[k] }

type tagged struct {
	X int `json:"x"`
}

//go:noinline
func tag() int { return len(reflect.TypeOf(tagged{}).Field(0).Tag.Get("json")) }

//go:noinline
func work(n int) int { return n + 101 }

func started(n int) int {
	done := make(chan int)
	go func() { done <- work(n) }()
	return <-done
}

//go:noinline
func begin() int { return 111 }

var began = begin()

var written int

func init() { written = 3 }

var background int

//go:noinline
func loop() { background = background + 121 }

func init() { go loop() }

//go:embed data.txt
var embedded string

var kept [1]*int

// The compiler puts what fills a map into a function of its own, which the linker drops where nobody needs the map.
var colours = map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 10, "k": 141}

//go:noinline
func prepare(n int) { kept[0] = &n }

//go:noinline
func tested(n int) int { return n + 131 }

//go:noinline
func lines() int {
	_, _, line, _ := runtime.Caller(0)
	return line
}

func arguments() int { return len(os.Args) }

func unused() {}

func encode(v any) int {
	text, _ := json.Marshal(v)
	return len(text)
}
"#;

const BENCHMARKS_OF_IT: &str = r#"package p

import (
	"os"
	"testing"

	"example.com/m/elsewhere"
	"example.com/m/vxqzl"
)

var sink int

func TestMain(m *testing.M) {
	prepare(1)
	os.Exit(m.Run())
}

func TestIt(t *testing.T) {
	if tested(1) == 0 {
		t.Fatal("nothing")
	}
}

func BenchmarkDirect(b *testing.B) { sink = Direct(b.N) }

func Direct(n int) int { return direct(n) }

func BenchmarkSibling(b *testing.B)     { for i := 0; i < b.N; i++ { sink += i } }
func BenchmarkInterface(b *testing.B)   { s := elsewhere.Make(1); for i := 0; i < b.N; i++ { sink += spoken(s, i) } }
func BenchmarkAssertion(b *testing.B)   { for i := 0; i < b.N; i++ { sink += assertion() } }
func BenchmarkByName(b *testing.B)      { for i := 0; i < b.N; i++ { sink += byName(names[i%1], i) } }
func BenchmarkByConstant(b *testing.B)  { for i := 0; i < b.N; i++ { sink += byConstant(i) } }
func BenchmarkByNumber(b *testing.B)    { for i := 0; i < b.N; i++ { sink += byNumber(i) } }
func BenchmarkLinkname(b *testing.B)    { for i := 0; i < b.N; i++ { sink += hidden(i) } }
func BenchmarkClosure(b *testing.B)     { f := closure(b.N); for i := 0; i < b.N; i++ { sink += f(i) } }
func BenchmarkMethodValue(b *testing.B) { f := value(&bound{}); for i := 0; i < b.N; i++ { sink += f(i) } }
func BenchmarkGeneric(b *testing.B)     { for i := 0; i < b.N; i++ { sink += int(sum([]int64{1, int64(i)})) } }
func BenchmarkConstraint(b *testing.B)  { for i := 0; i < b.N; i++ { sink += told(tale{}, i) } }
func BenchmarkText(b *testing.B)        { for i := 0; i < b.N; i++ { sink += int(text()[i%3]) } }
func BenchmarkNumbers(b *testing.B)     { for i := 0; i < b.N; i++ { sink += numbers[i%4] } }
func BenchmarkTexts(b *testing.B)       { for i := 0; i < b.N; i++ { sink += len(texts[i%2]) } }
func BenchmarkVariable(b *testing.B)    { for i := 0; i < b.N; i++ { sink += level } }
func BenchmarkStruct(b *testing.B)      { r := &record{1, 2}; for i := 0; i < b.N; i++ { sink += r.sum() } }
func BenchmarkKey(b *testing.B)         { m := map[key]int{}; for i := 0; i < b.N; i++ { sink += keyed(m, key{n: i}) } }
func BenchmarkTag(b *testing.B)         { for i := 0; i < b.N; i++ { sink += tag() } }
func BenchmarkAssembly(b *testing.B)    { for i := 0; i < b.N; i++ { sink += vxqzl.Add(i) } }
func BenchmarkGoroutine(b *testing.B)   { for i := 0; i < b.N; i++ { sink += started(i) } }
func BenchmarkWritten(b *testing.B)     { for i := 0; i < b.N; i++ { sink += written + began } }
func BenchmarkEmbedded(b *testing.B)    { for i := 0; i < b.N; i++ { sink += len(embedded) } }
func BenchmarkLines(b *testing.B)       { for i := 0; i < b.N; i++ { sink += lines() } }
func BenchmarkArguments(b *testing.B)   { for i := 0; i < b.N; i++ { sink += arguments() } }
func BenchmarkEncode(b *testing.B)      { for i := 0; i < b.N; i++ { sink += encode(&b.N) } }
func BenchmarkColours(b *testing.B)     { for i := 0; i < b.N; i++ { sink += colours["a"] } }

var names = [1]string{"Alpha"}

// more
"#;
