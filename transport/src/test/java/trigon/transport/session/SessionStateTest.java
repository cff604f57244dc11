package trigon.transport.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import trigon.transport.testsupport.StateDiagram;

class SessionStateTest {

    @Test
    void changesAsTheDiagramSays() throws IOException {
        Set<String> possible = Arrays.stream(SessionState.values())
                .flatMap(from -> from.successors().stream().map(to -> from + " --> " + to))
                .collect(Collectors.toSet());

        assertThat(possible).isEqualTo(StateDiagram.transitions("SessionState"));
    }

    @Test
    void refusesAnyOtherChange() {
        assertThat(SessionState.RUNNING.become(SessionState.RUNNING)).isEqualTo(SessionState.RUNNING);
        assertThatIllegalStateException()
                .isThrownBy(() -> SessionState.FAILED.become(SessionState.RUNNING))
                .withMessageContaining("FAILED")
                .withMessageContaining("RUNNING");
    }
}
