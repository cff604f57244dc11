package trigon.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class FieldsTest {

    @Test
    void whatIsWrittenIsRead() {
        Fields fields = Fields.of("peer", "b\tat 100% =\n%09", "empty", "", "number", 42);

        assertThat(Fields.decode(fields.encoded())).isEqualTo(fields);
        assertThat(fields.number("number", -1)).isEqualTo(42);
        assertThat(fields.number("peer", -1)).isEqualTo(-1);
    }

    @Test
    void whatIsNoFieldIsLeftOut() {
        Fields read = Fields.decode("x\t=y\ta=b=c\t\uD800".getBytes(StandardCharsets.UTF_8));

        assertThat(read).isEqualTo(Fields.of("a", "b=c"));
        assertThat(Fields.decode(new byte[0])).isEqualTo(Fields.NONE);
    }
}
