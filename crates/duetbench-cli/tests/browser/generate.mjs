// Made-up data of a report, as the page takes them: the same number and seed give the same data.

const VERDICTS = [
  "regression",
  "improvement",
  "no_change",
  "inconclusive",
  "identical_code",
  "baseline_only",
  "candidate_only",
  "failed",
  "slower_size_open",
  "slower_within_tolerance",
  "faster_size_open",
  "faster_within_tolerance",
];
/** Sizes of changes that are real, and not shown to exceed the threshold. */
const SIZED = {
  slower_size_open: 0.03,
  slower_within_tolerance: 0.012,
  faster_size_open: -0.03,
  faster_within_tolerance: -0.012,
};
const MEASURED = ["regression", "improvement", "no_change", "inconclusive", ...Object.keys(SIZED)];
/** Frequency of each verdict, in tenths of a percent. */
const SHARES = [45, 40, 590, 90, 110, 20, 25, 20, 15, 25, 10, 10];
const PACKAGES = [
  "example.com/shop/codec",
  "example.com/shop/store",
  "example.com/shop/internal/index",
  "example.com/shop/http",
];
const ROUTINES = ["Encode", "Decode", "Checksum", "Parse", "Scan", "Get", "Put", "Merge", "Sort", "Compress"];
const CASES = [
  "small",
  "large",
  "format=json",
  "format=gob",
  "size=1024",
  "size=1048576",
  "parallel",
  "empty",
  "unicode",
  "nested",
];

/** Names that nobody should be able to do harm with. */
export const NASTY = [
  `<script>document.title="broken"</script><img src=x onerror=alert(1)>`,
  `BenchmarkArabic/\u0627\u0644\u062d\u062c\u0645=\u0643\u0628\u064a\u0631`,
  `BenchmarkLong/${"parameter=value,".repeat(12)}end=200`,
  `Benchmark"quotes"&amp;/'$& $1 {{data}}\u2028`,
  `BenchmarkBackwards/\u202egnp.exe`,
];

/** Longer than what is read at a glance. */
export const WARNING = `The benchmark of a plain counting loop ${"differs from build to build and ".repeat(12)}is not to be trusted with \`--builds 1\`.`;

