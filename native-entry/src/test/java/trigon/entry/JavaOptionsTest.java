package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class JavaOptionsTest {

    @Test
    void namesEachFlagThatThisJavaDoesNotHave() {
        String options = "-Xmx512m -XX:TieredStopAtLevl=1 '-XX:+UseZGCC' -XX:TieredStopAtLevel=1 -Dx=-XX:Foo";

        assertThat(JavaOptions.unknown(Map.of("TRIGON_JAVA_OPTS", options)))
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith("the flag TieredStopAtLevl in TRIGON_JAVA_OPTS has no effect"),
                        second -> assertThat(second).startsWith("the flag UseZGCC in TRIGON_JAVA_OPTS"));
    }

    @Test
    void saysNothingWhereNothingIsWrong() {
        assertThat(JavaOptions.unknown(Map.of())).isEmpty();
        assertThat(JavaOptions.unknown(Map.of("TRIGON_JAVA_OPTS", "-Xlog:gc -XX:+UseSerialGC -XX:NewSize=1m")))
                .isEmpty();
    }
}
