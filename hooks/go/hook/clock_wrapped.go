//go:build duet_hook

package duethook

import "time"

// From Go 1.23 on the harness wraps its start time.

type duetTime = highPrecisionTime

func duetNow() duetTime                             { return highPrecisionTimeNow() }
func duetSince(start duetTime) time.Duration        { return highPrecisionTimeSince(start) }
func duetBetween(start, end duetTime) time.Duration { return end.now.Sub(start.now) }
