package duethook

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// duetMarker proves that the hook was linked in: duet looks for it in the test binary.
// It begins every message of the hook, so the linker cannot drop it.
const duetMarker = "duet-hook-protocol-1"

// The page: the memory that both sides and the controller share.
// hooks/protocol/PROTOCOL.md defines it; golden/layout.json tests these types against it.
const (
	duetMagic      = 0x31474150_54455544 // the bytes DUETPAG1
	duetVersion    = 1
	duetHeaderSize = 4096
	duetSideStart  = 256
	duetSideSize   = 256
	duetNoCore     = 0xffffffff
)

// Values of duetHeader.mode.
const (
	duetModeDuet = iota
	duetModeInterleaved
	duetModeSolo
)

// Values of duetSide.state.
const (
	duetStateAbsent = iota
	duetStateAlive
	duetStateDone
	duetStateGone
)

// Values of duetSide.style. duetStyleNames follows the same order.
const (
	duetStyleUnknown = iota
	duetStyleLoop
	duetStyleRewritten
	duetStyleRecall
	duetStyleParallel
)

var duetStyleNames = [...]string{"unknown", "loop", "rewritten", "recall", "parallel"}

// Bits of duetRecord.flags.
const (
	duetFlagWarmup = 1 << iota
	duetFlagFirst
	duetFlagMemory
	duetFlagPaused
	duetFlagCPU
	duetFlagNoAllocs // of runtimes that count bytes alone
	duetFlagCycles
)

type duetHeader struct {
	magic        uint64
	version      uint32
	mode         uint32
	seed         uint64
	sliceNS      uint64
	trialNS      uint64
	warmupSlices uint32
	capacity     uint32
	blockSlices  uint32
	stretch      uint32
	kHint        uint64
	core         [2]uint32
	swap         uint32
	slices       uint32
	gcNS         uint64
	warmNS       uint64
	_            [32]byte
	stop         uint32 // atomic
	_            [60]byte
	turn         uint32 // atomic, a futex word
	_            [60]byte
}

type duetSide struct {
	state       uint32 // atomic
	style       uint32
	arrive      uint32 // atomic, a futex word
	asleep      uint32 // atomic
	k           uint64
	kNS         uint64
	kBytes      uint64
	gcPeriod    uint64
	resets      uint32
	records     uint32 // atomic
	parallelism uint32
	leftEarly   uint32
	sliceNS     uint64
	gcCostNS    uint64
	background  uint64
	ended       uint32 // atomic
	_           [164]byte
}

type duetRecord struct {
	slice       uint32
	flags       uint32
	invocations uint64
	wallNS      uint64
	cpuNS       uint64
	allocs      uint64
	bytes       uint64
	startNS     uint64
	gcs         uint32
	block       uint32
}

type duetPage struct {
	header  *duetHeader
	sides   [2]*duetSide
	records [2][]duetRecord
}

// duetMapPage maps the page at path. It stays mapped until the process ends.
func duetMapPage(path string) (*duetPage, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < duetHeaderSize {
		return nil, errors.New("page is too short")
	}
	mem, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return duetViewPage(mem)
}

// duetViewPage lays the types of this file over mem.
func duetViewPage(mem []byte) (*duetPage, error) {
	base := unsafe.Pointer(&mem[0])
	page := &duetPage{header: (*duetHeader)(base)}
	switch h := page.header; {
	case h.magic != duetMagic:
		return nil, errors.New("not a duet page")
	case h.version != duetVersion:
		return nil, errors.New("page has another protocol version")
	case h.mode > duetModeSolo:
		return nil, errors.New("page has an unknown mode")
	case uint64(len(mem)) != duetPageSize(h.capacity):
		return nil, errors.New("page has the wrong size")
	case h.capacity <= h.warmupSlices:
		return nil, errors.New("page has no room for records")
	}
	capacity := int(page.header.capacity)
	for side := range page.sides {
		page.sides[side] = (*duetSide)(unsafe.Add(base, duetSideStart+side*duetSideSize))
		first := unsafe.Add(base, duetHeaderSize+side*capacity*int(unsafe.Sizeof(duetRecord{})))
		page.records[side] = unsafe.Slice((*duetRecord)(first), capacity)
	}
	return page, nil
}

func duetPageSize(capacity uint32) uint64 {
	return duetHeaderSize + 2*uint64(capacity)*uint64(unsafe.Sizeof(duetRecord{}))
}

// add writes the next record of a side and then makes it visible.
func (p *duetPage) add(side int, r duetRecord) {
	n := atomic.LoadUint32(&p.sides[side].records)
	if int(n) >= len(p.records[side]) {
		return // the agreed numbers never get here; a benchmark must not die of it
	}
	p.records[side][n] = r
	atomic.StoreUint32(&p.sides[side].records, n+1)
}
