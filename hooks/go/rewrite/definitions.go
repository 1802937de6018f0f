package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// A benchmark is defined by its own function and by everything in test files that this uses, directly or through
// others: helpers, variables, types with their methods, and files that a literal names. Two versions of a benchmark
// whose definitions differ do not measure the same, whatever became of the code that they call.

type definition struct {
	Benchmark string `json:"benchmark"`
	// Loops is false where nothing in the function can repeat what it measures: its parameter is neither handed on nor
	// asked for a number of rounds.
	Loops bool `json:"loops"`
	// Leaf is true where it cannot have sub-benchmarks: its parameter is neither handed on nor asked to run one.
	Leaf  bool   `json:"leaf"`
	Parts []part `json:"parts"` // its own function first, the others by name
	// Body is a digest of its own function without its name.
	Body string `json:"body"`
}

// part is a declaration, or a file that a literal in one names.
type part struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Digest string `json:"digest"`
}

// declaration is one at package level.
type declaration struct {
	part
	names   []string        // those it declares; of a method ".name", of one of a type in these files also the type's
	uses    map[string]bool // identifiers in it; those behind a dot as ".name"
	sets    map[string]bool // variables that it assigns to and does not declare
	strings []literal
}

// literal may name a file; patterns of embedded files name several.
type literal struct {
	value   string
	line    int
	pattern bool
}

// folder is what the test files of one folder declare. Its two packages are taken together: a name that both declare
// is then used where either is, which tells of too many changes and never of too few.
type folder struct {
	path         string
	declarations []*declaration
	benchmarks   map[string][]*ast.FuncDecl
	bodies       map[string]hash.Hash
	byName       map[string][]*declaration
	files        map[literal]string // digests of files and folders by what names them, wherever that stands
}

// definitionsOf returns the definitions of all benchmarks in these files, by folder and in the order of their names.
func definitionsOf(units []*unit) map[string][]definition {
	folders := map[string]*folder{}
	for _, u := range units {
		if u == nil {
			continue
		}
		path := filepath.Dir(u.path)
		if folders[path] == nil {
			folders[path] = &folder{path: path, benchmarks: map[string][]*ast.FuncDecl{}, bodies: map[string]hash.Hash{}, byName: map[string][]*declaration{}, files: map[literal]string{}}
		}
		folders[path].add(u)
	}
	found := map[string][]definition{}
	for path, f := range folders {
		for name, decls := range f.benchmarks {
			one := definition{Benchmark: name, Leaf: true, Parts: f.parts(name), Body: hex.EncodeToString(f.bodies[name].Sum(nil))}
			for _, decl := range decls {
				loops, leaf := uses(decl)
				one.Loops, one.Leaf = one.Loops || loops, one.Leaf && leaf
			}
			found[path] = append(found[path], one)
		}
		sort.Slice(found[path], func(i, j int) bool { return found[path][i].Benchmark < found[path][j].Benchmark })
	}
	return found
}

func (f *folder) add(u *unit) {
	for _, decl := range u.benchmarks() {
		name := decl.Name.Name
		f.benchmarks[name] = append(f.benchmarks[name], decl)
		if f.bodies[name] == nil {
			f.bodies[name] = sha256.New()
		}
		text := ast.Node(decl.Type)
		if decl.Body != nil { // else written elsewhere
			text = decl.Body
		}
		u.hashTokens(f.bodies[name], decl.Type.Params.Pos(), text)
	}
	imports := u.imports()
	start := u.file.Name.End()
	for _, decl := range u.file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			start = decl.End()
			continue
		}
		for _, node := range single(decl) {
			// Comments between it and the one before that direct the compiler belong to it.
			d := u.declaration(node, start, imports)
			start = node.End()
			f.declarations = append(f.declarations, d)
			for _, name := range d.names {
				f.byName[name] = append(f.byName[name], d)
			}
		}
	}
}

