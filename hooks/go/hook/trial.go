//go:build duet_hook

package duethook

import (
	"math"
	"runtime"
	"time"
)

// Phases of a trial.
const (
	duetIdle = iota
	duetCalibrating
	duetTaking // slices
	duetOver
)

// duetUntimedMost is how many times as long as a slice the set-up before it may be that is not timed.
const duetUntimedMost = 20

// Calls of ResetTimer in a slice that may belong to set-up in several steps.
const duetResetsMost = 8

// duetTrial is the one trial of this process.
//
// Every style of benchmark drives it the same way: duetBegin once, then duetNext (which waits for the
// turn or the peer), duetOpen, the slice, duetClose, and again from duetNext, until duetNext returns 0.
type duetTrial struct {
	*duetLink
	of    *B // the benchmark that it measures, once it has begun
	phase int
	style uint32
	plan  duetPlan
	slice uint64 // number of the slice that is open or comes next
	k     uint64 // its invocations

	open      bool
	cpu       uint64   // CPU time when the slice opened
	opened    duetTime // the clock when it opened
	timed     bool     // the timer was on when it opened
	wall      uint64   // measured time of the slice that was closed last
	busy      uint64   // as much of it as the process had a processor for; up to all of it where CPU time is not read, or is spent with the timer off
	totalWall uint64

	repeating bool      // the calibration slice had the same k as the one before
	first     duetSpent // and that one took this long

	// One moment on the harness's clock and on CLOCK_MONOTONIC, which both sides share.
	zero          duetTime
	zeroMonotonic uint64

	reading bool   // the CPU time of the open slice is read, as always while calibrating
	turned  uint64 // CLOCK_MONOTONIC when the turn of the open slice came

	// The memory counters are upstream's (b.netAllocs and so on), which leave out what was allocated while the
	// timer was stopped. They run through a whole block.
	allocs      uint64 // counted in the block before the open slice
	bytes       uint64
	memoryWrong bool // the benchmark reset the counters within the block
	block, all  duetCounted
	collector   bool
	cycles      duetCycles

	setupNS uint64    // set-up that the last call to calibrate did not time
	probes  int       // calls with one invocation made to calibrate
	probed  duetSpent // the shorter of their times; 0: does not matter
	doubled bool      // it was called with two invocations
	far     duetFar   // calls with many more invocations

	collections uint32 // that had ended when the last call to calibrate began

	// ResetTimer calls within the open slice, or before a trial since the benchmark was entered.
	resets    uint32
	resetting bool // ResetTimer is called by the hook
	resetMeet bool // both sides meet when they reset the timer
	ended     bool // the rewritten loop or RunParallel that was measured has ended

	refills   bool // after a slice, until the peer has ended it too
	refilling bool // it does so now

	part        duetPart // all of the open slice that has been closed already
	going       bool     // this side goes on with the slice, see goesOn
	longestNS   uint64   // and no longer than this
	fruitless   bool     // it did so in vain
	endedBefore uint32   // collections that had ended when a part was closed last
	warming     bool     // this side warms its caches, see warm
	warmedNS    uint64   // and has done so for this long
}

// duetT is allocated once: a slice must not allocate.
var duetT = &duetTrial{}

// runs reports whether a trial of this style is under way.
func (t *duetTrial) runs(style uint32) bool {
	return t.style == style && (t.phase == duetCalibrating || t.phase == duetTaking)
}

// abandon ends a trial that the benchmark broke off: it failed, or left its loop.
func (t *duetTrial) abandon() {
	if t.phase == duetCalibrating || t.phase == duetTaking {
		t.end(false)
	}
}

// readClocks sets zero. The process may be interrupted between two readings, so it takes the best of some.
func (t *duetTrial) readClocks() {
	best := time.Duration(math.MaxInt64)
	for i := 0; i < 8; i++ {
		before := duetNow()
		monotonic := duetClock(duetClockMonotonic)
		if gap := duetSince(before); gap < best {
			best, t.zero, t.zeroMonotonic = gap, before, monotonic-uint64(gap)/2
		}
	}
}

