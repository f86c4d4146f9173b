package interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Reads commands as lines of JSON and answers each with one line.
 *
 * <p>{"connect": key, "name": name, "url": url, "mode": mode} is answered with {"connected": whether it got any flags,
 * if that is known}, and {"ask": [question, ...], "name": name} with a list of answers.
 */
interface Commands {
    ObjectMapper JSON = new ObjectMapper();

    boolean connect(String key, String name, String url, String mode) throws Exception;

    Object ask(String name, JsonNode question) throws Exception;

    /** Answers commands until there are no more. */
    static void serve(Commands application) throws Exception {
        var input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        var output = new PrintStream(System.out, true, UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode command = JSON.readTree(line);
            String name = command.get("name").textValue();
            Object answer;
            if (command.has("connect")) {
                String key = command.get("connect").textValue(), url = command.get("url").textValue();
                String mode = command.path("mode").textValue();
                answer = Map.of("connected", application.connect(key, name, url, mode));
            } else {
                List<Object> answers = new ArrayList<>();
                for (JsonNode question : command.get("ask")) {
                    answers.add(application.ask(name, question));
                }
                answer = answers;
            }
            output.println(JSON.writeValueAsString(answer));
        }
        System.exit(0); // the clients' threads would go on
    }
}
