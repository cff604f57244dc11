package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.CircuitRoutes;
import trigon.stream.dial.Dialer;
import trigon.stream.hop.HopDevices;
import trigon.stream.hop.HopPort;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.PortRange;
import trigon.testsupport.Await;
import trigon.testsupport.verbs.SendFabric;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.Gid;

/**
 * The line a-b-c on loopback addresses: software devices at its ends, a relay in the middle, and RDMA at the addresses
 * that are named. What is opened is closed.
 */
final class RelayedLine implements AutoCloseable {

    static final String A = "127.0.12.1";
    static final String B_TO_A = "127.0.12.2";
    static final String B_TO_C = "127.0.23.2";
    static final String C = "127.0.23.3";

    private static final String ELSEWHERE = "127.0.34.9";

    private final SendFabric rdma;
    private final HopDevices hops;
    private final Relay relay;
    private final SoftwareVerbs first;
    private final SoftwareVerbs second;

    /** A line whose RDMA ports have these addresses. */
    RelayedLine(String... rdmaAddresses) {
        this(NanoClock.SYSTEM, rdmaAddresses);
    }

    /** The same, whose relay has a clock of its own. */
    RelayedLine(NanoClock clock, String... rdmaAddresses) {
        List<InetAddress> addresses =
                Arrays.stream(rdmaAddresses).map(InetAddress::ofLiteral).toList();
        rdma = new SendFabric(addresses.stream().collect(Collectors.toMap(InetAddress::getHostAddress, Gid::of)));
        hops = new HopDevices(
                addresses.stream()
                        .map(address -> new HopPort(rdma, address, address.getHostAddress(), 1, Gid.of(address)))
                        .toList(),
                Long.MAX_VALUE);
        List<InterfaceAddress> links = List.of(
                new InterfaceAddress(InetAddress.ofLiteral(B_TO_A), 24),
                new InterfaceAddress(InetAddress.ofLiteral(B_TO_C), 24));
        try {
            relay = Relay.open(
                    new Admission(links, RelayedNodes.KEYS, (_, _) -> Optional.empty()),
                    PortRange.ANY,
                    RelayLimits.DEFAULT.withSpin(Duration.ofNanos(100_000)),
                    hops,
                    clock);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        relay.start();
        first = provider("soft_a", A, B_TO_A);
        second = provider("soft_c", C, B_TO_C);
    }

    private SoftwareVerbs provider(String name, String address, String neighbour) {
        InetSocketAddress next = new InetSocketAddress(neighbour, relay.port(InetAddress.ofLiteral(neighbour)));
        Map<InetAddress, Boolean> reached = Map.of(InetAddress.ofLiteral(A), true, InetAddress.ofLiteral(C), true);
        CircuitRoutes routes = (_, to) -> reached.containsKey(to.getAddress())
                ? Optional.of(new CircuitRoutes.CircuitRoute(next, new CircuitRequest(List.of(to)), RelayedNodes.KEYS))
                : Optional.empty();
        return new SoftwareVerbs(
                List.of(
                        new SoftwareDevice(name, InetAddress.ofLiteral(address), 24, 25_000, 1),
                        new SoftwareDevice(name + "_2", InetAddress.ofLiteral(ELSEWHERE), 24, 25_000, 1)),
                MoverSettings.NONE,
                new Dialer(routes, hops),
                16,
                PortRange.ANY);
    }

    /** Both ends. */
    VerbsFabric fabric() {
        return new VerbsFabric(
                new VerbsFabric.End(first, "soft_a", 1, 0),
                new VerbsFabric.End(second, "soft_c", 1, 0),
                Optional.of(new VerbsFabric.End(second, "soft_c_2", 1, 0)));
    }

    Relay relay() {
        return relay;
    }

    SendFabric rdma() {
        return rdma;
    }

    @Override
    public void close() {
        Await.until("all circuits have ended", () -> relay.counts().circuits() == 0);
        first.close();
        second.close();
        relay.close();
        hops.close();
        assertThat(rdma.ledger().outstanding()).isEmpty();
        assertThat(rdma.openers())
                .as("threads that may be blocked")
                .extracting(Thread::getName)
                .containsOnly("trigon-software", Relay.THREAD_NAME);
    }
}
