package caches

import (
	"fmt"
	"math/rand"
	"testing"
)

var sink uint64

// node fills a cache line.
type node struct {
	next uint32
	_    [60]byte
}

// cycle is one random cycle through so many nodes (Sattolo's algorithm).
func cycle(size int) []node {
	nodes := make([]node, size)
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

// BenchmarkHalfSet walks at random over nine tenths of the cache in the baseline; in the candidate over half as much, a tenth more
// steps. A slice holds one operation or more, so that longer operations make longer slices.
func BenchmarkHalfSet(b *testing.B) {
	for _, steps := range []int{5_000, 50_000, 500_000, 5_000_000} {
		b.Run(fmt.Sprintf("Steps%d", steps), func(b *testing.B) {
			size := 9 * cacheBytes / 10 / 64
			if candidate {
				walk(b, size/2, steps/10*11)
			} else {
				walk(b, size, steps)
			}
		})
	}
}

var (
	nodes []node
	at    uint32
)

// walk goes on where the last operation ended.
func walk(b *testing.B, size, steps int) {
	if len(nodes) != size {
		nodes, at = cycle(size), 0
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for step := 0; step < steps; step++ {
			at = nodes[at].next
		}
	}
	sink += uint64(at)
}

// BenchmarkInterpreter carries out programs of random instructions, 5 % more of them in the candidate. The longer a program, the
// more of its branches a predictor has to remember.
func BenchmarkInterpreter(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 13, 1 << 16} {
		b.Run(fmt.Sprintf("Program%d", size), func(b *testing.B) {
			steps, at, x := 4000, 0, sink
			if candidate {
				steps = 4200
			}
			code := program(size)
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				at, x = interpret(code, steps, at, x)
			}
			sink = x
		})
	}
}

func program(size int) []uint8 {
	random := rand.New(rand.NewSource(2))
	found := make([]uint8, size)
	for i := range found {
		found[i] = uint8(random.Intn(8))
	}
	return found
}

// interpret carries out so many instructions; two of them do what the data say.
//
//go:noinline
func interpret(code []uint8, steps, at int, x uint64) (int, uint64) {
	for i := 0; i < steps; i++ {
		switch code[at&(len(code)-1)] {
		case 0:
			x++
		case 1:
			x ^= x >> 7
		case 2:
			x = x*6364136223846793005 + 1442695040888963407
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
