package duethook

import (
	"syscall"
	"time"
	"unsafe"
)

// System calls are made raw: the Go scheduler does not learn of them, so a waiting goroutine keeps its P
// (and with GOMAXPROCS=1 the whole process stands still while the peer runs).

const (
	duetClockMonotonic  = 1
	duetClockProcessCPU = 2
	duetFutexWaitOp     = 0
	duetFutexWakeOp     = 1
)

// duetFutexWait sleeps while *word == seen, at most for timeout, and reports whether it slept without being woken.
// It counts as that when a signal ended the sleep: the runtime sends one every 10 ms to a goroutine that keeps its P.
//
//go:nosplit
func duetFutexWait(word *uint32, seen uint32, timeout time.Duration) (inVain bool) {
	limit := syscall.NsecToTimespec(int64(timeout))
	_, _, errno := syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), duetFutexWaitOp,
		uintptr(seen), uintptr(unsafe.Pointer(&limit)), 0, 0)
	return errno == syscall.ETIMEDOUT || errno == syscall.EINTR
}

// duetParent is syscall.Getppid, which may or may not be inlined.
//
//go:nosplit
func duetParent() int {
	parent, _, _ := syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	return int(parent)
}

func duetFutexWake(word *uint32) {
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), duetFutexWakeOp, 1, 0, 0, 0)
}

// duetDieWithParent asks the kernel to kill this process when its parent dies.
func duetDieWithParent() {
	const setParentDeathSignal = 1
	syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGKILL), 0)
}

//go:nosplit
func duetClock(clock uintptr) uint64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return uint64(t.Nano())
}

// duetCPU returns the CPU time of this process in nanoseconds.
//
//go:nosplit
func duetCPU() uint64 { return duetClock(duetClockProcessCPU) }

// duetThreads moves threads of this process to a core.
// It keeps the directory of them open, and a buffer, so that a move allocates nothing.
type duetThreads struct {
	dir  int
	buf  [4096]byte
	mask [128]uint64 // room for 8192 cores
}

func duetNewThreads() (*duetThreads, error) {
	dir, err := syscall.Open("/proc/self/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return &duetThreads{dir: dir}, err
}

// moveAll moves every thread. A thread that starts meanwhile may be missed until the next move.
func (t *duetThreads) moveAll(core uint32) {
	if int(core) >= 64*len(t.mask) {
		return
	}
	for i := range t.mask {
		t.mask[i] = 0
	}
	t.mask[core/64] = 1 << (core % 64)
	t.move(0) // the measuring thread first: threads it starts inherit its core
	syscall.RawSyscall(syscall.SYS_LSEEK, uintptr(t.dir), 0, 0)
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_GETDENTS64, uintptr(t.dir),
			uintptr(unsafe.Pointer(&t.buf[0])), uintptr(len(t.buf)))
		if errno != 0 || n == 0 {
			return
		}
		t.moveListed(t.buf[:n])
	}
}

// moveListed moves the threads named in the result of getdents64.
func (t *duetThreads) moveListed(entries []byte) {
	const lengthAt, nameAt = 16, 19
	for len(entries) > nameAt {
		length := int(entries[lengthAt]) | int(entries[lengthAt+1])<<8
		thread := 0
		for _, c := range entries[nameAt:length] {
			if c < '0' || c > '9' {
				break // the end of the name, or "." and ".."
			}
			thread = 10*thread + int(c-'0')
		}
		if thread != 0 {
			t.move(thread)
		}
		entries = entries[length:]
	}
}

// move ignores errors: the core may be forbidden to us, or the thread may have ended.
func (t *duetThreads) move(thread int) {
	syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(t.mask),
		uintptr(unsafe.Pointer(&t.mask[0])))
}
