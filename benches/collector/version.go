// Package collector has benchmarks whose candidate allocates more or fewer bytes than the baseline beside a live heap of known
// size. Base and head are copies that differ in one variable, so that both run the same machine code.
package collector

// candidate is a variable, so that no compiler knows it.
var candidate = false