// single returns the variables and types of a declaration one by one; constants may count on those before them.
func single(decl ast.Decl) []ast.Node {
	gen, ok := decl.(*ast.GenDecl)
	if !ok || gen.Tok == token.CONST || len(gen.Specs) == 0 {
		return []ast.Node{decl}
	}
	var nodes []ast.Node
	for _, spec := range gen.Specs {
		nodes = append(nodes, spec)
	}
	return nodes
}

// imports returns import paths by the names that the file may know them by.
func (u *unit) imports() map[string]string {
	byName := map[string]string{}
	for _, spec := range u.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		byName[name] = path
	}
	return byName
}

func (u *unit) declaration(decl ast.Node, start token.Pos, imports map[string]string) *declaration {
	d := &declaration{names: declared(decl), uses: map[string]bool{}, sets: assigned(decl)}
	d.part = part{Name: strings.TrimPrefix(d.names[0], "."), Path: u.path, Line: u.line(decl.Pos())}
	ast.Inspect(decl, func(n ast.Node) bool { return d.use(u, n) })
	digest := sha256.New()
	embedded := u.hashTokens(digest, start, decl)
	for _, pattern := range embedded {
		d.strings = append(d.strings, literal{strings.TrimPrefix(pattern, "all:"), d.Line, true})
	}
	for _, name := range sorted(d.uses) {
		if path := imports[name]; path != "" {
			fmt.Fprintf(digest, "import %q %q\n", name, path)
		}
	}
	d.Digest = hex.EncodeToString(digest.Sum(nil))
	return d
}

// use notes one node; it has the form that ast.Inspect wants.
func (d *declaration) use(u *unit, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		d.uses["."+n.Sel.Name] = true
		// External tests name what the package's own test files declare for them behind the name of the package.
		if _, isName := n.X.(*ast.Ident); isName && n.Sel.IsExported() && strings.HasSuffix(u.file.Name.Name, "_test") {
			d.uses[n.Sel.Name] = true
		}
		ast.Inspect(n.X, func(x ast.Node) bool { return d.use(u, x) })
		return false
	case *ast.Ident:
		d.uses[n.Name] = true
	case *ast.BasicLit:
		if value, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			d.strings = append(d.strings, literal{value, u.line(n.Pos()), false})
		}
	}
	return true
}

// declared returns the names under which others use a declaration.
func declared(decl ast.Node) []string {
	var names []string
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil || len(decl.Recv.List) == 0 {
			return []string{decl.Name.Name}
		}
		// Whoever uses the type may call the method through an interface. One of a type of the package is known by its name alone.
		return []string{"." + decl.Name.Name, rootOf(decl.Recv.List[0].Type)}
	case *ast.TypeSpec:
		return []string{decl.Name.Name}
	case *ast.ValueSpec:
		for _, name := range decl.Names {
			names = append(names, name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			names = append(names, declared(spec)...)
		}
	}
	return append(names, "_")[:max(1, len(names))]
}

// hashTokens hashes what the compiler sees of a declaration, without layout and comments that say nothing to it, and
// what comments from start on tell the compiler; it returns the patterns of files that are embedded.
func (u *unit) hashTokens(digest hash.Hash, start token.Pos, decl ast.Node) []string {
	var embedded []string
	from := u.offset(start)
	text := u.source[from:u.offset(decl.End())]
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(text)), text, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, kind, value := s.Scan()
		directive := kind == token.COMMENT && strings.HasPrefix(value, "//go:")
		before := from+files.Position(pos).Offset < u.offset(decl.Pos())
		switch {
		case kind == token.EOF:
			return embedded
		case !directive && (before || kind == token.COMMENT):
			continue
		case kind == token.SEMICOLON:
			value = ";" // written or not
		}
		if patterns, ok := strings.CutPrefix(value, "//go:embed "); ok {
			embedded = append(embedded, strings.Fields(patterns)...)
		}
		fmt.Fprintf(digest, "%d %q\n", kind, value)
	}
}

