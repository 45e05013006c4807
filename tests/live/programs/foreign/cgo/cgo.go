// SPDX-License-Identifier: GPL-2.0-or-later
//
// A Go program with cgo: Go calls C on the system's stack, and C calls Go on the goroutine's.
//
//	cgo there	runtime.goexit;main.worker;main.one;...;runtime.asmcgocall;...;c_work;c_spin
//	cgo back	the same up to c_through;c_again;goBack;crosscall2;runtime.cgocallback;...;
//			main.goBack;main.framed
//	cgo collect	below main.worker;main.collect: the runtime on both stacks
package main

/*
int c_work(int x);
int c_through(int x);
*/
import "C"

import (
	"os"
	"runtime"
)

var sink uint32

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

//export goBack
func goBack(x C.int) C.int { return C.int(framed(uint32(x)) + 1) }

//go:noinline
func two(mode string) uint32 {
	if mode == "back" {
		return uint32(C.c_through(5)) + 1
	}
	return uint32(C.c_work(5)) + 1
}

//go:noinline
func one(mode string) uint32 { return two(mode) + 1 }

//go:noinline
func collect() {
	var memory runtime.MemStats
	for {
		runtime.GC()
		runtime.ReadMemStats(&memory)
	}
}

func worker(mode string) {
	if mode == "collect" {
		collect()
	}
	sink = one(mode)
}

func main() {
	go worker(os.Args[1])
	select {}
}
