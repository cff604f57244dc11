package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.relay.topology.Route;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;

class RelayProcessesTest {

    private static final InetAddress LOCAL = InetAddress.ofLiteral("10.0.12.1");
    private static final InetSocketAddress END = new InetSocketAddress("10.0.23.3", 7);
    private static final InetSocketAddress OTHER_END = new InetSocketAddress("10.0.23.4", 7);
    private static final CircuitKeys NO_KEYS = new CircuitKeys(Optional.empty());
    private static final Route.Relay NODE = relay("10.0.12.2", 71, 72, 73);

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1); // nanoTime may begin anywhere
    private final RelayProcesses processes = new RelayProcesses(7, now::get);
    private List<Route> routes = List.of(over(NODE));

    @Test
    void circuitsAreSharedByAllProcessesOfANode() {
        assertThat(next(12)).isEqualTo(Map.of(71, 4L, 72, 4L, 73, 4L));
    }

    @Test
    void circuitsAreSharedByTheRoutesOfEqualRank() {
        routes = List.of(over(NODE), over(relay("10.0.12.4", 81, 82)));

        assertThat(next(2)).as("one after the other").hasSize(2).containsOnlyKeys(72, 82);
        assertThat(next(18).values()).containsOnly(4L, 3L);
    }

    /** A connection has one circuit of each kind, and the same number of both. */
    @Test
    void circuitsToEachEndAreSharedForThemselves() {
        routes = List.of(over(relay("10.0.12.2", 71)), over(relay("10.0.12.4", 81)));
        List<Integer> toEnd = new ArrayList<>();
        List<Integer> toOther = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            toEnd.add(circuit(END).first().getPort());
            toOther.add(circuit(OTHER_END).first().getPort());
        }

        assertThat(toEnd).containsExactly(81, 71, 81, 71);
        assertThat(toOther).containsExactly(71, 81, 71, 81);
    }

    @Test
    void eachProcessOfTheFirstRelayMeetsEachOfTheSecond() {
        routes = List.of(over(relay("10.0.12.2", 71, 72), relay("10.0.23.2", 91, 92)));
        List<List<Integer>> passed = Stream.generate(() -> circuit(END))
                .limit(4)
                .map(route -> List.of(
                        route.first().getPort(),
                        route.request().hops().getFirst().getPort()))
                .toList();

        assertThat(passed)
                .containsExactlyInAnyOrder(List.of(71, 91), List.of(71, 92), List.of(72, 91), List.of(72, 92));
    }

    @Test
    void aProcessThatIsGoneIsLeftOutForAWhile() {
        processes.rest(process(72));
        assertThat(next(12)).isEqualTo(Map.of(71, 6L, 73, 6L));

        now.addAndGet(RelayProcesses.REST.toNanos());
        assertThat(next(12)).doesNotContainKey(72);
        now.incrementAndGet();
        assertThat(next(12)).containsKey(72);
    }

    /** It is full, or has died, and its announcements are believed for some seconds more. */
    @Test
    void aNodeWhoseProcessesRestLeavesAllToTheOther() {
        routes = List.of(over(NODE), over(relay("10.0.12.4", 81)));
        List.of(71, 72, 73).forEach(port -> processes.rest(process(port)));

        assertThat(next(12)).isEqualTo(Map.of(81, 12L));
    }

    @Test
    void aRouteWhoseSecondRelayRestsLeavesAllToTheOther() {
        routes = List.of(
                over(relay("10.0.12.2", 71), relay("10.0.23.2", 91)),
                over(relay("10.0.12.4", 81), relay("10.0.23.4", 92)));
        processes.rest(new InetSocketAddress("10.0.23.2", 91));

        assertThat(next(4)).isEqualTo(Map.of(81, 4L));
    }

    @Test
    void whereAllRestAllAreTried() {
        List.of(71, 72, 73).forEach(port -> processes.rest(process(port)));
        assertThat(next(12)).isEqualTo(Map.of(71, 4L, 72, 4L, 73, 4L));
    }

    @Test
    void oneThatIsGoneAgainRestsAnew() {
        processes.rest(process(72));
        now.addAndGet(RelayProcesses.REST.toNanos());
        processes.rest(process(72));
        now.addAndGet(RelayProcesses.REST.toNanos());
        assertThat(next(3)).doesNotContainKey(72);
    }

    private static InetSocketAddress process(int port) {
        return new InetSocketAddress(NODE.address(), port);
    }

    private static Route.Relay relay(String address, Integer... ports) {
        return new Route.Relay(InetAddress.ofLiteral(address), List.of(ports));
    }

    private static Route over(Route.Relay... relays) {
        List<String> names = Stream.of(relays).map(Object::toString).toList();
        return new Route(LOCAL, List.of(relays), END.getAddress(), names, 100_000, 0);
    }

    private CircuitRoute circuit(InetSocketAddress end) {
        return processes.circuit(routes, 0, end, NO_KEYS);
    }

    /** The number of circuits of each process of a first relay. */
    private Map<Integer, Long> next(int circuits) {
        return IntStream.range(0, circuits)
                .mapToObj(_ -> circuit(END).first().getPort())
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    }
}
