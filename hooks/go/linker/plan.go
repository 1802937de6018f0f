//go:build duet_linker

package ld

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"sort"
	"strings"
)

const duetPlanMagic = "duet-plan-1\n"

// duetPlanFile is the plan that this link follows, with the seed of -randlayout; empty: it is an ordinary link.
var duetPlanFile = os.Getenv("DUET_LAYOUT_PLAN")

// duetSlot is a place that is as large as the larger of two versions needs.
type duetSlot struct {
	kind, size, align int64
	// Names of the symbols that may be placed there; several where one has another name in the other version.
	keys []string
	// Drawn by the seed from the first name.
	rank uint64
}

// duetPlan is what duet made of two inventories.
type duetPlan struct {
	// Bytes of read-only data and tables before the data segment, in the larger version.
	readOnly int64
	code     []*duetSlot
	// By kind, in the order in which they are placed.
	data map[int64][]*duetSlot
}

// duetPlaces are slots with addresses.
type duetPlaces struct {
	addresses map[string]int64
	sizes     map[string]int64
	end       int64
}

var duetPlanRead *duetPlan

// duetPlanned is the plan that this link follows; nil: none.
func duetPlanned() *duetPlan {
	if duetPlanRead == nil && duetPlanFile != "" && *flagRandLayout != 0 {
		file, err := os.ReadFile(duetPlanFile)
		if err != nil {
			Exitf("duet: cannot read the plan: %v", err)
		}
		duetPlanRead = duetParsePlan(string(file))
	}
	return duetPlanRead
}

// duetReader takes a file apart. What is cut short ends the link: a program laid out by half a plan is nobody's.
type duetReader struct{ rest string }

func (r *duetReader) number() int64 {
	var n uint64
	for shift := 0; shift < 64 && r.rest != ""; shift += 7 {
		b := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(n)
		}
	}
	Exitf("duet: the plan is cut short")
	return 0
}

func (r *duetReader) text() string {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		Exitf("duet: the plan is cut short")
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func duetParsePlan(file string) *duetPlan {
	rest, ok := strings.CutPrefix(file, duetPlanMagic)
	if !ok {
		Exitf("duet: `%s` is no plan that this linker knows", duetPlanFile)
	}
	r := &duetReader{rest}
	plan := &duetPlan{readOnly: r.number(), data: map[int64][]*duetSlot{}}
	for r.rest != "" {
		group := r.number()
		slot := &duetSlot{kind: r.number(), size: r.number(), align: r.number()}
		for n := r.number(); n > 0; n-- {
			slot.keys = append(slot.keys, r.text())
		}
		if group == duetCode {
			plan.code = append(plan.code, slot)
		} else {
			plan.data[slot.kind] = append(plan.data[slot.kind], slot)
		}
	}
	return plan
}

// duetDraw puts functions into the order of the seed, the same in both versions. Kinds stay together, as the linker wants.
func duetDraw(slots []*duetSlot, seed int64) {
	var input []byte
	for _, slot := range slots {
		input = binary.LittleEndian.AppendUint64(input[:0], uint64(seed))
		input = append(input, slot.keys[0]...)
		hash := sha256.Sum256(input)
		slot.rank = binary.LittleEndian.Uint64(hash[:])
	}
	sort.SliceStable(slots, func(i, j int) bool {
		a, b := slots[i], slots[j]
		if a.kind != b.kind {
			return a.kind < b.kind
		}
		return a.rank < b.rank
	})
}

// duetGap is the room before the data of a kind, drawn by the seed alike in both versions: whole halves of cache lines, up to a
// page. In their own order data stay near what they are used with; but whether a load and a store just before it, as to the stack,
// agree in the low bits of their addresses, which delays the load, must not be decided once for all build pairs.
func duetGap(kind, seed int64) int64 {
	const step, page = 32, 4096
	input := binary.LittleEndian.AppendUint64(nil, uint64(seed))
	hash := sha256.Sum256(binary.LittleEndian.AppendUint64(input, uint64(kind)))
	return int64(binary.LittleEndian.Uint64(hash[:])%(page/step)) * step
}

// duetPlace gives slots addresses, one after the other.
func duetPlace(slots []*duetSlot, start int64) *duetPlaces {
	places := &duetPlaces{
		addresses: make(map[string]int64, len(slots)),
		sizes:     make(map[string]int64, len(slots)),
		end:       start,
	}
	for _, slot := range slots {
		at := Rnd(places.end, slot.align)
		for _, key := range slot.keys {
			places.addresses[key], places.sizes[key] = at, slot.size
		}
		places.end = at + slot.size
	}
	return places
}
