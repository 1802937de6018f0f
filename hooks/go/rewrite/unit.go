package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	closures  map[*ast.FuncLit]string // the variables to which they are assigned
}

// function is a function or closure that has exactly one parameter of type *testing.B, or *B of whatever package.
type function struct {
	name     string // of the declaration, with .func1 and so on for closures
	declared string // the name it is called by, that of a variable behind its scope; empty for closures without one
	scope    string // the declaration round it, with a dot; empty at package level
	param    string // the parameter's name
	body     *ast.BlockStmt
	foreign  string // why its parameter may lack what ours of that type has, or empty
	isValue  bool   // it may be called through what it is kept in
	refused  string // why its loop must not be sliced as it is called, or empty
	among    *neighbours
	depth    int // calls between it and the function that is looked at
}

func parseUnit(path string, source []byte) (*unit, error) {
	u := &unit{path: path, source: source, fset: token.NewFileSet(), closures: map[*ast.FuncLit]string{}}
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
	for _, decl := range u.file.Decls {
		outer, scope, closures := "package scope", "", 0
		if d, ok := decl.(*ast.FuncDecl); ok {
			outer, scope = d.Name.Name, d.Name.Name+"."
			if d.Body != nil {
				u.addFunction(testing, function{name: outer, declared: outer, scope: scope, body: d.Body}, d.Type)
			}
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.AssignStmt:
				nameClosures(u.closures, s.Lhs, s.Rhs)
			case *ast.ValueSpec:
				declared := make([]ast.Expr, len(s.Names))
				for i, name := range s.Names {
					declared[i] = name
				}
				nameClosures(u.closures, declared, s.Values)
			case *ast.FuncLit:
				closures++
				f := function{name: fmt.Sprintf("%s.func%d", outer, closures), scope: scope, body: s.Body}
				if name := u.closures[s]; name != "" {
					f.declared = scope + name
				}
				u.addFunction(testing, f, s.Type)
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

// addFunction notes a function if it has the one parameter.
func (u *unit) addFunction(testing string, f function, kind *ast.FuncType) {
	param, found := "", 0
	for _, field := range kind.Params.List {
		if !isB(field.Type) {
			continue
		}
		found++
		switch {
		case testing == ".":
			f.foreign = reasonDot
		case !isBenchType(field.Type, testing):
			f.foreign = reasonAlias
		}
		for i, n := range field.Names {
			param = n.Name
			if i > 0 {
				found++
			}
		}
	}
	if found == 1 && param != "" && param != "_" {
		f.param = param
		u.functions = append(u.functions, &f)
	}
}

// isBenchType recognises *testing.B.
func isBenchType(e ast.Expr, testing string) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && isIdent(sel.X, testing) && sel.Sel.Name == "B"
}

// isB recognises *B of whatever package, as the go command does.
func isB(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return isIdent(star.X, "B") || ok && sel.Sel.Name == "B"
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
		if !ok || d.Recv != nil || len(d.Type.Params.List) != 1 || len(d.Type.Params.List[0].Names) > 1 || d.Type.Results != nil ||
			!strings.HasPrefix(d.Name.Name, "Benchmark") || !isB(d.Type.Params.List[0].Type) {
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

// calls visits the calls of functions and methods that are handed b, with each name of what is called and the loops round the call.
func (f *function) calls(visit func(call *ast.CallExpr, name string, loops int)) {
	f.walk(func(n ast.Node, loops int) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		for _, arg := range call.Args {
			if isIdent(arg, f.param) {
				for _, name := range f.callees(call.Fun) {
					visit(call, name, loops)
				}
				return
			}
		}
	})
}

// putBy returns the values that a literal or statement puts somewhere.
func putBy(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.CompositeLit:
		return s.Elts
	case *ast.KeyValueExpr:
		return []ast.Expr{s.Value}
	case *ast.AssignStmt:
		return s.Rhs
	case *ast.ValueSpec:
		return s.Values
	case *ast.ReturnStmt:
		return s.Results
	}
	return nil
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