func (t *duetTrial) end(early bool) {
	t.phase, t.open = duetOver, false
	t.leave(early)
}

// duetBegin begins the trial if b is the benchmark to measure and has not been measured. In list mode it only notes the style.
// After true, duetNext must be called.
func (b *B) duetBegin(style uint32) bool {
	t := duetT
	if duetJob.kind == duetListing && t.style == duetStyleUnknown {
		t.style = style
	}
	if !b.duetIsTarget() || t.phase != duetIdle {
		return false
	}
	page, err := duetMapPage(duetJob.page)
	if err != nil {
		duetDie(err.Error())
	}
	t.duetLink = duetNewLink(page, duetJob.side)
	if t.duet() {
		if t.threads, err = duetNewThreads(); err != nil {
			duetDie(err.Error())
		}
	}
	t.readClocks()
	t.of, t.style, t.phase = b, style, duetCalibrating
	t.reading = true
	duetStartThreads(runtime.GOMAXPROCS(0) + 6)
	if !t.arrive(style) || t.interleaved() && !t.await(t.calibrationStep()) {
		t.end(true)
		return true
	}
	t.takeCore()
	return true
}

// duetStartThreads has the runtime start threads now. It would otherwise start them at some time in the trial, when it
// happens to need one more, and the memory they take would be counted as the benchmark's.
func duetStartThreads(count int) {
	running, end, ended := make(chan bool), make(chan bool), make(chan bool)
	for i := 0; i < count; i++ {
		go func() {
			runtime.LockOSThread() // so that it holds its thread while it waits
			running <- true
			<-end
			runtime.UnlockOSThread()
			ended <- true
		}()
		<-running
	}
	close(end)
	for i := 0; i < count; i++ {
		<-ended
	}
}

// duetNext prepares the next slice, waits until it may open and returns its invocations; 0 when the trial is over.
func (b *B) duetNext() uint64 {
	t := duetT
	if t.phase == duetOver {
		return 0
	}
	if b.Failed() {
		t.end(false)
		return 0
	}
	if t.phase == duetCalibrating {
		if b.duetCalibrate() {
			return t.k
		}
		if !b.duetSettle() {
			t.end(true)
			return 0
		}
	} else {
		if k := t.refill(); k > 0 {
			return k
		}
		if t.going {
			t.k = t.nextPart()
			return t.k
		}
		t.slice++
		if t.interleaved() {
			// Before the turn is passed, not after the next one came: see duetPause.
			if t.slice < t.plan.total() {
				b.duetPause()
			}
			t.pass(t.sliceStep(t.slice - 1))
		}
	}
	if t.slice == t.plan.total() {
		b.duetFinish()
		return 0
	}
	if t.stopped() || !b.duetPrepare() {
		t.end(true)
		return 0
	}
	return t.k
}

// duetCounted are the invocations of a stretch in which something is counted for all of them together.
type duetCounted struct {
	recorded   uint64
	unrecorded uint64 // see refill and warm
}

// share returns how much of what was counted the recorded invocations account for.
func (c duetCounted) share(counted uint64) uint64 {
	if c.unrecorded == 0 {
		return counted
	}
	return duetMulDiv(counted, c.recorded, c.recorded+c.unrecorded, false)
}

// unrecorded counts invocations that are in no slice.
func (t *duetTrial) unrecorded(invocations uint64) {
	t.block.unrecorded += invocations
	t.all.unrecorded += invocations
}

// refill returns the invocations with which this side goes on after a slice that its peer has not ended yet, so that the slower one
// is never alone; 0 when there is nothing to wait for, or where one invocation would make the peer wait in turn.
func (t *duetTrial) refill() uint64 {
	const least, parts = 8, 1024 // invocations of a slice, and parts that it would have
	if !t.refills || t.k < least {
		return 0
	}
	if t.refilling = t.ahead(); !t.refilling {
		return 0
	}
	part := duetMost(1, t.k/parts)
	t.unrecorded(part)
	return part
}

