package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.config.cluster.ClusterKey;
import trigon.stream.circuit.JobKeys;
import trigon.system.InterfaceAddress;

/**
 * Announcements in a job without a cluster key. This node, a, has a cable to b and one to d; c is behind both, at
 * 10.0.23.3, and e behind c, at 10.0.35.5.
 */
class JobRecordsTest {

    private static final InetAddress B = InetAddress.ofLiteral("10.0.12.2");
    private static final InetAddress D = InetAddress.ofLiteral("10.0.14.4");
    private static final InetAddress C = InetAddress.ofLiteral("10.0.23.3");
    private static final InetAddress E = InetAddress.ofLiteral("10.0.35.5");

    private long nanos;
    private final JobKeys keys = new JobKeys(() -> nanos);
    private final AnnouncementKey own = new AnnouncementKey(Optional.empty(), keys);
    private final Topology topology = topology("a", 1, own, link("10.0.12.1"), link("10.0.14.1"));
    private long sequence;

    private static Topology topology(String name, long number, AnnouncementKey key, LinkRecord... links) {
        return new Topology(new Origin(number, number, name), List.of(links), key, () -> 0, () -> 0);
    }

    /** Another member of the job. */
    private AnnouncementKey member() {
        JobKeys theirs = new JobKeys(() -> nanos);
        keys.learn(theirs.smallest());
        theirs.learn(keys.smallest());
        return new AnnouncementKey(Optional.empty(), theirs);
    }

    @Test
    void membersAreKnownBeyondTheNeighbours() {
        AnnouncementKey job = member();
        say(ofB(), B, job);
        say(ofC(), B, job);
        say(ofE(), B, job);

        assertThat(topology.hasWaiting()).as("they are passed on").isTrue();
        assertThat(topology.nodes().isComplete()).isTrue();
        assertThat(Shape.describe(topology.nodes())).isEqualTo("line of 4 nodes: a-b, b-c, c-e");
        assertThat(Simulation.routes(topology.nodes(), E))
                .extracting(Route::names)
                .containsExactly(List.of("b", "c"));
    }

    /** A stranger on a cable has no key, or one of his own. */
    @Test
    void strangersAreNotBelieved() {
        AnnouncementKey job = member();
        say(ofB(), B, job);
        for (AnnouncementKey stranger :
                List.of(Simulation.noKey(), new AnnouncementKey(Optional.empty(), new JobKeys(() -> nanos)))) {
            say(ofC(), B, stranger);
            say(ofE(), B, stranger);
            say(record(9, "stranger", heard("10.0.14.4", "10.0.14.1"), heard("10.0.23.9", "10.0.23.3")), D, stranger);

            assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a", "b");
            assertThat(Simulation.routes(topology.nodes(), E)).isEmpty();
        }
    }

    /** His words count no more than before there was a key: for a peer that no member has announced, and one relay. */
    @Test
    void whoHasNoKeyYetMayRelayWhereNoMemberDoes() {
        member();
        say(ofB(), B, Simulation.noKey());
        assertThat(topology.hasWaiting()).isFalse();
        assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a");
        assertThat(Simulation.routes(topology.nodes(), C))
                .extracting(Route::names)
                .containsExactly(List.of("b"));

        AnnouncementKey job = member();
        say(record(4, "d", heard("10.0.14.4", "10.0.14.1"), heard("10.0.34.4", "10.0.34.3")), D, job);
        say(record(3, "c", heard("10.0.23.3", "10.0.23.2"), heard("10.0.34.3", "10.0.34.4")), D, job);
        assertThat(Simulation.routes(topology.nodes(), C)).isEmpty();
        assertThat(Simulation.routes(topology.nodes(), InetAddress.ofLiteral("10.0.34.3")))
                .extracting(Route::names)
                .containsExactly(List.of("d"));
    }

    @Test
    void noStrangerHasAnAddressOfAMember() {
        AnnouncementKey job = member();
        say(ofB(), B, job);
        say(record(9, "x", heard("10.0.12.2", "10.0.12.1"), heard("10.0.99.2", "10.0.99.3")), B, Simulation.noKey());

        InetAddress far = InetAddress.ofLiteral("10.0.99.3");
        assertThat(Simulation.routes(topology.nodes(), far)).isEmpty();
    }

    /** A record without a proof neither changes nor stops the proven ones of its process. */
    @Test
    void provenRecordsTakeTheirPlace() {
        AnnouncementKey job = member();
        sequence = 1_000_000;
        say(record(2, "forged", heard("10.0.12.2", "10.0.12.1")), B, Simulation.noKey());
        sequence = 0;
        say(ofB(), B, job);
        assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a", "b");

        sequence = 2_000_000;
        say(record(2, "forged", heard("10.0.12.2", "10.0.12.1")), B, Simulation.noKey());
        assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a", "b");
        sequence = 1;
        say(ofB(), B, job);
        assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a", "b");
    }

