package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is one parsed file.
type unit struct {
	path      string
	source    []byte
	fset      *token.FileSet
	file      *ast.File
	functions []*function
}

// function is a function or closure that has exactly one parameter of type *testing.B.
type function struct {
	name     string // of the declaration, with .func1 and so on for closures
	declared string // the name it is called by; empty for closures without one
	param    string // the parameter's name
	body     *ast.BlockStmt
	dotted   bool   // *B of a dot import
	refused  string // why its loop must not be sliced as it is called, or empty
}

func parseUnit(path string, source []byte) (*unit, error) {
	u := &unit{path: path, source: source, fset: token.NewFileSet()}
	file, err := parser.ParseFile(u.fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	u.file = file
	u.findFunctions()
	return u, nil
}

// testingName returns the name under which the file imports package testing; "." for a dot import.
func (u *unit) testingName() string {
	for _, spec := range u.file.Imports {
		if spec.Path.Value != `"testing"` && spec.Path.Value != "`testing`" {
			continue
		}
		if spec.Name == nil {
			return "testing"
		}
		if spec.Name.Name != "_" {
			return spec.Name.Name
		}
	}
	return ""
}

func (u *unit) findFunctions() {
	testing := u.testingName()
	if testing == "" {
		return
	}
	for _, decl := range u.file.Decls {
		outer, closures := "package scope", 0
		if d, ok := decl.(*ast.FuncDecl); ok {
			outer = d.Name.Name
			if d.Body != nil {
				u.addFunction(testing, outer, outer, d.Type, d.Body)
			}
		}
		names := map[*ast.FuncLit]string{}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.AssignStmt:
				nameClosures(names, s.Lhs, s.Rhs)
			case *ast.ValueSpec:
				declared := make([]ast.Expr, len(s.Names))
				for i, name := range s.Names {
					declared[i] = name
				}
				nameClosures(names, declared, s.Values)
			case *ast.FuncLit:
				closures++
				u.addFunction(testing, fmt.Sprintf("%s.func%d", outer, closures), names[s], s.Type, s.Body)
			}
			return true
		})
	}
}

// nameClosures notes the names of variables to which closures are assigned: they are called by these.
func nameClosures(names map[*ast.FuncLit]string, left, right []ast.Expr) {
	for i, value := range right {
		lit, ok := value.(*ast.FuncLit)
		if !ok || i >= len(left) {
			continue
		}
		if id, ok := left[i].(*ast.Ident); ok {
			names[lit] = id.Name
		}
	}
}

func (u *unit) addFunction(testing, name, declared string, kind *ast.FuncType, body *ast.BlockStmt) {
	param, found := "", 0
	for _, field := range kind.Params.List {
		if !isBenchType(field.Type, testing) {
			continue
		}
		found++
		for i, n := range field.Names {
			param = n.Name
			if i > 0 {
				found++
			}
		}
	}
	if found == 1 && param != "" && param != "_" {
		u.functions = append(u.functions, &function{name: name, declared: declared, param: param, body: body, dotted: testing == "."})
	}
}

// isBenchType recognises *testing.B, or *B if testing is ".".
func isBenchType(e ast.Expr, testing string) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	if testing == "." {
		return isIdent(star.X, "B")
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && isIdent(sel.X, testing) && sel.Sel.Name == "B"
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// benchmarks lists the declared functions that `go test` would run as benchmarks.
func (u *unit) benchmarks() []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, decl := range u.file.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Recv != nil || len(d.Type.Params.List) != 1 || len(d.Type.Params.List[0].Names) > 1 ||
			!strings.HasPrefix(d.Name.Name, "Benchmark") || !isBenchType(d.Type.Params.List[0].Type, u.testingName()) {
			continue
		}
		// As in go/build: BenchmarkX and Benchmark are benchmarks, Benchmarkx is not.
		if first, _ := utf8.DecodeRuneInString(d.Name.Name[len("Benchmark"):]); !unicode.IsLower(first) {
			found = append(found, d)
		}
	}
	return found
}

// walk visits the nodes of a function's body that see its parameter:
// closures with a parameter of the same name are left out. depth counts the loops round the node.
func (f *function) walk(visit func(n ast.Node, loops int)) {
	loops := []bool{}
	depth := 0
	ast.Inspect(f.body, func(n ast.Node) bool {
		if n == nil {
			if loops[len(loops)-1] {
				depth--
			}
			loops = loops[:len(loops)-1]
			return true
		}
		if lit, ok := n.(*ast.FuncLit); ok && declares(lit.Type.Params, f.param) {
			return false
		}
		visit(n, depth)
		loop := false
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop = true
			depth++
		}
		loops = append(loops, loop)
		return true
	})
}

