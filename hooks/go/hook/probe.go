//go:build duet_hook

package duethook

import (
	"math"
	"runtime"
)

// For benchmarks whose set-up is timed in every call.
const (
	duetProbes       = 3           // calls with one invocation, and one more to leave this part
	duetProbeLimitNS = 100_000_000 // an invocation that takes longer may be all work
	duetProbeMostNS  = 1e9         // set-up that takes longer cannot be outweighed
)

// setsUpAnew reports whether every slice begins with set-up: of the whole benchmark, or of each goroutine of RunParallel.
func (t *duetTrial) setsUpAnew() bool {
	return t.style == duetStyleRecall || t.style == duetStyleParallel
}

// probe has a benchmark that sets up anew for every slice called with one invocation first, to tell from work what does not grow with it:
// set-up, and what stands behind its loop.
func (t *duetTrial) probe() uint64 {
	t.probes++
	switch {
	case t.probes == 1:
		t.probed = duetSpent{math.MaxUint64, math.MaxUint64}
		return 1
	case t.doubled: // work on one processor takes twice as long
		t.doubled = false
		if 2*t.spent().wall >= 3*t.probed.wall {
			t.probed = duetSpent{}
		}
	default:
		t.probed = t.probed.least(t.spent())
		if t.probes < duetProbes {
			return 1
		}
		if t.probed.wall >= duetProbeMostNS {
			t.probed = duetSpent{}
		} else if t.probed.wall >= duetProbeLimitNS {
			if t.doubled = runtime.GOMAXPROCS(0) == 1; t.doubled {
				return 2
			}
			t.probed = duetSpent{}
		}
	}
	return duetHinted(t.header)
}

// For benchmarks that are called anew for every slice, and so begin anew: a cache is empty, a buffer has never been written out.
const (
	duetFarTimes   = 16          // times the invocations of the call before
	duetFarAlike   = 2           // calls with more invocations after which it is enough
	duetFarPercent = 20          // by which an invocation may differ there
	duetFarMarking = 100         // and where collections, which have a model of their own, ended in one of the calls
	duetFarNS      = 100_000_000 // a call takes no longer while nothing differs
)

// duetFar is the call with the fewest invocations of which each costs as much as with many more.
type duetFar struct {
	k, bytes, setupNS uint64
	spent             duetSpent
	collected         bool // a collection ended in it
	alike             int  // calls with more that agreed
	differs           bool // one with fewer did not
}

// looksFar reports whether calls with many more invocations are made to calibrate: in the first trial of a benchmark, after which others
// begin with what this one found.
func (t *duetTrial) looksFar() bool { return t.style == duetStyleRecall && t.header.kHint == 0 }

// farther takes note of a call and returns the invocations of one with many more, and whether there is to be one. With b.N of a usual
// length, work that comes once in thousands of invocations has its part in the time; in short calls it would never be seen.
func (t *duetTrial) farther(spent duetSpent) (next uint64, again bool) {
	this := duetFar{k: t.k, bytes: t.of.netBytes, setupNS: t.setupNS, spent: spent, differs: t.far.k > 0}
	this.collected = memStats.NumGC != t.collections
	if t.far.k > 0 && t.far.isLike(this) {
		t.far.alike++
	} else {
		t.far = this
	}
	most := uint64(duetFarNS)
	if t.far.differs {
		most = duetSetupLimitNS
	}
	all := duetMost(spent.wall, t.setupNS/duetUntimedMost) // set-up that is not timed may grow with the invocations
	if t.far.alike < duetFarAlike && all <= most/duetFarTimes && t.k <= duetMaxK/duetFarTimes {
		return duetFarTimes * t.k, true
	}
	t.k, t.of.netBytes, t.setupNS = t.far.k, t.far.bytes, t.far.setupNS
	t.wall, t.busy = t.far.spent.wall, t.far.spent.busy
	return t.k, false
}

// isLike reports whether an invocation costs about as much in a call with more: by the processor's time, which no interruption lengthens,
// unless code waits.
func (f duetFar) isLike(more duetFar) bool {
	before, now := f.spent.wall, more.spent.wall
	if 2*f.spent.busy >= f.spent.wall && 2*more.spent.busy >= more.spent.wall {
		before, now = f.spent.busy, more.spent.busy
	}
	percent := uint64(duetFarPercent)
	if f.collected || more.collected {
		percent = duetFarMarking
	}
	expected := duetMulDiv(before, more.k, f.k, false)
	least, most := duetMulDiv(expected, 100, 100+percent, false), duetMulDiv(expected, 100+percent, 100, true)
	return now >= least && now <= most
}

// mustOutweigh reports whether something may be timed once in every slice, because the benchmark sets up anew for each: one that resets
// its timer may still time what stands behind its loop. The harness itself relies on many invocations to outweigh it, and so must the slices.
func (t *duetTrial) mustOutweigh() bool {
	return t.setsUpAnew() && t.probed.wall > 0
}
