package e2e

import (
	"sort"
	"testing"
)

// testOverhead logs what the time between slices costs: go test -v -run Hook/.*/Overhead
func (c *toolchain) testOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("only logs")
	}
	long := record{"trial_ns": 100_000_000, "warmup_slices": 50, "capacity": 5000}
	for _, o := range []struct {
		what, bench string
		mode        uint64
		changes     record
	}{
		{"duet, one block, no swap", "BenchmarkPlain", modeDuet, record{"block_slices": 5000, "gc_ns": 0, "swap": 0}},
		{"duet, pause, no swap", "BenchmarkPlain", modeDuet, record{"block_slices": 1, "gc_ns": 0, "swap": 0}},
		{"duet, pause and swap", "BenchmarkPlain", modeDuet, record{"block_slices": 1, "gc_ns": 0}},
		{"interleaved, one block", "BenchmarkPlain", modeInterleaved, record{"block_slices": 5000, "gc_ns": 0}},
		{"interleaved, pause", "BenchmarkPlain", modeInterleaved, record{"block_slices": 1, "gc_ns": 0}},
		{"solo, one block", "BenchmarkPlain", modeSolo, record{"block_slices": 5000, "gc_ns": 0}},
	} {
		header := record{}
		for _, from := range []record{long, o.changes} {
			for name, value := range from {
				header[name] = value
			}
		}
		p, _ := c.trial(t, o.mode, o.bench, header)
		gaps := gapsBetween(p, o.mode, header["block_slices"] == 1)
		t.Logf("%-28s %5d gaps, median %.2f us, mean %.2f us", o.what, len(gaps), gaps[len(gaps)/2], mean(gaps))
	}
}

// gapsBetween returns the sorted time between slice j and j+1 that belongs to neither side's measurement, in us;
// in an interleaved trial that is both gaps of a pair. pauses: only the gaps that held a pause.
func gapsBetween(p *page, mode uint64, pauses bool) []float64 {
	a, b := p.records(0), p.records(1)
	var gaps []float64
	for j := 1; j < len(a); j++ {
		if pauses && a[j]["flags"]&flagFirst == 0 {
			continue
		}
		gap := 0.0
		switch mode {
		case modeSolo:
			gap = float64(a[j]["start_ns"]) - float64(a[j-1]["start_ns"]+a[j-1]["wall_ns"])
		case modeDuet:
			ends := a[j-1]["start_ns"] + a[j-1]["wall_ns"]
			if e := b[j-1]["start_ns"] + b[j-1]["wall_ns"]; e > ends {
				ends = e
			}
			starts := a[j]["start_ns"]
			if b[j]["start_ns"] > starts {
				starts = b[j]["start_ns"]
			}
			gap = float64(starts) - float64(ends)
		default:
			from, to := least(a[j-1]["start_ns"], b[j-1]["start_ns"]), least(a[j]["start_ns"], b[j]["start_ns"])
			gap = float64(to-from) - float64(a[j-1]["wall_ns"]+b[j-1]["wall_ns"])
		}
		gaps = append(gaps, gap/1000)
	}
	sort.Float64s(gaps)
	return gaps
}

func least(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
