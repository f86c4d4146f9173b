// Package commands reads commands as lines of JSON and answers each with one line.
//
//	{"connect": key, "name": name}          -> {"connected": whether it got any flags, if that is known}
//	{"ask": [question, ...], "name": name}  -> [answer, ...]
package commands

import (
	"bufio"
	"encoding/json"
	"os"
)

type command struct {
	Connect string            `json:"connect"`
	Ask     []json.RawMessage `json:"ask"`
	Name    string            `json:"name"`
}

// Serve answers commands until there are no more.
func Serve(connect func(key, name string) bool, ask func(name string, question json.RawMessage) any) {
	input, output := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var given command
		Read(line, &given)
		if given.Connect != "" {
			Check(output.Encode(map[string]bool{"connected": connect(given.Connect, given.Name)}))
			continue
		}
		answers := []any{}
		for _, question := range given.Ask {
			answers = append(answers, ask(given.Name, question))
		}
		Check(output.Encode(answers))
	}
}

// Read decodes JSON, for example an array into pointers to its members' types.
func Read(text []byte, into any) {
	Check(json.Unmarshal(text, into))
}

// Check ends the program if something failed.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}
