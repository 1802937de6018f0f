package bias

import (
	"math/rand"
	"os"
	"slices"
	"sort"
	"testing"
)

var sink uint64

// next is a step of Knuth's linear congruential generator for 64 bits.
func next(x uint64) uint64 { return x*6364136223846793005 + 1442695040888963407 }

//go:noinline
func multiply(rounds int, x uint64) uint64 {
	for i := 0; i < rounds; i++ {
		x = next(x)
	}
	return x
}

func BenchmarkMultiply(b *testing.B) {
	rounds, x := 200*scale, sink
	for i := 0; i < b.N; i++ {
		x = multiply(rounds, x)
	}
	sink = x
}

// node fills a cache line.
type node struct {
	next uint32
	_    [60]byte
}

// cycle is one random cycle through all nodes of a working set (Sattolo's algorithm).
func cycle(bytes int) []node {
	nodes := make([]node, bytes/64)
	for i := range nodes {
		nodes[i].next = uint32(i)
	}
	random := rand.New(rand.NewSource(1))
	for i := len(nodes) - 1; i > 0; i-- {
		j := random.Intn(i)
		nodes[i].next, nodes[j].next = nodes[j].next, nodes[i].next
	}
	return nodes
}

var cycles = map[int][]node{}

func walk(b *testing.B, bytes, steps int) {
	if cycles[bytes] == nil {
		cycles[bytes] = cycle(bytes)
	}
	nodes, at := cycles[bytes], uint32(sink%uint64(bytes/64))
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for step := 0; step < steps; step++ {
			at = nodes[at].next
		}
	}
	sink = uint64(at)
}

func BenchmarkWalk16KB(b *testing.B) { walk(b, 16<<10, 100*scale) }
func BenchmarkWalk2MB(b *testing.B)  { walk(b, 2<<20, 20*scale) }
func BenchmarkWalk16MB(b *testing.B) { walk(b, 16<<20, 10*scale) }
func BenchmarkWalk64MB(b *testing.B) { walk(b, 64<<20, 10*scale) }

const entries = 1 << 17

var counts = map[uint64]uint64{}

// BenchmarkMap has all its keys before it measures, so that the map never grows.
func BenchmarkMap(b *testing.B) {
	for key := uint64(len(counts)); key < entries; key++ {
		counts[key] = key
	}
	updates, key := 4*scale, sink
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := 0; j < updates; j++ {
			key = next(key)
			counts[(key>>32)%entries]++
		}
	}
	sink = key
}

// pointers has nothing else in it, so that a collection costs as much for each byte as it can.
type pointers struct{ left, right *pointers }

func tree(depth int) *pointers {
	if depth == 0 {
		return &pointers{}
	}
	return &pointers{tree(depth - 1), tree(depth - 1)}
}

var (
	live      *pointers
	liveDepth = -1
	ring      [64][]byte
)

// allocate makes garbage beside a live tree of 2^(depth+1) nodes, 16 bytes each.
func allocate(b *testing.B, depth int) {
	if liveDepth != depth {
		live, liveDepth = nil, depth
		live = tree(depth)
	}
	allocations := scale
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := 0; j < allocations; j++ {
			ring[j&63] = make([]byte, 512)
		}
	}
}

func BenchmarkAllocateLive1MB(b *testing.B)  { allocate(b, 15) }
func BenchmarkAllocateLive64MB(b *testing.B) { allocate(b, 21) }

// program is a ring of random instructions.
var program = func() []uint8 {
	random := rand.New(rand.NewSource(2))
	found := make([]uint8, 1<<13)
	for i := range found {
		found[i] = uint8(random.Intn(8))
	}
	return found
}()

// interpret carries out so many instructions; two of them do what the data say.
//
//go:noinline
func interpret(steps, at int, x uint64) (int, uint64) {
	for i := 0; i < steps; i++ {
		switch program[at&(1<<13-1)] {
		case 0:
			x++
		case 1:
			x ^= x >> 7
		case 2:
			x = next(x)
		case 3:
			x -= 3
		case 4:
			x ^= x << 9
		case 5:
			x = x<<5 | x>>59
		case 6:
			if x&64 != 0 {
				x += 7
			}
		case 7:
			if x&1 != 0 {
				x ^= 0x5555
			}
		}
		at++
	}
	return at, x
}

func BenchmarkInterpreter(b *testing.B) {
	steps, at, x := 40*scale, 0, sink
	for i := 0; i < b.N; i++ {
		at, x = interpret(steps, at, x)
	}
	sink = x
}

// BenchmarkSearch searches sorted numbers for random ones of them, every comparison a branch that nobody can foretell. Each process
// has numbers of its own: a predictor of branches would learn them from a process that did the same before on its core.
func BenchmarkSearch(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	values := make([]int, 1<<15)
	for i := range values {
		values[i] = random.Int()
	}
	slices.Sort(values)
	searches, key, found := scale, sink^uint64(os.Getpid())<<32, 0
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := 0; j < searches; j++ {
			key = next(key)
			found += sort.SearchInts(values, values[(key>>32)%(1<<15)])
		}
	}
	sink = key + uint64(found)
}
