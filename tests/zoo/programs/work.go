package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

type shape interface{ area(depth int) float64 }

type square struct{ side float64 }

//go:noinline
func (s *square) area(depth int) float64 {
	if depth == 0 {
		return s.side * s.side
	}
	return s.area(depth-1) + 1
}

//go:noinline
func words() []string {
	all := []string{}
	for i := 0; i < 500; i++ {
		all = append(all, fmt.Sprintf("word%d", i*7919%500))
	}
	sort.Slice(all, func(i, j int) bool { return strings.Compare(all[i], all[j]) > 0 })
	return all
}

var pattern = regexp.MustCompile("([a-z]+)(4[0-9]*)")

//go:noinline
func work() float64 {
	sum := 0.0
	shapes := []shape{}
	for i := 0; i < 500; i++ {
		shapes = append(shapes, &square{float64(i)})
	}
	for _, s := range shapes {
		sum += s.area(20)
	}
	for _, word := range words() {
		if pattern.MatchString(word) {
			sum++
		}
	}
	return sum
}

func main() {
	results := make(chan float64)
	go func() {
		for {
			results <- work()
		}
	}()
	for {
		work()
		<-results
	}
}