// duetCalibrate chooses the size of the next calibration slice; false if the last one was long enough.
func (b *B) duetCalibrate() bool {
	t := duetT
	next, again := uint64(0), true
	switch {
	case t.setsUpAnew() && (t.probes < duetProbes || t.doubled):
		next = t.probe()
	case t.k == 0:
		next = duetHinted(t.header)
	default:
		next, again = t.grow()
	}
	if !again || t.k != 0 && t.stopped() {
		return false
	}
	t.k = next
	b.duetCountFromZero()
	t.collections = memStats.NumGC
	return true
}

// duetHinted is where calibration begins.
func duetHinted(h *duetHeader) uint64 { return duetLeast(duetMaxK, duetMost(1, h.kHint)) }

// grow returns the size of the next calibration slice, and whether there is to be one.
func (t *duetTrial) grow() (next uint64, again bool) {
	spent := t.spent()
	if t.far.k > 0 {
		return t.farther(spent)
	}
	if t.repeating {
		spent = spent.least(t.first)
		t.wall, t.busy = spent.wall, spent.busy
	}
	next, again = duetGrow(t.k, t.wall, t.header.sliceNS)
	repeat := !again && !t.repeating && duetRepeats(t.k, spent, t.header)
	if !again && !repeat && t.mustOutweigh() && !spent.outweighs(t.probed) && t.k < duetMaxK {
		t.repeating = false
		return duetLeast(4*t.k, duetMaxK), true
	}
	t.repeating, t.first = repeat, spent
	if !again && !repeat && t.looksFar() {
		return t.farther(spent)
	}
	return next, again || repeat
}

// spent is the time of the calibration slice that was closed last.
func (t *duetTrial) spent() duetSpent { return duetSpent{t.wall, t.busy} }

// untimed notes how much of a call that began then was not timed: with hundreds of short slices, set-up of a second would take minutes.
func (t *duetTrial) untimed(called duetTime) {
	if t.phase == duetCalibrating {
		took := uint64(duetSince(called))
		t.setupNS = took - duetLeast(t.wall, took)
	}
}

// duetSettle publishes what calibration found, waits for the peer's numbers and agrees on the plan.
// In an interleaved trial it returns within the turn of this side's first slice.
func (b *B) duetSettle() bool {
	t := duetT
	runtime.GC()
	runtime.ReadMemStats(&memStats)
	own := t.own
	own.k, own.kNS, own.kBytes = t.k, t.wall, b.netBytes
	const never = 1 << 62 // with GOGC=off the next collection is at some share of the largest int64
	if memStats.NextGC < never && memStats.NextGC > memStats.HeapAlloc {
		own.gcPeriod = memStats.NextGC - memStats.HeapAlloc
		t.collector = true
	}
	own.sliceNS = duetLeast(duetSetupLimitNS, t.setupNS/duetUntimedMost)
	if t.mustOutweigh() {
		own.sliceNS = duetMost(own.sliceNS, duetLeast(duetSetupLimitNS, 50*t.spent().fixed(t.probed, t.k)))
	}
	own.parallelism = duetParallelism()
	if t.style == duetStyleRecall {
		own.resets = t.resets
		if t.wall > 2*t.header.sliceNS { // see duetFar; later trials begin with as many
			own.sliceNS = duetMost(own.sliceNS, duetLeast(duetSetupLimitNS, t.wall))
		}
	}
	sides := []*duetSide{t.own, t.peer}
	switch {
	case t.solo():
		sides = sides[:1]
	case t.duet():
		if !t.meet() {
			return false
		}
	default:
		t.pass(t.calibrationStep())
		if !t.await(t.sliceStep(0)) {
			return false
		}
	}
	t.plan = duetAgree(t.header, sides)
	t.longestNS = duetLeast(duetLongestNS, duetMulDiv(duetCycleNS(sides, t.plan.k), duetLongestCycles, 1, false))
	t.finalStep = uint32(2 + 2*t.plan.total())
	t.resetMeet = t.duet() && t.style == duetStyleRecall && t.own.resets == 1 && t.peer.resets == 1
	t.refills = t.duet() && duetCanRefill(t.style) && duetCanRefill(t.peer.style)
	t.phase = duetTaking
	return true
}

