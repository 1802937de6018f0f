package main

import (
	"go/ast"
	"go/token"
)

// altering are functions of the language that change what they are handed first.
var altering = words("clear close copy delete")

// checkShared refuses calls of b.RunParallel whose body changes something outside of it before or after its loop: package testing calls
// b.RunParallel once in a call of the benchmark, and slices do so many times. Numbers that goroutines draw would go on, and a barrier
// for so many of them would break.
func (u *unit) checkShared(f *function, call *ast.CallExpr) string {
	if len(call.Args) != 1 {
		return reasonUnseen
	}
	body, ok := call.Args[0].(*ast.FuncLit)
	if !ok {
		return reasonUnseen
	}
	own := declaredIn(body)
	own[f.param] = true
	for name := range u.imports() {
		own[name] = true
	}
	isShared := func(e ast.Expr) bool {
		name := rootOf(e)
		return name != "" && name != "_" && !own[name]
	}
	loops := loopsOf(body)
	for _, name := range sinksOf(f, body, loops) {
		own[name] = true
	}
	found := false
	ast.Inspect(body.Body, func(n ast.Node) bool {
		if loop, ok := n.(*ast.ForStmt); ok && loops[loop] {
			return false
		}
		found = found || changes(n, isShared)
		return true
	})
	if found {
		return reasonShared
	}
	return ""
}

// loopsOf returns the loops that ask the first parameter of a body for their turns.
func loopsOf(body *ast.FuncLit) map[*ast.ForStmt]bool {
	loops := map[*ast.ForStmt]bool{}
	ast.Inspect(body.Body, func(n ast.Node) bool {
		if loop, ok := n.(*ast.ForStmt); ok && loop.Cond != nil {
			ast.Inspect(loop.Cond, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				loops[loop] = loops[loop] || ok && sel.Sel.Name == "Next" && declares(body.Type.Params, rootOf(sel.X))
				return true
			})
		}
		return true
	})
	return loops
}

// sinksOf returns the variables that a body sets or adds to behind its loop and that the benchmark mentions nowhere else: they keep the
// compiler from leaving work out, and nobody minds how often they are written.
func sinksOf(f *function, body *ast.FuncLit, loops map[*ast.ForStmt]bool) []string {
	mentions := map[string]int{}
	ast.Inspect(f.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			mentions[id.Name]++
		}
		return true
	})
	var sinks []string
	behind := false
	for _, statement := range body.Body.List {
		var target ast.Expr
		switch s := statement.(type) {
		case *ast.ForStmt:
			behind = behind || loops[s]
		case *ast.AssignStmt:
			target = s.Lhs[0]
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && rootOf(call.Fun) == "atomic" && len(call.Args) > 0 {
				if address, ok := call.Args[0].(*ast.UnaryExpr); ok {
					target = address.X
				}
			}
		}
		if name := rootOf(target); behind && mentions[name] == 1 {
			sinks = append(sinks, name)
		}
	}
	return sinks
}

// changes reports whether a node may itself change something that is shared: by assigning, sending, receiving, handing out its address, or
// calling a method of it.
func changes(n ast.Node, isShared func(ast.Expr) bool) bool {
	switch s := n.(type) {
	case *ast.AssignStmt:
		for _, left := range s.Lhs {
			if s.Tok != token.DEFINE && isShared(left) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return isShared(s.X)
	case *ast.SendStmt:
		return isShared(s.Chan)
	case *ast.UnaryExpr:
		return (s.Op == token.AND || s.Op == token.ARROW) && isShared(s.X)
	case *ast.CallExpr:
		sel, isSelected := s.Fun.(*ast.SelectorExpr)
		first := len(s.Args) > 0 && isShared(s.Args[0])
		return isSelected && (isShared(sel.X) || isIdent(sel.X, "atomic") && first) || altering[calledName(s.Fun)] && first
	case *ast.RangeStmt:
		return s.Tok == token.ASSIGN && (s.Key != nil && isShared(s.Key) || s.Value != nil && isShared(s.Value))
	}
	return false
}

// rootOf returns the name of the variable, package or type that an expression begins with; "" where it begins otherwise.
func rootOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return rootOf(e.X)
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.IndexListExpr:
		return rootOf(e.X)
	case *ast.SliceExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	case *ast.ParenExpr:
		return rootOf(e.X)
	case *ast.TypeAssertExpr:
		return rootOf(e.X)
	case *ast.CallExpr:
		return rootOf(e.Fun)
	}
	return ""
}

// declaredIn returns the names of a function's parameters and of all that is declared in it.
func declaredIn(function ast.Node) map[string]bool {
	names := map[string]bool{}
	note := func(idents ...*ast.Ident) {
		for _, id := range idents {
			names[id.Name] = true
		}
	}
	ast.Inspect(function, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.Field:
			note(s.Names...)
		case *ast.ValueSpec:
			note(s.Names...)
		case *ast.TypeSpec:
			note(s.Name)
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if id, ok := left.(*ast.Ident); ok && s.Tok == token.DEFINE {
					note(id)
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{s.Key, s.Value} {
				if id, ok := left.(*ast.Ident); ok && s.Tok == token.DEFINE {
					note(id)
				}
			}
		}
		return true
	})
	return names
}
