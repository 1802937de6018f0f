package duethook

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

func golden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "protocol", "golden", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type place struct {
	Name         string
	Offset, Size uintptr
}

func TestLayoutIsTheGoldenOne(t *testing.T) {
	var want struct {
		Magic         string
		Version       int
		SidesOffset   int `json:"sides_offset"`
		SideSize      int `json:"side_size"`
		RecordsOffset int `json:"records_offset"`
		RecordSize    int `json:"record_size"`
		PageSize      []struct {
			Capacity uint32
			Size     uint64
		} `json:"page_size"`
		Header, Side, Record []place
	}
	golden(t, "layout.json", &want)
	magic := uint64(duetMagic)
	if got := string((*[8]byte)(unsafe.Pointer(&magic))[:]); got != want.Magic || want.Version != duetVersion {
		t.Errorf("magic %q, version %d", got, duetVersion)
	}
	if want.SidesOffset != duetSideStart || want.SideSize != duetSideSize || want.RecordsOffset != duetHeaderSize ||
		want.SideSize != int(unsafe.Sizeof(duetSide{})) || want.RecordSize != int(unsafe.Sizeof(duetRecord{})) ||
		want.SidesOffset != int(unsafe.Sizeof(duetHeader{})) {
		t.Errorf("sizes differ from %+v", want)
	}
	for _, p := range want.PageSize {
		if got := duetPageSize(p.Capacity); got != p.Size {
			t.Errorf("page of capacity %d has %d bytes, want %d", p.Capacity, got, p.Size)
		}
	}
	checkPlaces(t, "header", want.Header, headerPlaces())
	checkPlaces(t, "side", want.Side, sidePlaces())
	checkPlaces(t, "record", want.Record, recordPlaces())
}

func headerPlaces() []place {
	var h duetHeader
	return []place{
		{"magic", unsafe.Offsetof(h.magic), unsafe.Sizeof(h.magic)},
		{"version", unsafe.Offsetof(h.version), unsafe.Sizeof(h.version)},
		{"mode", unsafe.Offsetof(h.mode), unsafe.Sizeof(h.mode)},
		{"seed", unsafe.Offsetof(h.seed), unsafe.Sizeof(h.seed)},
		{"slice_ns", unsafe.Offsetof(h.sliceNS), unsafe.Sizeof(h.sliceNS)},
		{"trial_ns", unsafe.Offsetof(h.trialNS), unsafe.Sizeof(h.trialNS)},
		{"warmup_slices", unsafe.Offsetof(h.warmupSlices), unsafe.Sizeof(h.warmupSlices)},
		{"capacity", unsafe.Offsetof(h.capacity), unsafe.Sizeof(h.capacity)},
		{"block_slices", unsafe.Offsetof(h.blockSlices), unsafe.Sizeof(h.blockSlices)},
		{"stretch", unsafe.Offsetof(h.stretch), unsafe.Sizeof(h.stretch)},
		{"k_hint", unsafe.Offsetof(h.kHint), unsafe.Sizeof(h.kHint)},
		{"core_0", unsafe.Offsetof(h.core), unsafe.Sizeof(h.core[0])},
		{"core_1", unsafe.Offsetof(h.core) + unsafe.Sizeof(h.core[0]), unsafe.Sizeof(h.core[1])},
		{"swap", unsafe.Offsetof(h.swap), unsafe.Sizeof(h.swap)},
		{"slices", unsafe.Offsetof(h.slices), unsafe.Sizeof(h.slices)},
		{"gc_ns", unsafe.Offsetof(h.gcNS), unsafe.Sizeof(h.gcNS)},
		{"warm_ns", unsafe.Offsetof(h.warmNS), unsafe.Sizeof(h.warmNS)},
		{"stop", unsafe.Offsetof(h.stop), unsafe.Sizeof(h.stop)},
		{"turn", unsafe.Offsetof(h.turn), unsafe.Sizeof(h.turn)},
	}
}

