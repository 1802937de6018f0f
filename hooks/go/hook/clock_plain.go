//go:build duet_hook

package duethook

import "time"

// Up to Go 1.22 the harness keeps its start time as a time.Time.

type duetTime = time.Time

func duetNow() duetTime                             { return time.Now() }
func duetSince(start duetTime) time.Duration        { return time.Since(start) }
func duetBetween(start, end duetTime) time.Duration { return end.Sub(start) }