    @Test
    void aFormerKeyProvesForAMinute() {
        AnnouncementKey behind = member();
        byte[] smaller = keys.smallest();
        smaller[0] = 0;
        smaller[1] = 0;
        keys.learn(smaller);

        say(ofB(), B, behind);
        assertThat(topology.nodes().all()).hasSize(2);
        nanos += 61_000_000_000L;
        say(record(3, "c", heard("10.0.14.4", "10.0.14.1")), D, behind);
        assertThat(topology.nodes().all()).extracting(Node::name).containsExactly("a", "b");
    }

    @Test
    void aProofHoldsForItsRecordAlone() {
        AnnouncementKey job = member();
        RecordCodec.Sealed ofB = RecordCodec.seal(ofB(), job);
        RecordCodec.Sealed ofC = RecordCodec.seal(ofC(), job);

        assertThat(own.maker(ofB.body(), ofB.proof())).isEqualTo(AnnouncementKey.Maker.MEMBER);
        for (int at = 0; at < AnnouncementKey.PROOF_BYTES; at++) {
            byte[] changed = ofB.proof().clone();
            changed[at] ^= 1;
            assertThat(own.maker(ofB.body(), changed)).isNotEqualTo(AnnouncementKey.Maker.MEMBER);
        }
        assertThat(own.maker(ofB.body(), ofC.proof())).isEqualTo(AnnouncementKey.Maker.STRANGER);
    }

    /** The cluster's key is the stronger word: whoever has it takes nothing from who has the job's alone. */
    @Test
    void withAClusterKeyTheJobsProvesNothing() {
        ClusterKey cluster = new ClusterKey(Path.of("/key"), new byte[32]);
        AnnouncementKey job = member();
        AnnouncementKey withBoth = new AnnouncementKey(Optional.of(cluster), keys);
        RecordCodec.Sealed ofJob = RecordCodec.seal(ofB(), job);
        RecordCodec.Sealed ofCluster = RecordCodec.seal(ofB(), withBoth);

        assertThat(withBoth.maker(ofJob.body(), ofJob.proof())).isEqualTo(AnnouncementKey.Maker.STRANGER);
        assertThat(withBoth.maker(ofCluster.body(), ofCluster.proof())).isEqualTo(AnnouncementKey.Maker.MEMBER);
        say(ofB(), B, withBoth);
        assertThat(topology.nodes().all()).hasSize(1);
        assertThat(topology.nodes().complaints()).containsKey(Incompatibility.NO_KEY_HERE);
    }

    /** A flood of what anybody can make leaves room for members. */
    @Test
    void membersHaveRoomInAFlood() {
        Limits limits = new Limits();
        List<InetAddress> taken = new ArrayList<>();
        for (int i = 0; i < 2 * Limits.MAX_RECORDS; i++) {
            InetAddress source = InetAddress.ofLiteral("10.1.%d.%d".formatted(i / 250, i % 250));
            if (limits.remember(source, 100, false)) {
                taken.add(source);
            }
        }
        assertThat(taken).hasSize(Limits.MAX_RECORDS / 2);
        assertThat(limits.remember(B, 100, true)).isTrue();

        taken.forEach(source -> limits.forget(source, 100, false));
        assertThat(limits.remember(D, 100, false)).isTrue();
    }

    private static NodeRecord ofB() {
        return record(2, "b", heard("10.0.12.2", "10.0.12.1"), heard("10.0.23.2", "10.0.23.3"));
    }

    private static NodeRecord ofC() {
        return record(3, "c", heard("10.0.23.3", "10.0.23.2"), heard("10.0.35.3", "10.0.35.5"));
    }

    private static NodeRecord ofE() {
        return record(5, "e", heard("10.0.35.5", "10.0.35.3"));
    }

    private void say(NodeRecord record, InetAddress source, AnnouncementKey key) {
        NodeRecord next =
                new NodeRecord(record.instance(), ++sequence, 0, record.node(), record.name(), 0, record.links());
        for (byte[] datagram : RecordCodec.pack(List.of(RecordCodec.seal(next, key)))) {
            topology.received(ByteBuffer.wrap(datagram), source, 0);
        }
    }

    private static NodeRecord record(long number, String name, LinkRecord... links) {
        return new NodeRecord(number, 0, 0, number, name, 0, List.of(links));
    }

    private static LinkRecord heard(String address, String other) {
        return new LinkRecord(
                InterfaceAddress.parse(address + "/24"),
                5000,
                100,
                false,
                List.of(InetAddress.ofLiteral(other)),
                false);
    }

    private static LinkRecord link(String address) {
        return LinkRecord.silent(InterfaceAddress.parse(address + "/24"), 5000, 100);
    }
}
