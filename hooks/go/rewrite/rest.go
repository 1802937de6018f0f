package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// timing are methods of b that begin to time: a loop over b.N that stands before one is set-up.
var timing = words("ResetTimer StartTimer RunParallel Loop Run")

// slight are calls that stand behind loops without being what is measured: they look at a result, or clean up without waiting.
var slight = words("KeepAlive Sprint Sprintf Sprintln Print Printf Println Fprint Fprintf Fprintln " +
	"Len Cap Size Load LoadInt32 LoadInt64 LoadUint32 LoadUint64 " +
	"Now Since Sub Seconds Milliseconds Microseconds Nanoseconds Duration ReadMemStats " +
	"Bytes String Name Sum32 Sum64 Equal DeepEqual Is As Err Error Errorf Fatal Fatalf Fatalln Panic Panicf Exit " +
	"NoError Nil NotNil True False Store Add Count Done GC " +
	"Unlock RUnlock Remove cancel Cancel StopCPUProfile")

// builtin are functions and conversions that the language itself has.
var builtin = words("append cap clear close complex copy delete imag len make max min new panic print println real recover " +
	"bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string " +
	"uint uint8 uint16 uint32 uint64 uintptr any")

func words(all string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(all) {
		set[word] = true
	}
	return set
}

// waits reports whether a function of this name waits for work that a loop has only begun, or does what it has put off.
func waits(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"wait", "drain", "flush", "commit"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// makesBuffered reports whether a node makes a channel with room for values.
func makesBuffered(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	name, isName := call.Fun.(*ast.Ident)
	_, isChannel := call.Args[0].(*ast.ChanType)
	size, isLiteral := call.Args[1].(*ast.BasicLit)
	return isName && name.Name == "make" && isChannel && !(isLiteral && size.Value == "0")
}

// checkRest refuses loops that are not all of what is timed, because slices hold the loop alone: what comes after it is in none. Called
// anew for every slice, such a benchmark is timed as a whole. Refusing too much costs time, and refusing too little a wrong number.
// The loop may be a call of the function that holds it.
func (f *function) checkRest(loop ast.Node) string {
	later, deferred := false, false
	worker, buffered, sends := false, false, false
	stopped, rest := token.Pos(0), token.Pos(0)
	first := func(at *token.Pos, n ast.Node) {
		if *at == 0 || n.Pos() < *at {
			*at = n.Pos()
		}
	}
	f.visit(f.body, func(n ast.Node) bool {
		behind := n.Pos() >= loop.End()
		if call, ok := n.(*ast.CallExpr); ok && behind {
			if name := f.method(call); name != "" {
				later = later || timing[name]
				if name == "StopTimer" {
					first(&stopped, call)
				}
				return false // its arguments are a report, or run when the timer has stopped
			}
		}
		if _, isSend := n.(*ast.SendStmt); isSend && !behind {
			sends = sends || n.Pos() > loop.Pos()
		}
		if n.End() <= loop.Pos() {
			_, isGo := n.(*ast.GoStmt)
			worker, buffered = worker || isGo, buffered || makesBuffered(n)
			one, isDefer := n.(*ast.DeferStmt)
			deferred = deferred || isDefer && f.putsOff(one)
			_, isClosure := n.(*ast.FuncLit)
			return !isDefer && !isClosure // it calls what it defers itself
		}
		if behind && f.isTimed(n) {
			first(&rest, n)
		}
		return true
	})
	switch {
	case later:
		return reasonLater
	case worker && buffered && sends: // the worker goes on between two slices, and the buffer is empty again
		return reasonRest
	case deferred && stopped == 0, rest != 0 && (stopped == 0 || rest < stopped):
		return reasonRest
	}
	return ""
}

// visit goes through the nodes below root that see the parameter, and below those for which it returns true.
func (f *function) visit(root ast.Node, visit func(ast.Node) bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		return n != nil && !(ok && declares(lit.Type.Params, f.param)) && visit(n)
	})
}

// method returns the name of the method of b that is called, or "".
func (f *function) method(call *ast.CallExpr) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isIdent(sel.X, f.param) {
		return sel.Sel.Name
	}
	return ""
}

// isTimed reports whether a node behind a loop takes time that belongs to the measurement.
func (f *function) isTimed(n ast.Node) bool {
	switch s := n.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SendStmt:
		return true
	case *ast.UnaryExpr:
		return s.Op == token.ARROW
	case *ast.CallExpr:
		return f.callsFor(s)
	}
	return false
}

// callsFor reports whether a call is more than a look at the result. One that is handed b is an assertion, unless its name waits or it is
// seen to do more.
func (f *function) callsFor(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.InterfaceType:
		return false // a conversion
	case *ast.ParenExpr:
		if _, ok := fun.X.(*ast.StarExpr); ok {
			return false // likewise
		}
	case *ast.FuncLit:
		return false // its body is visited
	case *ast.Ident:
		if builtin[fun.Name] {
			return false
		}
	}
	name := calledName(call.Fun)
	for i, arg := range call.Args {
		if isIdent(arg, f.param) {
			_, isElsewhere := call.Fun.(*ast.SelectorExpr)
			decls := f.among.functions[name]
			return waits(name) || !isElsewhere && decls == nil || f.takesTime(decls, i)
		}
	}
	return !slight[name]
}

// levels is how deep helpers are looked through.
const levels = 3

// takesTime reports whether one of these functions, handed b as an argument, does more than look at the result.
func (f *function) takesTime(decls []*ast.FuncDecl, argument int) bool {
	for _, d := range decls {
		if d.Body == nil || f.depth == levels {
			return true
		}
		helper := &function{param: parameter(d.Type, argument), body: d.Body, among: f.among, depth: f.depth + 1}
		start := &ast.EmptyStmt{Semicolon: d.Body.Lbrace, Implicit: true}
		if helper.checkRest(start) != "" {
			return true
		}
	}
	return false
}

// parameter returns the name of a function's parameter; "" where it has none.
func parameter(kind *ast.FuncType, number int) string {
	var names []string
	for _, field := range kind.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	if number < len(names) {
		return names[number]
	}
	return ""
}

// putsOff reports whether a deferred call waits for what the loop has begun. Others only clean up, which would weigh in every slice.
func (f *function) putsOff(deferred *ast.DeferStmt) bool {
	found := false
	f.visit(deferred, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.UnaryExpr:
			found = found || s.Op == token.ARROW
		case *ast.CallExpr:
			found = found || waits(calledName(s.Fun))
		}
		return true
	})
	return found
}

// defers reports whether a loop's body defers calls until the function returns.
func defers(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.DeferStmt:
			found = true
		case *ast.FuncLit:
			return false // it calls them itself
		}
		return true
	})
	return found
}
