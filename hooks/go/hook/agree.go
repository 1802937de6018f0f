package duethook

import (
	"math"
	"math/bits"
)

// duetMaxK bounds the invocations of one slice, as upstream bounds b.N.
// Without it a benchmark that never runs its timer would grow for ever.
const duetMaxK = 1_000_000_000

// duetSetupLimitNS bounds a slice that outweighs what is timed once in each: a set-up, or what stands behind its loop.
const duetSetupLimitNS = 1_000_000_000

// duetSettleCycles are the cycles that pass before slices of whole ones count: Go's pacer goes by the dearest of the last four, and
// those in which a live heap was built are dear.
const duetSettleCycles = 6

// duetInterruptionTrials is the longest interruption of a calibration slice that is told from waiting code by a second one, in trials.
const duetInterruptionTrials = 10

// duetSeenSliceNS is the least length of slices in turns where collections are seen; a quarter of a cycle, if that is longer, and then
// they go on for whole cycles, see goesOn.
const duetSeenSliceNS = 8_000_000

// duetPlan is what both sides compute alike from the published numbers.
type duetPlan struct {
	k      uint64 // invocations per slice
	warmup uint64 // slices that do not count
	slices uint64 // slices that count
	block  uint64 // slices between two pauses
	whole  bool   // in turns, slices go on for whole cycles of the collector
	warm   bool   // and begin with one that is not recorded
	warmK  uint64 // invocations before each slice that are not recorded; 0 where slices are whole
}

func (p duetPlan) total() uint64 { return p.warmup + p.slices }

// blockOf returns the number of the block that slice j is in, and whether j is its first and its last slice.
func (p duetPlan) blockOf(j uint64) (block uint64, first, last bool) {
	if j < p.warmup {
		return 0, j == 0, j+1 == p.warmup
	}
	n := j - p.warmup
	return 1 + n/p.block, n%p.block == 0, (n+1)%p.block == 0 || j+1 == p.total()
}

// invocations returns those of slice j, where every second block that counts is stretched.
func (p duetPlan) invocations(j uint64, stretch uint32) uint64 {
	if block, _, _ := p.blockOf(j); stretch > 1 && block%2 == 1 {
		return duetLeast(duetMaxK, p.k*uint64(stretch))
	}
	return p.k
}

// duetAgree computes the plan. sides holds both sides, or only the own one in a solo.
func duetAgree(h *duetHeader, sides []*duetSide) duetPlan {
	p := duetPlan{block: duetMost(1, uint64(h.blockSlices))}
	length := h.sliceNS
	for _, s := range sides {
		length = duetMost(length, s.sliceNS)
	}
	p.k = duetInvocations(sides, length)
	cycle := uint64(0)
	if h.gcNS > 0 && !duetCollectAlike(sides, p.k) {
		cycle = duetCycleNS(sides, p.k)
	}
	seen := h.mode == duetModeInterleaved && cycle > 0 && cycle <= h.gcNS/4
	if seen {
		p.k = duetInvocations(sides, duetMost(length, duetMost(duetSeenSliceNS, cycle/4)))
	}
	est := duetSliceNS(sides, p.k)
	if p.whole = seen && duetAllGoOn(sides); p.whole {
		est = duetMulDiv(cycle, duetMulDiv(est, 1, cycle, true), 1, false)
		if p.warm = est <= h.gcNS/4-cycle; p.warm {
			est += cycle
		}
	}
	if h.mode == duetModeInterleaved && h.warmNS > 0 && !p.whole && duetAllGoOn(sides) {
		p.warmK = duetInvocations(sides, h.warmNS)
		est += duetLeast(duetSliceNS(sides, p.warmK), math.MaxUint64-est)
	}
	room := uint64(h.capacity)
	p.slices = duetMost(1, h.trialNS/est)
	if est <= h.trialNS/4 {
		asked := uint64(h.warmupSlices)
		asLong := duetMost(2, duetMulDiv(asked, h.sliceNS, est, true))
		p.warmup = duetLeast(duetLeast(asked, asLong), room)
	}
	if cycle > 0 {
		most, few := duetLeast(room, h.gcNS/est), h.gcNS/16/est
		if p.whole {
			p.last(duetMulDiv(cycle, duetSettleCycles, est, true), 1, 3, duetLeast(few, 11), most)
		} else if span := duetSpan(sides, p.k); span > 0 {
			times := func(hundredths uint64) uint64 { return duetMulDiv(span, hundredths, 100, true) }
			p.last(times(115), times(115), times(270), duetLeast(few, times(1080)), most)
		}
	}
	if h.slices > 0 {
		p.warmup, p.slices = duetLeast(uint64(h.warmupSlices), room), uint64(h.slices)
	}
	p.slices = duetLeast(p.slices, room-p.warmup)
	return p
}

// duetInvocations returns those of a slice that takes about so long on the side that is slower.
func duetInvocations(sides []*duetSide, length uint64) uint64 {
	k := uint64(duetMaxK)
	for _, s := range sides {
		k = duetLeast(k, duetMost(1, duetMulDiv(duetMost(1, s.k), length, duetMost(1, s.kNS), false)))
	}
	return k
}

// duetSliceNS returns the time that a slice of k invocations takes on the side that is slower, at least 1.
func duetSliceNS(sides []*duetSide, k uint64) uint64 {
	ns := uint64(1)
	for _, s := range sides {
		ns = duetMost(ns, duetMulDiv(duetMost(1, s.kNS), k, duetMost(1, s.k), true))
	}
	return ns
}

