//go:build duet_hook

package duethook

// Slices go on until a collection has ended.
const (
	duetParts         = 16            // in such parts of a slice
	duetLongestNS     = 1_000_000_000 // no slice is longer for it
	duetLongestCycles = 4             // nor than so many cycles as calibration saw
)

// duetPart is a part of a slice, or all of it.
type duetPart struct {
	invocations, wallNS, cpuNS, startNS uint64
	paused                              bool // its timer was stopped or reset
}

// and returns this part and the one after it together.
func (p duetPart) and(next duetPart) duetPart {
	if p.invocations == 0 {
		return next
	}
	return duetPart{p.invocations + next.invocations, p.wallNS + next.wallNS, p.cpuNS + next.cpuNS, p.startNS, p.paused || next.paused}
}

// goesOn reports whether this side goes on with a slice instead of handing over its turn: slices end where a collection has ended, by
// a sixteenth of K, so that each holds whole cycles and none waits for its turn while one is under way.
//
// With one P the collector's worker may use a quarter of the time since marking began, by the clock on the wall. If this side waited
// meanwhile for its next turn, that would be half of its own time. Marking would end sooner, less would be allocated until then, and
// less survive: cycles would be shorter than in a process that runs freely, by a tenth and more, but not where marking takes as long
// as it may.
func (t *duetTrial) goesOn() bool {
	if !t.plan.whole || !t.collects() || t.inVain(t.part.wallNS) {
		return false
	}
	return !t.someEnded() || t.k > t.partOfSlice()
}

// inVain reports whether no collection has come in several times the time of a cycle, now or before: what allocated while it calibrated,
// as a map that grows, may be done with it.
func (t *duetTrial) inVain(wallNS uint64) bool {
	t.fruitless = t.fruitless || wallNS >= t.longestNS
	return t.fruitless
}

// warm ends a part that is not recorded and reports whether there is another one: in whole cycles until a collection has ended. A side
// that comes back finds its caches cold, and what its collector marks most of all. In a process that runs freely it has marked all that
// one cycle ago: where each turn held one cycle, marking cost more than there, and every change of the bytes was as much larger.
func (t *duetTrial) warm() bool {
	t.unrecorded(t.k)
	t.warmedNS += t.wall
	return t.plan.warm && !t.someEnded() && t.collects() && !t.inVain(t.warmedNS)
}

// collects reports whether this side has anything to collect.
func (t *duetTrial) collects() bool { return t.own.kBytes > 0 && t.own.gcPeriod > 0 }

// someEnded reports whether a collection has ended since it was asked last.
func (t *duetTrial) someEnded() bool {
	before := t.endedBefore
	t.endedBefore = t.cycles.ended()
	return t.endedBefore != before
}

// nextPart returns the invocations of a slice that begins to be recorded, or of the part with which it warms or goes on.
func (t *duetTrial) nextPart() uint64 {
	switch {
	case t.warming && t.plan.warmK > 0:
		return t.plan.warmK
	case t.warming || t.part.invocations > 0:
		return t.partOfSlice()
	}
	return t.plan.invocations(t.slice, t.header.stretch)
}

// partOfSlice returns a sixteenth of the invocations of the slice.
func (t *duetTrial) partOfSlice() uint64 {
	return duetMost(1, t.plan.invocations(t.slice, t.header.stretch)/duetParts)
}
