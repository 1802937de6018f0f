//go:build duet_linker

package ld

import (
	"cmd/internal/objabi"
	"cmd/link/internal/loader"
	"cmd/link/internal/sym"
	"internal/abi"
	"os"
	"strings"
	"unicode"
)

// A graph says what every symbol of a program holds and what leads from it to others, as the linker's own search for dead code
// sees it (deadcode.go). From the graphs of two versions duet decides what each benchmark can reach; adapter/go/reach reads
// the file, and core/reach has the rule.

const duetGraphMagic = "duet-graph-1\n"

// duetGraphFile is where this link writes its graph; empty: nowhere.
var duetGraphFile = os.Getenv("DUET_REACH_GRAPH")

func init() { duetNotes = append(duetNotes, duetWriteGraph) }

// Facts about a symbol, as bits.
const (
	duetRoot = 1 << iota
	duetType
	duetReflects
	duetTable
	duetScanned
	duetKept
)

// Kinds of edges.
const (
	duetUses = iota
	duetConverts
	duetCallsMethod
	duetCallsNamed
	duetMethod
)

// duetItabFound marks interface tables among what running code finds without an edge; smaller numbers are kinds of types.
const duetItabFound = 100

// duetGrapher numbers symbols in the order in which they are met.
type duetGrapher struct {
	ctxt    *Link
	ldr     *loader.Loader
	dead    *deadcodePass // for its readers of types
	numbers map[loader.Sym]int
	queue   []loader.Sym
	roots   map[loader.Sym]bool
	tables  map[loader.Sym]bool
}

// number is the place of a symbol in the file.
func (g *duetGrapher) number(s loader.Sym) int64 {
	n, ok := g.numbers[s]
	if !ok {
		n = len(g.queue)
		g.numbers[s] = n
		g.queue = append(g.queue, s)
	}
	return int64(n)
}

// duetGraphRefusal says why reach cannot be told; empty: it can.
func duetGraphRefusal(ctxt *Link) string {
	switch {
	case duetRefusal != "":
		return duetRefusal
	case ctxt.IsExternal():
		// The system's linker adds code that this one does not see.
		return "it is linked by the system's linker, as code in C or `-linkmode=external` wants"
	case ctxt.DynlinkingGo() || ctxt.canUsePlugins || ctxt.linkShared:
		return "it can load code while it runs"
	case ctxt.Arch.PtrSize != 8:
		return "it is no program of 64 bits"
	}
	return ""
}

func duetWriteGraph(ctxt *Link) {
	if duetGraphFile == "" {
		return
	}
	file := duetBytes(duetGraphMagic)
	refusal := duetGraphRefusal(ctxt)
	file.text(refusal)
	if refusal == "" {
		g := &duetGrapher{ctxt: ctxt, ldr: ctxt.loader, numbers: map[loader.Sym]int{}}
		g.dead = &deadcodePass{ctxt: ctxt, ldr: ctxt.loader}
		g.findRoots()
		g.findTables()
		g.findKept()
		for n := 0; n < len(g.queue); n++ {
			g.put(&file, g.queue[n])
		}
	}
	if err := os.WriteFile(duetGraphFile, file, 0o600); err != nil {
		Exitf("duet: cannot write the graph: %v", err)
	}
}

// findRoots are the beginnings of deadcodePass.init.
func (g *duetGrapher) findRoots() {
	g.roots = map[loader.Sym]bool{}
	for _, name := range []string{*flagEntrySymbol, "runtime.unreachableMethod", "runtime.mapinitnoop"} {
		for _, version := range []int{0, abiInternalVer} {
			g.roots[g.ldr.Lookup(name, version)] = true
		}
	}
	g.roots[g.ctxt.mainInittasks] = true
	for _, s := range g.ctxt.dynexp {
		g.roots[s] = true
	}
	delete(g.roots, 0)
}

// findTables looks for the lists that `go test` writes into its main package.
func (g *duetGrapher) findTables() {
	g.tables = map[loader.Sym]bool{}
	for _, name := range []string{"main.tests", "main.benchmarks", "main.fuzzTargets", "main.examples"} {
		s := g.ldr.Lookup(name, 0)
		if s == 0 {
			continue
		}
		g.tables[s] = true
		for relocs, i := g.ldr.Relocs(s), 0; i < relocs.Count(); i++ {
			if array := relocs.At(i).Sym(); strings.HasPrefix(g.ldr.SymName(array), "main..stmp_") {
				g.tables[array] = true
			}
		}
	}
}

// findKept numbers all that the linker kept, but for what has no name: unless something refers to it, it describes a function,
// and is a part of that.
func (g *duetGrapher) findKept() {
	ldr := g.ldr
	for s := loader.Sym(1); s < loader.Sym(ldr.NSym()); s++ {
		isDebugging := ldr.SymType(s) >= sym.SDWARFSECT
		if name := ldr.SymName(s); ldr.AttrReachable(s) && !isDebugging && name != "" && name != "go:buildid" {
			g.number(s)
		}
	}
}

