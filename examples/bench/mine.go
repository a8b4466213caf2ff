// go build -buildmode=c-shared -o libmine.so mine.go && pagewise bench ./libmine.so:grow,reserve
package main

// #include <stdint.h>
import "C"

import "unsafe"

const elements = 100000

var last uint64

func fill(all []uint64) {
	for i := uint64(0); i < elements; i++ {
		all = append(all, i)
	}
	last = all[len(all)-1]
}

//export grow
func grow(context unsafe.Pointer) { fill(nil) }

//export grow_result
func grow_result(context unsafe.Pointer) C.uint64_t { return C.uint64_t(last) }

//export reserve
func reserve(context unsafe.Pointer) { fill(make([]uint64, 0, elements)) }

//export reserve_result
func reserve_result(context unsafe.Pointer) C.uint64_t { return C.uint64_t(last) }

func main() {}
