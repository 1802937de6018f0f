package e2e

import (
	"strings"
	"testing"
)

// testCollections counts the collections that the hook forces, in the runtime's own log.
func (c *toolchain) testCollections(t *testing.T) {
	for _, mode := range []uint64{modeDuet, modeInterleaved, modeSolo} {
		// Three more are not in a pause: upstream's two, and the one that finds the period.
		c.checkForced(t, mode, "BenchmarkSetup", nil, func(blocks int) int { return 3 + blocks })
		c.checkForced(t, mode, "BenchmarkFew", nil, func(int) int { return 3 + 1 })
		c.checkForced(t, mode, "BenchmarkSetup", record{"gc_cycles": 0}, func(int) int { return 3 })
	}
	// Without a collector nothing is forced but upstream's collection and ours to find that out.
	p := c.checkForced(t, modeSolo, "BenchmarkSetup", nil, func(int) int { return 3 }, "GOGC=off")
	if period := p.side(0)["gc_period"]; period != 0 {
		t.Errorf("the period of no collector is %d", period)
	}
	p = c.checkForced(t, modeSolo, "BenchmarkSetup", nil, func(blocks int) int { return 3 + blocks })
	if period := p.side(0)["gc_period"]; period < 1<<20 || period > 1<<26 {
		t.Errorf("the collector's period is %d bytes", period)
	}
}

func (c *toolchain) checkForced(t *testing.T, mode uint64, bench string, changes record, want func(blocks int) int, environment ...string) *page {
	t.Helper()
	p, results := c.trial(t, mode, bench, changes, append(environment, "GODEBUG=gctrace=1")...)
	for side, r := range results {
		blocks := 0
		for _, rec := range p.records(side) {
			if rec["flags"]&flagFirst != 0 {
				blocks++
			}
		}
		if forced := strings.Count(r.output, "(forced)"); forced != want(blocks) {
			t.Errorf("%s, mode %d, %v: %d forced collections with %d blocks, want %d", bench, mode, changes, forced, blocks, want(blocks))
		}
	}
	return p
}

// testHiccup checks that one interruption while calibrating does not make all slices tiny. The machine may add a second one,
// but hardly three times running.
func (c *toolchain) testHiccup(t *testing.T) {
	for mode := uint64(modeDuet); mode <= modeSolo; mode++ {
		k := uint64(0)
		for tried := 0; tried < 3 && k < 100; tried++ {
			p, _ := c.trial(t, mode, "BenchmarkHiccup", nil)
			k = p.records(0)[0]["invocations"]
		}
		if k < 100 {
			t.Errorf("mode %d: slices have %d invocations", mode, k)
		}
	}
}

// testCores checks where the sides run. They exchange cores in every pause, the first one included.
func (c *toolchain) testCores(t *testing.T) {
	cases := map[string]struct {
		mode    uint64
		changes record
		want    [2]uint64
	}{
		"swap":             {modeDuet, nil, [2]uint64{3, 3}},
		"no swap":          {modeDuet, record{"swap": 0}, [2]uint64{1, 2}},
		"no swap, crossed": {modeDuet, record{"swap": 0, "core_0": 1, "core_1": 0}, [2]uint64{2, 1}},
		"interleaved":      {modeInterleaved, nil, [2]uint64{2, 2}}, // the one that the controller gave both
		"left alone":       {modeDuet, record{"core_0": 0xffffffff, "core_1": 0xffffffff}, [2]uint64{0, 0}},
	}
	for name, o := range cases {
		_, results := c.trial(t, o.mode, "BenchmarkCores", o.changes)
		for side, r := range results {
			if o.want[side] != 0 && r.report.Cores != o.want[side] {
				t.Errorf("%s: side %d ran on cores %#b, want %#b", name, side, r.report.Cores, o.want[side])
			}
		}
	}
}

// testMeetAtReset gives one side a longer set-up. Their timed parts must still be at the same time.
func (c *toolchain) testMeetAtReset(t *testing.T) {
	p := newPage(t, modeDuet, record{"trial_ns": 5_000_000})
	quick := c.side(t, p, 0, "BenchmarkReset", "GOMAXPROCS=1", "SAMPLE_SETUP=100us")
	slow := c.side(t, p, 1, "BenchmarkReset", "GOMAXPROCS=1", "SAMPLE_SETUP=2ms")
	for side, r := range run(t, p, coresFor(modeDuet), quick, slow) {
		if r.code != 0 || p.side(side)["left_early"] != 0 || p.side(side)["resets"] != 1 {
			t.Fatalf("side %d: code %d, %v\n%s", side, r.code, p.side(side), r.output)
		}
		checkRecords(t, p, side)
	}
	checkOverlap(t, p)
}
