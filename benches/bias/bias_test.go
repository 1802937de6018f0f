package bias

import (
	"math/rand"
	"runtime"
	"sort"
	"sync"
	"testing"
)

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

var (
	cycles = map[int][]node{}
	sink   uint32
)

// walk goes 20 steps for each unit of scale, from where the last one ended.
func walk(b *testing.B, bytes int) {
	if cycles[bytes] == nil {
		cycles[bytes] = cycle(bytes)
	}
	nodes, at, steps := cycles[bytes], sink%uint32(bytes/64), 20*scale
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for step := 0; step < steps; step++ {
			at = nodes[at].next
		}
	}
	sink = at
}

func BenchmarkWalk16KB(b *testing.B)  { walk(b, 16<<10) }
func BenchmarkWalk256KB(b *testing.B) { walk(b, 256<<10) }
func BenchmarkWalk2MB(b *testing.B)   { walk(b, 2<<20) }
func BenchmarkWalk16MB(b *testing.B)  { walk(b, 16<<20) }
func BenchmarkWalk64MB(b *testing.B)  { walk(b, 64<<20) }

var kept [1024][]byte

func BenchmarkAllocates(b *testing.B) {
	allocations := scale
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		for j := 0; j < allocations; j++ {
			kept[j%len(kept)] = make([]byte, 512)
		}
	}
}

var counts = map[uint64]uint64{}

func BenchmarkMap(b *testing.B) {
	const entries = 1 << 17
	for key := uint64(len(counts)); key < entries; key++ {
		counts[key] = key
	}
	updates, key := 4*scale, uint64(1)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := 0; j < updates; j++ {
			key = key*6364136223846793005 + 1442695040888963407
			counts[(key>>32)%entries]++
		}
	}
}

//go:noinline
func work(rounds int, x uint64) uint64 {
	for i := 0; i < rounds; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func BenchmarkParallel(b *testing.B) {
	rounds := 20 * scale
	b.RunParallel(func(pb *testing.PB) {
		x := uint64(1)
		for pb.Next() {
			x = work(rounds, x)
		}
	})
}

// BenchmarkGoroutines starts goroutines of its own over all cores.
func BenchmarkGoroutines(b *testing.B) {
	rounds := 1000 * scale
	for i := 0; i < b.N; i++ {
		var done sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			done.Add(1)
			go func() {
				defer done.Done()
				work(rounds, 1)
			}()
		}
		done.Wait()
	}
}

// BenchmarkSetUp builds and sorts some megabytes each time before it measures.
func BenchmarkSetUp(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	values := make([]int, 1<<17)
	for i := range values {
		values[i] = random.Int()
	}
	sort.Ints(values)
	searches, found := scale, 0
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for j := 0; j < searches; j++ {
			found += sort.SearchInts(values, values[(i*7919+j*104729)%len(values)])
		}
	}
	sink += uint32(found)
}