func sidePlaces() []place {
	var s duetSide
	return []place{
		{"state", unsafe.Offsetof(s.state), unsafe.Sizeof(s.state)},
		{"style", unsafe.Offsetof(s.style), unsafe.Sizeof(s.style)},
		{"arrive", unsafe.Offsetof(s.arrive), unsafe.Sizeof(s.arrive)},
		{"asleep", unsafe.Offsetof(s.asleep), unsafe.Sizeof(s.asleep)},
		{"k", unsafe.Offsetof(s.k), unsafe.Sizeof(s.k)},
		{"k_ns", unsafe.Offsetof(s.kNS), unsafe.Sizeof(s.kNS)},
		{"k_bytes", unsafe.Offsetof(s.kBytes), unsafe.Sizeof(s.kBytes)},
		{"gc_period", unsafe.Offsetof(s.gcPeriod), unsafe.Sizeof(s.gcPeriod)},
		{"resets", unsafe.Offsetof(s.resets), unsafe.Sizeof(s.resets)},
		{"records", unsafe.Offsetof(s.records), unsafe.Sizeof(s.records)},
		{"parallelism", unsafe.Offsetof(s.parallelism), unsafe.Sizeof(s.parallelism)},
		{"left_early", unsafe.Offsetof(s.leftEarly), unsafe.Sizeof(s.leftEarly)},
		{"slice_ns", unsafe.Offsetof(s.sliceNS), unsafe.Sizeof(s.sliceNS)},
		{"gc_cost_ns", unsafe.Offsetof(s.gcCostNS), unsafe.Sizeof(s.gcCostNS)},
		{"background_ns", unsafe.Offsetof(s.background), unsafe.Sizeof(s.background)},
		{"ended", unsafe.Offsetof(s.ended), unsafe.Sizeof(s.ended)},
	}
}

func recordPlaces() []place {
	var r duetRecord
	return []place{
		{"slice", unsafe.Offsetof(r.slice), unsafe.Sizeof(r.slice)},
		{"flags", unsafe.Offsetof(r.flags), unsafe.Sizeof(r.flags)},
		{"invocations", unsafe.Offsetof(r.invocations), unsafe.Sizeof(r.invocations)},
		{"wall_ns", unsafe.Offsetof(r.wallNS), unsafe.Sizeof(r.wallNS)},
		{"cpu_ns", unsafe.Offsetof(r.cpuNS), unsafe.Sizeof(r.cpuNS)},
		{"allocs", unsafe.Offsetof(r.allocs), unsafe.Sizeof(r.allocs)},
		{"bytes", unsafe.Offsetof(r.bytes), unsafe.Sizeof(r.bytes)},
		{"start_ns", unsafe.Offsetof(r.startNS), unsafe.Sizeof(r.startNS)},
		{"gcs", unsafe.Offsetof(r.gcs), unsafe.Sizeof(r.gcs)},
		{"block", unsafe.Offsetof(r.block), unsafe.Sizeof(r.block)},
	}
}

func checkPlaces(t *testing.T, what string, want, got []place) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s has %d fields, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s: %+v, want %+v", what, got[i], want[i])
		}
	}
}

func TestRecordHasTheGoldenBytes(t *testing.T) {
	var want struct {
		Fields map[string]uint64
		Hex    string
	}
	golden(t, "record.json", &want)
	f := want.Fields
	r := duetRecord{slice: uint32(f["slice"]), flags: uint32(f["flags"]), invocations: f["invocations"],
		wallNS: f["wall_ns"], cpuNS: f["cpu_ns"], allocs: f["allocs"], bytes: f["bytes"],
		startNS: f["start_ns"], gcs: uint32(f["gcs"]), block: uint32(f["block"])}
	if got := hex.EncodeToString((*[64]byte)(unsafe.Pointer(&r))[:]); got != want.Hex {
		t.Errorf("record is %s, want %s", got, want.Hex)
	}
	all := uint64(duetFlagWarmup | duetFlagFirst | duetFlagMemory | duetFlagPaused | duetFlagCPU | duetFlagCycles)
	if f["flags"] != all || duetFlagWarmup != 1 || duetFlagFirst != 2 || duetFlagMemory != 4 || duetFlagPaused != 8 || duetFlagCycles != 64 {
		t.Errorf("flags differ from the protocol")
	}
}

func TestLeadsAreTheGoldenOnes(t *testing.T) {
	var want []struct {
		Seed  uint64
		Leads []int
	}
	golden(t, "lead.json", &want)
	for _, w := range want {
		for j, lead := range w.Leads {
			if got := duetLead(w.Seed, uint64(j)); got != lead {
				t.Fatalf("seed %d, slice %d: side %d leads, want %d", w.Seed, j, got, lead)
			}
		}
	}
}

