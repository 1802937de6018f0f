package duethook

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// links returns both ends of a page of its own.
func links(t *testing.T, mode uint32) [2]*duetLink {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page")
	const capacity = 100
	h := duetHeader{magic: duetMagic, version: duetVersion, mode: mode, seed: 7, capacity: capacity, core: [2]uint32{duetNoCore, duetNoCore}}
	mem := make([]byte, duetPageSize(capacity))
	*(*duetHeader)(unsafe.Pointer(&mem[0])) = h
	if err := os.WriteFile(path, mem, 0o600); err != nil {
		t.Fatal(err)
	}
	var ends [2]*duetLink
	for side := range ends {
		page, err := duetMapPage(path) // a mapping each, as in two processes
		if err != nil {
			t.Fatal(err)
		}
		ends[side] = duetNewLink(page, side)
	}
	return ends
}

func both(f func(side int)) {
	var wg sync.WaitGroup
	for side := 0; side < 2; side++ {
		wg.Add(1)
		go func(side int) { defer wg.Done(); f(side) }(side)
	}
	wg.Wait()
}

func TestNobodyPassesABarrierAlone(t *testing.T) {
	ends := links(t, duetModeDuet)
	const rounds = 200
	var reached [2]atomic.Int32
	both(func(side int) {
		if !ends[side].arrive(duetStyleLoop) {
			t.Errorf("side %d did not meet its peer", side)
		}
		for i := int32(1); i <= rounds; i++ {
			if i%50 == int32(side) {
				time.Sleep(time.Millisecond) // longer than the peer spins
			}
			reached[side].Store(i)
			if !ends[side].meet() {
				t.Errorf("side %d left at barrier %d", side, i)
				return
			}
			if peer := reached[1-side].Load(); peer != i && peer != i+1 {
				t.Errorf("side %d passed barrier %d, but its peer is at %d", side, i, peer)
			}
		}
	})
}

func TestTurnsAlternateAsTheSeedSays(t *testing.T) {
	ends := links(t, duetModeInterleaved)
	const slices = 200
	var order []int // no lock: only whose turn it is may append
	both(func(side int) {
		l := ends[side]
		l.arrive(duetStyleLoop)
		l.finalStep = 2 + 2*slices
		steps := []uint32{l.calibrationStep()}
		for j := uint64(0); j < slices; j++ {
			steps = append(steps, l.sliceStep(j))
		}
		for _, step := range steps {
			if !l.await(step) {
				t.Errorf("side %d left at step %d", side, step)
				return
			}
			order = append(order, side)
			l.pass(step)
		}
		if !l.await(l.finalStep) {
			t.Errorf("side %d left at the end", side)
		}
	})
	want := []int{0, 1}
	for j := uint64(0); j < slices; j++ {
		want = append(want, duetLead(7, j), 1-duetLead(7, j))
	}
	for i := range want {
		if i >= len(order) || order[i] != want[i] {
			t.Fatalf("step %d was not taken by side %d", i, want[i])
		}
	}
}

