#!/usr/bin/env python3
"""Writes the golden files from PROTOCOL.md alone. Run it in this folder after a change to the protocol."""

import json
import re
import struct
from pathlib import Path

HERE = Path(__file__).parent
U64 = 2**64 - 1
MAX_K = 10**9
INTERLEAVED = 1
LOOP, REWRITTEN, RECALL = 1, 2, 3
SIZES = {"u32": 4, "u64": 8}


def layout():
    """Reads the three tables of the document, so that it and the golden file cannot differ."""
    text = (HERE.parent / "PROTOCOL.md").read_text()
    fields = {}
    for title, name in (("### Header", "header"), ("### Side block", "side"), ("### Record", "record")):
        part = text.split(title, 1)[1].split("\n#", 1)[0]
        rows = re.findall(r"^\| (\d+) \| (u\d\d) \| `(\w+)` \|", part, re.M)
        fields[name] = [{"name": n, "offset": int(o), "size": SIZES[t]} for o, t, n in rows]
    return {
        "magic": "DUETPAG1",
        "version": 1,
        "sides_offset": 256,
        "side_size": 256,
        "records_offset": 4096,
        "record_size": 64,
        "page_size": [{"capacity": c, "size": 4096 + 2 * c * 64} for c in (1, 100, 65536)],
        **fields,
    }


def lead(seed, j):
    z = (seed + j + 0x9E3779B97F4A7C15) & U64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & U64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & U64
    return (z ^ z >> 31) & 1


