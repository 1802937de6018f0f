//go:build duet_hook

package duethook

// Before Go 1.24 there is no B.Context.
func duetFreshContext(b *B) {}
