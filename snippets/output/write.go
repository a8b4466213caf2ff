// The file is written as its content comes.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ---
func written(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil { // pieces in another order: WriteAt
		file.Close()
		return err
	}
	return file.Close()
}

// ---
func main() {
	size, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i*7 + i/4096)
	}
	if err := written("large-output", content); err != nil {
		panic(err)
	}
	back, err := os.ReadFile("large-output")
	os.Remove("large-output")
	if err != nil || !bytes.Equal(back, content) {
		panic("wrong content")
	}
	fmt.Println(len(back))
}
