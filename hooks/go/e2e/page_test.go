package e2e

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// page is the controller's view, written from the golden layout and not from the hook's types.
type page struct {
	path     string
	mem      []byte
	layout   layout
	capacity int
	unmarked bool // do not mark side 1 when its process has ended: it must do that itself
}

type field struct {
	Name         string
	Offset, Size int
}

type layout struct {
	Magic         string
	SidesOffset   int `json:"sides_offset"`
	SideSize      int `json:"side_size"`
	RecordsOffset int `json:"records_offset"`
	RecordSize    int `json:"record_size"`
	Header        []field
	Side          []field
	Record        []field
}

// record has the fields of the page by name.
type record map[string]uint64

const (
	modeDuet = iota
	modeInterleaved
	modeSolo
)

const (
	flagWarmup = 1 << iota
	flagFirst
	flagMemory
	flagPaused
	flagCPU
	flagNoAllocs
	flagCycles
)

// newPage makes a page of 200 us slices; changes overrides header fields.
func newPage(t *testing.T, mode uint64, changes record) *page {
	t.Helper()
	header := record{"version": 1, "mode": mode, "seed": 42, "slice_ns": 200_000, "trial_ns": 10_000_000,
		"warmup_slices": 5, "capacity": 2000, "block_slices": 10, "gc_ns": 100_000_000,
		"core_0": 0, "core_1": 1, "swap": 1}
	for name, value := range changes {
		header[name] = value
	}
	p := &page{path: t.TempDir() + "/page", capacity: int(header["capacity"])}
	text, err := os.ReadFile("../../protocol/golden/layout.json")
	must(t, err)
	must(t, json.Unmarshal(text, &p.layout))
	size := p.layout.RecordsOffset + 2*p.capacity*p.layout.RecordSize
	must(t, os.WriteFile(p.path, make([]byte, size), 0o600))
	file, err := os.OpenFile(p.path, os.O_RDWR, 0)
	must(t, err)
	defer file.Close()
	p.mem, err = syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	copy(p.mem, p.layout.Magic)
	for _, f := range p.layout.Header {
		if value, ok := header[f.Name]; ok {
			p.put(0, f, value)
		}
	}
	return p
}

func (p *page) put(base int, f field, value uint64) {
	if f.Size == 4 {
		binary.LittleEndian.PutUint32(p.mem[base+f.Offset:], uint32(value))
	} else {
		binary.LittleEndian.PutUint64(p.mem[base+f.Offset:], value)
	}
}

func (p *page) get(base int, fields []field) record {
	r := record{}
	for _, f := range fields {
		if f.Size == 4 {
			r[f.Name] = uint64(binary.LittleEndian.Uint32(p.mem[base+f.Offset:]))
		} else {
			r[f.Name] = binary.LittleEndian.Uint64(p.mem[base+f.Offset:])
		}
	}
	return r
}

func (p *page) sideBase(side int) int { return p.layout.SidesOffset + side*p.layout.SideSize }

func (p *page) mode() uint64 { return p.get(0, p.layout.Header)["mode"] }

func (p *page) side(side int) record { return p.get(p.sideBase(side), p.layout.Side) }

func (p *page) records(side int) []record {
	var all []record
	for n := 0; n < int(p.side(side)["records"]); n++ {
		all = append(all, p.get(p.layout.RecordsOffset+(side*p.capacity+n)*p.layout.RecordSize, p.layout.Record))
	}
	return all
}

func (p *page) word(base int, fields []field, name string) *uint32 {
	for _, f := range fields {
		if f.Name == name {
			return (*uint32)(unsafe.Pointer(&p.mem[base+f.Offset]))
		}
	}
	panic(name)
}

// gone marks a side whose process has ended.
func (p *page) gone(side int) {
	if side == 1 && p.unmarked {
		return
	}
	atomic.StoreUint32(p.word(p.sideBase(side), p.layout.Side, "state"), 3)
}

func (p *page) stop() { atomic.StoreUint32(p.word(0, p.layout.Header, "stop"), 1) }
