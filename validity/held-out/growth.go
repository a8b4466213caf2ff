package main

import (
	"fmt"
	"sort"
	"strings"
)

func main() {
	var rows []string
	for i := 0; i < 400000; i++ {
		rows = append(rows, fmt.Sprintf("row %d", i*7919%1000003))
	}
	sort.Strings(rows)
	fmt.Println(len(strings.Join(rows, ",")))
}
