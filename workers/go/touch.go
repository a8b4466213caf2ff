package main

// touchPages is the measured loop of P5: one byte into each base page.
//
//go:noinline
func touchPages(memory []byte, pageBytes int, mark byte) {
	for i := 0; i < len(memory); i += pageBytes {
		memory[i] = mark
	}
}
