// Prints compose.yaml as Docker Compose reads it, with the variables of .env. The library is Compose's own; its command
// cannot be installed with `go install`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(
		[]string{"compose.yaml"}, cli.WithWorkingDirectory("."), cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv,
	)
	if err != nil {
		fail(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(project); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