// parts returns everything that a benchmark uses, itself first.
func (f *folder) parts(benchmark string) []part {
	reached := map[*declaration]bool{}
	var order []*declaration
	reach := func(name string) {
		for _, d := range f.byName[name] {
			if name != "_" && !reached[d] && !f.comesWithItsType(d, name) {
				reached[d] = true
				order = append(order, d)
			}
		}
	}
	reach(benchmark)
	for i := 0; i < len(order); i++ {
		for _, name := range sorted(order[i].uses) {
			reach(name)
		}
		// Types and variables bring what belongs to them: methods, and functions that run before and fill them.
		for _, name := range order[i].names {
			reach(name)
		}
		if i == len(order)-1 {
			for _, d := range f.declarations {
				if !reached[d] && d.runsBefore() && (touches(d, order) || f.setsOthers(d)) {
					reached[d] = true
					order = append(order, d)
				}
			}
		}
	}
	var parts []part
	for _, d := range order {
		parts = append(parts, d.part)
		parts = append(parts, f.data(d)...)
	}
	rest := parts[1:]
	sort.SliceStable(rest, func(i, j int) bool { return rest[i].Name < rest[j].Name })
	return parts
}

// comesWithItsType tells whether this is the name of a method whose type these files declare: whoever calls the method has the type,
// and many others have methods of the same name.
func (f *folder) comesWithItsType(d *declaration, name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	for _, of := range f.byName[d.names[1]] {
		if !strings.HasPrefix(of.names[0], ".") {
			return true
		}
	}
	return false
}

// runsBefore tells functions that run before any benchmark.
func (d *declaration) runsBefore() bool {
	return d.names[0] == "init" || d.names[0] == "TestMain"
}

// setsOthers tells whether a declaration assigns to what no test file declares: to a variable of the package, or of another one.
func (f *folder) setsOthers(d *declaration) bool {
	for name := range d.sets {
		if len(f.byName[name]) == 0 {
			return true
		}
	}
	return false
}

// assigned returns the names of the variables, or of their packages, to which a function assigns and that it does not declare.
func assigned(decl ast.Node) map[string]bool {
	names := map[string]bool{}
	own := declaredIn(decl)
	ast.Inspect(decl, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				names[rootOf(left)] = names[rootOf(left)] || s.Tok != token.DEFINE
			}
		case *ast.IncDecStmt:
			names[rootOf(s.X)] = true
		}
		return true
	})
	for name, isSet := range names {
		if !isSet || own[name] || name == "" || name == "_" {
			delete(names, name)
		}
	}
	return names
}

// touches tells whether a declaration uses a variable or a function that others declare.
func touches(d *declaration, others []*declaration) bool {
	for _, other := range others {
		for _, name := range other.names {
			if name != "_" && !strings.HasPrefix(name, ".") && d.uses[name] {
				return true
			}
		}
	}
	return false
}

// data returns the files of the module that literals of a declaration name.
func (f *folder) data(d *declaration) []part {
	var parts []part
	seen, upwards := map[string]bool{}, ""
	for _, l := range d.strings {
		if l.value == ".." {
			upwards += "../"
		}
	}
	for _, l := range d.strings {
		if len(l.value) > 256 || seen[l.value] {
			continue
		}
		seen[l.value] = true
		digest := f.digest(l)
		if digest == "" && upwards != "" && filepath.IsLocal(l.value) { // parts of a path that filepath.Join puts together
			l.value = upwards + l.value
			digest = f.digest(l)
		}
		if digest != "" {
			parts = append(parts, part{l.value, d.Path, l.line, digest})
		}
	}
	return parts
}

// digest returns that of the files that a literal names; empty where it names none.
func (f *folder) digest(l literal) string {
	l.line = 0
	if known, ok := f.files[l]; ok {
		return known
	}
	digest := ""
	if paths := f.named(l); len(paths) > 0 {
		sum := sha256.New()
		for _, path := range paths {
			f.hashTree(sum, path, map[string]bool{})
		}
		digest = hex.EncodeToString(sum.Sum(nil))
	}
	f.files[l] = digest
	return digest
}

