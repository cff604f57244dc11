package trigon.routing;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** Once per connection: the paths to a peer with which this node shares one of its subnets. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RoutingBenchmark {

    /** NICs of this node and of the peer. */
    @Param({"2", "8"})
    public int nics;

    private RoutingTable table = new RoutingTable(List.of(), _ -> Optional.empty(), Map.of(), List.of());
    private PeerDescription peer = new PeerDescription(OptionalInt.empty(), List.of());

    @Setup
    public void link() {
        List<LocalLink> links = new ArrayList<>();
        List<PeerLink> remotes = new ArrayList<>();
        for (int nic = 0; nic < nics; nic++) {
            InterfaceAddress own = InterfaceAddress.parse("10.0.%d.1/24".formatted(nic));
            // the last subnet is shared, the others are the peer's own
            int subnet = nic == nics - 1 ? nic : 100 + nic;
            InterfaceAddress its = InterfaceAddress.parse("10.0.%d.2/24".formatted(subnet));
            links.add(new LocalLink(
                    "rdma" + nic,
                    LinkKind.RDMA,
                    "rdma" + nic,
                    1,
                    own,
                    1,
                    Gid.of(own.address()),
                    100_000,
                    "eth" + nic,
                    1 + nic,
                    nic));
            remotes.add(new PeerLink(its.address(), its.prefixLength(), 7471, EnumSet.of(LinkKind.RDMA)));
        }
        table = new RoutingTable(links, _ -> Optional.empty(), Map.of(), List.of());
        peer = new PeerDescription(OptionalInt.empty(), remotes);
    }

    @Benchmark
    public List<Path> pathsToAPeer() {
        return table.pathsTo(peer);
    }
}
