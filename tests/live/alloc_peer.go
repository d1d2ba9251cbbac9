// alloc_peer TURNS OBJECTS RATE: sets runtime.MemProfileRate (0: leaves it). Allocates known amounts, and keeps some of it, once a line comes in;
// then says how much, by function: alloc|live FUNCTION OBJECTS BYTES, and waits for another line. Sizes are those of Go's classes, as these
// are what it allocates and samples.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

var sinks [2][]byte // one for each goroutine
var kept, more [][]byte

//go:noinline
func heap_sixty(sink *[]byte) { *sink = make([]byte, 3072) }

//go:noinline
func heap_thirty(sink *[]byte) { *sink = make([]byte, 256) }

//go:noinline
func heap_ten(sink *[]byte) { *sink = make([]byte, 64) }

//go:noinline
func heap_kept() []byte { return make([]byte, 1024) }

//go:noinline
func heap_large() []byte { return make([]byte, 65536) }

func shares(turns int, sink *[]byte) {
	for i := 0; i < turns; i++ {
		for j := 0; j < 16; j++ {
			if j < 2 {
				heap_sixty(sink)
			}
			if j < 12 {
				heap_thirty(sink)
			}
			heap_ten(sink)
		}
	}
	*sink = nil
}

// keep allocates n of each, of which it keeps every other.
func keep(n int) {
	for i := 0; i < n; i++ {
		if b := heap_kept(); i%2 == 0 {
			kept = append(kept, b)
		} else {
			sinks[0] = b
		}
		if i%8 == 0 {
			more = append(more, heap_large())
		}
	}
	sinks[0] = nil
	more = more[:len(more)/2]
	more = append([][]byte(nil), more...)
}

// settle ends gaps between samples that were drawn with the old rate: that of this processor, the only one; others have new ones.
func settle() {
	runtime.GOMAXPROCS(1)
	sinks[0] = make([]byte, 32<<20)
	sinks[0] = nil
	runtime.GOMAXPROCS(2)
}

func main() {
	in := bufio.NewReader(os.Stdin)
	turns, _ := strconv.Atoi(os.Args[1])
	n, _ := strconv.Atoi(os.Args[2])
	if rate, _ := strconv.Atoi(os.Args[3]); rate > 0 {
		runtime.MemProfileRate = rate
		settle()
	}
	fmt.Println("ready")
	in.ReadString('\n')
	var all sync.WaitGroup
	for i := range sinks {
		all.Add(1)
		go func(i int) {
			shares(turns/2, &sinks[i])
			all.Done()
		}(i)
	}
	all.Wait()
	keep(n)
	runtime.GC() // the first one frees what is not in use, the second one ends its sweep
	runtime.GC()
	say := func(what, function string, objects, size int) {
		fmt.Println(what, "heap_"+function, objects, objects*size)
	}
	say("alloc", "sixty", turns*2, 3072)
	say("alloc", "thirty", turns*12, 256)
	say("alloc", "ten", turns*16, 64)
	say("alloc", "kept", n, 1024)
	say("alloc", "large", n/8, 65536)
	say("live", "kept", n/2, 1024)
	say("live", "large", n/16, 65536)
	records, _ := runtime.MemProfile(nil, true) // else the linker turns the profiler off
	fmt.Fprintln(os.Stderr, records, "stacks in Go's own profile")
	in.ReadString('\n')
	runtime.KeepAlive(kept)
	runtime.KeepAlive(more)
}