func TestEveryWaitEnds(t *testing.T) {
	waits := map[string]func(*duetLink) bool{
		"arrive": func(l *duetLink) bool { return l.arrive(duetStyleLoop) },
		"meet":   func(l *duetLink) bool { return l.meet() },
		"await":  func(l *duetLink) bool { return l.await(9) },
	}
	endings := map[string]func(l *duetLink){
		"stop":        func(l *duetLink) { atomic.StoreUint32(&l.header.stop, 1) },
		"peer done":   func(l *duetLink) { atomic.StoreUint32(&l.peer.state, duetStateDone) },
		"peer gone":   func(l *duetLink) { atomic.StoreUint32(&l.peer.state, duetStateGone) },
		"parent dead": func(l *duetLink) { l.parent = -1 },
	}
	for wait, run := range waits {
		for ending, end := range endings {
			l := links(t, duetModeDuet)[0]
			ended := make(chan bool)
			if ending == "parent dead" {
				end(l)
			}
			go func() { ended <- run(l) }()
			time.Sleep(time.Millisecond)
			if ending != "parent dead" {
				end(l)
			}
			select {
			case met := <-ended:
				if met {
					t.Errorf("%s: %s looks like a meeting", wait, ending)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s: %s does not end it", wait, ending)
			}
		}
	}
}

func TestAPeerThatMetUsAndLeftHasMetUs(t *testing.T) {
	l := links(t, duetModeDuet)[0]
	l.peer.arrive, l.peer.state = 1, duetStateDone
	if !l.meet() {
		t.Error("the barrier failed although the peer had reached it")
	}
}

func TestPagesThatAreNoneAreRefused(t *testing.T) {
	spoil := map[string]func(*duetHeader){
		"magic":    func(h *duetHeader) { h.magic++ },
		"version":  func(h *duetHeader) { h.version = 2 },
		"mode":     func(h *duetHeader) { h.mode = 3 },
		"capacity": func(h *duetHeader) { h.capacity++ },
		"room":     func(h *duetHeader) { h.warmupSlices = h.capacity },
	}
	for name, f := range spoil {
		mem := make([]byte, duetPageSize(10))
		h := (*duetHeader)(unsafe.Pointer(&mem[0]))
		*h = duetHeader{magic: duetMagic, version: duetVersion, capacity: 10}
		if _, err := duetViewPage(mem); err != nil {
			t.Fatal(err)
		}
		f(h)
		if _, err := duetViewPage(mem); err == nil {
			t.Errorf("a page with a wrong %s was accepted", name)
		}
	}
}

func TestCalibrationGrowsAsTheProtocolSays(t *testing.T) {
	cases := []struct {
		k, ns, next uint64
		again       bool
	}{
		{1, 0, 100, true},
		{1, 100_000, 2, true},
		{10, 139_999, 15, true},
		{10, 140_000, 10, false},
		{10, 500_000, 10, false},
		{1000, 75_000, 2667, true},
		{duetMaxK / 2, 1, duetMaxK, true},
		{duetMaxK, 0, duetMaxK, false},
	}
	for _, c := range cases {
		if next, again := duetGrow(c.k, c.ns, 200_000); next != c.next || again != c.again {
			t.Errorf("after %d invocations in %d ns: %d %v, want %d %v", c.k, c.ns, next, again, c.next, c.again)
		}
	}
}

func TestOnlyShortSlicesAreRepeated(t *testing.T) {
	h := &duetHeader{trialNS: 4000}
	for _, c := range []struct {
		k       uint64
		spent   duetSpent
		repeats bool
	}{
		{1, duetSpent{1000, 1000}, true},
		{1, duetSpent{1001, 1001}, false},
		{1, duetSpent{40_000, 1000}, true}, // interrupted
		{1, duetSpent{40_001, 1000}, false},
		{duetMaxK, duetSpent{1, 1}, false},
	} {
		if got := duetRepeats(c.k, c.spent, h); got != c.repeats {
			t.Errorf("%d invocations in %v are repeated: %t", c.k, c.spent, got)
		}
	}
}

func TestASliceAllocatesNothing(t *testing.T) {
	threads, err := duetNewThreads()
	if err != nil {
		t.Fatal(err)
	}
	l := links(t, duetModeSolo)[0]
	word := uint32(0)
	if n := testing.AllocsPerRun(100, func() {
		duetCPU()
		duetFutexWake(&word)
		duetFutexWait(&word, 1, time.Millisecond)
		l.page.add(0, duetRecord{})
		threads.moveListed(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCPUTime(b *testing.B) {
	for i := 0; i < b.N; i++ {
		duetCPU()
	}
}

// BenchmarkMoveAll moves all threads to core 0, which they are on after the first time.
func BenchmarkMoveAll(b *testing.B) {
	threads, err := duetNewThreads()
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		threads.moveAll(uint32(i % 2))
	}
}

func BenchmarkMoveOne(b *testing.B) {
	threads, err := duetNewThreads()
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		threads.mask[0] = 1 << (i % 2)
		threads.move(0)
	}
}

func TestSetupIsToldFromWork(t *testing.T) {
	for _, c := range []struct{ first, last, k, setup uint64 }{
		{1_000_200, 3_000_000, 10_001, 1_000_001}, // a millisecond of set-up, 200 ns of work
		{200, 200_000, 1_000, 0},                  // no set-up
		{500, 400, 4, 500},                        // more work in less time: all of it may be set-up
		{500, 500, 1, 500},
	} {
		if got := duetSetupNS(c.first, c.last, c.k); got != c.setup {
			t.Errorf("duetSetupNS(%d, %d, %d) = %d, want %d", c.first, c.last, c.k, got, c.setup)
		}
	}
}

func TestAnInterruptionHidesNoSetup(t *testing.T) {
	one := duetSpent{1_000_200, 1_000_200} // a millisecond of set-up, 200 ns of work
	for _, c := range []struct {
		spent     duetSpent
		k         uint64
		outweighs bool
	}{
		{duetSpent{9_000_000, 1_000_800}, 4, false}, // interrupted for 8 ms
		{duetSpent{9_000_000, 3_000_600}, 10_001, true},
		{duetSpent{2_000_000, 2_000_000}, 5_001, false},
	} {
		if got := c.spent.outweighs(one); got != c.outweighs {
			t.Errorf("%v outweighs %v: %t", c.spent, one, got)
		}
	}
	if got := (duetSpent{9_000_000, 3_000_600}).fixed(one, 10_001); got != 1_000_000 {
		t.Errorf("set-up of %d ns", got)
	}
	waits := duetSpent{5_000_000, 20_000} // a set-up that waits
	if got := (duetSpent{15_000_000, 400_000}).fixed(waits, 1_001); got != 4_990_000 {
		t.Errorf("set-up of %d ns that waits", got)
	}
	if !(duetSpent{1_000_000_000, 1}).outweighs(duetSpent{900_000_000, 900_000_000}) {
		t.Error("no slice is longer than a second")
	}
}
