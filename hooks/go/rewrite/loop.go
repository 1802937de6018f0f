package main

import (
	"bytes"
	"go/ast"
	"go/token"
)

const more = " || %.DuetMore()" // % is the parameter's name

// Reasons for refusing, as shown to people.
const (
	reasonDot       = "testing is imported with a dot"
	reasonAlias     = "its parameter is no *testing.B by that name"
	reasonTwice     = "b.N is used more than once"
	reasonBeside    = "b.N is read, or b.RunParallel called again, beside b.RunParallel"
	reasonPlace     = "b.N is not the bound of a plain counting loop directly in the function"
	reasonParallel  = "b.RunParallel is not called directly in the function and once"
	reasonUnseen    = "the body of b.RunParallel is written elsewhere"
	reasonShared    = "the body of b.RunParallel changes what its goroutines share beside its loop"
	reasonLabel     = "the loop has a label"
	reasonLeave     = "the loop can be left early"
	reasonShadow    = "the parameter is assigned, shadowed or its address is taken"
	reasonVariable  = "the loop variable is assigned or its address is taken in the loop"
	reasonIndex     = "something is indexed by the loop variable itself"
	reasonLines     = "the head of the loop spans lines"
	reasonGenerated = "the name duetI is in use"
	reasonLater     = "the timer is started again, or another loop begins, after the loop"
	reasonRest      = "more than the loop is timed"
	reasonCaller    = "it is called by a function that may time more"
	reasonKept      = "b is kept somewhere, and b.N read there"
	reasonDeferred  = "what the loop defers is timed after it"
)

// rewriteFunction returns the edit for one function, or the reason for leaving it as it is.
func (u *unit) rewriteFunction(f *function, uses []*ast.SelectorExpr) (edit, string) {
	switch {
	case f.foreign != "":
		return edit{}, f.foreign
	case len(uses) > 1 && anyParallel(uses):
		return edit{}, reasonBeside
	case len(uses) > 1:
		return edit{}, reasonTwice
	case f.refused != "":
		return edit{}, f.refused
	case f.shadowed():
		return edit{}, reasonShadow
	}
	statement, labelled := findStatement(f.body.List, uses[0])
	if labelled {
		return edit{}, reasonLabel
	}
	e, reason := u.rewriteStatement(f, statement, uses[0])
	if reason == "" {
		reason = f.checkRest(statement)
	}
	if reason == "" && isParallel(uses[0]) {
		reason = u.checkShared(f, statement.(*ast.ExprStmt).X.(*ast.CallExpr))
	}
	return e, reason
}

// rewriteStatement returns the edit that lets the hook slice a loop over b.N or a call of b.RunParallel.
func (u *unit) rewriteStatement(f *function, statement ast.Stmt, use *ast.SelectorExpr) (edit, string) {
	if isParallel(use) {
		expression, isExpression := statement.(*ast.ExprStmt)
		if !isExpression || calledBy(expression.X) != use {
			return edit{}, reasonParallel
		}
		return edit{u.offset(use.Sel.Pos()), u.offset(use.Sel.End()), "DuetParallel"}, ""
	}
	e, variable, body, reason := u.rewriteHead(f, statement, use)
	if reason == "" {
		reason = checkBody(body, variable)
	}
	return e, reason
}

// anyParallel reports whether one of the uses is RunParallel. All that b.N sizes before it would have the size of the first
// call, which is 1, because its slices are made within one call of the benchmark.
func anyParallel(uses []*ast.SelectorExpr) bool {
	for _, use := range uses {
		if isParallel(use) {
			return true
		}
	}
	return false
}

func isParallel(use *ast.SelectorExpr) bool { return use.Sel.Name == "RunParallel" }

// calledBy returns the expression that is called, or nil.
func calledBy(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok {
		return call.Fun
	}
	return nil
}

// shadowed reports whether the name of the parameter may mean something else somewhere in the body.
func (f *function) shadowed() bool {
	found := false
	f.walk(func(n ast.Node, _ int) {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				found = found || isIdent(left, f.param)
			}
		case *ast.RangeStmt:
			found = found || s.Key != nil && isIdent(s.Key, f.param) || s.Value != nil && isIdent(s.Value, f.param)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				found = found || name.Name == f.param
			}
		case *ast.TypeSpec:
			found = found || s.Name.Name == f.param
		case *ast.UnaryExpr:
			found = found || s.Op == token.AND && isIdent(s.X, f.param)
		}
	})
	return found
}

// findStatement looks for the loop or the call that holds use. It goes into plain blocks and ifs only: in another loop, a
// closure or a goroutine it may run more than once or next to others.
func findStatement(list []ast.Stmt, use ast.Node) (statement ast.Stmt, labelled bool) {
	for _, s := range list {
		if use.Pos() < s.Pos() || use.End() > s.End() {
			continue
		}
		switch s := s.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.ExprStmt:
			return s, false
		case *ast.LabeledStmt:
			return nil, true
		case *ast.BlockStmt:
			return findStatement(s.List, use)
		case *ast.IfStmt:
			branches := []ast.Stmt{s.Body}
			if s.Else != nil {
				branches = append(branches, s.Else)
			}
			return findStatement(branches, use)
		}
	}
	return nil, false
}

