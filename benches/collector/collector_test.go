package collector

import (
	"fmt"
	"testing"
)

// node has nothing but pointers, so that a collection costs as much for each byte as it can.
type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

var (
	live      *node
	liveDepth = -1
	ring      [64][]byte
	sink      uint64
)

// keep makes a tree of 2^(depth+1) nodes, 16 bytes each, all that is live beside the ring.
func keep(depth int) {
	if liveDepth != depth {
		live, liveDepth = nil, depth
		live = tree(depth)
	}
}

// work is a chain of multiplications and additions, each of which waits for the one before.
//
//go:noinline
func work(rounds int, x uint64) uint64 {
	for i := 0; i < rounds; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// heap is a live heap, and what an operation of the baseline does beside it.
type heap struct {
	name                string
	depth, rounds, size int
	changes             []change
}

// change is what an operation of the candidate does instead.
type change struct {
	name         string
	rounds, size int
}

// All sizes are size classes of the allocator, so that what is asked for is what is allocated. Shares of 0.8, 0.9 and 1.1 are as
// near as there is a class. Rounds are such that collecting is between a fourth and a half of a baseline's time.
var heaps = []heap{
	{"Live1MB", 15, 250, 512, doses(250, 512, 256, 416, 480, 576, 640, 768, 1024)},
	{"Live8MB", 18, 500, 512, doses(500, 512, 256, 416, 480, 576, 640, 768, 1024)},
	{"Live64MB", 21, 20000, 16384, doses(20000, 16384, 8192, 13568, 14336, 18432, 20480, 24576, 32768)},
}

// doses are the candidates that allocate these sizes, and the trade: half the bytes for a tenth more work.
func doses(rounds, size int, sizes ...int) []change {
	var found []change
	for _, other := range sizes {
		found = append(found, change{fmt.Sprintf("Bytes%d", 100*other/size), rounds, other})
	}
	return append(found, change{"Trade", rounds * 11 / 10, size / 2})
}

func BenchmarkCollector(b *testing.B) {
	for _, h := range heaps {
		for _, c := range h.changes {
			rounds, size := h.rounds, h.size
			if candidate {
				rounds, size = c.rounds, c.size
			}
			b.Run(h.name+c.name, func(b *testing.B) { allocate(b, h.depth, rounds, size) })
		}
	}
}

func allocate(b *testing.B, depth, rounds, size int) {
	keep(depth)
	b.ReportAllocs()
	x := uint64(1)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		x = work(rounds, x)
		ring[i&63] = make([]byte, size)
	}
	sink += x
}
