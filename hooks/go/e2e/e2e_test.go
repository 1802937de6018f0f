// Package e2e runs real test binaries with the hook in them, on pages of its own.
//
// DUET_TEST_TOOLCHAINS=go1.21.13,go1.24.0 runs everything with those versions of Go too.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"
)

func TestHook(t *testing.T) {
	names := []string{""}
	if list := os.Getenv("DUET_TEST_TOOLCHAINS"); list != "" {
		names = strings.Split(list, ",")
	}
	for _, name := range names {
		c := newToolchain(t, name)
		t.Run(c.name, func(t *testing.T) {
			c.build(t)
			t.Run("List", c.testList)
			t.Run("Styles", c.testStyles)
			t.Run("Memory", c.testMemory)
			t.Run("Collections", c.testCollections)
			t.Run("Stretch", c.testStretch)
			t.Run("Paused", c.testPaused)
			t.Run("Cores", c.testCores)
			t.Run("Hiccup", c.testHiccup)
			t.Run("MeetAtReset", c.testMeetAtReset)
			t.Run("Refill", c.testRefill)
			t.Run("GoesOn", c.testGoesOn)
			t.Run("Warms", c.testWarms)
			t.Run("GoesWrong", c.testGoesWrong)
			t.Run("NobodyWaitsForEver", c.testNobodyWaitsForEver)
			t.Run("LeftAlone", c.testLeftAlone)
			t.Run("SameBinary", c.testSameBinary)
			t.Run("Overhead", c.testOverhead)
		})
	}
}