// rewriteHead edits the head of the loop and also returns its variable ("" if it has none) and body.
func (u *unit) rewriteHead(f *function, loop ast.Stmt, use *ast.SelectorExpr) (edit, string, *ast.BlockStmt, string) {
	grant := string(bytes.ReplaceAll([]byte(more), []byte("%"), []byte(f.param)))
	switch s := loop.(type) {
	case *ast.ForStmt:
		variable := countsFromZero(s)
		if variable == "" || !isBound(s.Cond, variable, use) {
			return edit{}, "", nil, reasonPlace
		}
		at := u.offset(s.Cond.End())
		return edit{at, at, grant}, variable, s.Body, ""
	case *ast.RangeStmt:
		if s.X != use || s.Value != nil || s.Tok == token.ASSIGN && !isIdent(s.Key, "_") {
			return edit{}, "", nil, reasonPlace
		}
		if u.line(s.For) != u.line(s.Body.Lbrace) {
			return edit{}, "", nil, reasonLines
		}
		variable, written := "", "duetI"
		if s.Tok == token.DEFINE {
			variable = s.Key.(*ast.Ident).Name
			written = variable
		} else if bytes.Contains(u.source, []byte("duetI")) {
			return edit{}, "", nil, reasonGenerated
		}
		head := " " + written + " := 0; " + written + " < " + f.param + ".N" + grant + "; " + written + "++"
		return edit{u.offset(s.For) + len("for"), u.offset(s.X.End()), head}, variable, s.Body, ""
	}
	return edit{}, "", nil, reasonPlace
}

// countsFromZero returns the variable of `for i := 0; …; i++`, or "".
func countsFromZero(s *ast.ForStmt) string {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return ""
	}
	variable, ok := init.Lhs[0].(*ast.Ident)
	zero, isLiteral := init.Rhs[0].(*ast.BasicLit)
	post, isStep := s.Post.(*ast.IncDecStmt)
	if !ok || !isLiteral || zero.Value != "0" || !isStep || post.Tok != token.INC || !isIdent(post.X, variable.Name) {
		return ""
	}
	return variable.Name
}

// isBound recognises `i < b.N` and `b.N > i`.
func isBound(cond ast.Expr, variable string, use *ast.SelectorExpr) bool {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	return c.Op == token.LSS && isIdent(c.X, variable) && c.Y == use ||
		c.Op == token.GTR && isIdent(c.Y, variable) && c.X == use
}

// checkBody refuses bodies that could leave the loop, or for which it matters that the loop goes on with i where an
// unhooked one would begin again at 0 with a larger b.N.
//
// Upstream's i grows without bound too, so i%n, i&mask or a key made from i need no care. But x[i] works upstream only if
// x is a map, or was sized by b.N out of sight (in a method of another package, say): that x would be too short here.
func checkBody(body *ast.BlockStmt, variable string) string {
	if leaves(body) {
		return reasonLeave
	}
	if defers(body) {
		return reasonDeferred
	}
	reason := ""
	ast.Inspect(body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE { // a new variable of that name is another variable
				for _, left := range s.Lhs {
					if variable != "" && isIdent(left, variable) {
						reason = reasonVariable
					}
				}
			}
		case *ast.IncDecStmt:
			if variable != "" && isIdent(s.X, variable) {
				reason = reasonVariable
			}
		case *ast.RangeStmt:
			if s.Tok == token.ASSIGN && variable != "" && (isIdent(s.Key, variable) || s.Value != nil && isIdent(s.Value, variable)) {
				reason = reasonVariable
			}
		case *ast.UnaryExpr:
			if s.Op == token.AND && variable != "" && isIdent(s.X, variable) {
				reason = reasonVariable
			}
		case *ast.IndexExpr:
			if variable != "" && isIdent(s.Index, variable) && reason == "" {
				reason = reasonIndex
			}
		}
		return true
	})
	return reason
}

// leaves reports whether a statement of the body may end the loop. Any goto counts; a break or continue with a label
// counts if the label is outside the body.
func leaves(body *ast.BlockStmt) bool {
	inside := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok {
			inside[l.Label.Name] = true
		}
		return true
	})
	found := false
	var visit func(n ast.Node, breakable bool)
	visit = func(root ast.Node, breakable bool) {
		ast.Inspect(root, func(n ast.Node) bool {
			if n == root {
				return true
			}
			switch s := n.(type) {
			case *ast.FuncLit:
				return false // what it leaves is itself
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				visit(n, true)
				return false
			case *ast.ReturnStmt:
				found = true
			case *ast.BranchStmt:
				switch {
				case s.Tok == token.GOTO, s.Label != nil && !inside[s.Label.Name]:
					found = true
				case s.Tok == token.BREAK && s.Label == nil && !breakable:
					found = true
				}
			}
			return true
		})
	}
	visit(body, false)
	return found
}
