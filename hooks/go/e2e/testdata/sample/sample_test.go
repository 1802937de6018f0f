// Package sample has one benchmark for everything that the hook must get right.
package sample

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// seen is written to the file SAMPLE_REPORT when the process ends, to be compared with the page.
var seen struct {
	Setups   int   // calls of the benchmark function
	Calls    int64 // runs of the loop body
	Cleanups int
	N        int    // b.N in the end
	Cores    uint64 // bits of the cores that BenchmarkCores ran on
}

// fail makes a benchmark go wrong after some calls, on the side where it is set.
var fail = os.Getenv("SAMPLE_FAIL") != ""

// setup is how long BenchmarkReset sets up.
var setup = func() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("SAMPLE_SETUP")); err == nil {
		return d
	}
	return 300 * time.Microsecond
}()

func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv("SAMPLE_REPORT"); path != "" {
		text, _ := json.Marshal(seen)
		os.WriteFile(path, text, 0o600)
	}
	os.Exit(code)
}

// note reads b.N by reflection, so that it is not taken for a part of the measurement.
func note(tb testing.TB) func() {
	seen.Setups++
	return func() { seen.N = int(reflect.ValueOf(tb).Elem().FieldByName("N").Int()) }
}

var sink uint64

//go:noinline
func work(n int) {
	x := sink
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink = x
}

var (
	box   *[4]int64
	boxes [142]*[4]int64
)

func allocate(n int) {
	for i := 0; i < n; i++ {
		boxes[i] = new([4]int64)
	}
}

func BenchmarkPlain(b *testing.B) {
	defer note(b)()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		work(100)
	}
}

// BenchmarkLive allocates beside a list that takes its time to mark, and twice as much where it is to fail.
func BenchmarkLive(b *testing.B) {
	type node struct {
		next *node
		_    [3]int64
	}
	var list *node
	for i := 0; i < 200_000; i++ {
		list = &node{next: list}
	}
	n := 10
	if fail {
		n = 20
	}
	defer note(b)()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		allocate(n)
	}
	runtime.KeepAlive(list)
}

func BenchmarkParallel(b *testing.B) {
	defer note(b)()
	b.RunParallel(func(pb *testing.PB) {
		x := uint64(0)
		for pb.Next() {
			atomic.AddInt64(&seen.Calls, 1)
			for i := 0; i < 200; i++ {
				x = x*6364136223846793005 + 1
			}
		}
		atomic.AddUint64(&sink, x)
	})
}

func BenchmarkSub(b *testing.B) {
	for _, name := range []string{"a", "b c", "dup", "dup"} {
		b.Run(name, func(b *testing.B) {
			defer note(b)()
			for i := 0; i < b.N; i++ {
				seen.Calls++
				work(10)
			}
		})
	}
}

// BenchmarkPaused has 100 us outside the timer and an allocation there that must not count.
func BenchmarkPaused(b *testing.B) {
	defer note(b)()
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		allocate(17)
		for start := time.Now(); time.Since(start) < 100*time.Microsecond; {
		}
		b.StartTimer()
		seen.Calls++
		box = new([4]int64)
		work(10000)
	}
}

// BenchmarkStopped leaves the timer off between two iterations.
func BenchmarkStopped(b *testing.B) {
	defer note(b)()
	b.StopTimer()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		allocate(17)
		b.StartTimer()
		box = new([4]int64)
		work(10000)
		b.StopTimer()
		for start := time.Now(); time.Since(start) < 100*time.Microsecond; {
		}
	}
}

// BenchmarkRecall uses b.N twice, so it is called again for every slice; its set-up is timed.
func BenchmarkRecall(b *testing.B) {
	defer note(b)()
	b.Cleanup(func() { seen.Cleanups++; allocate(5) })
	n := b.N
	for i := 0; i < n; i++ {
		seen.Calls++
		allocate(142)
	}
	if b.N != n {
		b.Fatal("b.N changed within a call")
	}
}

// BenchmarkReset is called again too, but resets its timer after a set-up of some length.
func BenchmarkReset(b *testing.B) {
	defer note(b)()
	allocate(99)
	for start := time.Now(); time.Since(start) < setup; {
	}
	n := b.N
	b.ResetTimer()
	for i := 0; i < n; i++ {
		seen.Calls++
		allocate(142)
	}
	if b.N != n {
		b.Fatal("b.N changed within a call")
	}
}

