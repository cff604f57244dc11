package trigon.entry.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** The log of a command that runs for long, such as {@code trigon relay}. */
class CommandLogTest {

    private final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
    private final LoggerContext context = new LoggerContext();
    private final Logger logger = context.getLogger("trigon.test");

    @Test
    void tellsWhatAPersonAsks() {
        configure(Map.of());
        logger.debug("a detail");
        logger.info("topology: {}", "ring of 4 nodes");
        logger.warn("a refusal", new IllegalStateException("why"));

        assertThat(stderr.toString(StandardCharsets.UTF_8).lines())
                .startsWith(
                        "trigon relay: info: topology: ring of 4 nodes",
                        "trigon relay: warn: a refusal: java.lang.IllegalStateException: why")
                .allMatch(line -> line.startsWith("trigon relay: "));
    }

    @Test
    void theVariableSaysTheLevel() {
        configure(Map.of("TRIGON_LOG", "debug", "NCCL_DEBUG", "WARN"));
        logger.debug("a detail");
        assertThat(stderr.toString(StandardCharsets.UTF_8)).isEqualTo("trigon relay: debug: a detail\n");

        configure(Map.of("TRIGON_LOG", "off"));
        logger.error("a failure");
        assertThat(stderr.toString(StandardCharsets.UTF_8)).doesNotContain("failure");
    }

    @Test
    void aWordThatIsNoLevelIsToldOf() {
        configure(Map.of("TRIGON_LOG", "loud"));

        assertThat(stderr.toString(StandardCharsets.UTF_8))
                .contains("warn: the environment variable TRIGON_LOG is \"loud\"");
    }

    private void configure(Map<String, String> environment) {
        context.reset();
        context.setName("test");
        NcclLogConfigurator.configureCommand(
                context, "trigon relay", environment, new PrintStream(stderr, true, StandardCharsets.UTF_8));
    }
}
