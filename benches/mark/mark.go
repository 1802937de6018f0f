// Command mark lets functions of Go files tell that they ran: with a call of `duetMark` at their beginning, on the same line, so that
// everything else stays where it is.
//
//	mark -list FILE...                 the functions and function literals that could be marked
//	mark -support PACKAGE DIR          the function that is called, in a file of its own
//	mark -body NUMBER FILE             marks one of those that -list lists
//	mark -against BASE -below HEAD FILE...   marks every function declaration that BASE has not, or has otherwise
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"sort"
)

const call = " duetMark();"

// The text is printed once, by what needs no import: an import would have initialisers of its own.
const support = `package %s

var duetMarked bool

//go:noinline
func duetMark() {
	if !duetMarked {
		duetMarked = true
		println("duet: marked code ran")
	}
}
`

func main() {
	log.SetFlags(0)
	list := flag.Bool("list", false, "list what could be marked")
	name := flag.String("support", "", "write the function that is called, for the package of this name")
	number := flag.Int("body", -1, "mark this function")
	base := flag.String("against", "", "mark what differs from this directory")
	head := flag.String("below", "", "directory of the files")
	flag.Parse()
	switch files := flag.Args(); {
	case *list:
		check(json.NewEncoder(os.Stdout).Encode(listed(files)))
	case *name != "":
		check(os.WriteFile(filepath.Join(files[0], "duet_mark.go"), fmt.Appendf(nil, support, *name), 0o644))
	case *number >= 0:
		source := parse(files[0])
		source.mark(source.bodies()[*number : *number+1])
	case *base != "":
		check(json.NewEncoder(os.Stdout).Encode(markDifferent(*base, *head, files)))
	default:
		log.Fatal("mark: -list, -support, -body or -against")
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// body is the body of a function or of a function literal.
type body struct {
	File string `json:"file"`
	Body int    `json:"body"`
	Name string `json:"name"`
	Line int    `json:"line"`

	block *ast.BlockStmt
}

type source struct {
	path      string
	text      []byte
	positions *token.FileSet
	parsed    *ast.File
}

func parse(path string) source {
	text, err := os.ReadFile(path)
	check(err)
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, path, text, parser.SkipObjectResolution|parser.ParseComments)
	check(err)
	return source{path, text, positions, parsed}
}

func listed(files []string) []body {
	all := []body{}
	for _, file := range files {
		if source := parse(file); !ast.IsGenerated(source.parsed) {
			all = append(all, source.bodies()...)
		}
	}
	return all
}

// bodies lists all bodies of a file, in the order in which they begin.
func (s source) bodies() []body {
	var all []body
	for _, declaration := range s.parsed.Decls {
		name := "a variable"
		if function, ok := declaration.(*ast.FuncDecl); ok {
			name = nameOf(function)
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				all = s.add(all, name, n.Body)
			case *ast.FuncLit:
				all = s.add(all, "literal in "+name, n.Body)
			}
			return true
		})
	}
	return all
}

func (s source) add(all []body, name string, block *ast.BlockStmt) []body {
	if block == nil {
		return all
	}
	return append(all, body{s.path, len(all), name, s.positions.Position(block.Lbrace).Line, block})
}

// nameOf tells a function's name, with the receiver's type.
func nameOf(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return function.Name.Name
	}
	kind := function.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	switch generic := kind.(type) {
	case *ast.IndexExpr:
		kind = generic.X
	case *ast.IndexListExpr:
		kind = generic.X
	}
	return fmt.Sprintf("%s.%s", kind, function.Name.Name)
}

// mark inserts from the end, so that earlier offsets stay right.
func (s source) mark(bodies []body) {
	sort.Slice(bodies, func(i, j int) bool { return bodies[i].block.Lbrace > bodies[j].block.Lbrace })
	text := s.text
	for _, body := range bodies {
		at := s.positions.Position(body.block.Lbrace).Offset + 1
		text = bytes.Join([][]byte{text[:at], []byte(call), text[at:]}, nil)
	}
	check(os.WriteFile(s.path, text, 0o644))
}

// markDifferent marks the functions of files that the same package below another directory has not, or has with another text.
func markDifferent(base, head string, files []string) []string {
	marked := []string{}
	known := map[string]map[string]bool{}
	for _, file := range files {
		folder := filepath.Dir(file)
		if known[folder] == nil {
			known[folder] = texts(filepath.Join(base, folder))
		}
		source := parse(filepath.Join(head, file))
		var different []body
		for _, declaration := range source.parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && function.Body != nil && !known[folder][text(function)] {
				different = append(different, body{block: function.Body})
				marked = append(marked, file+": "+nameOf(function))
			}
		}
		source.mark(different)
	}
	return marked
}

// texts holds the text of every function of a package.
func texts(folder string) map[string]bool {
	all := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	check(err)
	for _, file := range files {
		for _, declaration := range parse(file).parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				all[text(function)] = true
			}
		}
	}
	return all
}

// text is a function as it would be written without comments and with lines of any length.
func text(function *ast.FuncDecl) string {
	bare := *function
	bare.Doc = nil
	var written bytes.Buffer
	check((&printer.Config{Mode: printer.RawFormat}).Fprint(&written, token.NewFileSet(), &bare))
	return written.String()
}
