package interop;

import com.fasterxml.jackson.databind.JsonNode;
import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.event.ClientFeaturesResponse;
import io.getunleash.event.UnleashReady;
import io.getunleash.event.UnleashSubscriber;
import io.getunleash.util.UnleashConfig;
import io.getunleash.variant.Variant;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An application with Unleash's SDK for Java. */
record Unleash(Path folder, Map<String, DefaultUnleash> clients) implements Commands {

    /** How long a first answer may take. Behind a proxy that keeps events back, a stream has none for a minute. */
    private static final int PATIENCE_SECONDS = 30;

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("unleash");
        Commands.serve(new Unleash(folder, new HashMap<>()));
    }

    @Override
    public boolean connect(String key, String name, String url, String mode) throws Exception {
        var connected = new CompletableFuture<Boolean>();
        var subscriber =
                new UnleashSubscriber() {
                    @Override
                    public void onReady(UnleashReady ready) {
                        connected.complete(true);
                    }

                    @Override
                    public void togglesFetched(ClientFeaturesResponse response) {
                        if (response.getStatus() == ClientFeaturesResponse.Status.UNAVAILABLE) {
                            connected.complete(false);
                        }
                    }
                };
        var config =
                UnleashConfig.builder()
                        .unleashAPI(url)
                        .appName(name)
                        .instanceId(name)
                        .apiKey(key)
                        .fetchTogglesInterval(mode.equals("polling") ? 1 : 60)
                        .sendMetricsInterval(1)
                        .backupFile(folder.resolve(name).toString())
                        .subscriber(subscriber);
        clients.put(name, new DefaultUnleash((mode.equals("polling") ? config : config.experimentalStreamingMode()).build()));
        return connected.completeOnTimeout(false, PATIENCE_SECONDS, TimeUnit.SECONDS).get();
    }

    @Override
    public Object ask(String name, JsonNode question) {
        String flag = question.get(0).textValue();
        UnleashContext user = contextOf(question.get(1));
        boolean isOn = clients.get(name).isEnabled(flag, user);
        Variant variant = clients.get(name).getVariant(flag, user);
        Object payload = variant.getPayload().orElse(null);
        return Arrays.asList(isOn, variant.isEnabled() ? variant.getName() : null, payload);
    }

    private static UnleashContext contextOf(JsonNode given) {
        var user = UnleashContext.builder();
        if (given.has("userId")) {
            user.userId(given.get("userId").textValue());
        }
        if (given.has("currentTime")) {
            user.currentTime(ZonedDateTime.parse(given.get("currentTime").textValue()));
        }
        given.get("properties").properties().forEach(each -> user.addProperty(each.getKey(), each.getValue().textValue()));
        return user.build();
    }
}
