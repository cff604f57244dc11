package trigon.tools.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.transport.metrics.LinkCounters;
import trigon.transport.metrics.Metrics;
import trigon.transport.metrics.PathCounters;

/** Of this process. */
class WatchTest {

    private static final long PID = ProcessHandle.current().pid();

    private final Machine machine = new Machine(Path.of("/"), Map.of(), "here", "1.2.3", Optional.empty());

    @Test
    void whatIsCountedAfterTheLastLookIsCounted() {
        try (Watch watch = new Watch(machine, true)) {
            try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"))) {
                LinkCounters link = metrics.link("eth7", "TCP", 10_000);
                try (PathCounters path = link.path("sender")) {
                    path.message(1_000);
                    watch.look(List.of(PID));
                    path.message(20_000);
                }
            }
            watch.look(List.of(PID)); // the plugin has ended
            watch.countAgain();

            assertThat(bytes(watch)).isEqualTo(21_000);
        }
    }

    private static long bytes(Watch watch) {
        return watch.seen().stream()
                .flatMap(process -> process.links().stream())
                .filter(link -> link.name().equals("eth7"))
                .mapToLong(link -> link.counts().bytes())
                .sum();
    }

    /** Where this user may look into all processes, there is nothing to try. */
    @Test
    void anotherUsersProcessThatIsNamedIsAnError() {
        assumeFalse(Files.isReadable(Path.of("/proc/1/fd")));
        try (Watch watch = new Watch(machine, false)) {
            watch.look(List.of(1L));

            assertThatThrownBy(() -> watch.lookAtNamed(1))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageStartingWith("process 1 cannot be looked into: ");
        }
    }

    @Test
    void processesWithoutTrigonAreNotSeen() {
        try (Watch watch = new Watch(machine, true)) {
            watch.look(List.of(ProcessHandle.current().parent().orElseThrow().pid(), 999_999_999L));
            watch.countAgain();

            assertThat(watch.seen()).isEmpty();
        }
    }
}