func declares(fields *ast.FieldList, name string) bool {
	for _, field := range fields.List {
		for _, n := range field.Names {
			if n.Name == name {
				return true
			}
		}
	}
	return false
}

// uses returns the places where the function reads its b.N, or has RunParallel read it.
func (f *function) uses() []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	f.walk(func(n ast.Node, _ int) {
		if sel, ok := n.(*ast.SelectorExpr); ok && isIdent(sel.X, f.param) && (sel.Sel.Name == "N" || isParallel(sel)) {
			found = append(found, sel)
		}
	})
	return found
}

// calls visits the calls of functions and methods that are handed b, with the name and the loops round each call.
func (f *function) calls(visit func(call *ast.CallExpr, name string, loops int)) {
	f.walk(func(n ast.Node, loops int) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		for _, arg := range call.Args {
			if isIdent(arg, f.param) {
				visit(call, calledName(call.Fun), loops)
				return
			}
		}
	})
}

func calledName(e ast.Expr) string {
	switch fun := e.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	case *ast.IndexExpr: // a generic function
		return calledName(fun.X)
	case *ast.IndexListExpr:
		return calledName(fun.X)
	case *ast.ParenExpr:
		return calledName(fun.X)
	}
	return ""
}

// markRefused finds loops that must not be sliced because of the functions that call theirs. One that runs more than once in one call
// of a benchmark, for instance in a helper that a benchmark calls twice, would take the whole trial the first time and the others would
// not be measured; a helper that only reads b.N (to size its data) would see 1; and what a caller times after a helper would be in no
// slice. Functions are told apart by folder and name, methods by their name alone: a mistake refuses too much, never too little.
func markRefused(units []*unit) {
	byFolder := map[string][]*function{}
	for _, u := range units {
		if u != nil {
			folder := filepath.Dir(u.path)
			byFolder[folder] = append(byFolder[folder], u.functions...)
		}
	}
	for _, functions := range byFolder {
		markFolder(functions)
	}
}

func markFolder(functions []*function) {
	readers := readersOf(functions)
	refused := map[string]string{} // why, by the name of the function that is called
	refuse := func(name, why string) {
		if readers[name] && refused[name] == "" {
			refused[name] = why
		}
	}
	for _, f := range functions {
		if f.parts(readers) > 1 {
			f.refused = "more than one loop or helper of " + f.name + " uses b.N"
		}
		f.calls(func(call *ast.CallExpr, name string, _ int) {
			if why := f.checkRest(call); f.refused == "" && why != "" {
				refuse(name, why+" in "+f.name)
			}
			refuse(name, f.refused)
		})
	}
	for range functions { // as deep as calls can go
		for _, f := range functions {
			if why := refused[f.declared]; f.declared != "" && why != "" {
				f.refused = why
				f.calls(func(_ *ast.CallExpr, name string, _ int) { refuse(name, why) })
			}
		}
	}
}

// readersOf returns the names of functions that read b.N, themselves or through others, or call b.RunParallel.
func readersOf(functions []*function) map[string]bool {
	readers := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, f := range functions {
			if f.declared != "" && !readers[f.declared] && f.parts(readers) > 0 {
				readers[f.declared], grown = true, true
			}
		}
	}
	return readers
}

// parts counts the places in a function that use b.N, with those in other functions it calls; in a loop twice.
func (f *function) parts(readers map[string]bool) int {
	n := len(f.uses())
	f.calls(func(_ *ast.CallExpr, name string, loops int) {
		if readers[name] {
			n++
			if loops > 0 {
				n++
			}
		}
	})
	return n
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

func (u *unit) offset(p token.Pos) int { return u.fset.PositionFor(p, false).Offset }
func (u *unit) line(p token.Pos) int   { return u.fset.PositionFor(p, false).Line }

// rewrite returns the new text and fills in what was done.
func (u *unit) rewrite(r *fileResult) []byte {
	for _, d := range u.benchmarks() {
		r.Benchmarks = append(r.Benchmarks, d.Name.Name)
	}
	var edits []edit
	for _, f := range u.functions {
		uses := f.uses()
		if len(uses) == 0 {
			continue
		}
		e, reason := u.rewriteFunction(f, uses)
		if reason != "" {
			r.Refused = append(r.Refused, refusal{f.name, u.line(uses[0].Pos()), reason})
			continue
		}
		edits = append(edits, e)
	}
	sort.Slice(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(u.source[done:e.start])
		out.WriteString(e.text)
		done = e.end
	}
	out.Write(u.source[done:])
	r.Rewritten = len(edits)
	return out.Bytes()
}
