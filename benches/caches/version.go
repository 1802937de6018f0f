// Package caches has benchmarks whose candidate does the same kind of work over a smaller footprint, or a little more of it in code
// full of branches. Base and head are copies that differ in one variable, so that both run the same machine code.
package caches

// candidate is a variable, so that no compiler knows it.
var candidate = false

// cacheBytes is the size of a core's second-level cache.
var cacheBytes = 1 << 20
