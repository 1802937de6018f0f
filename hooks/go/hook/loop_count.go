//go:build duet_hook

package duethook

// Go 1.24.0 and its first fixes: B.Loop counts b.loopN up to b.N.

const duetLoopChecksTimer = false

func duetLoopUnused(b *B) bool { return b.loopN == 0 }

// duetLoopMore grants count iterations, the first of which begins now.
func duetLoopMore(b *B, count uint64) {
	b.N += int(count)
	b.loopN++
}

// duetLoopEnd has nothing to do: b.N is the number of iterations already.
func duetLoopEnd(b *B) {}
