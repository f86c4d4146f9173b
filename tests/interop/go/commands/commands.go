// Package commands reads commands as lines of JSON and answers each with one line.
//
//	{"connect": key, "name": name, "url": url, "mode": mode}  -> {"connected": whether it got any flags, if that is known}
//	{"ask": [question, ...], "name": name}                    -> [answer, ...]
package commands

import (
	"bufio"
	"encoding/json"
	"os"
)

// Client is how to connect a client: its key, its name, the server's address and how it learns of changes.
type Client struct {
	Key  string `json:"connect"`
	Name string `json:"name"`
	URL  string `json:"url"`
	Mode string `json:"mode"`
}

type command struct {
	Client
	Ask []json.RawMessage `json:"ask"`
}

// Serve answers commands until there are no more.
func Serve(connect func(Client) bool, ask func(name string, question json.RawMessage) any) {
	input, output := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var given command
		Read(line, &given)
		if given.Key != "" {
			Check(output.Encode(map[string]bool{"connected": connect(given.Client)}))
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