func TestRewriteModule(t *testing.T) {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = "../rewrite"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// styles lists benchmarks with the style that they must be measured in.
func (c *toolchain) styles() map[string]string {
	m := map[string]string{"BenchmarkPlain": "rewritten", "BenchmarkSub/b_c": "rewritten", "BenchmarkSub/dup#01": "rewritten",
		"BenchmarkParallel": "parallel", "BenchmarkSetup": "rewritten", "BenchmarkFew": "rewritten",
		"BenchmarkRecall": "recall", "BenchmarkReset": "recall", "BenchmarkEnvironment": "rewritten"}
	if c.minor() >= 22 {
		m["BenchmarkRange"] = "rewritten"
	}
	if c.minor() >= 24 {
		m["BenchmarkLoop"], m["BenchmarkLoopAllocates"], m["BenchmarkContext"] = "loop", "loop", "recall"
	}
	return m
}

var styleNumbers = map[string]uint64{"loop": 1, "rewritten": 2, "recall": 3, "parallel": 4}

func (c *toolchain) testStyles(t *testing.T) {
	for bench, style := range c.styles() {
		for mode, name := range []string{"duet", "interleaved", "solo"} {
			t.Run(name+"/"+bench, func(t *testing.T) {
				p, results := c.trial(t, uint64(mode), bench, record{"trial_ns": 5_000_000})
				for side, r := range results {
					if got := p.side(side)["style"]; got != styleNumbers[style] {
						t.Errorf("side %d has style %d, want %s", side, got, style)
					}
					checkRecords(t, p, side)
					if bench != "BenchmarkEnvironment" {
						checkReport(t, style, p, side, r)
					}
				}
				switch mode {
				case modeInterleaved:
					checkTurns(t, p)
				case modeDuet:
					checkOverlap(t, p)
					checkBarriers(t, p)
				}
			})
		}
	}
}

// checkBarriers checks that both sides passed the barriers of the protocol: one before every slice, one more before a block's
// first, one to agree and one to leave.
func checkBarriers(t *testing.T, p *page) {
	t.Helper()
	for side := 0; side < 2; side++ {
		want := uint64(2)
		for _, r := range p.records(side) {
			want++
			if r["flags"]&flagFirst != 0 {
				want++
			}
		}
		if got := p.side(side)["arrive"]; got != want && p.side(side)["resets"] != 1 {
			t.Errorf("side %d passed %d barriers, want %d", side, got, want)
		}
	}
}

// checkRecords checks what the records of one side must have in common in every trial.
func checkRecords(t *testing.T, p *page, side int) {
	t.Helper()
	all := p.records(side)
	last := record{}
	warmups, collections := 0, uint64(0)
	for i, r := range all {
		if r["slice"] != uint64(i) || r["invocations"] != all[0]["invocations"] || r["invocations"] == 0 {
			t.Fatalf("side %d, record %d: %v", side, i, r)
		}
		// A duet reads the CPU time of a block's last slice only, which is where the memory is read too.
		hasCPU, wanted := r["flags"]&flagCPU != 0, r["flags"]&flagPaused == 0 && (p.mode() != modeDuet || r["flags"]&flagMemory != 0)
		if r["wall_ns"] == 0 || hasCPU != wanted || hasCPU != (r["cpu_ns"] != 0) && r["flags"]&flagPaused == 0 {
			t.Errorf("side %d, record %d measured nothing: %v", side, i, r)
		}
		warm, first := r["flags"]&flagWarmup != 0, r["flags"]&flagFirst != 0
		if warm {
			warmups++
		}
		if collections = r["gcs"]; r["flags"]&flagCycles == 0 || i > 0 && collections < last["gcs"] {
			t.Errorf("side %d, record %d: collections are not counted through: %v after %v", side, i, r, last)
		}
		if warm != (r["block"] == 0) {
			t.Errorf("side %d, record %d: warm-up does not fit: %v", side, i, r)
		}
		if begins := i == 0 || r["block"] == last["block"]+1; first != begins || !begins && r["block"] != last["block"] {
			t.Errorf("side %d, record %d: block does not fit: %v after %v", side, i, r, last)
		}
		ends := i == len(all)-1 || all[i+1]["block"] != r["block"]
		if ends != (r["flags"]&flagMemory != 0) || !ends && r["allocs"]+r["bytes"] != 0 {
			t.Errorf("side %d, record %d: memory fields in the wrong place: %v", side, i, r)
		}
		if r["flags"]&flagPaused != 0 {
			t.Errorf("side %d, record %d: the timer was not paused: %v", side, i, r)
		}
		if i > 0 && r["start_ns"] < last["start_ns"]+last["wall_ns"] {
			t.Errorf("side %d, record %d begins before the last one ends", side, i)
		}
		last = r
	}
	if last["flags"]&flagWarmup != 0 {
		t.Errorf("side %d has nothing but warm-up", side)
	}
	if warmups > 5 && collections == 0 { // more than asked for is needed only to let the heap settle
		t.Errorf("side %d has %d warm-up slices", side, warmups)
	}
}

// checkReport compares the page with what the benchmark itself has counted.
func checkReport(t *testing.T, style string, p *page, side int, r ended) {
	t.Helper()
	taken := 0
	for _, rec := range p.records(side) {
		taken += int(rec["invocations"])
	}
	calls, want := int(r.report.Calls), r.report.N // a sliced benchmark sees all its iterations in the end
	switch {
	case style == "recall":
		want = calls
		if last := p.records(side)[0]["invocations"]; r.report.N != int(last) {
			t.Errorf("side %d: the last call had b.N %d, not %d", side, r.report.N, last)
		}
	case r.report.Setups != 1:
		t.Errorf("side %d set up %d times", side, r.report.Setups)
	}
	if calls != want || calls <= taken {
		t.Errorf("side %d: %d invocations in records, b.N %d, but the body ran %d times", side, taken, r.report.N, calls)
	}
	if r.report.Cleanups != 0 && r.report.Cleanups != r.report.Setups {
		t.Errorf("side %d: %d calls, but %d clean-ups", side, r.report.Setups, r.report.Cleanups)
	}
}

// checkTurns checks that no two slices overlap and that the sides take turns as the seed says.
func checkTurns(t *testing.T, p *page) {
	t.Helper()
	a, b := p.records(0), p.records(1)
	if len(a) != len(b) {
		t.Fatalf("%d and %d records", len(a), len(b))
	}
	var end uint64
	leads := map[int]int{}
	for j := range a {
		lead := splitmixLead(42, uint64(j))
		leads[lead]++
		order := []record{a[j], b[j]}
		if lead == 1 {
			order = []record{b[j], a[j]}
		}
		for i, r := range order {
			if r["start_ns"] < end {
				t.Fatalf("slice %d, number %d of its pair, begins %d ns too early", j, i, end-r["start_ns"])
			}
			end = r["start_ns"] + r["wall_ns"]
		}
	}
	if len(a) > 1 && len(leads) != 2 {
		t.Errorf("only one side ever led: %v", leads)
	}
}

func splitmixLead(seed, j uint64) int {
	z := seed + j + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) & 1)
}

