package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import trigon.config.cluster.ClusterKey;
import trigon.relay.topology.AnnouncementKey;
import trigon.relay.topology.LinkRecord;
import trigon.relay.topology.Origin;
import trigon.relay.topology.Topology;
import trigon.system.InterfaceAddress;
import trigon.testsupport.ManualClock;

/** What is said of the topology, and when. */
class NeighbourhoodTest {

    private static final Duration MORE_THAN_SETTLED = Duration.ofSeconds(4);

    private final ManualClock clock = new ManualClock();
    private final Neighbourhood neighbourhood = new Neighbourhood(Optional.empty(), clock);
    private Topology own = topology("a", 1);
    private final Topology other = topology("b", 2);
    private final Logger logger = (Logger) LoggerFactory.getLogger(Mesh.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        logger.setLevel(Level.INFO);
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void close() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    @Test
    void theShapeIsToldOnceItHasBeenTheSameForAWhile() {
        learn();
        clock.advance(MORE_THAN_SETTLED);
        learn();
        assertThat(log.list).as("of a node that is alone").isEmpty();

        hear(other);
        learn();
        clock.advance(MORE_THAN_SETTLED);
        hear(other);
        hear(topology("c", 3));
        learn();
        assertThat(log.list).as("of what has just changed").isEmpty();

        for (int turn = 0; turn < 3; turn++) {
            clock.advance(MORE_THAN_SETTLED);
            learn();
        }
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("topology: line of 3 nodes: a-b, a-c");
    }

    /** Without a key, a stranger can make up another neighbour each time. */
    @Test
    void shapesThatNobodyHasProvenAreToldAFewTimes() {
        AnnouncementKey none = new AnnouncementKey(Optional.empty());
        own = topology("a", 1, none);
        for (int number = 2; number < 100; number++) {
            hear(topology("stranger" + number, number, none));
            learn();
            clock.advance(MORE_THAN_SETTLED);
            learn();
        }

        assertThat(log.list).hasSizeBetween(1, 10).first().asString().contains("neighbours of a: stranger2;");
    }

    /** As when a stranger makes up a crowd: what comes and goes in it is not told. */
    @Test
    void aCrowdThatNobodyHasProvenIsToldOnce() {
        AnnouncementKey none = new AnnouncementKey(Optional.empty());
        own = topology("a", 1, none);
        for (int number = 2; number < 60; number++) {
            hear(topology("stranger" + number, number, none));
        }
        for (int number = 60; number < 70; number++) {
            hear(topology("stranger" + number, number, none));
            learn();
            clock.advance(MORE_THAN_SETTLED);
            learn();
        }

        assertThat(log.list).hasSize(1).first().asString().contains(" more;");
    }

    /** Waits until that node could have announced itself by this node's key as well, for another job. */
    @Test
    void aNeighbourWithAnotherKeyIsToldOfOnce() {
        Topology stranger = topology("b", 2, key(1));
        for (int turn = 0; turn < 4; turn++) {
            hear(stranger);
            learn();
            assertThat(log.list).hasSize(turn == 0 ? 0 : 1);
            clock.advance(MORE_THAN_SETTLED);
        }

        assertThat(log.list.getFirst().getFormattedMessage())
                .isEqualTo("no relay is found there: announcements from 10.0.12.2 are signed with another cluster key"
                        + " than this node's, or none; give all nodes the same key (TRIGON_CLUSTER_KEY_FILE)");
    }

    /** A stranger on every cable, who can have as many addresses as he likes. */
    @Test
    void aCauseIsToldOfOnceForAllAddresses() {
        for (int number = 2; number < 8; number++) {
            hear(topology("stranger", number, key(1)));
            learn();
            clock.advance(MORE_THAN_SETTLED);
            learn();
        }

        assertThat(log.list).hasSize(1);
    }

    private void learn() {
        neighbourhood.learn(own.nodes());
    }

    private void hear(Topology from) {
        for (Topology.Outgoing said : from.tick(clock.nanoTime())) {
            own.received(
                    ByteBuffer.wrap(said.datagram()),
                    from.addresses().getFirst().address(),
                    clock.nanoTime());
        }
    }

    private static Topology topology(String name, int number) {
        return topology(name, number, key(0));
    }

    private static AnnouncementKey key(int number) {
        byte[] bytes = new byte[32];
        bytes[0] = (byte) number;
        return new AnnouncementKey(Optional.of(new ClusterKey(Path.of("/key"), bytes)));
    }

    private static Topology topology(String name, int number, AnnouncementKey key) {
        InterfaceAddress link = InterfaceAddress.parse("10.0.12." + number + "/24");
        Topology topology = new Topology(
                new Origin(number, number, name), List.of(LinkRecord.silent(link, 5000, 1000)), key, () -> 0, () -> 0);
        topology.needRelays(true);
        return topology;
    }
}