func TestBothSidesAgreeOnTheGoldenPlans(t *testing.T) {
	var want []struct {
		Name   string
		Header struct {
			Mode         uint32
			SliceNS      uint64 `json:"slice_ns"`
			TrialNS      uint64 `json:"trial_ns"`
			WarmupSlices uint32 `json:"warmup_slices"`
			Capacity     uint32 `json:"capacity"`
			BlockSlices  uint32 `json:"block_slices"`
			GCNS         uint64 `json:"gc_ns"`
			WarmNS       uint64 `json:"warm_ns"`
			Slices       uint32 `json:"slices"`
		}
		Sides []struct {
			K        uint64 `json:"k"`
			KNS      uint64 `json:"k_ns"`
			KBytes   uint64 `json:"k_bytes"`
			SliceNS  uint64 `json:"slice_ns"`
			GCPeriod uint64 `json:"gc_period"`

			Parallelism, Style uint32
		}
		Plan struct {
			K, Warmup, Slices, Block uint64
			Whole, Warm              bool
			WarmK                    uint64 `json:"warm_k"`
		}
	}
	golden(t, "agree.json", &want)
	for _, w := range want {
		h := &duetHeader{sliceNS: w.Header.SliceNS, trialNS: w.Header.TrialNS, warmupSlices: w.Header.WarmupSlices,
			capacity: w.Header.Capacity, blockSlices: w.Header.BlockSlices, gcNS: w.Header.GCNS, warmNS: w.Header.WarmNS, slices: w.Header.Slices, mode: w.Header.Mode}
		var sides, swapped []*duetSide
		for _, s := range w.Sides {
			side := &duetSide{k: s.K, kNS: s.KNS, kBytes: s.KBytes, gcPeriod: s.GCPeriod, sliceNS: s.SliceNS,
				parallelism: s.Parallelism, style: s.Style}
			sides, swapped = append(sides, side), append([]*duetSide{side}, swapped...)
		}
		plan := duetPlan{k: w.Plan.K, warmup: w.Plan.Warmup, slices: w.Plan.Slices, block: w.Plan.Block,
			whole: w.Plan.Whole, warm: w.Plan.Warm, warmK: w.Plan.WarmK}
		if got := duetAgree(h, sides); got != plan {
			t.Errorf("%s: %+v, want %+v", w.Name, got, plan)
		}
		if got := duetAgree(h, swapped); got != plan {
			t.Errorf("%s, seen from the other side: %+v, want %+v", w.Name, got, plan)
		}
	}
}

type goldenTranscript struct {
	Name        string
	Seed        uint64
	Plan        struct{ Warmup, Slices, Block uint64 }
	Interleaved []struct {
		Turn          uint32
		Side          *int
		Does          string
		Slice, Block  uint64
		Pause, Memory bool
	}
	Duet []struct {
		Barrier uint32
		Then    string
	}
}

func TestTrialsTakeTheGoldenCourse(t *testing.T) {
	var want []goldenTranscript
	golden(t, "transcripts.json", &want)
	for _, w := range want {
		plan := duetPlan{warmup: w.Plan.Warmup, slices: w.Plan.Slices, block: w.Plan.Block}
		for _, e := range w.Interleaved {
			for side := 0; side < 2 && e.Side != nil; side++ {
				link := &duetLink{header: &duetHeader{seed: w.Seed}, side: side}
				if link.owns(e.Turn) != (side == *e.Side) {
					t.Errorf("%s: turn %d is side %d's", w.Name, e.Turn, *e.Side)
				}
				if e.Does == "slice" && side == *e.Side && link.sliceStep(e.Slice) != e.Turn {
					t.Errorf("%s: side %d takes slice %d in turn %d, want %d", w.Name, side, e.Slice, link.sliceStep(e.Slice), e.Turn)
				}
			}
			if block, first, last := plan.blockOf(e.Slice); e.Does == "slice" && (block != e.Block || first != e.Pause || last != e.Memory) {
				t.Errorf("%s: slice %d is in block %d (first %v, last %v), want %+v", w.Name, e.Slice, block, first, last, e)
			}
		}
		if last := w.Interleaved[len(w.Interleaved)-1]; uint64(last.Turn) != 2+2*plan.total() {
			t.Errorf("%s: the sides leave at turn %d", w.Name, last.Turn)
		}
		if got := duetBarriers(plan); got != uint32(len(w.Duet)) {
			t.Errorf("%s: a duet has %d barriers, want %d", w.Name, got, len(w.Duet))
		}
	}
}

// duetBarriers counts the barriers of a duet as duetSettle, duetPrepare and duetFinish pass them; the end-to-end tests hold
// it against what a side says it has passed.
func duetBarriers(plan duetPlan) uint32 {
	barriers := uint32(2) // to agree and to leave
	for j := uint64(0); j < plan.total(); j++ {
		barriers++
		if _, first, _ := plan.blockOf(j); first {
			barriers++
		}
	}
	return barriers
}