// checkOverlap checks that no side began a slice before both had ended the one before. Whether the two then really ran at
// the same time is for the kernel and the hypervisor to say, which may give both sides turns on one core; that is noted only.
func checkOverlap(t *testing.T, p *page) {
	t.Helper()
	a, b := p.records(0), p.records(1)
	if len(a) != len(b) {
		t.Fatalf("%d and %d records", len(a), len(b))
	}
	apart := 0
	for j := range a {
		if a[j]["start_ns"]+a[j]["wall_ns"] < b[j]["start_ns"] || b[j]["start_ns"]+b[j]["wall_ns"] < a[j]["start_ns"] {
			apart++
		}
		if j > 0 && (a[j]["start_ns"] < b[j-1]["start_ns"]+b[j-1]["wall_ns"] || b[j]["start_ns"] < a[j-1]["start_ns"]+a[j-1]["wall_ns"]) {
			t.Fatalf("slice %d began before slice %d had ended on both sides", j, j-1)
		}
	}
	t.Logf("%d of %d slices did not overlap", apart, len(a))
}

type memory struct {
	allocs     uint64 // per invocation, of 32 bytes each
	perCall    uint64 // per slice, at most: what a recalled benchmark allocates round its loop
	collecting bool
	unseen     bool // both allocate alike on one core: a trial need not last for whole cycles
	threads    bool // the runtime may run on several, and then it allocates a little itself
}

func (c *toolchain) testMemory(t *testing.T) {
	cases := map[string]memory{
		"BenchmarkSetup":  {allocs: 142, collecting: true},
		"BenchmarkRecall": {allocs: 142, perCall: 4, collecting: true},
		"BenchmarkReset":  {allocs: 142, collecting: true},
		"BenchmarkFew":    {allocs: 1},
		"BenchmarkPlain":  {allocs: 0},
	}
	if c.minor() >= 24 {
		cases["BenchmarkLoopAllocates"] = cases["BenchmarkSetup"]
	}
	// Room and time for whole cycles also where a busy machine made calibration take a slice for a hundred times as long as it is.
	roomy := record{"trial_ns": 50_000_000, "gc_ns": 20_000_000_000, "capacity": 65_536}
	for bench, want := range cases {
		for _, mode := range []uint64{modeDuet, modeInterleaved, modeSolo} {
			want.unseen = mode != modeSolo
			p, results := c.trial(t, mode, bench, roomy)
			for side := range results {
				checkMemory(t, fmt.Sprintf("%s, mode %d", bench, mode), p.records(side), want)
			}
		}
		want.threads, want.unseen = true, false
		p, results := c.trial(t, modeInterleaved, bench, roomy, "GOMAXPROCS=2")
		for side := range results {
			checkMemory(t, bench+" with two threads", p.records(side), want)
		}
	}
}

func checkMemory(t *testing.T, what string, records []record, want memory) {
	t.Helper()
	exact, blocks, collections := 0, 0, uint64(0)
	slices, invocations := uint64(0), uint64(0) // of a block
	for _, r := range records {
		slices++
		invocations += r["invocations"]
		if r["flags"]&flagMemory == 0 {
			continue
		}
		extra := r["allocs"] - want.allocs*invocations
		if extra%slices == 0 && extra/slices <= want.perCall {
			exact++
		} else if extra > want.perCall*slices+invocations/200+16 { // also if it is negative
			t.Errorf("%s: a block of %d invocations made %d allocations", what, invocations, r["allocs"])
		}
		if want.perCall == 0 && r["bytes"] > 32*want.allocs*invocations+100*extra+4096 {
			t.Errorf("%s: a block of %d invocations took %d bytes", what, invocations, r["bytes"])
		}
		collections = r["gcs"]
		slices, invocations, blocks = 0, 0, blocks+1
	}
	if !want.collecting && collections > 1 {
		t.Errorf("%s: %d collections", what, collections)
	}
	if want.collecting && !want.unseen {
		checkWholeCycle(t, what, records)
	}
	if exact < blocks && !want.threads {
		t.Errorf("%s: only %d of %d blocks exact", what, exact, blocks)
	}
}