// BenchmarkSetup has an expensive set-up, which must be made once.
func BenchmarkSetup(b *testing.B) {
	defer note(b)()
	allocate(99)
	time.Sleep(20 * time.Millisecond)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		allocate(142)
	}
	b.StopTimer()
	allocate(50)
}

// BenchmarkUneven has four times the work on the side that fails.
func BenchmarkUneven(b *testing.B) {
	defer note(b)()
	n := 1000
	if fail {
		n = 4000
	}
	for i := 0; i < b.N; i++ {
		seen.Calls++
		box = new([4]int64)
		work(n)
	}
}

// BenchmarkFew allocates too seldom for collections to matter.
func BenchmarkFew(b *testing.B) {
	defer note(b)()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		box = new([4]int64)
		work(50000)
	}
}

func BenchmarkGoesWrong(b *testing.B) {
	wrong := map[string]func(){
		"fatal": func() { b.Fatal("as asked") },
		"error": func() { b.Error("as asked") },
		"panic": func() { panic("as asked") },
		"exit":  func() { os.Exit(7) },
		"skip":  func() { b.Skip("as asked") },
	}
	for _, name := range []string{"fatal", "error", "panic", "exit", "skip"} {
		b.Run(name, func(outer *testing.B) {
			b = outer
			for i := 0; i < outer.N; i++ {
				seen.Calls++
				work(100)
				if fail && seen.Calls == 5000 {
					wrong[name]()
				}
			}
		})
	}
}

// BenchmarkAtOnce goes wrong in the first call.
func BenchmarkAtOnce(b *testing.B) {
	if fail {
		b.Fatal("as asked")
	}
	for i := 0; i < b.N; i++ {
		work(100)
	}
}

// BenchmarkCores notes on which cores it runs, and on which ones another thread of the process may run.
func BenchmarkCores(b *testing.B) {
	ask, allowed := make(chan bool), make(chan uint64)
	go func() {
		runtime.LockOSThread()
		for range ask {
			var mask [128]uint64
			syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
			allowed <- mask[0]
		}
	}()
	number := map[string]uintptr{"amd64": 309, "arm64": 168}[runtime.GOARCH] // of the system call getcpu
	for i := 0; i < b.N; i++ {
		var core uint32
		syscall.RawSyscall(number, uintptr(unsafe.Pointer(&core)), 0, 0)
		ask <- true
		mask := <-allowed
		if seen.Calls++; seen.Calls > 1 { // the first call is not measured
			seen.Cores |= 1<<core | mask
		}
	}
}

// BenchmarkHiccup is held up once, in its first measured invocation.
func BenchmarkHiccup(b *testing.B) {
	defer note(b)()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		work(100)
		if seen.Calls == 2 {
			time.Sleep(time.Millisecond)
		}
	}
}

func BenchmarkSkipped(b *testing.B) { b.Skip("as asked") }

// BenchmarkPingPong needs the scheduler: the hook must not slow it down by tying a goroutine to a thread.
func BenchmarkPingPong(b *testing.B) {
	defer note(b)()
	ping, pong := make(chan int), make(chan int)
	go func() {
		for range ping {
			pong <- 1
		}
	}()
	for i := 0; i < b.N; i++ {
		seen.Calls++
		ping <- 1
		<-pong
	}
	close(ping)
}

// TestInner checks that testing.Benchmark is left alone.
func TestInner(t *testing.T) {
	r := testing.Benchmark(func(b *testing.B) {
		b.Run("sub", func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				work(100)
			}
		})
		for i := 0; i < b.N; i++ {
			work(100)
		}
	})
	fmt.Println("inner", r.N, r.T > 0)
	r = testing.Benchmark(func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			work(100)
		}
	})
	if r.N < 1000 {
		t.Errorf("testing.Benchmark made %d iterations", r.N)
	}
}

// BenchmarkEnvironment checks that programs started by a benchmark do not take part.
func BenchmarkEnvironment(b *testing.B) {
	for _, name := range []string{"DUET_PAGE", "DUET_SIDE", "DUET_BENCH", "DUET_LIST"} {
		if os.Getenv(name) != "" {
			b.Fatal(name + " is still set")
		}
	}
	for i := 0; i < b.N; i++ {
		work(100)
	}
}
