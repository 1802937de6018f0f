//go:build duet_hook

package duethook

import "context"

// duetFreshContext gives the next call its own context; runCleanup has cancelled the last one.
func duetFreshContext(b *B) {
	b.ctx, b.cancelCtx = context.WithCancel(context.Background())
}