def ceil_div(a, b):
    return -(-a // b)


def agree(h, sides):
    """Python's integers have no size, so the 64-bit limits are explicit."""
    length = max([h["slice_ns"]] + [s.get("slice_ns", 0) for s in sides])
    big_k, slice_est, span, seen = slices_of(h, sides, length)
    cycle = min(U64, slice_est * span) if seen else 0
    whole = warm = False
    if h.get("mode", 0) == INTERLEAVED and 0 < cycle <= h["gc_ns"] // 4:
        big_k, slice_est, span, _ = slices_of(h, sides, max(length, 8_000_000, cycle // 4))
        whole = all(s["style"] in (LOOP, REWRITTEN) for s in sides)
        slice_est = min(U64, cycle * ceil_div(slice_est, cycle)) if whole else slice_est
        warm = whole and slice_est + cycle <= h["gc_ns"] // 4
        slice_est += cycle if warm else 0
    warm_k = 0
    if h.get("mode", 0) == INTERLEAVED and h.get("warm_ns", 0) > 0 and not whole and all(s["style"] in (LOOP, REWRITTEN) for s in sides):
        warm_k, warm_est, _, _ = slices_of(h, sides, h["warm_ns"])
        slice_est = min(U64, slice_est + warm_est)
    wanted = max(1, h["trial_ns"] // slice_est)
    room = h["capacity"]
    as_long = max(2, ceil_div(h["warmup_slices"] * h["slice_ns"], slice_est))
    warmup = min(h["warmup_slices"], as_long, room) if slice_est * 4 <= h["trial_ns"] else 0
    slices = wanted
    if whole or seen and span > 0:
        settle, one, several = (min(U64, ceil_div(n * span, 100)) for n in (115, 270, 1080))
        if whole:
            settle, one, several = ceil_div(6 * cycle, slice_est), 3, 11
        cycles = max(wanted, one, min(several, h["gc_ns"] // 16 // slice_est))
        most = min(room, h["gc_ns"] // slice_est)
        if whole:
            settle = max(1, min(settle, most - cycles))
        settle = max(warmup, settle)
        if settle + cycles <= most:
            warmup, slices = settle, cycles
    if h.get("slices", 0) > 0:
        warmup, slices = min(h["warmup_slices"], room), h["slices"]
    slices = min(slices, room - warmup)
    return {"k": big_k, "warmup": warmup, "slices": slices, "block": max(1, h["block_slices"]), "whole": whole, "warm": warm,
            "warm_k": warm_k}


def slices_of(h, sides, length):
    """Invocations of slices of this length, the time they take, how many a cycle has, and whether cycles must be seen."""
    xs = [(max(1, s["k"]), max(1, s["k_ns"]), s["k_bytes"], s["gc_period"]) for s in sides]
    big_k = min([MAX_K] + [max(1, k * length // ns) for k, ns, _, _ in xs])
    slice_est = min(U64, max(ceil_div(ns * big_k, k) for k, ns, _, _ in xs))
    bytes_of = [min(U64, b * big_k // k) for k, _, b, _ in xs]
    alike = len(sides) == 2 and max(bytes_of) - min(bytes_of) <= max(bytes_of) // 100
    seen = h["gc_ns"] > 0 and not (alike and all(s["parallelism"] == 1 for s in sides))
    spans = [ceil_div(g, min(U64, max(1, b * big_k // k))) for k, _, b, g in xs if b > 0 and g > 0]
    return big_k, slice_est, max(spans, default=0), seen


def header(**changes):
    h = dict(slice_ns=200_000, trial_ns=30_000_000, warmup_slices=20, capacity=4096, block_slices=25, gc_ns=10**9)
    return {**h, **changes}


def in_turns(**changes):
    return header(mode=INTERLEAVED, **changes)


def side(k, k_ns, k_bytes=0, gc_period=4_000_000):
    return dict(k=k, k_ns=k_ns, k_bytes=k_bytes, gc_period=gc_period, parallelism=2, style=LOOP)


def on_one_core(*sides):
    return [s | {"parallelism": 1} for s in sides]


def agree_cases():
    fast, equal = side(2667, 200_000), side(2667, 200_000)
    cases = [
        ("equal sides", header(), [equal, equal]),
        ("one side 5 % slower", header(), [fast, side(2667, 210_001)]),
        ("sides found different k", header(), [side(100, 7_000), side(9_999, 812_345)]),
        ("solo", header(), [fast]),
        ("a slice takes exactly its length", header(), [side(1, 200_000), side(1, 200_000)]),
        ("one invocation is longer than a slice", header(), [side(1, 3_000_000), side(1, 2_900_000)]),
        ("warm-up just fits a quarter", header(), [side(1, 7_500_000), side(1, 1_000_000)]),
        ("an invocation is as long as four slices", header(), [side(1, 800_000), side(1, 790_000)]),
        ("warm-up just does not fit", header(), [side(1, 7_500_001), side(1, 1_000_000)]),
        ("one invocation is longer than the trial", header(), [side(1, 10**10), side(1, 9 * 10**9)]),
        ("only one side is slow", header(), [side(1, 10**10), side(5_000, 200_000)]),
        ("room is short", header(capacity=50), [equal, equal]),
        ("room for one slice after the warm-up", header(capacity=21), [equal, equal]),
        ("warm-up fills the room", header(capacity=20), [equal, equal]),
        ("cycles of forty slices", header(), [side(100, 200_000, 100_000)] * 2),
        ("cycles of three slices", header(), [side(100, 200_000, 1_400_000), side(100, 200_000, 1_500_000)]),
        ("several collections in a slice", header(), [side(9, 200_000, 50_000_000)] * 2),
        ("the rarest cycles decide, by bytes", header(), [side(100, 200_000, 40_000), side(100, 200_000, 20_000)]),
        ("the rarest cycles decide, by period", header(), [side(1, 200_000, 1_000, 9_000), side(1, 200_000, 1_000, 70_001)]),
        ("sides found different k and allocate", header(), [side(100, 150_000, 40_000), side(130, 200_000, 52_000)]),
        ("one side allocates", header(), [side(100, 200_000, 100_000), equal]),
        ("one side has no collector", header(), [side(100, 200_000, 50_000), side(100, 200_000, 10_000, 0)]),
        ("no collector", header(), [side(100, 200_000, 1_000_000, 0)] * 2),
        ("cycles just fit the time", header(gc_ns=77_000_000), [side(1, 200_000, 1, 100)] * 2),
        ("several cycles just fit a sixteenth of the time", header(gc_ns=172_800_000 * 16), [side(1, 200_000, 1, 80)] * 2),
        ("fewer cycles fit a sixteenth of the time", header(gc_ns=172_800_000 * 16 - 1), [side(1, 200_000, 1, 80)] * 2),
        ("cycles just do not fit the time", header(gc_ns=76_999_999), [side(1, 200_000, 1, 100)] * 2),
        ("cycles just fit the room", header(capacity=385), [side(1, 200_000, 1, 100)] * 2),
        ("cycles just do not fit the room", header(capacity=384), [side(1, 200_000, 1, 100)] * 2),
        ("slow slices, each with collections", header(), [side(1, 30_000_000, 50_000_000)] * 2),
        ("slow slices, rare cycles", header(), [side(1, 30_000_000, 100_000)] * 2),
        ("allocates a little", header(), [side(2_000, 200_000, 16)] * 2),
        ("no time for collections", header(gc_ns=0), [side(100, 200_000, 1_000_000)] * 2),
        ("the trial is longer than the time for collections", header(gc_ns=29_000_000), [side(100, 200_000, 1_000_000)] * 2),
        ("the same bytes on one core", header(), on_one_core(*[side(100, 200_000, 100_000)] * 2)),
        ("the same bytes, one side on two cores", header(), [*on_one_core(side(100, 200_000, 100_000)), side(100, 200_000, 100_000)]),
        ("one in a hundred bytes less on one core", header(), on_one_core(side(100, 200_000, 100_000), side(100, 200_000, 99_000))),
        ("more than one in a hundred bytes less on one core", header(), on_one_core(side(100, 200_000, 100_000), side(100, 200_000, 98_999))),
        ("the same bytes by another k on one core", header(), on_one_core(side(100, 200_000, 100_000), side(200, 400_000, 200_000))),
        ("solo on one core", header(), on_one_core(side(100, 200_000, 100_000))),
        ("huge bytes on one core", header(), on_one_core(side(1, 200_000, U64), side(1, 200_000, U64 - 1))),
        ("short cycles in turns", in_turns(), on_one_core(side(100, 200_000, 100_000, 1_000_000), side(100, 200_000, 50_000, 1_000_000))),
        ("cycles in turns", in_turns(), on_one_core(side(100, 200_000, 100_000), side(100, 200_000, 50_000))),
        ("the same bytes in turns", in_turns(), on_one_core(*[side(100, 200_000, 100_000)] * 2)),
        ("cycles in turns just fit the time", in_turns(gc_ns=80_000_000), [side(1, 200_000, 1, 100)] * 2),
        ("cycles in turns just do not fit the time", in_turns(gc_ns=79_999_999), [side(1, 200_000, 1, 100)] * 2),
        ("warm cycles in turns just fit the time", in_turns(gc_ns=160_000_000), [side(1, 200_000, 1, 100)] * 2),
        ("warm cycles in turns just do not fit the time", in_turns(gc_ns=159_999_999), [side(1, 200_000, 1, 100)] * 2),
        ("cycles in turns have just the time to settle", in_turns(gc_ns=240_000_000), [side(1, 200_000, 1, 100)] * 2),
        ("cycles in turns have less time to settle", in_turns(gc_ns=239_999_999), [side(1, 200_000, 1, 100)] * 2),
        ("cycles in turns, more of them in a slice", in_turns(), on_one_core(side(100, 200_000, 1_000_000), side(100, 200_000, 600_000))),
        ("cycles in turns that a slice just spans", in_turns(), on_one_core(side(1, 1_000, 50, 100_000), side(1, 1_000, 40, 80_000))),
        ("cycles in turns of an invocation that is longer", in_turns(), on_one_core(side(1, 9_000_000, 9_000_000), side(1, 9_000_000, 1_000_000))),
        ("cycles in turns, one side is called anew", in_turns(),
         on_one_core(side(100, 200_000, 100_000), side(100, 200_000, 50_000) | {"style": RECALL})),
        ("cycles in turns, the other way to run a loop", in_turns(), [side(1, 200_000, 1, 90) | {"style": REWRITTEN}] * 2),
        ("cycles in turns just fit the room", in_turns(capacity=4, warmup_slices=1), [side(1, 200_000, 1, 100)] * 2),
        ("cycles in turns just do not fit the room", in_turns(capacity=3, warmup_slices=1), [side(1, 200_000, 1, 100)] * 2),
        ("no time for collections in turns", in_turns(gc_ns=0), [side(1, 200_000, 1, 100)] * 2),
        ("a part that warms", in_turns(warm_ns=8_000_000, slice_ns=10_000_000, trial_ns=320_000_000), [side(2_000, 200_000), side(1_900, 200_000)]),
        ("a part that warms in a duet", header(warm_ns=8_000_000), [equal, equal]),
        ("a part that warms, shorter than an invocation", in_turns(warm_ns=1_000), [side(1, 300_000), side(1, 290_000)]),
        ("a part that warms, one side is called anew", in_turns(warm_ns=8_000_000), [equal, equal | {"style": RECALL}]),
        ("a part that warms, or whole cycles", in_turns(warm_ns=8_000_000), on_one_core(side(100, 200_000, 100_000), side(100, 200_000, 50_000))),
        ("a part that warms leaves room for warm-up", in_turns(warm_ns=7_300_000), [side(1, 200_000)] * 2),
        ("a part that warms leaves no room for warm-up", in_turns(warm_ns=7_500_000), [side(1, 200_000)] * 2),
        ("a part that warms for ever", in_turns(warm_ns=U64, trial_ns=U64), [side(1, U64), side(1, 1)]),
        ("set-up must be outweighed on one side", header(), [side(10_000, 3_000_000) | {"slice_ns": 50_000_000}, side(900, 200_000)]),
        ("shorter than the header's slice", header(), [equal | {"slice_ns": 150_000}, equal]),
        ("no warm-up wanted", header(warmup_slices=0), [equal, equal]),
        ("clock stood still", header(), [side(10**9, 0), side(10**9, 0)]),
        ("nothing was published", header(), [side(0, 0, 0, 0), side(0, 0, 0, 0)]),
        ("empty body, long slices", header(slice_ns=10**9, trial_ns=10**10), [side(10**9, 250_000_000)] * 2),
        ("huge k", header(), [side(U64, U64, U64, U64)] * 2),
        ("huge k, short time", header(slice_ns=U64, trial_ns=U64), [side(U64, 1, U64, 1)] * 2),
        ("huge time", header(), [side(1, U64, U64, U64), side(1, U64, U64, U64)]),
        ("estimate overflows", header(slice_ns=U64, trial_ns=U64), [side(2, 1), side(1, U64)]),
        ("a huge number of bytes", header(), [side(1_000, 1_000, U64, U64), side(1_000, 1_000)]),
        ("span overflows", header(capacity=2**32 - 1, gc_ns=U64), [side(1, 2, 1, U64)] * 2),
        ("block of no slices", header(block_slices=0), [equal, equal]),
        ("trial of no time", header(trial_ns=0), [equal, equal]),
        ("so many slices", header(slices=7, trial_ns=200_000), [fast]),
        ("so many slices, one invocation is longer", header(slices=5, warmup_slices=2, block_slices=1, gc_ns=0), [side(1, 10**10)]),
        ("so many slices, which allocate much", header(slices=5), [side(100, 200_000, 1_000_000)]),
        ("so many slices, less room", header(slices=50, capacity=30), [fast]),
        ("largest room", header(capacity=2**32 - 1, trial_ns=U64), [equal, equal]),
    ]
    return [{"name": n, "header": h, "sides": s, "plan": agree(h, s)} for n, h, s in cases]


def record():
    fields = dict(
        slice=0x01020304, flags=95, invocations=0x1112131415161718, wall_ns=200_123, cpu_ns=199_987,
        allocs=142_000, bytes=U64, start_ns=0x2122232425262728, gcs=7, block=0x31323334,
    )
    raw = struct.pack("<IIQQQQQQII", *fields.values())
    return {"fields": fields, "hex": raw.hex()}


def write(name, value):
    (HERE / name).write_text(json.dumps(value, indent=1) + "\n")


def block_of(plan, j):
    """Number of slice j's block, and whether the slice is its first and its last."""
    total = plan["warmup"] + plan["slices"]
    if j < plan["warmup"]:
        return 0, j == 0, j + 1 == plan["warmup"]
    n = j - plan["warmup"]
    return 1 + n // plan["block"], n % plan["block"] == 0, (n + 1) % plan["block"] == 0 or j + 1 == total


def interleaved_transcript(seed, plan):
    """Every turn of an interleaved trial: whose it is, and what it is for."""
    events = [{"turn": side, "side": side, "does": "calibrate"} for side in (0, 1)]
    for j in range(plan["warmup"] + plan["slices"]):
        block, first, last = block_of(plan, j)
        for place in (0, 1):
            events.append({"turn": 2 + 2 * j + place, "side": lead(seed, j) ^ place, "does": "slice", "slice": j,
                           "block": block, "pause": first, "memory": last})
    return events + [{"turn": len(events), "side": None, "does": "leave"}]


def duet_transcript(plan):
    """Every barrier of a duet: what both sides do after it."""
    after = ["agree"]
    for j in range(plan["warmup"] + plan["slices"]):
        after += (["pause"] if block_of(plan, j)[1] else []) + [f"slice {j}"]
    return [{"barrier": n, "then": what} for n, what in enumerate(after + ["leave"], 1)]


def transcripts():
    plans = [
        ("a warm-up and two blocks", dict(warmup=3, slices=8, block=4)),
        ("the last block is short", dict(warmup=2, slices=5, block=3)),
        ("no warm-up", dict(warmup=0, slices=4, block=2)),
        ("one slice", dict(warmup=0, slices=1, block=16)),
    ]
    return [{"name": n, "seed": 42 + i, "plan": p, "interleaved": interleaved_transcript(42 + i, p), "duet": duet_transcript(p)}
            for i, (n, p) in enumerate(plans)]


def iterations():
    """Trials of style 5: whose every turn is, and what both sides do after every barrier."""
    cases = [("a warm-up", 3, 8), ("no warm-up", 0, 4), ("one slice", 0, 1), ("enough for both orders", 4, 12)]
    made = []
    for i, (name, warmup, slices) in enumerate(cases):
        seed, total = 42 + i, warmup + slices
        turns = [{"turn": side, "side": side, "does": "arrive"} for side in (0, 1)]
        turns += [{"turn": 2 + 2 * j + place, "side": lead(seed, j) ^ place, "does": "slice", "slice": j}
                  for j in range(total) for place in (0, 1)]
        turns.append({"turn": 2 + 2 * total, "side": None, "does": "leave"})
        after = ["begin"] + [f"slice {j}" for j in range(total)] + ["leave"]
        barriers = [{"barrier": n, "then": what} for n, what in enumerate(after, 1)]
        made.append({"name": name, "seed": seed, "warmup": warmup, "slices": slices, "interleaved": turns, "duet": barriers})
    return made


if __name__ == "__main__":
    write("layout.json", layout())
    seeds = [0, 1, 2, 42, 0xDEADBEEF, 0x9E3779B97F4A7C15, U64, 2**63]
    write("lead.json", [{"seed": s, "leads": [lead(s, j) for j in range(64)]} for s in seeds])
    write("agree.json", agree_cases())
    write("record.json", record())
    write("transcripts.json", transcripts())
    write("iterations.json", iterations())
