// An application with OpenFeature's SDK for Go and its OFREP provider.
package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"

	"flagstaff/interop/commands"
)

type answer struct {
	Value    any            `json:"value"`
	Variant  string         `json:"variant"`
	Reason   string         `json:"reason"`
	Error    *string        `json:"error"`
	Metadata map[string]any `json:"metadata"`
}

func main() {
	commands.Serve(connect, ask)
}

func connect(client commands.Client) bool {
	provider := ofrep.NewProvider(client.URL, ofrep.WithBearerToken(client.Key))
	commands.Check(openfeature.SetNamedProviderAndWait(client.Name, provider))
	return true
}

func ask(name string, question json.RawMessage) any {
	var flag, kind string
	var fallback json.RawMessage
	var user json.RawMessage
	commands.Read(question, &[]any{&flag, &kind, &fallback, &user})
	given, client, ctx := contextOf(user), openfeature.NewClient(name), context.Background()
	switch kind {
	case "boolean":
		found, _ := client.BooleanValueDetails(ctx, flag, read[bool](fallback), given)
		return describe(found.Value, found.EvaluationDetails)
	case "string":
		found, _ := client.StringValueDetails(ctx, flag, read[string](fallback), given)
		return describe(found.Value, found.EvaluationDetails)
	case "integer":
		found, _ := client.IntValueDetails(ctx, flag, read[int64](fallback), given)
		return describe(found.Value, found.EvaluationDetails)
	case "float":
		found, _ := client.FloatValueDetails(ctx, flag, read[float64](fallback), given)
		return describe(found.Value, found.EvaluationDetails)
	default:
		found, _ := client.ObjectValueDetails(ctx, flag, read[any](fallback), given)
		return describe(found.Value, found.EvaluationDetails)
	}
}

func read[T any](text json.RawMessage) (value T) {
	commands.Read(text, &value)
	return
}

// contextOf keeps numbers as they are written.
func contextOf(text json.RawMessage) openfeature.EvaluationContext {
	attributes := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	commands.Check(decoder.Decode(&attributes))
	targetingKey, _ := attributes["targetingKey"].(string)
	delete(attributes, "targetingKey")
	return openfeature.NewEvaluationContext(targetingKey, attributes)
}

func describe(value any, details openfeature.EvaluationDetails) answer {
	found := answer{Value: value, Variant: details.Variant, Reason: string(details.Reason), Metadata: details.FlagMetadata}
	if code := string(details.ErrorCode); code != "" {
		found.Error = &code
	}
	return found
}