/** Random numbers from 0 to 1 (mulberry32). */
function randomness(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function verdictOf(i, random) {
  // The first ones have all verdicts, so that small reports have them as well; one is far beyond the others.
  if (i === 13) return "regression";
  if (i < VERDICTS.length) return VERDICTS[i];
  let left = random() * SHARES.reduce((a, b) => a + b);
  return VERDICTS[SHARES.findIndex((share) => (left -= share) < 0)];
}

function nameOf(i) {
  if (i >= 8 && i < 8 + NASTY.length) return NASTY[i - 8];
  return `Benchmark${ROUTINES[i % 10]}/${CASES[Math.floor(i / 10) % 10]}${i >= 100 ? `/n=${Math.floor(i / 100)}` : ""}`;
}

function effectOf(verdict, i, random) {
  if (verdict === "regression") return i === 0 ? 0.062 : 0.034 + 0.09 * random() ** 2;
  if (verdict in SIZED) return SIZED[verdict];
  if (verdict === "improvement") return -(0.035 + 0.1 * random() ** 2);
  return verdict === "inconclusive" ? 0.025 * normal(random) : 0.004 * normal(random);
}

/** Fork pairs that wander together, as processes on one machine do. */
function forksOf(world, effect, spread, count) {
  const { random, base } = world;
  let drift = 0;
  return Array.from({ length: count }, (_, i) => {
    drift = 0.8 * drift + 0.02 * normal(random);
    const disturbed = random() < 0.08 ? 0.09 * random() : 0;
    const head = Math.exp(effect + spread * normal(random));
    const left = base * Math.exp(drift + disturbed);
    const unit = Math.min(i < 8 ? Math.floor(i / 2) : i - 4, count);
    return [unit, unit, i >= 12 ? 1 : 0, left, left * head, head];
  });
}

function slicesOf({ random }, forks) {
  const picked = [0, Math.floor(forks.length / 2), forks.length - 1].filter((fork, i, all) => all.indexOf(fork) === i);
  return picked.map((fork) => {
    let wave = 0;
    const points = Array.from({ length: 120 }, (_, i) => {
      wave = 0.9 * wave + 0.012 * normal(random);
      const hit = random() < 0.03 ? 0.15 * random() : 0;
      return [i * 4, ...[3, 4].map((side) => forks[fork][side] * Math.exp(wave + hit + 0.004 * normal(random)))];
    });
    return { fork, points };
  });
}

function histogramOf({ random }, effect) {
  const [from, width, bins] = [effect - 0.06, 0.004, 30];
  const counts = Array.from({ length: bins }, () => 0);
  const beyond = [0, 0];
  for (let i = 0; i < 1600; i += 1) {
    const at = Math.floor(
      (effect + 0.014 * normal(random) + (random() < 0.05 ? 0.06 * normal(random) : 0) - from) / width,
    );
    if (at < 0 || at >= bins) beyond[at < 0 ? 0 : 1] += 1;
    else counts[at] += 1;
  }
  return { from, width, counts, below: beyond[0], above: beyond[1] };
}

function timesOf({ random, base }, effect) {
  const medians = [base, base * Math.exp(effect)];
  const [from, to] = [0.94 * Math.min(...medians), 1.06 * Math.max(...medians)];
  const [width, bars] = [(to - from) / 40, 40];
  const beyond = [0, 0];
  const counts = medians.map((median, side) => {
    const all = Array.from({ length: bars }, () => 0);
    for (let i = 0; i < 800; i += 1) {
      const at = Math.floor((median * Math.exp(0.012 * normal(random)) - from) / width);
      if (at < 0 || at >= bars) beyond[side] += 1;
      else all[at] += 1;
    }
    return all;
  });
  return { from, width, counts, beyond, medians };
}

function looksOf({ random }, effect, half, settles) {
  const planned = [4, 6, 8, 12];
  return planned.map((units, i) => {
    const middle = effect + ((normal(random) * half) / 3) * (1 - i / 4);
    const width = half * (12 / units) ** 1.1;
    return [
      units,
      Math.exp(middle),
      Math.exp(middle - width),
      Math.exp(middle + width),
      settles && i === planned.length - 1,
    ];
  });
}

function pictureOf(world, effect, half, verdict) {
  const forks = forksOf(world, effect, half * 0.8, 16);
  const isSequential = verdict === "inconclusive" && world.random() < 0.3;
  return {
    forks,
    slices: isSequential ? [] : slicesOf(world, forks),
    histogram: isSequential ? null : histogramOf(world, effect),
    times: timesOf(world, effect),
    looks: looksOf(world, effect, half, verdict !== "inconclusive"),
  };
}

function estimateOf(effect, half, verdict) {
  const p = verdict === "no_change" || verdict === "inconclusive" ? 0.34 : 0.00004;
  const ends = { ratio: Math.exp(effect), low: Math.exp(effect - half), high: Math.exp(effect + half) };
  return {
    ...ends,
    open: null,
    confidence: 0.9,
    judged: `the typical slice, by ${verdict === "faster_size_open" ? "CPU" : "wall"} time`,
    beside: { words: "all slices together", ...ends },
    by_wall: verdict === "faster_size_open" ? ends : null,
    by_cpu: verdict === "faster_size_open",
    p,
    p_adjusted: Math.min(1, p * 9),
    detectable: 0.03 + half * 1.4,
    units: 12,
    builds: 12,
    forks: 16,
    slices: 2400,
    looks: 4,
  };
}

function wordsOf(verdict) {
  if (verdict === "inconclusive") return ["needs about 40 fork pairs, has 16: raise `--budget` or `--forks`"];
  if (verdict === "failed")
    return ["in head: panic: runtime error: index out of range [3] with length 3 <b>goroutine 7</b>"];
  return [];
}

const PROFILE = {
  words: ["1.02µ → 1.27µ of processor time per operation, of which the runtime 725n → 783n (290 and 482 samples of 5 processes a side)"],
  flat: [
    {
      name: "encoding/json.(*encodeState).string",
      origin: null,
      baseline_ns: 191,
      candidate_ns: 359,
      gain: "+168.0ns",
      share: 0.59,
    },
    { name: "runtime.mallocgc", origin: "runtime", baseline_ns: 0, candidate_ns: 58, gain: "+58.00ns", share: null },
  ],
  cumulative: [],
  stacks: {
    functions: [
      "",
      "example.com/shop/codec.BenchmarkEncode",
      "encoding/json.(*encodeState).string",
      "encoding/json.old",
      "runtime.mallocgc",
      `<b title="x">&amp;`,
    ],
    frames: [
      [0, 0, 0, 1, 1020, 1270, "grew"],
      [1, 1, 0, 0.9, 900, 1150, "grew"],
      [2, 2, 0, 0.6, 500, 850, "grew"],
      [3, 5, 0, 0.006, 8, 8, "alike"],
      [2, 3, 0.6, 0.1, 141, 0, "shrank"],
      [2, 4, 0.7, 0.1, 0, 141, "grew"],
      [1, 4, 0.9, 0.1, 120, 120, "alike"],
    ],
  },
  command: "go tool pprof -top -diff_base=profiles/r12/codec.BenchmarkEncode.baseline.pb.gz profiles/r12/codec.BenchmarkEncode.candidate.pb.gz",
};

/** Earlier runs, and times of one benchmark in all of them but one. */
const RUNS = Array.from({ length: 12 }, (_, i) => ({
  name: `r${i + 1}`,
  started: `2026-11-${10 + i}T16:00:00Z`,
  version: i === 3 ? "<i>topic</i>" : "work tree",
}));
const HISTORY = {
  words: "Between 1.000µs and 1.270µs in 11 runs up to this one, which took longest.",
  points: RUNS.map((_, i) => [i, i === 11 ? 1270 : 1000 + 3 * (i % 3)]).filter(([i]) => i !== 5),
};

/** Half of an interval that agrees with its verdict. */
function halfOf(verdict, random) {
  return verdict in SIZED ? Math.abs(SIZED[verdict]) / 2 : 0.005 + 0.012 * random();
}

/** One benchmark with everything that its verdict has. */
function benchmark(i, random) {
  const verdict = verdictOf(i, random);
  const world = { random, base: 10 ** (1 + 5.5 * random()) };
  const bare = {
    id: i,
    package: PACKAGES[(i * 7) % PACKAGES.length],
    name: nameOf(i),
    label: nameOf(i).replace(/^Benchmark(?=.)/, ""),
    sentence: null,
    verdict,
    verdict_words: verdict.replace(/^(slower|faster)_/, "$1, ").replaceAll("_", " "),
    standing: null,
    standing_words: null,
    mode: null,
    threshold: 0.03,
    estimate: null,
    baseline_ns: null,
    candidate_ns: null,
    allocs: null,
    bytes: null,
    layout: null,
    confirmation: null,
    words: wordsOf(verdict),
    instructions: [],
    profile: null,
    history: null,
    picture: null,
  };
  if (!MEASURED.includes(verdict)) return bare;
  const effect = i === 13 ? Math.log(4.2) : effectOf(verdict, i, random);
  const half = verdict === "inconclusive" ? 0.04 + 0.1 * random() : halfOf(verdict, random);
  const picture = pictureOf(world, effect, half, verdict);
  const isSlower = verdict === "regression";
  const standing = isSlower ? (i % 3 === 2 ? "waived" : "fails") : null;
  return {
    ...bare,
    standing,
    mode: picture.histogram === null ? "sequential" : "interleaved",
    standing_words:
      standing === "waived"
        ? "accepted up to +15% until 2026-12-31: the new format checks its input"
        : isSlower
          ? "slower by more than the 3% that `duet.toml` allows"
          : null,
    estimate: estimateOf(effect, half, verdict),
    sentence: `${(100 * effect).toFixed(1)}% within so much.`,
    picture,
    baseline_ns: world.base,
    candidate_ns: world.base * Math.exp(effect),
    allocs: { baseline: 3, candidate: isSlower ? 4 : 3, changed: isSlower },
    bytes: { baseline: 128, candidate: isSlower ? 144.5 : 128, changed: isSlower },
    layout: { sd_between: 0.021, sd_within: 0.004, share: 0.9 },
    confirmation: isSlower
      ? {
          words: "confirmed",
          fresh: { ratio: Math.exp(effect * 0.99), low: Math.exp(effect * 0.9), high: Math.exp(effect * 1.1) },
          rounds: [0.97, 1.02].map((part) => ({ ratio: Math.exp(effect * part), units: 6 })),
        }
      : null,
    instructions: isSlower ? ["7.01k → 7.08k instructions per operation (+1.00%): more work"] : [],
    profile: isSlower ? PROFILE : null,
    history: i === 0 ? HISTORY : null,
  };
}

/** The data of a report with so many benchmarks. */
export function generate(number, seed = 1) {
  const random = randomness(seed);
  const benchmarks = Array.from({ length: number }, (_, i) => benchmark(i, random));
  const counts = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, benchmarks.filter((b) => b.verdict === verdict).length]),
  );
  return {
    format: "duet-page-1",
    duet: "duet 0.1.0",
    run: "r12",
    started: "2026-11-22T16:00:00Z",
    complete: number !== 5,
    baseline: { requested: "v1.2.0", resolved: "0123abcd4567ef890123abcd4567ef890123abcd" },
    candidate: { requested: "work tree", resolved: "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 with changes" },
    outcome: counts.regression > 0 ? "regression" : "clean",
    headline: `${counts.regression} of ${number} benchmarks got slower.`,
    summary: [
      `${counts.improvement} got faster, ${counts.no_change} did not change by 3% or more.`,
      "The machine was quiet: others took 0.4% of its processor time.",
    ],
    warnings: number === 5 ? [] : [WARNING],
    words: ["size open: a real change; not known yet whether it exceeds the threshold"],
    hints: ["Look closer at the largest regression with `duet compare v1.2.0 --bench '^BenchmarkEncode/small$' --forks 40`."],
    counts,
    confidence: 0.9,
    threshold: 0.03,
    reproduce: "duet compare v1.2.0 --bench '^BenchmarkEncode/small$' --forks 40 --threshold 0.03 --seed 42",
    accept:
      counts.regression > 0
        ? "duet waive r12 --bench '^BenchmarkEncode/small$' --ceiling 10% --until 2026-12-31 --reason '…'"
        : null,
    runs: RUNS,
    sections: [
      {
        title: "Noise",
        lines: [
          "the hypervisor gave 0.4% of the processor time to others (steal)",
          "the load average rose to 3.10 while measuring: close other programs",
        ],
      },
      {
        title: "Plan",
        lines: ["10 build pairs at most, looked at after 4, 6, 8 and 12 units", "seed 42"],
        pairs: [["mode", "`-- -cpu N` uses N cores"]],
      },
      {
        title: "Environment",
        pairs: [
          ["processor", "AMD EPYC 7B13"],
          ["platform", "linux/amd64"],
          ["processors", "4 on 2 cores (SMT)"],
          ["toolchain", "go1.26.1"],
        ],
      },
    ],
    benchmarks,
  };
}
