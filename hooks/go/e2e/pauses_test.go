package e2e

import (
	"strings"
	"testing"
)

// testCollections counts the collections that the hook forces, in the runtime's own log: one before the first slice.
func (c *toolchain) testCollections(t *testing.T) {
	// Three more are not in a pause: upstream's two, and the one that finds the period.
	const others = 3
	for _, mode := range []uint64{modeDuet, modeInterleaved, modeSolo} {
		for _, bench := range []string{"BenchmarkSetup", "BenchmarkFew"} {
			p := c.checkForced(t, mode, bench, nil, others+1)
			if cost := p.side(0)["gc_cost_ns"]; cost == 0 {
				t.Errorf("%s, mode %d: a collection costs nothing", bench, mode)
			}
		}
		p := c.checkForced(t, mode, "BenchmarkSetup", record{"gc_ns": 0}, others)
		if cost := p.side(0)["gc_cost_ns"]; cost != 0 {
			t.Errorf("mode %d: a collection that was not forced costs %d ns", mode, cost)
		}
	}
	// Without a collector nothing is forced but upstream's collection and ours to find that out.
	p := c.checkForced(t, modeSolo, "BenchmarkSetup", nil, others, "GOGC=off")
	if period := p.side(0)["gc_period"]; period != 0 {
		t.Errorf("the period of no collector is %d", period)
	}
	p = c.checkForced(t, modeSolo, "BenchmarkSetup", nil, others+1)
	if period := p.side(0)["gc_period"]; period < 1<<20 || period > 1<<26 {
		t.Errorf("the collector's period is %d bytes", period)
	}
}

func (c *toolchain) checkForced(t *testing.T, mode uint64, bench string, changes record, want int, environment ...string) *page {
	t.Helper()
	p, results := c.trial(t, mode, bench, changes, append(environment, "GODEBUG=gctrace=1")...)
	for side, r := range results {
		if forced := strings.Count(r.output, "(forced)"); forced != want {
			t.Errorf("%s, mode %d, %v, side %d: %d forced collections, want %d", bench, mode, changes, side, forced, want)
		}
	}
	return p
}

// testStretch checks that the slices of every second block have more invocations, and the warm-up has not.
func (c *toolchain) testStretch(t *testing.T) {
	for _, mode := range []uint64{modeInterleaved, modeSolo} {
		for _, bench := range []string{"BenchmarkPlain", "BenchmarkRecall"} {
			p, _ := c.trial(t, mode, bench, record{"stretch": 4, "block_slices": 1, "k_hint": 1})
			all := p.records(0)
			for _, r := range all {
				want := all[0]["invocations"]
				if r["block"]%2 == 1 {
					want *= 4
				}
				if r["invocations"] != want {
					t.Fatalf("%s, mode %d: %d invocations in block %d, want %d", bench, mode, r["invocations"], r["block"], want)
				}
			}
			if len(all) < 8 {
				t.Errorf("%s, mode %d: %d slices", bench, mode, len(all))
			}
		}
	}
}

// testHiccup checks that one interruption while calibrating does not make all slices tiny. The machine may add a second one,
// but hardly three times running.
func (c *toolchain) testHiccup(t *testing.T) {
	for mode := uint64(modeDuet); mode <= modeSolo; mode++ {
		k := uint64(0)
		for tried := 0; tried < 3 && k < 100; tried++ {
			p, _ := c.trial(t, mode, "BenchmarkHiccup", record{"trial_ns": 50_000_000})
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

// testGoesOn gives one side twice as many bytes, so that collections are seen: before each slice of both one ends, and in it another.
func (c *toolchain) testGoesOn(t *testing.T) {
	p := newPage(t, modeInterleaved, record{"gc_ns": 20_000_000_000})
	few := c.side(t, p, 0, "BenchmarkLive", "GOMAXPROCS=1")
	many := c.side(t, p, 1, "BenchmarkLive", "GOMAXPROCS=1", "SAMPLE_FAIL=1")
	for side, r := range run(t, p, coresFor(modeInterleaved), few, many) {
		if r.code != 0 || p.side(side)["left_early"] != 0 {
			t.Fatalf("side %d: code %d, %v\n%s", side, r.code, p.side(side), r.output)
		}
		all := p.records(side)
		for i, r := range all[1:] {
			if r["gcs"] < all[i]["gcs"]+2 && r["wall_ns"] < 1_000_000_000 {
				t.Errorf("side %d: no two collections ended before and in slice %d: %v after %v", side, i+1, r, all[i])
			}
		}
		if len(all) < 4 {
			t.Errorf("side %d: %d slices", side, len(all))
		}
	}
	checkTurns(t, p)
}

// testWarms has each slice begin with a part that is three times as long and not recorded, nor counted.
func (c *toolchain) testWarms(t *testing.T) {
	p, results := c.trial(t, modeInterleaved, "BenchmarkUneven", record{"slices": 40, "warm_ns": 600_000, "slice_ns": 200_000})
	for side, r := range results {
		recorded, inBlock := int64(0), uint64(0)
		for _, r := range p.records(side) {
			recorded += int64(r["invocations"])
			if r["flags"]&flagFirst != 0 {
				inBlock = 0
			}
			inBlock += r["invocations"]
			if counted := r["allocs"]; r["flags"]&flagMemory != 0 && (counted > inBlock+2 || counted < inBlock-2) {
				t.Errorf("side %d: %d allocations of the %d invocations of block %d", side, counted, inBlock, r["block"])
			}
		}
		if ran := r.report.Calls; ran < 3*recorded {
			t.Errorf("side %d ran %d times, %d of them recorded", side, ran, recorded)
		}
	}
	checkTurns(t, p)
}

// testRefill gives one side four times the work: the other goes on until it has done it, and counts what is recorded alone.
func (c *toolchain) testRefill(t *testing.T) {
	p := newPage(t, modeDuet, record{"slices": 200})
	quick := c.side(t, p, 0, "BenchmarkUneven", "GOMAXPROCS=1")
	slow := c.side(t, p, 1, "BenchmarkUneven", "GOMAXPROCS=1", "SAMPLE_FAIL=1")
	results := run(t, p, coresFor(modeDuet), quick, slow)
	recorded, inBlock := int64(0), uint64(0)
	for _, r := range p.records(0) {
		recorded += int64(r["invocations"])
		if r["flags"]&flagFirst != 0 {
			inBlock = 0
		}
		inBlock += r["invocations"]
		if counted := r["allocs"]; r["flags"]&flagMemory != 0 && (counted > inBlock || counted < inBlock-2) {
			t.Errorf("%d allocations of the %d invocations of block %d", counted, inBlock, r["block"])
		}
	}
	for side, r := range results {
		if s := p.side(side); r.code != 0 || s["left_early"] != 0 || s["ended"] != s["records"] {
			t.Errorf("side %d: code %d, %v\n%s", side, r.code, s, r.output)
		}
	}
	if ran := results[0].report.Calls; ran < recorded+recorded/4 {
		t.Errorf("the quick side ran %d times beside %d recorded invocations that take a quarter of the time", ran, recorded)
	}
}