// duetCycleNS returns the time from one collection to the next on the side where it is longest, in slices of k invocations; 0 where nobody
// collects.
func duetCycleNS(sides []*duetSide, k uint64) uint64 {
	return duetMulDiv(duetSliceNS(sides, k), duetSpan(sides, k), 1, false)
}

// duetCollectAlike tells whether the collections of both sides may be computed and need not be seen: they allocate the same
// number of bytes, but for one in a hundred, and pay for the collector on the only core that they have.
func duetCollectAlike(sides []*duetSide, k uint64) bool {
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, s := range sides {
		if s.parallelism != 1 {
			return false
		}
		bytes := duetMulDiv(s.kBytes, k, duetMost(1, s.k), false)
		least, most = duetLeast(least, bytes), duetMost(most, bytes)
	}
	return len(sides) == 2 && most-least <= most/100
}

// duetAllGoOn reports whether every side can add invocations to a slice.
func duetAllGoOn(sides []*duetSide) bool {
	for _, s := range sides {
		if !duetCanRefill(s.style) {
			return false
		}
	}
	return true
}

// duetCanRefill reports whether invocations can be added to a benchmark of this style at the price of these alone.
func duetCanRefill(style uint32) bool { return style == duetStyleLoop || style == duetStyleRewritten }

// duetSpan returns the slices that one cycle of the collector takes on the side where it takes most; 0 where nobody collects.
func duetSpan(sides []*duetSide, k uint64) (span uint64) {
	for _, s := range sides {
		if s.kBytes > 0 && s.gcPeriod > 0 {
			bytes := duetMost(1, duetMulDiv(s.kBytes, k, duetMost(1, s.k), false))
			span = duetMost(span, duetMulDiv(s.gcPeriod, 1, bytes, true))
		}
	}
	return span
}

// last makes the plan as long as that: slices to settle, rather fewer of them, down to so many at least, than of those that count; then
// those that hold a whole cycle after the first one on both sides, or several, unless it all takes more than `most` slices. The protocol
// says where the numbers come from.
func (p *duetPlan) last(settle, least, one, several, most uint64) {
	cycles := duetMost(p.slices, duetMost(one, several))
	settle = duetMost(duetMost(p.warmup, least), duetLeast(settle, most-duetLeast(most, cycles)))
	if settle <= most && cycles <= most-settle {
		p.warmup, p.slices = settle, cycles
	}
}

// duetGrow returns the size of the calibration slice after one of k invocations that took ns,
// and whether another one is needed.
func duetGrow(k, ns, sliceNS uint64) (next uint64, again bool) {
	if k >= duetMaxK || ns >= duetMulDiv(sliceNS, 7, 10, true) {
		return k, false
	}
	next = duetMulDiv(k, sliceNS, duetMost(1, ns), true)
	next = duetMost(k+1, duetLeast(next, 100*k))
	return duetLeast(next, duetMaxK), true
}

// duetRepeats reports whether a calibration slice that was long enough must prove it a second time.
// One interruption would otherwise pass for a slow benchmark, and make all slices of the trial tiny. A long one took no processor.
func duetRepeats(k uint64, spent duetSpent, h *duetHeader) bool {
	return k < duetMaxK && spent.busy <= h.trialNS/4 && spent.wall <= duetInterruptionTrials*h.trialNS
}

// duetSpent is the time of a slice of the calibration, nanoseconds.
type duetSpent struct {
	wall uint64
	busy uint64 // as much of it as the process had a processor for
}

func (s duetSpent) least(other duetSpent) duetSpent {
	return duetSpent{duetLeast(s.wall, other.wall), duetLeast(s.busy, other.busy)}
}

// outweighs reports whether a slice is long enough to tell from work what does not grow with it, by the time of a call with one
// invocation: by both clocks, because an interruption lengthens the one, and code that waits takes little of the other.
func (s duetSpent) outweighs(one duetSpent) bool {
	return s.wall >= duetSetupLimitNS || s.wall >= 3*one.wall && s.busy >= 3*one.busy
}

// fixed returns the part of a call that does not grow with its invocations, from a call with one and one with k: the larger by either
// clock, because an interruption of the call with k hides it from the one, and code that waits from the other.
func (s duetSpent) fixed(one duetSpent, k uint64) uint64 {
	return duetMost(duetSetupNS(one.wall, s.wall, k), duetSetupNS(one.busy, s.busy, k))
}

// duetSetupNS returns the part of a call's time that does not grow with its invocations, from the times of a call with one
// invocation and of one with k.
func duetSetupNS(first, last, k uint64) uint64 {
	if k < 2 || last <= first {
		return first
	}
	perInvocation := (last - first) / (k - 1)
	if perInvocation >= first {
		return 0
	}
	return first - perInvocation
}

// duetMulDiv returns a*b/c, rounded up or down; if that needs more than 64 bits, the largest uint64.
func duetMulDiv(a, b, c uint64, up bool) uint64 {
	hi, lo := bits.Mul64(a, b)
	if up {
		var carry uint64
		lo, carry = bits.Add64(lo, c-1, 0)
		hi += carry
	}
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// testing has functions min and max of its own in some Go versions, hence these names.

func duetLeast(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}

func duetMost(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

// duetLead tells which side runs first in slice j of an interleaved trial.
func duetLead(seed, j uint64) int {
	z := seed + j + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) & 1)
}