// duetPrepare does the slow work before a slice, unless that is done, and waits until it may open.
func (b *B) duetPrepare() bool {
	t := duetT
	if t.interleaved() && t.slice > 0 {
		return t.await(t.sliceStep(t.slice))
	}
	_, first, _ := t.plan.blockOf(t.slice)
	if first {
		// Cores are exchanged when both sides are here: a side still in its slice would otherwise share its core.
		if t.duet() && !t.meet() {
			return false
		}
		if t.header.swap != 0 {
			t.swaps++
			t.takeCore()
		}
	}
	b.duetPause()
	return !t.duet() || t.meet()
}

// duetPause does what must be done before slice t.slice and takes long.
//
// In an interleaved trial nothing of it may be left for the time between getting the turn and opening the slice. While the side
// waits, the runtime marks its goroutine as one to be preempted, and the goroutine gives way at the next call of any ordinary
// function. With one P that is how the collector's worker gets to run at all, so what it does must be within the slice: from
// await to duetOpen there are nosplit functions only, which do not look for that mark.
func (b *B) duetPause() {
	t := duetT
	block, first, last := t.plan.blockOf(t.slice)
	t.warming, t.warmedNS = t.plan.warm || t.plan.warmK > 0, 0
	t.k = t.nextPart()
	// Reading the CPU time takes half a microsecond at each end, more than all else a duet does for a slice, so a duet reads
	// it for the last slice of every block only.
	t.reading = last || !t.duet()
	if t.slice == 0 {
		if t.collector && t.header.gcNS > 0 {
			t.own.gcCostNS = duetForceCollection()
		}
		t.cycles.begin()
	}
	switch {
	case first:
		b.duetCountFromZero()
		t.block = duetCounted{}
	case t.style == duetStyleRecall:
		b.duetCountOn() // the set-up and clean-up between two calls do not count
	}
	if block == 1 && first {
		t.cycles.markBackground()
		t.all = duetCounted{}
	}
}

// duetOpen opens a slice. The clock is read last.
//
//go:nosplit
func (b *B) duetOpen() {
	t := duetT
	if t.refilling {
		return
	}
	if t.style == duetStyleRecall {
		b.timerOn = true // as runN: the last call may have stopped it
	}
	t.open, t.resets = true, 0
	t.allocs, t.bytes = b.netAllocs, b.netBytes
	t.timed = b.timerOn
	b.duration = 0
	if t.reading {
		t.cpu = duetCPU()
	}
	t.turned = 0
	if t.phase == duetTaking && t.header.mode == duetModeInterleaved {
		t.turned = duetClock(duetClockMonotonic)
	}
	t.opened = duetNow()
	b.start = t.opened
}

// gaveWayNS returns for how long the goroutine was preempted by the very call that reads the clock in duetOpen.
func (t *duetTrial) gaveWayNS(start uint64) uint64 {
	const usual = 20_000 // more than reading two clocks takes
	if t.turned == 0 || start < t.turned+usual {
		return 0
	}
	return start - t.turned
}

// duetReopen opens the slice anew after the benchmark has reset the timer in it.
func (b *B) duetReopen() {
	t := duetT
	if t.style == duetStyleRecall {
		b.netAllocs, b.netBytes = t.allocs, t.bytes // upstream began at 0, but the block goes on
	} else {
		t.memoryWrong = true // counted on between the slices, so what was lost is not known
	}
	if t.resetMeet && t.resets == 1 && t.phase == duetTaking {
		t.meet() // if it fails, duetNext will see why
	}
	t.timed = b.timerOn
	if t.reading {
		t.cpu = duetCPU()
	}
	t.turned = 0
	t.opened = duetNow()
	b.start = t.opened
}

