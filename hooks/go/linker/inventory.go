//go:build duet_linker

package ld

import (
	"cmd/link/internal/loader"
	"cmd/link/internal/sym"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"internal/abi"
	"os"
	"strconv"
	"strings"
)

// An inventory says what a program is made of: every symbol that can be placed, with its kind, size and alignment. duet makes
// a plan of the inventories of two versions. The formats of both files are read and written by adapter/go/matching in duet.

const duetInventoryMagic = "duet-inventory-2\n"

// Groups of symbols: code, and data that a section is made of.
const (
	duetCode = iota
	duetData
)

// duetInventoryFile is where this link writes its inventory; empty: nowhere.
var duetInventoryFile = os.Getenv("DUET_LAYOUT_INVENTORY")

// duetRefusal says why the layout of this program cannot be matched; empty: it can.
var duetRefusal string

// duetNotes write down more of a program, where files beside this one do so.
var duetNotes []func(*Link)

// duetRecords are the symbols noted so far.
var duetRecords duetBytes

type duetBytes []byte

func (b *duetBytes) number(n int64) { *b = binary.AppendUvarint(*b, uint64(n)) }

func (b *duetBytes) text(s string) {
	b.number(int64(len(s)))
	*b = append(*b, s...)
}

// duetKeys names symbols so that both versions have the same name for the same thing.
//
// The compiler counts the closures and the unnamed tables of a package, so that one more renames those after it: p..stmp_12 of
// one version is p..stmp_13 of the other. Where a name has a number, the number gives way to what the symbol holds. Symbols that
// share a key are told apart by their order.
func duetKeys(ldr *loader.Loader, syms []loader.Sym) []string {
	seen := make(map[string]int, len(syms))
	keys := make([]string, len(syms))
	for i, s := range syms {
		name := ldr.SymName(s)
		key := name + duetScope(ldr, s)
		if duetIsCounted(name) {
			key = duetUnnumbered(name) + duetScope(ldr, s) + "=" + duetHeld(ldr, s)
		}
		n := seen[key]
		seen[key]++
		if n > 0 || name == "" {
			key += "#" + strconv.Itoa(n)
		}
		keys[i] = key
	}
	return keys
}

const duetDigits = "0123456789"

// duetIsCounted reports whether there is a number in a name that is not part of what it names, as far as can be told.
func duetIsCounted(name string) bool {
	return strings.ContainsAny(name, duetDigits) && !strings.HasPrefix(name, "type:") && !strings.HasPrefix(name, "go:")
}

// duetUnnumbered is a name with # for every number in it that may be counted.
func duetUnnumbered(name string) string {
	if !duetIsCounted(name) {
		return name
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < '0' || c > '9' {
			b = append(b, c)
		} else if i == 0 || name[i-1] < '0' || name[i-1] > '9' {
			b = append(b, '#')
		}
	}
	return string(b)
}

// duetScope tells symbols of one name for two calling conventions apart, and those that only their own file sees.
func duetScope(ldr *loader.Loader, s loader.Sym) string {
	if v := ldr.SymVersion(s); v < sym.SymVerStatic {
		return "<" + strconv.Itoa(v) + ">"
	}
	return "<s>"
}

// duetHeld digests what a symbol holds: its bytes, and what it refers to without the numbers.
func duetHeld(ldr *loader.Loader, s loader.Sym) string {
	var b duetBytes
	b.held(ldr, s, true)
	return hex.EncodeToString(duetDigest(b)[:8])
}

func duetDigest(b duetBytes) []byte {
	hash := sha256.Sum256(b)
	return hash[:16]
}

// held writes down what a symbol holds. Values of closures differ only in what the functions hold that they refer to, so that
// is told too, where asked for.
func (b *duetBytes) held(ldr *loader.Loader, s loader.Sym, deeper bool) {
	b.number(ldr.SymSize(s))
	b.text(ldr.DataString(s))
	for relocs, i := ldr.Relocs(s), 0; i < relocs.Count(); i++ {
		r := relocs.At(i)
		b.number(int64(r.Off()))
		b.number(r.Add())
		to := r.Sym()
		if to == 0 {
			continue
		}
		name := ldr.SymName(to)
		b.text(duetUnnumbered(name))
		if deeper && duetIsCounted(name) {
			b.held(ldr, to, false)
		}
	}
}

