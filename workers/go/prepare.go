package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// prepared has the helper put a file's cached pages into a state; what it found, by name.
func (s *slot) prepared(words []string) map[string]uint64 {
	program := os.Getenv("PAGEWISE_HELPER")
	if program == "" {
		s.skip("the state of the page cache needs the helper's path in PAGEWISE_HELPER")
	}
	said, err := exec.Command(program, append([]string{"prepare-file"}, words...)...).Output()
	if err != nil {
		s.fail("prepare-file "+err.Error(), syscall.EIO)
	}
	found := map[string]uint64{}
	for _, line := range strings.Split(strings.TrimSpace(string(said)), "\n") {
		switch fields := strings.Split(line, "\t"); fields[0] {
		case "skip":
			s.skip(fields[2])
		case "fail":
			panic(slotEnd{fmt.Sprintf("fail\t%d\t%d\t-\t%s\n", s.number, s.cell.number, strings.Join(fields[4:], "\t"))})
		}
		name, value, _ := strings.Cut(line, " ")
		found[name], _ = strconv.ParseUint(value, 10, 64)
	}
	return found
}
