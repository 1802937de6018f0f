//go:build duet_hook

package duethook

import (
	"strconv"
	"strings"
)

// List mode: every benchmark runs once with one iteration, and says so in the file DUET_LIST.

// duetListStart notes that the benchmark is about to be called. If it kills the process, this is the last line.
func (b *B) duetListStart() {
	duetT.style, duetT.resets = duetStyleUnknown, 0
	duetWriteLine("start\t" + b.name)
}

// duetListLeaf notes what the first call cost, unless the benchmark was only a parent, was skipped or failed; why it was skipped is
// known to nobody else, because package testing prints it in verbose mode only.
func (b *B) duetListLeaf() {
	if b.Skipped() {
		duetWriteLine("skip\t" + b.name + "\t" + strings.Join(strings.Fields(string(b.output)), " "))
	}
	if b.hasSub.Load() || b.Failed() || b.Skipped() {
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
