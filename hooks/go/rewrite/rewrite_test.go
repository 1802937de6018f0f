package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const imports = "import \"testing\"\n"

// cases: source is a file without its package line; want is what becomes of it, or the reason of the refusal.
var cases = []struct{ name, source, want, refused string }{
	{name: "plain", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f(i) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f(i) } }`},
	{name: "bound on the left", source: imports + `func BenchmarkA(b *testing.B) { for n := 0; b.N > n; n++ { f() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for n := 0; b.N > n || b.DuetMore(); n++ { f() } }`},
	{name: "range without variable", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { f() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for duetI := 0; duetI < b.N || b.DuetMore(); duetI++ { f() } }`},
	{name: "range with variable", source: imports + `func BenchmarkA(b *testing.B) { for i := range b.N { f(i) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f(i) } }`},
	{name: "helper, other names, other import", source: `import tt "testing"; func help(n int, bb *tt.B) { for i := 0; i < bb.N; i++ { f() } }`,
		want: `import tt "testing"; func help(n int, bb *tt.B) { for i := 0; i < bb.N || bb.DuetMore(); i++ { f() } }`},
	{name: "sub-benchmark in a loop", source: imports + `func BenchmarkA(b *testing.B) { for _, c := range cs { b.Run(c, func(b *testing.B) { for i := 0; i < b.N; i++ { f() } }) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for _, c := range cs { b.Run(c, func(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f() } }) } }`},
	{name: "helper called once in each sub-benchmark", source: imports + `func BenchmarkA(b *testing.B) { for range cs { b.Run("", func(b *testing.B) { help(b) }) } }; func help(b *testing.B) { for range b.N { } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for range cs { b.Run("", func(b *testing.B) { help(b) }) } }; func help(b *testing.B) { for duetI := 0; duetI < b.N || b.DuetMore(); duetI++ { } }`},
	{name: "in an if", source: imports + `func BenchmarkA(b *testing.B) { if x { { for i := 0; i < b.N; i++ { f() } } } }`,
		want: imports + `func BenchmarkA(b *testing.B) { if x { { for i := 0; i < b.N || b.DuetMore(); i++ { f() } } } }`},
	{name: "harmless breaks and returns", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { for { break }; switch { default: break }; L: for { continue L }; func() { return }() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { for { break }; switch { default: break }; L: for { continue L }; func() { return }() } }`},
	{name: "continue of the loop itself", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { if f() { continue } } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { if f() { continue } } }`},
	{name: "index with modulo", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f(x[i%len(x)]) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f(x[i%len(x)]) } }`},
	{name: "head with comment, other text kept", source: imports + "//  odd   spacing\nfunc BenchmarkA(b *testing.B) {\n\tfor i:=0;i<b.N;i++ { // c\n\t}\n}\n\n\n// end",
		want: imports + "//  odd   spacing\nfunc BenchmarkA(b *testing.B) {\n\tfor i:=0;i<b.N || b.DuetMore();i++ { // c\n\t}\n}\n\n\n// end"},
	{name: "umlauts before the loop", source: imports + `func BenchmarkÄ(b *testing.B) { s := "äöü"; for range b.N { f(s) } }`,
		want: imports + `func BenchmarkÄ(b *testing.B) { s := "äöü"; for duetI := 0; duetI < b.N || b.DuetMore(); duetI++ { f(s) } }`},

	{name: "parallel", source: imports + `func BenchmarkA(b *testing.B) { if x { b.RunParallel(func(pb *testing.PB) { for pb.Next() { f() } }) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { if x { b.DuetParallel(func(pb *testing.PB) { for pb.Next() { f() } }) } }`},
	{name: "parallel in a helper called once", source: imports + `func BenchmarkA(b *testing.B) { help(b) }; func help(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { g() } }) }`,
		want: imports + `func BenchmarkA(b *testing.B) { help(b) }; func help(b *testing.B) { b.DuetParallel(func(pb *testing.PB) { for pb.Next() { g() } }) }`},
	{name: "parallel, stopped", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { g() } }); b.StopTimer(); p.Wait() }`,
		want: imports + `func BenchmarkA(b *testing.B) { b.DuetParallel(func(pb *testing.PB) { for pb.Next() { g() } }); b.StopTimer(); p.Wait() }`},

	{name: "sized by b.N for RunParallel", source: imports + `func BenchmarkA(b *testing.B) { keys := makeKeys(b.N); b.ResetTimer(); b.RunParallel(g) }`, refused: reasonBeside},
	{name: "sized by b.N in a helper for RunParallel", source: imports + `func BenchmarkA(b *testing.B) { x := help(b); b.RunParallel(g) }; func help(b *testing.B) int { return b.N }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},
	{name: "RunParallel that reads b.N", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { f(b.N) } }) }`, refused: reasonBeside},
	{name: "RunParallel twice", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(g); b.RunParallel(h) }`, refused: reasonBeside},
	{name: "RunParallel in helpers", source: imports + `func BenchmarkA(b *testing.B) { help(b); help(b) }; func help(b *testing.B) { b.RunParallel(g) }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},
	{name: "RunParallel in a loop", source: imports + `func BenchmarkA(b *testing.B) { for range x { b.RunParallel(g) } }`, refused: reasonParallel},
	{name: "RunParallel in a goroutine", source: imports + `func BenchmarkA(b *testing.B) { go func() { b.RunParallel(g) }() }`, refused: reasonParallel},
	{name: "RunParallel as a value", source: imports + `func BenchmarkA(b *testing.B) { f(b.RunParallel) }`, refused: reasonParallel},
	{name: "RunParallel with a body elsewhere", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(g) }`, refused: reasonUnseen},
	{name: "parallel, with what is its own", source: "import \"bytes\"\n" + imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { x := bytes.NewReader(s); x.Reset(y); var n int; n++; for pb.Next() { m.Store(n, x) }; if n == 0 { b.Error(n) } }) }`,
		want: "import \"bytes\"\n" + imports + `func BenchmarkA(b *testing.B) { b.DuetParallel(func(pb *testing.PB) { x := bytes.NewReader(s); x.Reset(y); var n int; n++; for pb.Next() { m.Store(n, x) }; if n == 0 { b.Error(n) } }) }`},
	{name: "parallel, with sinks", source: "import \"sync/atomic\"\n" + imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { var x int; for pb.Next() { x = f(x) }; sink = x; atomic.AddInt64(&total, x) }) }`,
		want: "import \"sync/atomic\"\n" + imports + `func BenchmarkA(b *testing.B) { b.DuetParallel(func(pb *testing.PB) { var x int; for pb.Next() { x = f(x) }; sink = x; atomic.AddInt64(&total, x) }) }`},
	{name: "RunParallel beside a sum that is looked at", source: "import \"sync/atomic\"\n" + imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { f() }; atomic.AddInt64(&n, 1) }); b.ReportMetric(n, "n") }`, refused: reasonShared},
	{name: "RunParallel beside a number that is drawn", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { id := atomic.AddInt64(&n, 1); for pb.Next() { f(id) } }) }`, refused: reasonShared},
	{name: "RunParallel beside a barrier", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { wg.Done(); wg.Wait(); for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside a counter", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { n++; for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside an element", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { conns[0] = c; for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside a channel", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { f() }; done <- true }) }`, refused: reasonShared},
	{name: "RunParallel beside a receive", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { <-start; for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside a closed channel", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { close(start); for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside a number behind a pointer", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { id := atomic.AddInt64(n, 1); for pb.Next() { f(id) } }) }`, refused: reasonShared},
	{name: "RunParallel beside a deleted key", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for pb.Next() { f() }; delete(m, k) }) }`, refused: reasonShared},
	{name: "RunParallel beside a shared variable of a loop", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for shared = range 3 { g() }; for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel beside another loop", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(func(pb *testing.PB) { for range x { n++ }; for pb.Next() { f() } }) }`, refused: reasonShared},
	{name: "RunParallel before another loop", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(g); for b.Loop() { f() } }`, refused: reasonLater},
	{name: "RunParallel before what is waited for", source: imports + `func BenchmarkA(b *testing.B) { b.RunParallel(g); close(ch); wg.Wait() }`, refused: reasonRest},
	{name: "sized by b.N", source: imports + `func BenchmarkA(b *testing.B) { x := make([]int, b.N); for i := 0; i < b.N; i++ { x[i]++ } }`, refused: reasonTwice},
	{name: "metric by b.N", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { }; b.ReportMetric(1/float64(b.N), "x") }`, refused: reasonTwice},
	{name: "in a loop", source: imports + `func BenchmarkA(b *testing.B) { for range x { for i := 0; i < b.N; i++ { } } }`, refused: reasonPlace},
	{name: "in a goroutine", source: imports + `func BenchmarkA(b *testing.B) { go func() { for i := 0; i < b.N; i++ { } }() }`, refused: reasonPlace},
	{name: "in a switch", source: imports + `func BenchmarkA(b *testing.B) { switch { default: for i := 0; i < b.N; i++ { } } }`, refused: reasonPlace},
	{name: "no loop", source: imports + `func BenchmarkA(b *testing.B) { f(b.N) }`, refused: reasonPlace},
	{name: "not equal", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i != b.N; i++ { } }`, refused: reasonPlace},
	{name: "from one", source: imports + `func BenchmarkA(b *testing.B) { for i := 1; i < b.N; i++ { } }`, refused: reasonPlace},
	{name: "step of two", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i += 2 { } }`, refused: reasonPlace},
	{name: "part of the bound", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N/10; i++ { } }`, refused: reasonPlace},
	{name: "and another condition", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N && f(); i++ { } }`, refused: reasonPlace},
	{name: "range into an old variable", source: imports + `func BenchmarkA(b *testing.B) { var i int; for i = range b.N { } }`, refused: reasonPlace},
	{name: "label", source: imports + `func BenchmarkA(b *testing.B) { L: for i := 0; i < b.N; i++ { continue L } }`, refused: reasonLabel},
	{name: "break", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { if f() { break } } }`, refused: reasonLeave},
	{name: "return", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { for { return } } }`, refused: reasonLeave},
	{name: "goto", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { goto E }; E: }`, refused: reasonLeave},
	{name: "variable assigned", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { i += 3 } }`, refused: reasonVariable},
	{name: "variable stepped", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { i++ } }`, refused: reasonVariable},
	{name: "variable's address", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f(&i) } }`, refused: reasonVariable},
	{name: "plain index", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f(x[i]) } }`, refused: reasonIndex},
	{name: "b assigned", source: imports + `func BenchmarkA(b *testing.B) { b = g(); for i := 0; i < b.N; i++ { } }`, refused: reasonShadow},
	{name: "b shadowed", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { b := 1; f(b) } }`, refused: reasonShadow},
	{name: "dot import", source: `import . "testing"; func BenchmarkA(b *B) { for i := 0; i < b.N; i++ { } }`, refused: reasonDot},
	{name: "range head over lines", source: imports + "func BenchmarkA(b *testing.B) { for range b.\nN { } }", refused: reasonLines},
	{name: "duetI in use", source: imports + `func BenchmarkA(b *testing.B) { duetI := 1; for range b.N { f(duetI) } }`, refused: reasonGenerated},
	{name: "helper called twice", source: imports + `func BenchmarkA(b *testing.B) { help(b, 1); help(b, 2) }; func help(b *testing.B, n int) { for range b.N { } }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},
	{name: "helper called in a loop", source: imports + `func BenchmarkA(b *testing.B) { for range x { help(b) } }; func help(b *testing.B) { deep(b) }; func deep(b *testing.B) { for range b.N { } }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},
	{name: "helper sizes data by b.N", source: imports + `func BenchmarkA(b *testing.B) { x := help(b); for range b.N { f(x) } }; func help(b *testing.B) int { return b.N }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},

	{name: "filled before the timer is reset", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { q.Push() }; b.ResetTimer(); for q.Len() > 0 { q.Pop() } }`, refused: reasonLater},
	{name: "filled while the timer is stopped", source: imports + `func BenchmarkA(b *testing.B) { b.StopTimer(); for range b.N { q.Push() }; b.StartTimer(); f() }`, refused: reasonLater},
	{name: "filled before RunParallel", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { m.Set() }; b.RunParallel(func(pb *testing.PB) { for pb.Next() { m.Get() } }) }`, refused: reasonBeside},
	{name: "work that is waited for", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { p.Submit() }; wg.Wait() }`, refused: reasonRest},
	{name: "work that is received", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { in <- 1 }; <-done }`, refused: reasonRest},
	{name: "work that a worker has yet to take from a buffer", source: imports + `func BenchmarkA(b *testing.B) { in := make(chan int, 64); go work(in); for range b.N { in <- 1 } }`, refused: reasonRest},
	{name: "work in another loop", source: imports + `func BenchmarkA(b *testing.B) { for range b.N { q.Push() }; for q.Len() > 0 { q.Pop() } }`, refused: reasonRest},
	{name: "cleared up after the timer is stopped", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f() }; b.StopTimer(); w.Close(); for range x { g() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f() }; b.StopTimer(); w.Close(); for range x { g() } }`},
	{name: "transaction that is committed", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { tx.Upsert(x) }; tx.MustCommit() }`, refused: reasonRest},
	{name: "committed in an assertion", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { tx.Upsert(x) }; require.NoError(b, tx.Commit()) }`, refused: reasonRest},
	{name: "pool that is stopped", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { wp.Submit(f) }; wp.Stop() }`, refused: reasonRest},
	{name: "own function that waits", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { submit(f) }; wait() }`, refused: reasonRest},
	{name: "own function that is handed b and waits", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { submit(f) }; waitFor(b, p) }`, refused: reasonRest},
	{name: "own function that is handed b and stops a pool", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() }; stopPool(b, p) }; func stopPool(t testing.TB, p *Pool) { p.Stop() }`, refused: reasonRest},
	{name: "own function that is handed b and stops a pool by another", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() }; stopPool(b, p) }; func stopPool(t testing.TB, p *Pool) { t.Helper(); stop(t, p) }; func stop(t testing.TB, p *Pool) { p.Stop() }`, refused: reasonRest},
	{name: "own method that is handed b and stops a pool", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() }; s.tearDown(b) }; func (s *suite) tearDown(b *testing.B) { s.pool.Stop() }`, refused: reasonRest},
	{name: "function value that is handed b", source: imports + `func BenchmarkA(b *testing.B) { tearDown := setUp(b); for i := 0; i < b.N; i++ { p.Submit() }; tearDown(b) }`, refused: reasonRest},
	{name: "own function that calls itself", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() }; f(b) }; func f(b *testing.B) { f(b) }`, refused: reasonRest},
	{name: "own assertion", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() }; check(b, x) }; func check(t testing.TB, x int) { t.Helper(); if x == 0 { t.Fatalf("%d", x) }; require.NoError(t, err); also(t) }; func also(testing.TB) {}`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() }; check(b, x) }; func check(t testing.TB, x int) { t.Helper(); if x == 0 { t.Fatalf("%d", x) }; require.NoError(t, err); also(t) }; func also(testing.TB) {}`},
	{name: "error of the wait", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { g.Go(f) }; if err := g.Wait(); err != nil { b.Fatal(err) } }`, refused: reasonRest},
	{name: "worker that is told to end", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { in <- 1 }; quit <- true }`, refused: reasonRest},
	{name: "wait that is deferred before the loop", source: imports + `func BenchmarkA(b *testing.B) { defer w.Wait(); for i := 0; i < b.N; i++ { w.Add(f) } }`, refused: reasonRest},
	{name: "wait in a closure that is deferred before the loop", source: imports + `func BenchmarkA(b *testing.B) { defer func() { close(in); <-done }(); for i := 0; i < b.N; i++ { in <- 1 } }`, refused: reasonRest},
	{name: "wait that is deferred behind the loop", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { w.Add(f) }; defer w.Wait() }`, refused: reasonRest},
	{name: "calls that the loop defers", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f := open(); defer f.Close() } }`, refused: reasonDeferred},
	{name: "calls that a closure in the loop defers", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { func() { mu.Lock(); defer mu.Unlock() }() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { func() { mu.Lock(); defer mu.Unlock() }() } }`},
	{name: "results that are looked at", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f() }; sink = int64(x); if len(x) != n { b.Fatalf("%d", g(x)) }; require.Equal(b, want, got.String()); _ = fmt.Sprint(x); runtime.KeepAlive(x) }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f() }; sink = int64(x); if len(x) != n { b.Fatalf("%d", g(x)) }; require.Equal(b, want, got.String()); _ = fmt.Sprint(x); runtime.KeepAlive(x) }`},
	{name: "assertions of an object, and conversions to pointers", source: imports + `func BenchmarkA(b *testing.B) { r := require.New(b); for i := 0; i < b.N; i++ { f() }; r.NoError(err); sink = (*T)(x) }`,
		want: imports + `func BenchmarkA(b *testing.B) { r := require.New(b); for i := 0; i < b.N || b.DuetMore(); i++ { f() }; r.NoError(err); sink = (*T)(x) }`},
	{name: "metric", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { f() }; b.ReportMetric(float64(g(x)), "x"); b.SetBytes(int64(g(x))) }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { f() }; b.ReportMetric(float64(g(x)), "x"); b.SetBytes(int64(g(x))) }`},
	{name: "cleared up without waiting", source: imports + `func BenchmarkA(b *testing.B) { defer srv.Close(); defer func() { cancel(); os.RemoveAll(dir) }(); for i := 0; i < b.N; i++ { f() }; b.Cleanup(func() { wg.Wait() }); close(in) }`,
		want: imports + `func BenchmarkA(b *testing.B) { defer srv.Close(); defer func() { cancel(); os.RemoveAll(dir) }(); for i := 0; i < b.N || b.DuetMore(); i++ { f() }; b.Cleanup(func() { wg.Wait() }); close(in) }`},
	{name: "wait that a goroutine defers", source: imports + `func BenchmarkA(b *testing.B) { go func() { defer close(done); defer in.Wait() }(); for i := 0; i < b.N; i++ { f() } }`,
		want: imports + `func BenchmarkA(b *testing.B) { go func() { defer close(done); defer in.Wait() }(); for i := 0; i < b.N || b.DuetMore(); i++ { f() } }`},
	{name: "wait that is deferred, stopped", source: imports + `func BenchmarkA(b *testing.B) { defer w.Wait(); for i := 0; i < b.N; i++ { f() }; b.StopTimer() }`,
		want: imports + `func BenchmarkA(b *testing.B) { defer w.Wait(); for i := 0; i < b.N || b.DuetMore(); i++ { f() }; b.StopTimer() }`},
	{name: "helper, then the timer is reset", source: imports + `func BenchmarkA(b *testing.B) { fill(b); b.ResetTimer(); f() }; func fill(b *testing.B) { for range b.N { s.Put() } }`, refused: reasonLater + " in BenchmarkA"},
	{name: "helper, then waited for", source: imports + `func BenchmarkA(b *testing.B) { all(b); p.Wait() }; func all(b *testing.B) { submit(b) }; func submit(b *testing.B) { for range b.N { p.Submit() } }`, refused: reasonRest + " in BenchmarkA"},
	{name: "helper, then another loop", source: imports + `func BenchmarkA(b *testing.B) { fill(b); for b.Loop() { f() } }; func fill(b *testing.B) { for range b.N { m.Set() } }`, refused: reasonLater + " in BenchmarkA"},
	{name: "helper with RunParallel, then waited for", source: imports + `func BenchmarkA(b *testing.B) { all(b); p.Wait() }; func all(b *testing.B) { b.RunParallel(g) }`, refused: reasonRest + " in BenchmarkA"},
	{name: "closure, then the timer is reset", source: imports + `func BenchmarkA(b *testing.B) { fill := func(b *testing.B) { for range b.N { } }; fill(b); b.ResetTimer(); f() }`, refused: reasonLater + " in BenchmarkA"},
	{name: "helper, then cleared up after the timer is stopped", source: imports + `func BenchmarkA(b *testing.B) { help(b); b.StopTimer(); w.Close() }; func help(b *testing.B) { for i := 0; i < b.N; i++ { } }`,
		want: imports + `func BenchmarkA(b *testing.B) { help(b); b.StopTimer(); w.Close() }; func help(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { } }`},
	{name: "closure called twice", source: imports + `func BenchmarkA(b *testing.B) { run := func(b *testing.B) { for range b.N { } }; run(b); run(b) }`, refused: "more than one loop or helper of BenchmarkA uses b.N"},
	{name: "closure handed to a function that waits", source: imports + `func BenchmarkA(b *testing.B) { withPool(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }; func withPool(b *testing.B, fn func(b *testing.B)) { start(); fn(b); pool.Wait() }`, refused: reasonRest + " in withPool"},
	{name: "closure handed to a function that waits and is called Run", source: imports + `func BenchmarkA(b *testing.B) { Run(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }; func Run(b *testing.B, fn func(b *testing.B)) { start(); fn(b); pool.Wait() }`, refused: reasonRest + " in Run"},
	{name: "closure handed to a function elsewhere that is called Run", source: imports + `func BenchmarkA(b *testing.B) { pools.Run(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }`, refused: reasonCaller},
	{name: "b.N read of a field", source: imports + `type env struct { b *testing.B }; func (e *env) fill() { for i := 0; i < e.b.N; i++ { put(i) } }; func BenchmarkA(b *testing.B) { e := &env{b}; e.fill(); b.ResetTimer(); for i := 0; i < b.N; i++ { e.get(i) } }`, refused: reasonKept},
	{name: "b.N read of a field that a constructor fills", source: imports + `type env struct { b *testing.B }; func newEnv(b *testing.B) *env { return &env{b: b} }; func (e *env) fill() { for i := 0; i < e.b.N; i++ { put(i) } }; func BenchmarkA(b *testing.B) { e := newEnv(b); e.fill(); b.ResetTimer(); for i := 0; i < b.N; i++ { e.get(i) } }`, refused: reasonKept},
	{name: "b.N read of a variable that a field went into", source: imports + `type env struct { b *testing.B }; func (e *env) fill() { b := e.b; put(b.N) }; func BenchmarkA(b *testing.B) { e := &env{b}; e.fill(); for i := 0; i < b.N; i++ { e.get(i) } }`, refused: reasonKept},
	{name: "b.N read of what an interface holds", source: imports + `func fill(tb testing.TB) { if b, ok := tb.(*testing.B); ok { put(b.N) } }; func BenchmarkA(b *testing.B) { fill(b); for i := 0; i < b.N; i++ { get(i) } }`, refused: reasonKept},
	{name: "b.N read in a case", source: imports + `func fill(tb testing.TB) { switch b := tb.(type) { case *testing.B: put(b.N) } }; func BenchmarkA(b *testing.B) { fill(b); for i := 0; i < b.N; i++ { get(i) } }`, refused: reasonKept},
	{name: "a kept b that is asked for nothing", source: imports + `type env struct { b *testing.B }; func (e *env) fail() { e.b.Fatal() }; func BenchmarkA(b *testing.B) { e := &env{b}; for i := 0; i < b.N; i++ { e.get(i) } }`,
		want: imports + `type env struct { b *testing.B }; func (e *env) fail() { e.b.Fatal() }; func BenchmarkA(b *testing.B) { e := &env{b}; for i := 0; i < b.N || b.DuetMore(); i++ { e.get(i) } }`},
	{name: "b.N read of an embedded b", source: imports + `type env struct { *testing.B }; func BenchmarkA(b *testing.B) { e := &env{B: b}; fill(e.N); b.ResetTimer(); for i := 0; i < b.N; i++ { e.get(i) } }`, refused: reasonKept},
	{name: "b in a field that nobody asks for b.N", source: imports + `type env struct { b *testing.B }; func BenchmarkA(b *testing.B) { e := &env{b}; b.ResetTimer(); for i := 0; i < b.N; i++ { e.get(i) } }`,
		want: imports + `type env struct { b *testing.B }; func BenchmarkA(b *testing.B) { e := &env{b}; b.ResetTimer(); for i := 0; i < b.N || b.DuetMore(); i++ { e.get(i) } }`},
	{name: "function handed to a function that waits", source: imports + `func BenchmarkA(b *testing.B) { withPool(b, submit) }; func submit(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }; func withPool(b *testing.B, fn func(b *testing.B)) { start(); fn(b); pool.Wait() }`, refused: reasonRest + " in withPool"},
	{name: "variable handed to a function that waits", source: imports + `func BenchmarkA(b *testing.B) { fn := func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }; withPool(b, fn) }; func withPool(b *testing.B, fn func(b *testing.B)) { start(); fn(b); pool.Wait() }`, refused: reasonRest + " in withPool"},
	{name: "closure handed on to a function that waits", source: imports + `func BenchmarkA(b *testing.B) { each(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }; func each(b *testing.B, f func(b *testing.B)) { b.Run("x", func(b *testing.B) { withPool(b, f) }) }; func withPool(b *testing.B, fn func(b *testing.B)) { start(); fn(b); pool.Wait() }`, refused: reasonRest + " in withPool"},
	{name: "closure handed to a function that calls it twice", source: imports + `func BenchmarkA(b *testing.B) { twice(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }; func twice(b *testing.B, fn func(b *testing.B)) { fn(b); fn(b) }`, refused: "more than one loop or helper of twice uses b.N"},
	{name: "closure wrapped in one that waits", source: imports + `func BenchmarkA(b *testing.B) { b.Run("x", timed(func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } })) }; func timed(fn func(*testing.B)) func(*testing.B) { return func(b *testing.B) { fn(b); p.Wait() } }`, refused: reasonRest + " in timed.func1"},
	{name: "closure handed to a function elsewhere", source: imports + `func BenchmarkA(b *testing.B) { pools.With(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }`, refused: reasonCaller},
	{name: "function of a table, then waited for", source: imports + `var cases = []struct { fn func(b *testing.B) }{{fn: submit}}; func BenchmarkA(b *testing.B) { for _, tc := range cases { b.Run("", func(b *testing.B) { tc.fn(b); wg.Wait() }) } }; func submit(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }`, refused: reasonRest + " in BenchmarkA.func1"},
	{name: "closure of a map, then waited for", source: imports + `func BenchmarkA(b *testing.B) { for name, f := range map[string]run{"x": func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }} { b.Run(name, func(b *testing.B) { f(b); wg.Wait() }) } }; type run func(*testing.B)`, refused: reasonRest + " in BenchmarkA.func2"},
	{name: "field of a named type, then waited for", source: imports + `type run func(*testing.B); type kase struct { fn run }; var k = kase{func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }}; func BenchmarkA(b *testing.B) { k.fn(b); wg.Wait() }`, refused: reasonRest + " in BenchmarkA"},
	{name: "variable that holds another function later", source: imports + `func BenchmarkA(b *testing.B) { fn := func(b *testing.B) { }; if x { fn = submit }; fn(b); wg.Wait() }; func submit(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }`, refused: reasonRest + " in BenchmarkA"},
	{name: "function of a table, and nothing but its call", source: imports + `var cases = []struct { fn func(b *testing.B) }{{fn: submit}}; func BenchmarkA(b *testing.B) { for _, tc := range cases { b.Run("", func(b *testing.B) { start(); tc.fn(b) }) } }; func submit(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }`,
		want: imports + `var cases = []struct { fn func(b *testing.B) }{{fn: submit}}; func BenchmarkA(b *testing.B) { for _, tc := range cases { b.Run("", func(b *testing.B) { start(); tc.fn(b) }) } }; func submit(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }`},
	{name: "function of a table that is run", source: imports + `func BenchmarkA(b *testing.B) { for _, tc := range []struct { fn func(b *testing.B) }{{func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }}} { b.Run("", tc.fn) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { for _, tc := range []struct { fn func(b *testing.B) }{{func(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }}} { b.Run("", tc.fn) } }`},
	{name: "closure handed to a function that runs it", source: imports + `func BenchmarkA(b *testing.B) { each(b, func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }) }; func each(b *testing.B, fn func(b *testing.B)) { for range x { b.Run("", func(b *testing.B) { db := open(); defer db.Close(); fn(b) }) } }`,
		want: imports + `func BenchmarkA(b *testing.B) { each(b, func(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }) }; func each(b *testing.B, fn func(b *testing.B)) { for range x { b.Run("", func(b *testing.B) { db := open(); defer db.Close(); fn(b) }) } }`},
	{name: "benchmark that a test runs", source: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }; func TestA(t *testing.T) { testing.Benchmark(BenchmarkA) }`,
		want: imports + `func BenchmarkA(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }; func TestA(t *testing.T) { testing.Benchmark(BenchmarkA) }`},
	{name: "set-up by other packages beside function values", source: imports + `func BenchmarkA(b *testing.B) { each(b, func(b *testing.B) { suite.Start(b); print(b); for i := 0; i < b.N; i++ { p.Submit() } }) }; func each(b *testing.B, fn func(b *testing.B)) { suite.Start(b); print(b); b.Run("", fn) }`,
		want: imports + `func BenchmarkA(b *testing.B) { each(b, func(b *testing.B) { suite.Start(b); print(b); for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }) }; func each(b *testing.B, fn func(b *testing.B)) { suite.Start(b); print(b); b.Run("", fn) }`},
	{name: "variable of another function of the same name", source: imports + `func BenchmarkA(b *testing.B) { fill := func(b *testing.B) { setUp(b) }; fill(b); for i := 0; i < b.N; i++ { p.Submit() } }; func setUp(b *testing.B) { b.Helper() }; func BenchmarkB(b *testing.B) { fill := func(b *testing.B) { for i := 0; i < b.N; i++ { p.Submit() } }; fill(b) }`,
		want: imports + `func BenchmarkA(b *testing.B) { fill := func(b *testing.B) { setUp(b) }; fill(b); for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }; func setUp(b *testing.B) { b.Helper() }; func BenchmarkB(b *testing.B) { fill := func(b *testing.B) { for i := 0; i < b.N || b.DuetMore(); i++ { p.Submit() } }; fill(b) }`},

	{name: "not a testing.B", source: imports + `func a(b *other.B) { for i := 0; i < b.N; i++ { } }`, refused: reasonAlias},
	{name: "two of them", source: imports + `func a(b, c *testing.B) { for i := 0; i < b.N; i++ { } }`},
	{name: "no testing", source: `func a(b *testing.B) { for i := 0; i < b.N; i++ { } }`, refused: reasonAlias},
	{name: "called with an alias, then waited for", source: imports + `type B = testing.B; func BenchmarkA(b *B) { submit(b); wg.Wait() }; func submit(b *testing.B) { for range b.N { p.Submit() } }`, refused: reasonRest + " in BenchmarkA"},
	{name: "b.Loop", source: imports + `func BenchmarkA(b *testing.B) { for b.Loop() { } }`},
}

func TestRewrite(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			source := "package p; " + c.source
			got, r := rewriteText(t, source)
			want := source
			if c.want != "" {
				want = "package p; " + c.want
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if c.refused == "" && len(r.Refused) > 0 {
				t.Errorf("refused: %+v", r.Refused)
			}
			if c.refused != "" && (len(r.Refused) == 0 || r.Refused[0].Reason != c.refused) {
				t.Errorf("refusals are %+v, want %q", r.Refused, c.refused)
			}
			if _, err := parseUnit("x_test.go", []byte(got)); err != nil {
				t.Error(err)
			}
			if strings.Count(got, "\n") != strings.Count(source, "\n") {
				t.Error("the number of lines changed")
			}
		})
	}
}

func rewriteText(t *testing.T, source string) (string, fileResult) {
	t.Helper()
	u, err := parseUnit("x_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	markRefused([]*unit{u})
	var r fileResult
	return string(u.rewrite(&r)), r
}

func TestBenchmarksAreThoseThatTheGoCommandRuns(t *testing.T) {
	u, err := parseUnit("x_test.go", []byte(`package p