// put writes one symbol.
func (g *duetGrapher) put(file *duetBytes, s loader.Sym) {
	ldr := g.ldr
	var flags int64
	set := func(bit int64, on bool) {
		if on {
			flags |= bit
		}
	}
	kind := ldr.SymType(s)
	set(duetRoot, g.roots[s])
	set(duetType, ldr.IsGoType(s))
	set(duetReflects, ldr.IsReflectMethod(s))
	set(duetTable, g.tables[s])
	set(duetScanned, duetIsScanned(kind))
	set(duetKept, ldr.AttrReachable(s))
	file.text(ldr.SymName(s))
	file.text(ldr.SymPkg(s))
	file.number(flags)
	content, lines := g.content(s)
	*file = append(*file, content...)
	*file = append(*file, lines...)
	*file = append(*file, g.scan(s)...)
	count, edges := g.edges(s)
	file.number(count)
	*file = append(*file, edges...)
	g.putFound(file, s)
}

// duetIsScanned reports whether the collector looks for pointers in such data.
func duetIsScanned(kind sym.SymKind) bool {
	switch kind.String() {
	case "SDATA", "SDATAFIPS", "SBSS":
		return true
	}
	return false
}

// scan is what the collector sees of a variable: its size and where its pointers are.
func (g *duetGrapher) scan(s loader.Sym) []byte {
	var b duetBytes
	b.number(g.ldr.SymSize(s))
	if t := g.ldr.SymGoType(s); t != 0 {
		b.text(string(g.ldr.Data(t)))
		for relocs, i := g.ldr.Relocs(t), 0; i < relocs.Count(); i++ {
			if name := g.ldr.SymName(relocs.At(i).Sym()); strings.HasPrefix(name, "runtime.gcbits.") {
				b.text(name)
			}
		}
	}
	return duetDigest(b)
}

// content digests what a symbol holds, but for the symbols that it refers to; and lines, what it says to readers of traces.
func (g *duetGrapher) content(s loader.Sym) (content, lines []byte) {
	var b, told duetBytes
	ldr := g.ldr
	b.number(int64(ldr.SymType(s)))
	b.number(ldr.SymSize(s))
	b.number(int64(ldr.SymAlign(s)))
	b.text(ldr.DataString(s))
	if ldr.AttrSubSymbol(s) {
		b.number(ldr.SymValue(s))
	}
	for relocs, i := ldr.Relocs(s), 0; i < relocs.Count(); i++ {
		r := relocs.At(i)
		if duetIsRemark(r.Type()) {
			continue
		}
		b.number(int64(r.Off()))
		b.number(int64(r.Siz()))
		b.number(int64(r.Type()))
		b.number(r.Add())
	}
	if ldr.SymType(s).IsText() {
		g.function(s, &b, &told)
	}
	return duetDigest(b), duetDigest(told)
}

// duetIsRemark reports whether such a relocation is for debuggers, or has done its work before.
func duetIsRemark(t objabi.RelocType) bool { return t == objabi.R_USETYPE || t == objabi.R_INITORDER }

// function adds what the runtime knows of a function beside its instructions.
func (g *duetGrapher) function(s loader.Sym, b, told *duetBytes) {
	ldr := g.ldr
	flag := func(on bool) {
		if on {
			b.number(1)
		} else {
			b.number(0)
		}
	}
	flag(ldr.IsNoSplit(s))
	flag(ldr.IsFromAssembly(s))
	data := func(to *duetBytes, part loader.Sym) {
		var text string
		if part != 0 {
			text = ldr.DataString(part)
		}
		to.text(text)
	}
	// Not by NAux, which forgets them where the linker changed a function, as it does with initialisers.
	pcsp, pcfile, pcline, pcinline, pcdata := ldr.PcdataAuxs(s, nil)
	for _, part := range append([]loader.Sym{pcsp, pcinline}, pcdata...) {
		data(b, part)
	}
	data(told, pcfile)
	data(told, pcline)
	for _, part := range ldr.Funcdata(s, nil) {
		flag(part != 0)
	}
	info := ldr.FuncInfo(s)
	flag(info.Valid())
	if !info.Valid() {
		return
	}
	info.Preload()
	b.number(int64(info.Args()))
	b.number(int64(info.Locals()))
	b.number(int64(info.FuncID()))
	b.number(int64(info.FuncFlag()))
	told.number(int64(info.StartLine()))
	for k := 0; k < int(info.NumInlTree()); k++ {
		call := info.InlTree(k)
		b.number(int64(call.Parent))
		b.number(int64(call.ParentPC))
		if inlined := ldr.FuncInfo(call.Func); inlined.Valid() {
			b.number(int64(inlined.FuncID()))
		}
		told.text(ldr.SymName(call.Func))
		told.number(int64(call.Line))
	}
}

