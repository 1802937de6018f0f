package duethook

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// duetCycles counts the collections of a trial. It reads the runtime's metrics, which allocates nothing once their names are
// set and does not stop the world.
type duetCycles struct {
	count  [1]metrics.Sample // collections that have ended since the process began
	marked [2]metrics.Sample // CPU time of marking on a P of its own and on idle ones, in collections that have ended

	first  uint64  // count when slice 0 opened
	before float64 // marked when the first slice that counts opened
}

// begin counts from here.
func (c *duetCycles) begin() {
	c.count[0].Name = "/gc/cycles/total:gc-cycles"
	c.marked[0].Name = "/cpu/classes/gc/mark/dedicated:cpu-seconds"
	c.marked[1].Name = "/cpu/classes/gc/mark/idle:cpu-seconds"
	c.first = 0
	c.first = uint64(c.ended())
}

// ended returns the collections that have ended since begin.
func (c *duetCycles) ended() uint32 {
	metrics.Read(c.count[:])
	if c.count[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return uint32(c.count[0].Value.Uint64() - c.first)
}

func (c *duetCycles) markBackground() { c.before = c.markedSeconds() }

// background returns the CPU time of marking beside the benchmark since markBackground, in nanoseconds.
func (c *duetCycles) background() uint64 {
	return uint64(math.Max(0, 1e9*(c.markedSeconds()-c.before)))
}

func (c *duetCycles) markedSeconds() (sum float64) {
	metrics.Read(c.marked[:])
	for i := range c.marked {
		if c.marked[i].Value.Kind() == metrics.KindFloat64 {
			sum += c.marked[i].Value.Float64()
		}
	}
	return sum
}

// duetForceCollection collects and returns the CPU time that it took, in nanoseconds.
func duetForceCollection() uint64 {
	before := duetCPU()
	runtime.GC()
	return duetCPU() - before
}