// duetClose closes the slice. The clock is read first.
func (b *B) duetClose() {
	t := duetT
	if t.refilling {
		return
	}
	if b.timerOn {
		b.duration += duetSince(b.start)
	}
	cpu := uint64(0)
	if t.reading {
		cpu = duetCPU() - t.cpu
	}
	if t.refills && t.phase == duetTaking {
		t.closed() // at once: the peer need not wait for the record
	}
	start := t.zeroMonotonic + uint64(duetBetween(t.zero, t.opened))
	lost := t.gaveWayNS(start)
	paused := !t.timed || !b.timerOn || b.start != t.opened
	t.open = false
	t.wall = uint64(b.duration) + lost
	t.busy = t.wall
	if t.reading {
		t.busy = duetLeast(cpu, t.wall)
	}
	t.totalWall += t.wall
	if t.phase == duetCalibrating {
		b.duetCount()
		return
	}
	if t.warming {
		t.warming, t.going = t.warm(), true
		return
	}
	t.block.recorded += t.k
	t.all.recorded += t.k
	t.part = t.part.and(duetPart{t.k, t.wall, cpu, start - lost, paused})
	if t.going = t.goesOn(); t.going {
		return
	}
	b.duetRecordSlice(t.part)
	t.part = duetPart{}
	if t.resetMeet && t.resets == 0 {
		t.meet() // this call did not reset its timer, but the peer waits there
	}
}

// duetRecordSlice writes the record of the slice that has just been closed.
func (b *B) duetRecordSlice(p duetPart) {
	t := duetT
	block, first, last := t.plan.blockOf(t.slice)
	r := duetRecord{slice: uint32(t.slice), invocations: p.invocations, wallNS: p.wallNS, cpuNS: p.cpuNS, block: uint32(block)}
	r.startNS = p.startNS
	r.gcs, r.flags = t.cycles.ended(), duetFlagCycles
	if t.slice < t.plan.warmup {
		r.flags |= duetFlagWarmup
	}
	if first {
		r.flags |= duetFlagFirst
	}
	if p.paused {
		r.flags |= duetFlagPaused
	} else if t.reading {
		r.flags |= duetFlagCPU
	}
	if last || t.style == duetStyleRecall {
		b.duetCount()
	}
	if last && !t.memoryWrong {
		r.flags |= duetFlagMemory
		r.allocs, r.bytes = t.block.share(b.netAllocs), t.block.share(b.netBytes)
	}
	if t.slice+1 == t.plan.total() {
		t.own.background = t.all.share(t.cycles.background())
	}
	t.page.add(t.side, r)
}

// duetFinish waits for the peer to finish too. From then on the sides go their own ways.
func (b *B) duetFinish() {
	t := duetT
	together := true
	switch {
	case t.duet():
		together = t.meet()
	case t.interleaved():
		together = t.await(t.finalStep)
	}
	t.end(!together)
	// The rest is upstream's: it stops the timer and reports the whole trial.
	b.duration, b.start = time.Duration(t.totalWall), duetNow()
}

// duetCountFromZero begins a block of memory counting.
func (b *B) duetCountFromZero() {
	b.duetCountOn()
	b.netAllocs, b.netBytes = 0, 0
	duetT.memoryWrong = false
}

// duetCountOn counts on from here; what was allocated since duetCount is left out.
func (b *B) duetCountOn() {
	runtime.ReadMemStats(&memStats)
	b.startAllocs, b.startBytes = memStats.Mallocs, memStats.TotalAlloc
}

// duetCount counts up to here, as StopTimer does.
func (b *B) duetCount() {
	runtime.ReadMemStats(&memStats)
	if b.timerOn {
		b.netAllocs += memStats.Mallocs - b.startAllocs
		b.netBytes += memStats.TotalAlloc - b.startBytes
		b.startAllocs, b.startBytes = memStats.Mallocs, memStats.TotalAlloc
	}
}
