package trigon.tools.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTest {

    @Test
    void leavesOutWhatIsEmptyAndEscapes() {
        Object value = Json.object("a", 1, "b", Optional.empty(), "c", List.of("x\"\\\n\u0001", true), "d", List.of());

        assertThat(Json.line(value)).isEqualTo("{\"a\": 1,\"c\": [\"x\\\"\\\\\\n\\u0001\",true],\"d\": []}\n");
        assertThat(Json.text(value)).startsWith("{\n  \"a\": 1,\n  \"c\": [\n    \"x");
    }
}
