package interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.FlagEvaluationDetails;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Value;
import java.util.HashMap;
import java.util.Map;

/** An application with OpenFeature's SDK for Java and its OFREP provider. */
record Ofrep() implements Commands {

    public static void main(String[] arguments) throws Exception {
        Commands.serve(new Ofrep());
    }

    @Override
    public boolean connect(String key, String name, String url, String mode) throws Exception {
        var options =
                OfrepProviderOptions.builder()
                        .baseUrl(url)
                        .headers(ImmutableMap.of("Authorization", ImmutableList.of("Bearer " + key)))
                        .build();
        OpenFeatureAPI.getInstance().setProviderAndWait(name, OfrepProvider.constructProvider(options));
        return true;
    }

    @Override
    public Object ask(String name, JsonNode question) throws Exception {
        var client = OpenFeatureAPI.getInstance().getClient(name);
        String flag = question.get(0).textValue();
        JsonNode fallback = question.get(2);
        EvaluationContext user = contextOf(question.get(3));
        return switch (question.get(1).textValue()) {
            case "boolean" -> describe(client.getBooleanDetails(flag, fallback.booleanValue(), user));
            case "string" -> describe(client.getStringDetails(flag, fallback.textValue(), user));
            case "integer" -> describe(client.getIntegerDetails(flag, fallback.intValue(), user));
            case "float" -> describe(client.getDoubleDetails(flag, fallback.doubleValue(), user));
            default -> describe(client.getObjectDetails(flag, valueOf(fallback), user));
        };
    }

    private static EvaluationContext contextOf(JsonNode given) throws Exception {
        Map<String, Value> attributes = new HashMap<>();
        for (var each : given.properties()) {
            attributes.put(each.getKey(), valueOf(each.getValue()));
        }
        attributes.remove("targetingKey");
        return given.has("targetingKey")
                ? new ImmutableContext(given.get("targetingKey").textValue(), attributes)
                : new ImmutableContext(attributes);
    }

    private static Value valueOf(JsonNode node) throws Exception {
        return Value.objectToValue(JSON.treeToValue(node, Object.class));
    }

    private static Map<String, Object> describe(FlagEvaluationDetails<?> found) {
        Map<String, Object> answer = new HashMap<>();
        answer.put("value", found.getValue() instanceof Value value ? value.asStructure().asObjectMap() : found.getValue());
        answer.put("variant", found.getVariant());
        answer.put("reason", found.getReason());
        answer.put("error", found.getErrorCode() == null ? null : found.getErrorCode().name());
        answer.put("metadata", found.getFlagMetadata().asUnmodifiableMap());
        return answer;
    }
}