// duetCodeAlign is the alignment that the linker gives a function.
func duetCodeAlign(ldr *loader.Loader, s loader.Sym) int64 {
	return int64(max(ldr.SymAlign(s), int32(Funcalign)))
}

// duetCodeSize is the room that a function takes.
func duetCodeSize(ldr *loader.Loader, s loader.Sym) int64 {
	return max(ldr.SymSize(s), abi.MINFUNC)
}

// add notes a symbol of a group with the room for it, and what it holds if that says which one it is.
func (b *duetBytes) add(group int64, slot *duetSlot, name, held string) {
	b.number(group)
	b.number(slot.kind)
	b.number(slot.size)
	b.number(slot.align)
	b.text(slot.keys[0])
	b.text(name)
	b.text(held)
}

// duetNoteCode begins the inventory, before any function has an address.
func duetNoteCode(ctxt *Link) {
	if ctxt.BuildMode != BuildModeExe {
		duetRefusal = "it is linked with `-buildmode=" + ctxt.BuildMode.String() + "`"
	}
	for _, note := range duetNotes {
		note(ctxt)
	}
	if duetInventoryFile == "" {
		return
	}
	ldr, textp := ctxt.loader, ctxt.Textp[duetFront(ctxt):]
	for i, slot := range duetCodeSlots(ldr, textp) {
		duetRecords.add(duetCode, slot, ldr.SymName(textp[i]), duetHeld(ldr, textp[i]))
	}
}

// duetCodeSlots are slots just for these functions.
func duetCodeSlots(ldr *loader.Loader, textp []loader.Sym) []*duetSlot {
	slots := make([]*duetSlot, len(textp))
	for i, key := range duetKeys(ldr, textp) {
		s := textp[i]
		slots[i] = &duetSlot{kind: int64(ldr.SymType(s)), size: duetCodeSize(ldr, s), align: duetCodeAlign(ldr, s), keys: []string{key}}
	}
	return slots
}

// duetNoteData adds the data of one kind.
func duetNoteData(ldr *loader.Loader, kind sym.SymKind, syms []loader.Sym) {
	for i, slot := range duetDataSlots(ldr, kind, syms) {
		duetRecords.add(duetData, slot, ldr.SymName(syms[i]), "")
	}
}

// duetDataSlots are slots just for these data of one kind.
func duetDataSlots(ldr *loader.Loader, kind sym.SymKind, syms []loader.Sym) []*duetSlot {
	slots := make([]*duetSlot, len(syms))
	for i, key := range duetKeys(ldr, syms) {
		s := syms[i]
		slots[i] = &duetSlot{kind: int64(kind), size: ldr.SymSize(s), align: int64(symalign(ldr, s)), keys: []string{key}}
	}
	return slots
}

// duetFront counts the symbols that must stay in front of all others, as textaddress does: what is not Go's, and the build ID.
func duetFront(ctxt *Link) int {
	ldr, textp, i := ctxt.loader, ctxt.Textp, 0
	if len(textp) > 0 && ldr.SymName(textp[0]) == "go:buildid" {
		i++
	}
	for i < len(textp) && (ldr.SubSym(textp[i]) != 0 || ldr.AttrSubSymbol(textp[i])) {
		i++
	}
	return i
}

// duetWriteInventory ends the inventory; before the data segment there are so many bytes of read-only data and tables.
func duetWriteInventory(readOnly int64) {
	if duetInventoryFile == "" {
		return
	}
	file := duetBytes(duetInventoryMagic)
	file.text(duetRefusal)
	file.number(readOnly)
	if err := os.WriteFile(duetInventoryFile, append(file, duetRecords...), 0o600); err != nil {
		Exitf("duet: cannot write the inventory: %v", err)
	}
}
