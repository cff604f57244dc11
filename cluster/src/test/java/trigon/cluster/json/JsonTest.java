package trigon.cluster.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    @Test
    void leavesOutWhatIsEmptyAndEscapes() {
        Object value = Json.object("a", 1, "b", Optional.empty(), "c", List.of("x\"\\\n\u0001", true), "d", List.of());

        assertThat(Json.line(value)).isEqualTo("{\"a\":1,\"c\":[\"x\\\"\\\\\\n\\u0001\",true],\"d\":[]}\n");
        assertThat(Json.text(value)).startsWith("{\n  \"a\": 1,\n  \"c\": [\n    \"x");
    }

    /** Delete, a control sequence's introducer of eight bits, and a mark that turns the direction. */
    @Test
    void whatATerminalObeysIsEscapedAndTheRestIsReadable() {
        String text = Json.line(Json.object("a", "\u007f \u009b \u202e \u00e9"));

        assertThat(text.toLowerCase(java.util.Locale.ROOT)).contains("\\u007f \\u009b \\u202e \u00e9");
        assertThat(JsonObject.parse(text).text("a")).isEqualTo("\u007f \u009b \u202e \u00e9");
    }

    @Test
    void readsWhatItWrites() {
        JsonObject object = JsonObject.parse(Json.text(Json.object(
                "text", "b", "number", 1.5, "whole", 1L << 40, "yes", true, "list", List.of(Json.object("x", "y")))));

        assertThat(object.text("text")).isEqualTo("b");
        assertThat(object.number("number")).contains(1.5);
        assertThat(object.whole("whole")).isEqualTo(1L << 40);
        assertThat(object.isTrue("yes")).isTrue();
        assertThat(object.objects("list").getFirst().text("x")).isEqualTo("y");
        assertThat(JsonObject.parse("{\"a\": null}").text("a")).isEmpty();
    }

    /** Answers come from other machines. */
    @ParameterizedTest
    @ValueSource(
            strings = {"", "{", "[1]", "{\"a\": }", "{\"a\": 1} x", "{\"a\": 1}{}", "{a: 1}", "{\"a\": NaN}", "nul"})
    void whatIsNoObjectIsRefused(String text) {
        assertThatThrownBy(() -> JsonObject.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatIsTooDeepIsRefused() {
        assertThatThrownBy(() -> JsonObject.parse("{\"a\":" + "[".repeat(100_000)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private record Cable(String from, Optional<String> to, List<Cable> more) {}

    @Test
    void aRecordIsAnObjectOfItsComponents() {
        Cable inner = new Cable("b", Optional.of("c"), List.of());

        assertThat(Json.line(new Cable("a", Optional.empty(), List.of(inner))))
                .isEqualTo("{\"from\":\"a\",\"more\":[{\"from\":\"b\",\"to\":\"c\",\"more\":[]}]}\n");
        assertThat(Json.line(JsonObject.parse("{\"from\": \"a\"}"))).isEqualTo("{\"from\":\"a\"}\n");
    }
}
