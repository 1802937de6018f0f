//go:build duet_hook

package duethook

import (
	"os"
	"runtime"
	"strconv"
)

// This file is what the insertions of anchors.json call. Every function here must do nothing
// when the process was not started by duet, or when b belongs to testing.Benchmark.

// The purpose for which this process was started.
const (
	duetOff = iota
	duetListing
	duetMeasuring
)

// duetJob is read before main and the variables are removed, so that programs which the benchmark
// starts (often the test binary itself) do not take part.
var duetJob = duetReadJob()

type duetJobType struct {
	kind  int
	bench string // the one benchmark to measure
	page  string
	side  int
	list  *os.File
}

func duetReadJob() (job duetJobType) {
	page, list := os.Getenv("DUET_PAGE"), os.Getenv("DUET_LIST")
	switch {
	case page != "":
		job.kind, job.page, job.bench = duetMeasuring, page, os.Getenv("DUET_BENCH")
		side := os.Getenv("DUET_SIDE")
		if side != "0" && side != "1" {
			duetDie("DUET_SIDE must be 0 or 1, not `" + side + "`")
		}
		job.side = int(side[0] - '0')
		if job.bench == "" {
			duetDie("DUET_BENCH is not set")
		}
	case list != "":
		file, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			duetDie(err.Error())
		}
		job.kind, job.list = duetListing, file
	default:
		return job
	}
	duetDieWith(os.Getenv("DUET_PARENT"))
	for _, name := range []string{"DUET_PAGE", "DUET_SIDE", "DUET_BENCH", "DUET_LIST", "DUET_PARENT"} {
		os.Unsetenv(name)
	}
	return job
}

// duetDieWith sees to it that this process does not outlive the controller, whose number this is.
func duetDieWith(controller string) {
	duetDieWithParent()
	// It may have died before the kernel was asked.
	if controller != "" && controller != strconv.Itoa(os.Getppid()) {
		duetDie("started by a duet that is gone")
	}
}

// duetDie ends the process: to go on unhooked would look like a measurement.
func duetDie(why string) {
	os.Stderr.WriteString(duetMarker + ": " + why + "\n")
	os.Exit(2)
}

// duetFor reports whether the hook has any business with b.
// The benchmarks of testing.Benchmark have no name and are left alone.
func (b *B) duetFor() bool { return duetJob.kind != duetOff && b.name != "" }

// duetIsTarget reports whether b is the benchmark to measure. Another one of the same name, in the package's external tests, is not.
func (b *B) duetIsTarget() bool {
	return duetJob.kind == duetMeasuring && b.name == duetJob.bench && (duetT.of == nil || duetT.of == b)
}

// duetEnter is called at the head of run1, before a benchmark's first call.
func (b *B) duetEnter() {
	if b.duetFor() && duetJob.kind == duetListing {
		b.duetListStart()
	}
}

// duetPanics is set once a benchmark is about to end the process.
var duetPanics bool

// duetRan is called when runN returns, also where the benchmark or one of its clean-up functions panics.
func (b *B) duetRan() { duetPanics = duetPanics || b.duetFor() && duetPanicking() }

// duetPanicking reports whether a panic runs the deferred function that calls it, and no runtime.Goexit, which may come after a panic that
// was recovered. To recover would change what the process prints.
func duetPanicking() bool {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch frame.Function {
		case "runtime.gopanic":
			return true
		case "runtime.Goexit":
			return false
		}
	}
	return false
}

// duetExit is called when run1 returns. A trial still under way was broken off by the benchmark.
func (b *B) duetExit() {
	if !b.duetFor() {
		return
	}
	if duetPanics {
		duetT.abandon()
		select {} // package testing would begin the next benchmark, or end the process well, beside the last words
	}
	if duetJob.kind == duetListing {
		b.duetListEnd()
	} else if b.duetIsTarget() {
		duetT.abandon()
	}
}

// duetLaunch is called at the head of launch and replaces it: after its first call a benchmark has
// either been measured, or is measured here by calling it again and again, or is not wanted.
func (b *B) duetLaunch() (taken bool) {
	if !b.duetFor() {
		return false
	}
	defer func() {
		duetT.abandon()
		if !duetPanics {
			b.signal <- true
		}
	}()
	if b.duetBegin(duetStyleRecall) {
		body := b.benchFunc
		defer func() { b.benchFunc = body }()
		b.benchFunc = func(b *B) { b.duetRecall(body) }
		b.runN(1)
	}
	b.result = BenchmarkResult{b.N, b.duration, b.bytes, b.netAllocs, b.netBytes, b.extra}
	return true
}

