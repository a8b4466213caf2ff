// Sums a file's bytes through a buffered reader.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// ---
func sumOf(path string) (sum uint64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 64<<10)
	for {
		piece, err := in.Peek(1)
		if err == io.EOF {
			return sum, nil
		} else if err != nil {
			return 0, err
		}
		piece, _ = in.Peek(in.Buffered())
		for _, b := range piece {
			sum += uint64(b)
		}
		in.Discard(len(piece))
	}
}

// ---

func main() {
	sum, err := sumOf(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(sum)
}