// named returns the data that a literal names. Any word may be that of a package below this one, and any file of Go
// code is there to be compiled, so outside of testdata only other files are data. A pattern below testdata stands for all of the folder in
// which its files would be.
func (f *folder) named(l literal) []string {
	path := filepath.Join(f.path, l.value)
	if !filepath.IsLocal(l.value) && (filepath.IsAbs(l.value) || !f.isInModule(path)) {
		return nil
	}
	if l.pattern {
		paths, _ := filepath.Glob(path) // the compiler has the better words for what is no pattern
		return paths
	}
	info, err := os.Stat(path)
	for err != nil && isTestdata(l.value) && strings.ContainsAny(l.value, "%*?[") {
		l.value = filepath.Dir(l.value)
		path = filepath.Join(f.path, l.value)
		info, err = os.Stat(path)
	}
	if err != nil || !isTestdata(l.value) && (!info.Mode().IsRegular() || strings.HasSuffix(path, ".go")) {
		return nil
	}
	return []string{path}
}

// isInModule reports whether a path outside of the folder lies in its module, whose root is the next folder upwards with a go.mod.
func (f *folder) isInModule(path string) bool {
	for root := f.path; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return strings.HasPrefix(path, root+string(filepath.Separator))
		}
		if root == filepath.Dir(root) {
			return false
		}
	}
}

// isTestdata reports whether a path is that of the folder testdata, here or above, or leads into it.
func isTestdata(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	for strings.HasPrefix(path, "../") {
		path = path[len("../"):]
	}
	first, _, _ := strings.Cut(path, "/")
	return first == "testdata"
}

// largest is the size in bytes up to which a file is read; of larger ones only the size counts.
const largest = 64 << 20

// hashTree digests a file, or all files below a folder, with what links lead to; each folder once.
func (f *folder) hashTree(sum hash.Hash, path string, seen map[string]bool) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	name, _ := filepath.Rel(f.path, path)
	switch {
	case info.IsDir():
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] || f.isInside(real) {
			return
		}
		seen[real] = true
		entries, _ := os.ReadDir(path)
		for _, entry := range entries {
			if entry.Name() == ".git" || entry.Name() == ".duet" {
				continue
			}
			f.hashTree(sum, filepath.Join(path, entry.Name()), seen)
		}
	case info.Mode().IsRegular():
		fmt.Fprintf(sum, "%q %d\n", filepath.ToSlash(name), info.Size())
		if info.Size() <= largest {
			hashFile(sum, path)
		}
	}
}

// isInside reports whether the folder lies in this one, as where a link leads upwards: then all of it is no data.
func (f *folder) isInside(real string) bool {
	own, err := filepath.EvalSymlinks(f.path)
	return err == nil && (own == real || strings.HasPrefix(own, real+string(filepath.Separator)))
}

func hashFile(sum hash.Hash, path string) {
	if file, err := os.Open(path); err == nil {
		defer file.Close()
		io.Copy(sum, file)
	}
}

// uses tells from the uses of a benchmark's parameter whether it can repeat what it measures, and whether it is a leaf.
func uses(decl *ast.FuncDecl) (loops, leaf bool) {
	if decl.Body == nil {
		return true, false // written elsewhere
	}
	names := decl.Type.Params.List[0].Names
	if len(names) == 0 || names[0].Name == "_" {
		return false, true
	}
	leaf = true
	asked := map[*ast.Ident]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if b, ok := n.X.(*ast.Ident); ok && b.Name == names[0].Name {
				asked[b] = true
				loops = loops || repeats[n.Sel.Name]
				leaf = leaf && n.Sel.Name != "Run"
			}
		case *ast.Ident:
			if n.Name == names[0].Name && !asked[n] {
				loops, leaf = true, false // handed on
			}
		}
		return true
	})
	return loops, leaf
}

// repeats has the fields and methods of testing.B by which a benchmark repeats what it measures.
var repeats = map[string]bool{"N": true, "Loop": true, "Run": true, "RunParallel": true}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
