package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import trigon.relay.topology.Route;

class RelayProcessesTest {

    private static final Route.Relay NODE = new Route.Relay(InetAddress.ofLiteral("10.0.12.2"), List.of(71, 72, 73));

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1); // nanoTime may begin anywhere
    private final RelayProcesses ports = new RelayProcesses(7, now::get);

    @Test
    void circuitsAreSharedByAllProcessesOfANode() {
        assertThat(next(12)).isEqualTo(Map.of(71, 4L, 72, 4L, 73, 4L));
    }

    @Test
    void aProcessThatIsGoneIsLeftOutForAWhile() {
        ports.rest(process(72));
        assertThat(next(12)).isEqualTo(Map.of(71, 6L, 73, 6L));

        now.addAndGet(RelayProcesses.REST.toNanos());
        assertThat(next(12)).doesNotContainKey(72);
        now.incrementAndGet();
        assertThat(next(12)).containsKey(72);
    }

    @Test
    void whereAllRestAllAreTried() {
        List.of(71, 72, 73).forEach(port -> ports.rest(process(port)));
        assertThat(next(12)).isEqualTo(Map.of(71, 4L, 72, 4L, 73, 4L));
    }

    @Test
    void oneThatIsGoneAgainRestsAnew() {
        ports.rest(process(72));
        now.addAndGet(RelayProcesses.REST.toNanos());
        ports.rest(process(72));
        now.addAndGet(RelayProcesses.REST.toNanos());
        assertThat(next(3)).doesNotContainKey(72);
    }

    private static InetSocketAddress process(int port) {
        return new InetSocketAddress(NODE.address(), port);
    }

    /** The number of circuits of each process. */
    private Map<Integer, Long> next(int circuits) {
        return IntStream.range(0, circuits)
                .mapToObj(_ -> ports.next(NODE).getPort())
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    }
}
