package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// anyValue stands for whatever function is kept in a parameter, a field or a variable: nobody tells them apart.
const anyValue = "a function value"

// neighbours are what the test files of one folder declare.
type neighbours struct {
	functions map[string][]*ast.FuncDecl // by name, methods too
	closures  map[string]bool            // variables that hold closures, those of a declaration behind its name
	takers    map[string]bool            // names of all that may be handed a function and is in sight, or is known to add nothing
	types     map[string]bool            // of functions that are handed b
	holders   map[string]bool            // parameters and fields of such a type
	values    map[any][]string           // functions that are used but not called, by name or body: to whom they are handed, or ""
	params    map[string]bool            // names of parameters of type *B
	keeps     bool                       // a field, a variable or an interface is of that type
	readsKept bool                       // b.N is read of something that is no parameter of this type, and may be one that is kept
}

// markRefused finds loops that must not be sliced because of the functions that call theirs. One that runs more than once in one call
// of a benchmark, for instance in a helper that a benchmark calls twice, would take the whole trial the first time and the others would
// not be measured; a helper that only reads b.N (to size its data) would see 1; and what a caller times after a helper would be in no
// slice. Functions are told apart by folder and name, methods by their name alone: a mistake refuses too much, never too little.
func markRefused(units []*unit) {
	byFolder := map[string][]*unit{}
	for _, u := range units {
		if u != nil {
			folder := filepath.Dir(u.path)
			byFolder[folder] = append(byFolder[folder], u)
		}
	}
	for _, units := range byFolder {
		among, functions := neighboursIn(units), []*function(nil)
		for _, u := range units {
			functions = append(functions, u.functions...)
		}
		for _, f := range functions {
			f.among = among
			f.noteValue()
		}
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
		if f.refused == "" && f.among.readsKept {
			f.refused = reasonKept
		}
		if f.refused == "" && f.parts(readers) > 1 {
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
			for _, called := range f.names() {
				if why := refused[called]; why != "" {
					f.refused = why
					f.calls(func(_ *ast.CallExpr, name string, _ int) { refuse(name, why) })
				}
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
			for _, name := range f.names() {
				if !readers[name] && f.parts(readers) > 0 {
					readers[name], grown = true, true
				}
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

// names returns those by which a function is called.
func (f *function) names() []string {
	var names []string
	if f.declared != "" {
		names = append(names, f.declared)
	}
	if f.isValue {
		names = append(names, anyValue)
	}
	return names
}

// callees returns the names of what an expression calls: none for a method from elsewhere.
func (f *function) callees(fun ast.Expr) []string {
	var found []string
	name := calledName(fun)
	_, isSelected := fun.(*ast.SelectorExpr)
	switch {
	case !isSelected && f.among.closures[f.scope+name]:
		found = append(found, f.scope+name)
	case f.among.functions[name] != nil || f.among.closures[name]:
		found = append(found, name)
	}
	if f.among.holders[name] || found == nil && !isSelected && !builtin[name] {
		found = append(found, anyValue)
	}
	return found
}

// noteValue notes whether a function may be called through what it is kept in, and refuses it where that may happen out of sight.
func (f *function) noteValue() {
	handedTo := f.among.values[f.body]
	if f.declared != "" {
		handedTo = append(handedTo, f.among.values[f.declared[strings.LastIndexByte(f.declared, '.')+1:]]...)
	}
	f.isValue = len(handedTo) > 0
	for _, name := range handedTo {
		if name != "" && !f.among.takers[name] {
			f.refused = reasonCaller
		}
	}
}

func neighboursIn(units []*unit) *neighbours {
	n := &neighbours{map[string][]*ast.FuncDecl{}, map[string]bool{}, words("append Benchmark"), map[string]bool{}, map[string]bool{}, map[any][]string{}, map[string]bool{}, false, false}
	for _, u := range units {
		for _, f := range u.functions {
			n.closures[f.declared] = f.declared != f.name && f.declared != ""
		}
		for _, variable := range u.closures {
			n.takers[variable] = true
		}
		ast.Inspect(u.file, n.declare)
	}
	for _, u := range units {
		ast.Inspect(u.file, func(node ast.Node) bool {
			n.hold(node)
			n.use(node, u.closures)
			return true
		})
		n.readsKept = n.readsKept || n.keeps && readsOther(u.file, nil)
	}
	return n
}

// declare notes declarations; it has the form that ast.Inspect wants.
func (n *neighbours) declare(node ast.Node) bool {
	switch d := node.(type) {
	case *ast.FuncDecl:
		n.functions[d.Name.Name] = append(n.functions[d.Name.Name], d)
		n.takers[d.Name.Name] = true
	case *ast.TypeSpec:
		n.types[d.Name.Name] = n.types[d.Name.Name] || n.isHandedB(d.Type)
		n.takers[d.Name.Name] = true
	case *ast.FuncType:
		for _, name := range paramsB(d) {
			n.params[name] = true
		}
	case *ast.StructType:
		for _, field := range d.Fields.List {
			n.keeps = n.keeps || isB(field.Type)
		}
	case *ast.ValueSpec:
		n.keeps = n.keeps || d.Type != nil && isB(d.Type)
	case *ast.TypeAssertExpr:
		n.keeps = n.keeps || d.Type != nil && isB(d.Type)
	case *ast.CaseClause:
		for _, kind := range d.List {
			n.keeps = n.keeps || isB(kind)
		}
	}
	return true
}

// paramsB returns the names of parameters of type *B.
func paramsB(kind *ast.FuncType) []string {
	var names []string
	for _, field := range kind.Params.List {
		for _, name := range field.Names {
			if isB(field.Type) {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// readsOther reports whether an N is read of anything but these parameters of the functions round it, and those of functions within.
func readsOther(root ast.Node, params []string) bool {
	found := false
	within := func(kind *ast.FuncType, body *ast.BlockStmt) {
		found = found || body != nil && readsOther(body, append(paramsB(kind), params...))
	}
	ast.Inspect(root, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			within(n.Type, n.Body)
			return false
		case *ast.FuncLit:
			within(n.Type, n.Body)
			return false
		case *ast.SelectorExpr:
			id, isVariable := n.X.(*ast.Ident)
			found = found || n.Sel.Name == "N" && !(isVariable && slices.Contains(params, id.Name))
		}
		return true
	})
	return found
}

// hold notes parameters and fields that may hold a function which is handed b.
func (n *neighbours) hold(node ast.Node) {
	fields := &ast.FieldList{}
	switch s := node.(type) {
	case *ast.StructType:
		fields = s.Fields
	case *ast.FuncType:
		fields = s.Params
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			n.holders[name.Name] = n.holders[name.Name] || n.isHandedB(field.Type)
		}
	}
}

// isHandedB recognises types of functions with a parameter *B of some package.
func (n *neighbours) isHandedB(kind ast.Expr) bool {
	function, ok := kind.(*ast.FuncType)
	if !ok {
		return n.types[calledName(kind)]
	}
	for _, field := range function.Params.List {
		if isB(field.Type) {
			return true
		}
	}
	return false
}

// use notes functions that are used but not called. A benchmark's own Run adds nothing to what it calls.
func (n *neighbours) use(node ast.Node, closures map[*ast.FuncLit]string) {
	values, handedTo := putBy(node), ""
	switch s := node.(type) {
	case *ast.CallExpr:
		if handedTo = calledName(s.Fun); !n.isRun(s.Fun) {
			values = s.Args
		}
	case *ast.AssignStmt:
		n.reassign(s)
	}
	for _, value := range values {
		lit, isClosure := value.(*ast.FuncLit)
		switch {
		case !isClosure:
			name := calledName(value)
			n.values[name] = append(n.values[name], handedTo)
		case closures[lit] == "":
			n.values[lit.Body] = append(n.values[lit.Body], handedTo)
		}
	}
}

// isRun recognises a benchmark's own Run, and no other function of that name.
func (n *neighbours) isRun(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Run" && n.params[calledName(sel.X)]
}

// reassign notes variables that hold something else later.
func (n *neighbours) reassign(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		variable, isVariable := left.(*ast.Ident)
		if s.Tok != token.ASSIGN || !isVariable || i >= len(s.Rhs) {
			continue
		}
		if _, isClosure := s.Rhs[i].(*ast.FuncLit); !isClosure {
			n.holders[variable.Name] = true
		}
	}
}
