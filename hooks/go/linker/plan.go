//go:build duet_linker

package ld

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"sort"
	"strconv"
	"strings"
)

const duetPlanMagic = "duet-plan-1\n"

// duetPlanFile is the plan that this link follows, with the seed of -randlayout; empty: it is an ordinary link.
var duetPlanFile = os.Getenv("DUET_LAYOUT_PLAN")

// duetOwn stands for a plan where a program is laid out as if it were both versions.
const duetOwn = "own"

// duetSlot is a place that is as large as the larger of two versions needs.
type duetSlot struct {
	kind, size, align int64
	// Names of the symbols that may be placed there; several where one has another name in the other version.
	keys []string
	// Drawn by the seed: what slots are sorted by, and room to leave before this one.
	rank uint64
	gap  int64
}

// duetPlan is what duet made of two inventories.
type duetPlan struct {
	// Nothing is known of another version: slots are as large as this program needs.
	own bool
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
		duetPlanRead = duetReadPlan()
	}
	return duetPlanRead
}

func duetReadPlan() *duetPlan {
	if duetPlanFile == duetOwn {
		if duetRefusal != "" {
			return nil
		}
		return &duetPlan{own: true}
	}
	file, err := os.ReadFile(duetPlanFile)
	if err != nil {
		Exitf("duet: cannot read the plan: %v", err)
	}
	return duetParsePlan(string(file))
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

// duetStep is what gaps are multiples of: half a cache line, the alignment of functions on amd64.
const duetStep = 32

// duetDraw lays code out by the seed, the same in both versions. Packages are shuffled, and before every function there is half a
// cache line or nothing. The functions of a package stay in the linker's order, as they are shipped: shuffled among all, those that
// call each other lie far apart. Kinds stay together, as the linker wants.
func duetDraw(slots []*duetSlot, seed int64) {
	for _, slot := range slots {
		slot.rank = duetDrawn(seed, duetPackage(slot.keys[0]))
		slot.gap = int64(duetDrawn(seed, slot.keys[0])%2) * duetStep
	}
	sort.SliceStable(slots, func(i, j int) bool {
		a, b := slots[i], slots[j]
		if a.kind != b.kind {
			return a.kind < b.kind
		}
		return a.rank < b.rank
	})
}

// duetPackage is the part of a function's name that says where it belongs.
func duetPackage(name string) string {
	name, _, _ = strings.Cut(name, "[") // what comes after it are the types of a generic function
	last := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[last:], '.')
	if dot < 0 {
		return name
	}
	return name[:last+dot]
}

// duetGap is the room before the data of a kind, up to a page. In their own order data stay near what they are used with; but
// whether a load and a store just before it, as to the stack, agree in the low bits of their addresses, which delays the load, must
// not be decided once for all build pairs.
func duetGap(kind, seed int64) int64 {
	const page = 4096
	return int64(duetDrawn(seed, "data of kind "+strconv.FormatInt(kind, 10))%(page/duetStep)) * duetStep
}

// duetDrawn is the number that a seed draws for a name.
func duetDrawn(seed int64, name string) uint64 {
	hash := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, uint64(seed)), name...))
	return binary.LittleEndian.Uint64(hash[:])
}

// duetPlace gives slots addresses, one after the other.
func duetPlace(slots []*duetSlot, start int64) *duetPlaces {
	places := &duetPlaces{
		addresses: make(map[string]int64, len(slots)),
		sizes:     make(map[string]int64, len(slots)),
		end:       start,
	}
	for _, slot := range slots {
		at := Rnd(places.end+slot.gap, slot.align)
		for _, key := range slot.keys {
			places.addresses[key], places.sizes[key] = at, slot.size
		}
		places.end = at + slot.size
	}
	return places
}
