//go:build go1.24

package sample

import (
	"testing"
	"time"
)

func BenchmarkLoop(b *testing.B) {
	defer note(b)()
	time.Sleep(5 * time.Millisecond)
	for b.Loop() {
		seen.Calls++
		work(100)
	}
	allocate(50)
}

func BenchmarkLoopAllocates(b *testing.B) {
	defer note(b)()
	for b.Loop() {
		seen.Calls++
		allocate(142)
	}
}

func BenchmarkLoopPaused(b *testing.B) {
	defer note(b)()
	for b.Loop() {
		b.StopTimer()
		allocate(17)
		b.StartTimer()
		seen.Calls++
		box = new([4]int64)
		work(10000)
	}
}

// BenchmarkLoopBreaks leaves its loop on one side.
func BenchmarkLoopBreaks(b *testing.B) {
	for b.Loop() {
		seen.Calls++
		work(100)
		if fail && seen.Calls > 5000 {
			break
		}
	}
}

// BenchmarkContext needs its context alive in every call.
func BenchmarkContext(b *testing.B) {
	defer note(b)()
	ctx := b.Context()
	n := b.N
	b.Cleanup(func() {
		seen.Cleanups++
		if ctx.Err() == nil {
			panic("the context outlived the call")
		}
	})
	for i := 0; i < n; i++ {
		seen.Calls++
		work(100)
		if ctx.Err() != nil {
			b.Fatal("the context ended within the call")
		}
	}
	if b.N != n {
		b.Fatal("b.N changed within a call")
	}
}
