// An application with Unleash's SDK for Go.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/Unleash/unleash-go-sdk/v5"
	"github.com/Unleash/unleash-go-sdk/v5/context"

	"flagstaff/interop/commands"
)

// patience is how long a first answer may take. Behind a proxy that keeps events back, none comes to a stream.
const patience = 30 * time.Second

// listener tells whether the client's first answer had flags.
type listener struct{ connected chan bool }

func (l *listener) say(isConnected bool) {
	select {
	case l.connected <- isConnected:
	default:
	}
}

func (l *listener) OnReady()                        { l.say(true) }
func (l *listener) OnUpdate()                       {}
func (l *listener) OnError(error)                   { l.say(false) }
func (l *listener) OnWarning(error)                 {}
func (l *listener) OnCount(string, bool)            {}
func (l *listener) OnSent(unleash.MetricsData)      {}
func (l *listener) OnRegistered(unleash.ClientData) {}

func main() {
	folder, err := os.MkdirTemp("", "unleash")
	commands.Check(err)
	defer os.RemoveAll(folder)
	clients := map[string]*unleash.Client{}
	connect := func(given commands.Client) bool {
		interval := time.Minute
		if given.Mode == "polling" {
			interval = 200 * time.Millisecond
		}
		told := &listener{make(chan bool, 1)}
		backup := filepath.Join(folder, given.Name)
		commands.Check(os.Mkdir(backup, 0o700))
		client, err := unleash.NewClient(
			unleash.WithUrl(given.URL),
			unleash.WithAppName(given.Name),
			unleash.WithInstanceId(given.Name),
			unleash.WithRefreshInterval(interval),
			unleash.WithMetricsInterval(200*time.Millisecond),
			unleash.WithBackupPath(backup),
			unleash.WithCustomHeaders(http.Header{"Authorization": {given.Key}}),
			unleash.WithExperimentalMode(map[string]string{"type": given.Mode}),
			unleash.WithListener(told),
		)
		commands.Check(err)
		clients[given.Name] = client
		select {
		case isConnected := <-told.connected:
			return isConnected
		case <-time.After(patience):
			return false
		}
	}
	commands.Serve(connect, func(name string, question json.RawMessage) any {
		return ask(clients[name], question)
	})
}

// ask returns whether a flag is on, the name of its variant and the payload.
func ask(client *unleash.Client, question json.RawMessage) any {
	var flag string
	var user context.Context
	commands.Read(question, &[]any{&flag, &user})
	isOn := client.IsEnabled(flag, unleash.WithContext(user))
	variant := client.GetVariant(flag, unleash.WithVariantContext(user))
	var name, payload any
	if variant.Enabled {
		name = variant.Name
	}
	if variant.Payload.Type != "" {
		payload = variant.Payload
	}
	return []any{isOn, name, payload}
}