// checkWholeCycle checks that the slices which count hold the ends of two collections at least.
func checkWholeCycle(t *testing.T, what string, records []record) {
	t.Helper()
	ends := 0
	for i, r := range records {
		if i > 0 && r["flags"]&flagWarmup == 0 && r["gcs"] > records[i-1]["gcs"] {
			ends++
		}
	}
	if ends < 2 {
		t.Errorf("%s: collections ended in %d of the slices that count, from %v to %v", what, ends, records[0], records[len(records)-1])
	}
}

func (c *toolchain) testPaused(t *testing.T) {
	benches := []string{"BenchmarkPaused", "BenchmarkStopped"}
	if c.minor() >= 24 {
		benches = append(benches, "BenchmarkLoopPaused")
	}
	// Time of the timed part of these, from a benchmark that never pauses.
	p, _ := c.trial(t, modeSolo, "BenchmarkFew", nil)
	want := leastPerInvocation(p, 0) / 5 // it does five times the work
	for _, bench := range benches {
		for mode := uint64(modeDuet); mode <= modeSolo; mode++ {
			p, results := c.trial(t, mode, bench, record{"trial_ns": 3_000_000})
			for side := range results {
				if got := leastPerInvocation(p, side); got > 1.6*want || got < want/2 {
					t.Errorf("%s, mode %d: %v ns/op, want about %v", bench, mode, got, want)
				}
				invocations := uint64(0)
				for _, r := range p.records(side) {
					invocations += r["invocations"]
					if r["flags"]&flagPaused == 0 {
						t.Fatalf("%s, mode %d: not marked as paused: %v", bench, mode, r)
					}
					if r["flags"]&flagMemory != 0 {
						if r["allocs"] != invocations {
							t.Errorf("%s, mode %d: %d allocations in %d invocations", bench, mode, r["allocs"], invocations)
						}
						invocations = 0
					}
				}
			}
		}
	}
}

// leastPerInvocation is not disturbed by other processes, as long as one slice is not.
func leastPerInvocation(p *page, side int) float64 { return perInvocation(p, side)[0] }

func medianPerInvocation(p *page, side int) float64 {
	all := perInvocation(p, side)
	return all[len(all)/2]
}

// perInvocation returns the sorted times of the slices that count.
func perInvocation(p *page, side int) []float64 {
	var all []float64
	for _, r := range p.records(side) {
		if r["flags"]&flagWarmup == 0 {
			all = append(all, float64(r["wall_ns"])/float64(r["invocations"]))
		}
	}
	sort.Float64s(all)
	return all
}

// testSameBinary compares a binary with itself.
func (c *toolchain) testSameBinary(t *testing.T) {
	for mode, limit := range map[uint64]float64{modeDuet: 0.15, modeInterleaved: 0.05} {
		for _, bench := range []string{"BenchmarkPlain", "BenchmarkSetup", "BenchmarkPingPong"} {
			p, _ := c.trial(t, mode, bench, record{"trial_ns": 30_000_000})
			a, b := p.records(0), p.records(1)
			var ratios []float64
			for j := range a {
				ratios = append(ratios, float64(b[j]["wall_ns"])/float64(a[j]["wall_ns"]))
			}
			sort.Float64s(ratios)
			ratio := ratios[len(ratios)/2]
			t.Logf("mode %d, %s: median ratio %.4f, %.1f ns/op", mode, bench, ratio, medianPerInvocation(p, 0))
			if bench == "BenchmarkPlain" && (ratio > 1+limit || ratio < 1-limit) {
				t.Errorf("mode %d: a binary differs from itself by %.3f", mode, ratio)
			}
		}
	}
}