type B = testing.B
func BenchmarkAlias(b *B)                   {}
func BenchmarkOfAnotherPackage(b *gotest.B) {}
func BenchmarkValue(b testing.B)            {}
func BenchmarkResult(b *testing.B) int      { return 0 }
func BenchmarkTest(t *testing.T)            {}
func BenchmarkTwo(b, c *testing.B)          {}
func (s S) BenchmarkMethod(b *testing.B)    {}
`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range u.benchmarks() {
		names = append(names, d.Name.Name)
	}
	if got := strings.Join(names, " "); got != "BenchmarkAlias BenchmarkOfAnotherPackage" {
		t.Errorf("benchmarks are %s", got)
	}
}

func TestRequestIsAnsweredFileByFile(t *testing.T) {
	dir := t.TempDir()
	texts := map[string]string{
		"good": "package p\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) { for range b.N { } }\n" +
			"func Benchmark(b *testing.B) { help(b) }\nfunc Benchmarkx(b *testing.B) {}\nfunc BenchmarkNo(t *testing.T) {}\n",
		"twice":  "package p\nimport \"testing\"\n\nfunc help(b *testing.B) { b.Log(b.N)\n for range b.N { } }\n",
		"broken": "package p\nfunc {",
	}
	type file map[string]string
	var files []file
	for _, name := range []string{"good", "twice", "broken", "absent"} {
		path := filepath.Join(dir, name+"_test.go")
		if text, ok := texts[name]; ok {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, file{"path": path, "out": filepath.Join(dir, "out", name+".go")})
	}
	question, _ := json.Marshal(map[string]any{"files": files})
	var answer bytes.Buffer
	if err := run(bytes.NewReader(question), &answer); err != nil {
		t.Fatal(err)
	}
	var got response
	if err := json.Unmarshal(answer.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	good, twice, broken, absent := got.Files[0], got.Files[1], got.Files[2], got.Files[3]
	if names := strings.Join(good.Benchmarks, " "); names != "BenchmarkA Benchmark" || good.Rewritten != 1 || !good.Changed {
		t.Errorf("good: %+v", good)
	}
	if text, err := os.ReadFile(good.Out); err != nil || !strings.Contains(string(text), "|| b.DuetMore()") {
		t.Errorf("good was written as %q, %v", text, err)
	}
	if twice.Changed || len(twice.Refused) != 1 || twice.Refused[0] != (refusal{"help", 4, reasonTwice}) {
		t.Errorf("twice: %+v", twice)
	}
	if _, err := os.Stat(twice.Out); err == nil {
		t.Error("an unchanged file was written")
	}
	if broken.Error == "" || absent.Error == "" {
		t.Errorf("broken: %+v\nabsent: %+v", broken, absent)
	}
}