// edges are what leads from a symbol to others, in its own order.
func (g *duetGrapher) edges(s loader.Sym) (count int64, b duetBytes) {
	ldr, relocs := g.ldr, g.ldr.Relocs(s)
	methods := g.methods(s, &relocs)
	edge := func(kind int64) {
		count++
		b.number(kind)
	}
	uses := func(to loader.Sym) {
		edge(duetUses)
		b.number(g.number(to))
	}
	for i := 0; i < relocs.Count(); i++ {
		r := relocs.At(i)
		to := r.Sym()
		switch {
		case to == 0 || duetIsRemark(r.Type()):
		case r.Weak():
			// A table of an interface does not keep its methods: who calls them does. All else that is kept is in use.
			if ldr.AttrReachable(to) && !ldr.IsItab(s) {
				uses(to)
			}
		case r.Type() == objabi.R_METHODOFF:
			edge(duetMethod)
			b.method(methods[0], g, &relocs, i)
			methods = methods[1:]
			i += 2
		case r.Type() == objabi.R_USEIFACE:
			if ldr.IsItab(to) {
				to = decodeItabType(ldr, g.ctxt.Arch, to)
			}
			edge(duetConverts)
			b.number(g.number(to))
		case r.Type() == objabi.R_USEIFACEMETHOD:
			edge(duetCallsMethod)
			b = append(b, g.signature(g.dead.decodeIfaceMethod(ldr, g.ctxt.Arch, to, r.Add()))...)
		case r.Type() == objabi.R_USENAMEDMETHOD:
			edge(duetCallsNamed)
			b = append(b, duetDigest(duetBytes(g.dead.decodeGenericIfaceMethod(ldr, to)))...)
		default:
			uses(to)
		}
	}
	// The type of a variable tells the collector where its pointers are.
	for _, to := range append(ldr.Funcdata(s, nil), ldr.SymGoType(s)) {
		if to != 0 {
			uses(to)
		}
	}
	if ldr.IsExternal(s) {
		for _, to := range []loader.Sym{ldr.OuterSym(s), ldr.SubSym(s)} {
			if to != 0 {
				uses(to)
			}
		}
	}
	return count, b
}

// methods are those of a type, in the order of its relocations.
func (g *duetGrapher) methods(s loader.Sym, relocs *loader.Relocs) []methodsig {
	for i := 0; i < relocs.Count(); i++ {
		if relocs.At(i).Type() == objabi.R_METHODOFF {
			return g.dead.decodetypeMethods(g.ldr, g.ctxt.Arch, s, relocs)
		}
	}
	return nil
}

// signature is the same for a method of a type and for one of an interface if one may be called as the other.
func (g *duetGrapher) signature(m methodsig) []byte {
	var b duetBytes
	b.text(m.name)
	b.text(g.ldr.SymName(m.typ))
	return duetDigest(b)
}

// method writes one method: how it is called, and three symbols of which those count that were kept.
func (b *duetBytes) method(m methodsig, g *duetGrapher, relocs *loader.Relocs, first int) {
	*b = append(*b, g.signature(m)...)
	*b = append(*b, duetDigest(duetBytes(m.name))...)
	exported := int64(0)
	for _, r := range m.name {
		if unicode.IsUpper(r) {
			exported = 1
		}
		break
	}
	b.number(exported)
	for i := first; i < first+3; i++ {
		to := relocs.At(i).Sym()
		if to == 0 || !g.ldr.AttrReachable(to) {
			b.number(0)
			continue
		}
		b.number(g.number(to) + 1)
	}
}

// putFound says how running code finds a symbol without an edge: package reflect finds a type by its parts, and the runtime the
// table of a type and an interface. It is found only by who has the parts.
func (g *duetGrapher) putFound(file *duetBytes, s loader.Sym) {
	ldr, size := g.ldr, int32(commonsize(g.ctxt.Arch))
	how, of := int64(0), func(r loader.Reloc) bool { return false }
	switch {
	case ldr.IsItab(s):
		how = duetItabFound
		of = func(r loader.Reloc) bool { return r.Off() == 0 || r.Off() == 8 }
	case ldr.IsTypelink(s):
		kind := decodetypeKind(g.ctxt.Arch, ldr.Data(s))
		how = int64(kind) + 1
		switch kind {
		case abi.Pointer, abi.Slice, abi.Array, abi.Chan:
			of = func(r loader.Reloc) bool { return r.Off() == size }
		case abi.Map:
			of = func(r loader.Reloc) bool { return r.Off() == size || r.Off() == size+8 }
		case abi.Func, abi.Struct:
			of = func(r loader.Reloc) bool { return !r.Weak() && r.Type() != objabi.R_METHODOFF && ldr.IsGoType(r.Sym()) }
		}
	}
	var parts []int64
	for relocs, i := ldr.Relocs(s), 0; i < relocs.Count(); i++ {
		if r := relocs.At(i); r.Sym() != 0 && of(r) {
			parts = append(parts, g.number(r.Sym()))
		}
	}
	file.number(how)
	if how == 0 {
		return
	}
	file.number(int64(len(parts)))
	for _, part := range parts {
		file.number(part)
	}
}
