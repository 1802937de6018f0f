// Package bias has benchmarks of many kinds whose work is a multiple of scale. The candidate is a copy with a larger scale, so
// that both versions run the same machine code.
package bias

// scale is a variable, so that no compiler knows it.
var scale = 100
