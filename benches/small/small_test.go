// Package small has one benchmark of each kind; what duet and its hook cost is measured with it.
package small

import "testing"

// work takes some tens of nanoseconds and allocates nothing.
//
//go:noinline
func work(x uint64) uint64 {
	for i := 0; i < 32; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

var kept []byte

func BenchmarkCount(b *testing.B) {
	x := uint64(1)
	for i := 0; i < b.N; i++ {
		x = work(x)
	}
}

func BenchmarkLoop(b *testing.B) {
	x := uint64(1)
	for b.Loop() {
		x = work(x)
	}
}

func BenchmarkAllocates(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = make([]byte, 1024)
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		x := uint64(1)
		for pb.Next() {
			x = work(x)
		}
	})
}
