//go:build duet_hook

package duethook

import (
	"strconv"
	"strings"
)

// List mode: every benchmark runs once with one iteration, and says so in the file DUET_LIST.

// duetListStart notes that the benchmark is about to be called. If it kills the process, no line about its end follows.
func (b *B) duetListStart() {
	duetT.style, duetT.resets = duetStyleUnknown, 0
	duetWriteLine("start\t" + b.name)
}

// duetListEnd notes what the first call cost, or that the benchmark failed, was skipped or only a parent; the words that it was skipped
// with are known to nobody else, because package testing prints them in verbose mode only, and those of a failure may be lost in what
// others print.
func (b *B) duetListEnd() {
	end := ""
	switch {
	case b.Failed():
		end = "fail"
	case b.Skipped():
		end = "skip"
	case b.hasSub.Load():
		end = "parent"
	}
	if end != "" {
		words := strings.ToValidUTF8(string(b.output), "\uFFFD")
		duetWriteLine(end + "\t" + b.name + "\t" + strings.Join(strings.Fields(words), " "))
		return
	}
	style, resets := duetT.style, uint64(0)
	if style == duetStyleUnknown {
		style = duetStyleRecall
		resets = uint64(duetT.resets) - 1 // runN resets the timer once itself
	}
	number := func(n uint64) string { return "\t" + strconv.FormatUint(n, 10) }
	duetWriteLine("leaf\t" + b.name + "\t" + duetStyleNames[style] + number(uint64(b.duration)) +
		number(b.netAllocs) + number(b.netBytes) + number(uint64(duetParallelism())) + number(resets))
}

// duetWriteLine writes at once, with no buffer that a crash could lose.
func duetWriteLine(line string) {
	if _, err := duetJob.list.WriteString(line + "\n"); err != nil {
		duetDie(err.Error())
	}
}
