package main

import "strings"

// method is one way to answer an experiment's question: a line of methods.tsv and the function registered for it.
type method struct {
	experiment, name string
	attributes       map[string]string
	run              func(*slot)
}

var runners = map[string]func(*slot){}

// register is called by each method's file, so that nothing else names it but its line in methods.tsv.
func register(experiment, name string, run func(*slot)) bool {
	runners[experiment+"/"+name] = run
	return true
}

// listed returns the methods of methods.tsv in its order.
func listed() []*method {
	var methods []*method
	for _, line := range strings.Split(strings.TrimSpace(methodLines), "\n") {
		fields := strings.Split(line, "\t")
		m := &method{experiment: fields[1], name: fields[2], attributes: map[string]string{}}
		m.run = runners[m.experiment+"/"+m.name]
		for _, field := range fields[3:] {
			key, value, _ := strings.Cut(field, "=")
			m.attributes[key] = value
		}
		methods = append(methods, m)
	}
	return methods
}

func findMethod(experiment, name string) *method {
	for _, m := range listed() {
		if m.experiment == experiment && m.name == name && m.run != nil {
			return m
		}
	}
	return nil
}

func (m *method) phaseCount() int {
	return len(strings.Fields(m.attributes["phases"]))
}

// kindOf returns what stands after a key's colon in the method's `keys`.
func (m *method) kindOf(key string) (string, bool) {
	for _, declared := range strings.Fields(m.attributes["keys"]) {
		if name, kind, _ := strings.Cut(declared, ":"); name == key {
			return kind, true
		}
	}
	return "", false
}
