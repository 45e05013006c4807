// SPDX-License-Identifier: GPL-2.0-or-later
//
// A Go program without cgo: stacks that the runtime allocates and moves, frame pointers, CFI in
// .debug_frame only.
//
//	go frame	runtime.goexit;main.worker;main.one;main.two;main.three;main.framed
//	go bare		the same with main.bare, which has no frame, so that rbp is its caller's
//	go panic	main.worker;main.faulty;runtime.sigpanic;...;main.faulty.func1;main.framed
//	go signal	sends signals to itself: the handler's frames follow main.signals;syscall...
//	go runtime	below main.worker;main.churn: maps, strings and garbage, on this stack and on the
//			runtime's own
//	go clock	runtime.goexit;main.worker;main.watch;time.Now;..., into the vDSO, which the runtime
//			calls on another stack
package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

var sink uint32

//go:noinline
func bare(x uint32) uint32 {
	for {
		x = x*1664525 + 1013904223
		if x == 1 && sink == 2 {
			return x
		}
	}
}

//go:noinline
func framed(x uint32) uint32 {
	var local [16]uint32
	for {
		x = x*1664525 + 1013904223
		local[x>>28] ^= x
		if x == 1 && sink == 2 {
			return local[x&7]
		}
	}
}

//go:noinline
func three(mode string, x uint32) uint32 {
	if mode == "bare" {
		return bare(x) + 1
	}
	return framed(x) + 2
}

//go:noinline
func two(mode string, x uint32) uint32 {
	var local [3000]uint32
	local[x&7] = x
	return three(mode, x) ^ local[x&3]
}

//go:noinline
func one(mode string, x uint32) uint32 { return two(mode, x) + 1 }

//go:noinline
func churn(x uint32) {
	for {
		counts := map[string][]byte{}
		for i := 0; i < 1000; i++ {
			key := strconv.Itoa(i * int(x|1) % 331)
			counts[key] = append(counts[key], key...)
		}
		x += uint32(len(counts))
	}
}

//go:noinline
func faulty(at *uint32) {
	defer func() {
		sink = framed(7)
		recover()
	}()
	*at = 1
}

//go:noinline
func signals() {
	runtime.LockOSThread()
	pid, tid := uintptr(os.Getpid()), uintptr(syscall.Gettid())
	for {
		syscall.RawSyscall(syscall.SYS_TGKILL, pid, tid, uintptr(syscall.SIGURG))
	}
}

//go:noinline
func watch() {
	for end := time.Now().Add(time.Hour); time.Now().Before(end); {
	}
}

func worker(mode string) {
	switch mode {
	case "panic":
		faulty(nil)
	case "signal":
		signals()
	case "clock":
		watch()
	}
	if mode == "runtime" {
		churn(5)
	}
	sink = one(mode, 5)
}

func main() {
	runtime.GOMAXPROCS(1)
	go worker(os.Args[1])
	select {}
}
