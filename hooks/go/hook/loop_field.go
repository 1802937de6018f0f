//go:build duet_hook

package duethook

// Later fixes of Go 1.24, and newer versions: B.Loop counts b.loop.i up to b.loop.n.

const duetLoopChecksTimer = true

func duetLoopUnused(b *B) bool { return b.loop.n == 0 }

// duetLoopMore grants count iterations, the first of which begins now.
func duetLoopMore(b *B, count uint64) {
	b.loop.n += count
	b.loop.i++
}

// duetLoopEnd commits the number of iterations, as upstream does.
func duetLoopEnd(b *B) {
	b.N = int(b.loop.n)
	b.loop.done = true
}
