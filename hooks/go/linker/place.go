//go:build duet_linker

package ld

import (
	"cmd/link/internal/loader"
	"cmd/link/internal/sym"
	"sort"
)

// Functions that data.go calls, by the insertions of anchors.json.

// duetNowhere comes after every address.
const duetNowhere = 1 << 62

// duetAddresses are where symbols go.
type duetAddresses map[loader.Sym]int64

// duetCodePlaces and duetCodeAddresses are where functions go; nil: wherever the linker likes.
var (
	duetCodePlaces    *duetPlaces
	duetCodeAddresses duetAddresses
)

// duetArrange sorts symbols by their places, and gives their addresses. What has no place, or needs more room than its place
// has, comes last: there it disturbs nobody.
func duetArrange(ldr *loader.Loader, places *duetPlaces, syms []loader.Sym) duetAddresses {
	type placed struct {
		s    loader.Sym
		at   int64
		full bool
	}
	all := make([]placed, len(syms))
	addresses := make(duetAddresses, len(syms))
	for i, key := range duetKeys(ldr, syms) {
		s := syms[i]
		size := ldr.SymSize(s)
		all[i] = placed{s, duetNowhere, size != 0}
		if at, ok := places.addresses[key]; ok && size <= places.sizes[key] {
			all[i].at, addresses[s] = at, at
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.at != b.at {
			return a.at < b.at
		}
		// An empty symbol shares the address of the one that follows.
		return !a.full && b.full
	})
	for i, one := range all {
		syms[i] = one.s
	}
	return addresses
}

// duetOrderCode puts functions where the plan wants them, and returns those that are left to be shuffled: none.
// Without a plan these are all.
func duetOrderCode(ctxt *Link, textp []loader.Sym) []loader.Sym {
	plan := duetPlanned()
	if plan == nil {
		return textp
	}
	// C code stays in front, as that of package net. Where one version has a little more of it, or alone has any, the room behind it
	// makes up for that; whether it was enough shows when addresses are compared. The system's linker puts code of its own and what
	// is seldom run in front, and then begins at the alignment of the section.
	const room = 1 << 16
	if ctxt.IsExternal() {
		Segtext.Sections[0].Align = room
	}
	ldr, start := ctxt.loader, Rnd(*FlagTextAddr, int64(Funcalign))
	for _, s := range ctxt.Textp[:len(ctxt.Textp)-len(textp)] {
		if !ldr.AttrSubSymbol(s) {
			start = Rnd(start, duetCodeAlign(ldr, s)) + duetCodeSize(ldr, s)
		}
	}
	if plan.own {
		plan.code = duetCodeSlots(ldr, textp)
	}
	duetDraw(plan.code, *flagRandLayout)
	duetCodePlaces = duetPlace(plan.code, Rnd(start+1, room))
	duetCodeAddresses = duetArrange(ldr, duetCodePlaces, textp)
	return nil
}

// duetCodeAt is where a function goes that would go to va if it followed its predecessor.
func duetCodeAt(s loader.Sym, va uint64) uint64 {
	return max(va, uint64(duetCodeAddresses[s]))
}

// duetCodeEnd is where code ends that would end at va.
func duetCodeEnd(va uint64) uint64 {
	if duetCodePlaces == nil {
		return va
	}
	return max(va, uint64(duetCodePlaces.end))
}

// duetSection is a part of a section that is laid out by the plan; nil: it is not.
type duetSection struct {
	addresses duetAddresses
	end       int64
}

// duetOrderData puts the data of one kind, which begin at state.datsize, where the plan wants them.
func duetOrderData(state *dodataState, sect *sym.Section, syms []loader.Sym) *duetSection {
	if len(syms) == 0 || !duetOrdered(state.symType(syms[0])) {
		return nil
	}
	ldr, kind := state.ctxt.loader, state.symType(syms[0])
	if duetInventoryFile != "" {
		duetNoteData(ldr, kind, syms)
	}
	plan := duetPlanned()
	if plan == nil {
		return nil
	}
	slots, align := plan.data[int64(kind)], int64(1)
	if plan.own {
		slots = duetDataSlots(ldr, kind, syms)
	}
	for _, slot := range slots {
		align = max(align, slot.align)
	}
	start := Rnd(state.datsize+duetGap(int64(kind), *flagRandLayout), align)
	if kind == sym.STYPE {
		start += align // a type at offset 0 would be none
	}
	places := duetPlace(slots, start)
	sect.Align = max(sect.Align, int32(align))
	return &duetSection{duetArrange(ldr, places, syms), places.end}
}

// duetOrdered reports whether the order of such data is free.
func duetOrdered(kind sym.SymKind) bool {
	switch kind {
	case sym.SPCLNTAB, sym.SELFGOT, sym.SXCOFFTOC:
		return false
	}
	return kind < sym.SXREF
}

// at is where a symbol goes that would go to datsize if it followed its predecessor.
func (d *duetSection) at(s loader.Sym, datsize int64) int64 {
	if d == nil {
		return datsize
	}
	return max(datsize, d.addresses[s])
}

// until is where the kind ends that would end at datsize.
func (d *duetSection) until(datsize int64) int64 {
	if d == nil {
		return datsize
	}
	return max(datsize, d.end)
}

// duetDataSegment is where writable data go that would go to va: the same address in both versions, though what lies before
// them has tables that only the linker knows, whose size varies a little with the order of functions.
func duetDataSegment(va uint64) uint64 {
	duetWriteInventory(int64(va - Segrodata.Vaddr))
	plan := duetPlanned()
	if plan == nil {
		return va
	}
	const room = 1 << 16
	return max(va, uint64(Rnd(int64(Segrodata.Vaddr)+plan.readOnly+room, room)))
}
