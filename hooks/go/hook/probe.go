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

// mustOutweigh reports whether something may be timed once in every slice, because the benchmark sets up anew for each: one that resets
// its timer may still time what stands behind its loop. The harness itself relies on many invocations to outweigh it, and so must the slices.
func (t *duetTrial) mustOutweigh() bool {
	return t.setsUpAnew() && t.probed.wall > 0
}