// duetRecall measures by calling the benchmark with b.N = K for every slice. Like runN, it gives every call
// its own context and runs the clean-up functions after it; unlike runN, it does not collect garbage before.
func (b *B) duetRecall(body func(*B)) {
	total := 0
	for {
		duetFreshContext(b)
		k := b.duetNext()
		if k == 0 {
			break
		}
		b.N, b.parallelism = int(k), 1
		called := duetNow()
		b.duetOpen()
		body(b)
		b.duetClose()
		b.duetNoteGrain()
		duetT.untimed(called)
		total += b.N
		b.runCleanup(normalPanic)
	}
	b.N = total
}

// duetLoop is called at the head of loopSlowPath, which Loop calls on its first call and whenever the
// iterations granted so far are used up.
func (b *B) duetLoop() (taken, more bool) {
	if !b.duetFor() {
		return false, false
	}
	if duetLoopChecksTimer && !b.timerOn {
		b.Fatal("B.Loop called with timer stopped")
	}
	if duetLoopUnused(b) {
		b.duetLate("b.Loop beside another loop")
		b.ResetTimer() // as upstream; it also drops what the set-up reported by ReportMetric
		b.N = 0
		if !b.duetBegin(duetStyleLoop) {
			duetLoopMore(b, 1)
			return true, true
		}
	} else if duetT.runs(duetStyleLoop) {
		b.duetClose()
	}
	k := uint64(0)
	if duetT.runs(duetStyleLoop) {
		k = b.duetNext()
	}
	if k == 0 {
		b.StopTimer()
		duetLoopEnd(b)
		return true, false
	}
	duetLoopMore(b, k)
	b.duetOpen()
	return true, true
}

// DuetMore is called by benchmarks whose loop duet has rewritten from `i < b.N` to `i < b.N || b.DuetMore()`.
// It grants further iterations by raising b.N. It is not inlined, so that the loop stays as small as it was.
//
//go:noinline
func (b *B) DuetMore() bool {
	if !b.duetFor() {
		return false
	}
	if !b.duetBegin(duetStyleRewritten) {
		if !duetT.runs(duetStyleRewritten) {
			b.duetLate("a second loop over b.N")
			return false
		}
		b.duetClose()
	}
	k := b.duetNext()
	if k == 0 {
		duetT.ended = true
		return false
	}
	b.N += int(k)
	b.duetOpen()
	return true
}

// duetLate is called where a benchmark begins to time, and fails one of which a part has been measured by then: the rest is in no slice.
func (b *B) duetLate(what string) {
	if b.duetFor() && b.duetIsTarget() && duetT.ended {
		b.Fatal(duetMarker + ": " + what + " would not be measured: give each its own b.Run, or use b.Loop")
	}
}

// DuetParallel is called in place of RunParallel by benchmarks that time nothing else, and calls RunParallel once for every slice.
func (b *B) DuetParallel(body func(*PB)) {
	if !b.duetFor() || !b.duetBegin(duetStyleParallel) {
		b.RunParallel(body)
		return
	}
	total := 0
	for {
		k := b.duetNext()
		if k == 0 {
			break
		}
		b.N = int(k)
		b.duetOpen()
		b.RunParallel(body)
		b.duetClose()
		b.duetNoteGrain()
		total += b.N
	}
	b.N = total
	duetT.ended = true
}

// duetNoteGrain notes, as runN does, from what RunParallel computes how many iterations a goroutine takes at once.
func (b *B) duetNoteGrain() { b.previousN, b.previousDuration = b.N, b.duration }

// duetReset is called at the head of ResetTimer.
func (b *B) duetReset() (taken bool) {
	if !b.duetFor() {
		return false
	}
	t := duetT
	b.duetLate("more than the loop, from b.ResetTimer on,")
	t.resets++
	if t.open && !t.resetting && b.duetIsTarget() && t.resets > duetResetsMost && uint64(t.resets) >= t.k {
		b.Fatal(duetMarker + ": b.ResetTimer is called in the loop, so that only the last invocation would be timed: StopTimer and StartTimer leave set-up out")
	}
	t.memoryWrong = t.memoryWrong || t.refilling // upstream counts from 0
	if !t.open || t.resetting || !b.duetIsTarget() {
		return false
	}
	t.resetting = true
	b.ResetTimer()
	t.resetting = false
	t.resets-- // the call just made counted too
	b.duetReopen()
	return true
}

func duetParallelism() uint32 { return uint32(runtime.GOMAXPROCS(0)) }
