// SPDX-License-Identifier: GPL-2.0-or-later

// Writes a CPU profile and a heap profile of itself: `profiled CPU.pb.gz HEAP.pb.gz`.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

var kept [][]byte

func spin(n int) int {
	x := 1
	for i := 0; i < n; i++ {
		x = x*31 + i
	}
	return x
}

func sorted(n int) int {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint(i * 7919 % n)
	}
	sort.Strings(words)
	return len(strings.Join(words, ","))
}

func packed(n int) int {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(bytes.Repeat([]byte("stack"), n))
	z.Close()
	return out.Len()
}

func keep(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 1000))
	}
}

func main() {
	runtime.MemProfileRate = 4096
	cpu, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(cpu)
	sum := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		sum += spin(1000000) + sorted(20000) + packed(20000)
	}
	pprof.StopCPUProfile()
	cpu.Close()
	keep(5000)
	runtime.GC() // the profile is of the last one
	heap, _ := os.Create(os.Args[2])
	pprof.WriteHeapProfile(heap)
	heap.Close()
	fmt.Println(sum != 0)
}
