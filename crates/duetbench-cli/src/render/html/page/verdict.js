/* The verdicts: their words, their order, and a shape for each, so that nothing depends on colour. */
const Verdict = (() => {
  const CROSS = "M-5-3.5L-3.5-5L0-1.5L3.5-5L5-3.5L1.5 0L5 3.5L3.5 5L0 1.5L-3.5 5L-5 3.5L-1.5 0Z";

  /** In the order in which they matter: its word, the word for several, its shape around (0, 0). */
  const KINDS = {
    regression: ["regression", "regressions", "M0-6L6.5 5H-6.5Z"],
    slower_size_open: ["slower, size open", "slower, size open", "M0-6L6.5 5H-6.5Z"],
    slower_within_tolerance: ["slower, within tolerance", "slower, within tolerance", "M0-3.5L4.5 3.5H-4.5Z"],
    improvement: ["improvement", "improvements", "M0 6L6.5-5H-6.5Z"],
    faster_size_open: ["faster, size open", "faster, size open", "M0 6L6.5-5H-6.5Z"],
    faster_within_tolerance: ["faster, within tolerance", "faster, within tolerance", "M0 3.5L4.5-3.5H-4.5Z"],
    failed: ["failed", "failed", CROSS],
    inconclusive: ["inconclusive", "inconclusive", "M0-6L6 0L0 6L-6 0Z"],
    no_change: ["no change", "no change", "M-4.5 0A4.5 4.5 0 1 1 4.5 0A4.5 4.5 0 1 1-4.5 0Z"],
    not_affected: ["not affected", "not affected", "M-5-4H5V-1.5H-5ZM-5 1.5H5V4H-5Z"],
    identical_code: ["identical code", "identical code", "M-5-4H5V-1.5H-5ZM-5 1.5H5V4H-5Z"],
    redefined: ["benchmark changed", "benchmarks changed", "M-5-4H5V-1.5H-5ZM-5 1.5H5V4H-5Z"],
    baseline_only: ["only in base", "only in base", "M-5-1.25H5V1.25H-5Z"],
    candidate_only: ["only in head", "only in head", "M-1.25-5H1.25V-1.25H5V1.25H1.25V5H-1.25V1.25H-5V-1.25H-1.25Z"],
  };
  const OUTCOMES = {
    clean: ["passes", "no_change"],
    incomplete: ["incomplete", "inconclusive"],
    regression: ["regression", "regression"],
    inconclusive: ["inconclusive", "inconclusive"],
    stale_waiver: ["stale waiver", "failed"],
    failed: ["failed", "failed"],
  };

  const order = Object.keys(KINDS);

  /** The word beside a count. */
  const counted = (verdict, count) => (count === 1 ? KINDS[verdict][0] : KINDS[verdict][1]);

  /** How early it is listed. */
  const rank = (verdict) => order.indexOf(verdict);

  /** Its shape, to be put around a point of a drawing. */
  const shape = (verdict) => Dom.draw("path", { class: "shape", d: KINDS[verdict]?.[2] ?? CROSS });

  /** Its shape as a drawing of its own beside words. */
  const icon = (verdict) =>
    Dom.draw(
      "svg",
      { class: `icon is-${verdict}`, viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" },
      shape(verdict),
    );

  /** What a whole run comes to: a word, and the verdict that it looks like. */
  const outcome = (name) => OUTCOMES[name] ?? [name, "inconclusive"];

  return { counted, icon, order, outcome, rank, shape };
})();
