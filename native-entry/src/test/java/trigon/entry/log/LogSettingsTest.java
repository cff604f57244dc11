package trigon.entry.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogSettingsTest {

    @Test
    void warnsWhereNothingIsSaid() {
        assertThat(LogSettings.of(Map.of())).isEqualTo(new LogSettings(Level.WARN, Level.OFF, false, ""));
    }

    @ParameterizedTest
    @CsvSource({
        "VERSION,, WARN",
        "WARN,, WARN",
        "info,, INFO",
        "ABORT,, INFO",
        "TRACE,, TRACE",
        "INFO, NET, INFO",
        "INFO, 'GRAPH,INIT', INFO",
        "INFO, ALL, INFO",
        "INFO, GRAPH, WARN",
        "INFO, ^NET, INFO",
        "INFO, '^NET,INIT', WARN",
        "INFO, ^ALL, WARN",
        "nonsense,, WARN",
    })
    void followsNccl(String level, String subsystems, String expected) {
        Map<String, String> environment = new HashMap<>(Map.of("NCCL_DEBUG", level));
        if (subsystems != null) {
            environment.put("NCCL_DEBUG_SUBSYS", subsystems);
        }

        assertThat(LogSettings.of(environment).threshold()).isEqualTo(Level.valueOf(expected));
    }

    @Test
    void isOverriddenByTrigonLog() {
        assertThat(LogSettings.of(Map.of("NCCL_DEBUG", "INFO", "TRIGON_LOG", "debug")))
                .isEqualTo(new LogSettings(Level.DEBUG, Level.INFO, true, ""));
        assertThat(LogSettings.of(Map.of("NCCL_DEBUG", "INFO", "TRIGON_LOG", "off")))
                .isEqualTo(new LogSettings(Level.OFF, Level.INFO, true, ""));
    }

    @Test
    void leavesAWordAloneThatIsNoneOfItsOwnAndKeepsItToBeSaid() {
        assertThat(LogSettings.of(Map.of("NCCL_DEBUG", "INFO", "TRIGON_LOG", "loud")))
                .isEqualTo(new LogSettings(Level.INFO, Level.INFO, false, "loud"));
    }
}
