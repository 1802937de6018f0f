package duethook

import (
	"sync/atomic"
	"time"
)

const (
	duetSpinLimit  = 200 * time.Microsecond
	duetSleepLimit = 50 * time.Millisecond
	// Nobody has to wake a side that waits for its peer to arrive, so it looks often.
	duetArriveLimit = time.Millisecond
)

// duetLink is a side's end of the page: everything it does to meet its peer.
// Methods that wait return false when the wait ended for another reason than the one hoped for;
// the trial is then over for this side.
type duetLink struct {
	page      *duetPage
	header    *duetHeader
	side      int
	own, peer *duetSide
	barrier   uint32
	finalStep uint32 // 0: not known yet
	parent    int
	threads   *duetThreads
	swaps     int
}

func duetNewLink(page *duetPage, side int) *duetLink {
	return &duetLink{page: page, header: page.header, side: side, parent: duetParent(),
		own: page.sides[side], peer: page.sides[1-side]}
}

func (l *duetLink) duet() bool        { return l.header.mode == duetModeDuet }
func (l *duetLink) interleaved() bool { return l.header.mode == duetModeInterleaved }
func (l *duetLink) solo() bool        { return l.header.mode == duetModeSolo }

// stopped reports whether the controller wants the side to leave.
//
//go:nosplit
func (l *duetLink) stopped() bool { return atomic.LoadUint32(&l.header.stop) != 0 }

// broken reports whether waiting has become useless. The parent is only looked at after a sleep, as that is a
// system call. Its number is compared with the first one seen, not with 1, which is duet itself in a container.
//
//go:nosplit
func (l *duetLink) broken(slept bool) bool {
	return l.stopped() || atomic.LoadUint32(&l.peer.state) >= duetStateDone ||
		slept && duetParent() != l.parent
}

// arrive says that this side is ready and waits for the peer to be.
func (l *duetLink) arrive(style uint32) bool {
	l.own.style = style
	atomic.StoreUint32(&l.own.state, duetStateAlive)
	duetFutexWake(&l.own.state)
	slept := false
	for !l.solo() && atomic.LoadUint32(&l.peer.state) == duetStateAbsent {
		if l.broken(slept) {
			return false
		}
		slept = duetFutexWait(&l.peer.state, duetStateAbsent, duetArriveLimit)
	}
	return l.solo() || atomic.LoadUint32(&l.peer.state) == duetStateAlive
}

// leave ends the trial for this side and wakes a peer that waits for it.
func (l *duetLink) leave(early bool) {
	if early {
		l.own.leftEarly = 1
	}
	atomic.StoreUint32(&l.own.state, duetStateDone)
	duetFutexWake(&l.own.state)
	duetFutexWake(&l.own.arrive)
	duetFutexWake(&l.header.turn)
}

// meet is a barrier.
func (l *duetLink) meet() bool {
	l.barrier++
	n := l.barrier
	atomic.StoreUint32(&l.own.arrive, n)
	if atomic.LoadUint32(&l.peer.asleep) != 0 {
		duetFutexWake(&l.own.arrive)
	}
	if l.spin(n) {
		return true
	}
	for slept := false; ; {
		// Order matters: first say that we sleep, then look, then sleep. The peer writes, then looks whether we sleep.
		atomic.StoreUint32(&l.own.asleep, 1)
		seen := atomic.LoadUint32(&l.peer.arrive)
		if seen >= n || l.broken(slept) {
			break
		}
		slept = duetFutexWait(&l.peer.arrive, seen, duetSleepLimit)
	}
	atomic.StoreUint32(&l.own.asleep, 0)
	// Looked at again, since the peer may have come and gone in between.
	return atomic.LoadUint32(&l.peer.arrive) >= n
}

// spin waits for the peer to reach barrier n without giving up the core.
func (l *duetLink) spin(n uint32) bool {
	const looks = 64 // between two readings of the clock
	for start := time.Now(); time.Since(start) < duetSpinLimit; {
		for i := 0; i < looks; i++ {
			if atomic.LoadUint32(&l.peer.arrive) >= n {
				return true
			}
		}
		if l.broken(false) {
			return false
		}
	}
	return false
}

// calibrationStep and sliceStep number the turns of this side.

func (l *duetLink) calibrationStep() uint32 { return uint32(l.side) }

func (l *duetLink) sliceStep(j uint64) uint32 {
	step := uint32(2 + 2*j)
	if duetLead(l.header.seed, j) != l.side {
		step++
	}
	return step
}

// await waits for the turn to be step. All that it calls is nosplit: duetPause says why.
//
//go:nosplit
func (l *duetLink) await(step uint32) bool {
	for slept := false; ; {
		seen := atomic.LoadUint32(&l.header.turn)
		if seen == step {
			return true
		}
		if l.broken(slept) {
			return atomic.LoadUint32(&l.header.turn) == step
		}
		slept = duetFutexWait(&l.header.turn, seen, duetSleepLimit)
	}
}

// pass ends step, which is a turn of this side.
func (l *duetLink) pass(step uint32) {
	next := step + 1
	atomic.StoreUint32(&l.header.turn, next)
	if next == l.finalStep || !l.owns(next) {
		duetFutexWake(&l.header.turn)
	}
}

func (l *duetLink) owns(step uint32) bool {
	if step < 2 {
		return int(step) == l.side
	}
	return l.sliceStep(uint64(step-2)/2) == step
}

// takeCore moves this process to its core, if the controller wants that; after an exchange, to the peer's core.
func (l *duetLink) takeCore() {
	core := l.header.core[(l.side+l.swaps)%2]
	if !l.duet() || core == duetNoCore || l.threads == nil {
		return
	}
	l.threads.moveAll(core)
}

// closed says that this side has closed one more slice.
func (l *duetLink) closed() { atomic.AddUint32(&l.own.ended, 1) }

// ahead reports whether the peer is still in a slice that this side has closed.
func (l *duetLink) ahead() bool {
	return int32(atomic.LoadUint32(&l.own.ended)-atomic.LoadUint32(&l.peer.ended)) > 0 && !l.broken(false)
}
