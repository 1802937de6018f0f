// Command plant gives the benchmarks of one package extra work, by a table of rounds for each benchmark.
//
//	plant -dir DIR -rounds FILE
//
// FILE is a JSON object from names of benchmarks to rounds; a benchmark that is not in it gets none. Every loop over b.N,
// b.Loop() or pb.Next() in the package's test files is patched, so that all versions made from one package differ in the
// table's numbers alone and not in code.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// The spin's rounds depend on each other, and its result leaves the function, so that no compiler drops it.
const support = `package %s

%s//go:noinline
func plantedSpin(rounds int) uint64 {
	x := uint64(rounds)
	for i := 0; i < rounds; i++ {
		x += uint64(i)
	}
	return x
}

// plantedRounds is called once before a loop, never in it.
//
//go:noinline
func plantedRounds(benchmark string) int {
	for i := range plantedTable {
		if plantedTable[i].benchmark == benchmark {
			return plantedTable[i].rounds
		}
	}
	return 0
}

var plantedTable = [...]struct {
	benchmark string
	rounds    int
}{
%s}
%s`

// What a round costs, for the first package of a directory only: names must not be there twice.
const spinBenchmark = `
func BenchmarkPlantedSpin(b *testing.B) {
	for i := 0; i < b.N; i++ {
		plantedSpin(1000)
	}
}
`

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", ".", "directory of the package")
	table := flag.String("rounds", "", "file with the rounds of each benchmark")
	flag.Parse()
	rounds := map[string]int{}
	text, err := os.ReadFile(*table)
	check(err)
	check(json.Unmarshal(text, &rounds))
	files, err := filepath.Glob(filepath.Join(*dir, "*_test.go"))
	check(err)
	packages := map[string]bool{}
	for _, file := range files {
		name, loops := patch(file)
		if loops > 0 {
			packages[name] = true
			fmt.Printf("%s: %d loops\n", file, loops)
		}
	}
	writeSupport(*dir, packages, rounds)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// patch edits one file in place and tells its package and how many loops it patched.
func patch(file string) (string, int) {
	source, err := os.ReadFile(file)
	check(err)
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, source, parser.SkipObjectResolution)
	check(err)
	p := patcher{offset: func(at token.Pos) int { return positions.Position(at).Offset }}
	p.visit(parsed, "")
	if p.loops > 0 {
		check(os.WriteFile(file, p.apply(source), 0o644))
	}
	return parsed.Name.Name, p.loops
}

type insertion struct {
	at   int
	text string
}

type patcher struct {
	offset     func(token.Pos) int
	insertions []insertion
	loops      int
}

// visit walks below a node; b is the name of the nearest *testing.B parameter.
func (p *patcher) visit(root ast.Node, b string) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.FuncDecl:
			if s != root {
				p.visit(s, parameter(s.Type, b))
				return false
			}
		case *ast.FuncLit:
			if s != root {
				p.visit(s, parameter(s.Type, b))
				return false
			}
		case *ast.LabeledStmt:
			return false // a statement before the loop would take its label
		case *ast.ForStmt:
			return s == root || !p.loop(s, s.Cond, s.Body, b)
		case *ast.RangeStmt:
			return s == root || !p.loop(s, s.X, s.Body, b)
		}
		return true
	})
}

// parameter returns the name of the *testing.B parameter, or the one from outside.
func parameter(function *ast.FuncType, outer string) string {
	for _, field := range function.Params.List {
		star, ok := field.Type.(*ast.StarExpr)
		if !ok || len(field.Names) != 1 {
			continue
		}
		if s, ok := star.X.(*ast.SelectorExpr); ok && s.Sel.Name == "B" {
			return field.Names[0].Name
		}
	}
	return outer
}

// loop patches a benchmark loop: the rounds are looked up before it, and spun at the head of its body, where no `continue`
// can jump over them.
func (p *patcher) loop(loop ast.Node, head ast.Expr, body *ast.BlockStmt, b string) bool {
	if b == "" || head == nil || !drives(head) || stopsTimer(body) {
		return false
	}
	p.loops++
	name := fmt.Sprintf("planted%d", p.loops)
	p.insertions = append(p.insertions,
		insertion{p.offset(loop.Pos()), fmt.Sprintf("%s := plantedRounds(%s.Name()); ", name, b)},
		insertion{p.offset(body.Lbrace) + 1, fmt.Sprintf(" plantedSpin(%s); ", name)})
	return true
}

// drives reports whether a loop's head asks the benchmark for more.
func drives(head ast.Expr) bool {
	found := false
	ast.Inspect(head, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || s.Sel.Name == "N" || s.Sel.Name == "Next" || s.Sel.Name == "Loop"
		}
		return !found
	})
	return found
}

func stopsTimer(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || s.Sel.Name == "StopTimer"
		}
		return !found
	})
	return found
}

// apply inserts from the end, so that earlier offsets stay right.
func (p *patcher) apply(source []byte) []byte {
	sort.SliceStable(p.insertions, func(i, j int) bool { return p.insertions[i].at > p.insertions[j].at })
	for _, i := range p.insertions {
		source = bytes.Join([][]byte{source[:i.at], []byte(i.text), source[i.at:]}, nil)
	}
	return source
}

// writeSupport writes the spin and the table into each package of the directory (the package and its external tests).
func writeSupport(dir string, packages map[string]bool, rounds map[string]int) {
	var benchmarks, names []string
	for benchmark := range rounds {
		benchmarks = append(benchmarks, benchmark)
	}
	for name := range packages {
		names = append(names, name)
	}
	sort.Strings(benchmarks)
	sort.Strings(names)
	var rows strings.Builder
	for _, benchmark := range benchmarks {
		fmt.Fprintf(&rows, "\t{%q, %d},\n", benchmark, rounds[benchmark])
	}
	for i, name := range names {
		imports, last := "", ""
		if i == 0 {
			imports, last = "import \"testing\"\n\n", spinBenchmark
		}
		text := fmt.Sprintf(support, name, imports, rows.String(), last)
		check(os.WriteFile(filepath.Join(dir, "planted_"+name+"_test.go"), []byte(text), 0o644))
	}
}
