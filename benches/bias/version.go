// Package bias has benchmarks of four kinds whose operation is a multiple of the same small piece of work: arithmetic, memory,
// allocation and branches. The candidate is a copy with a larger scale, so that both versions run the same machine code.
//
// Every operation goes on where the last one ended, so that operations are stretches of one stream, and twenty operations of the
// candidate do just what twenty-one of the baseline do. A stretch takes five microseconds or more, beside which entering and leaving
// its loop is below a thousandth.
package bias

// scale is a variable, so that no compiler knows it.
var scale = 100
