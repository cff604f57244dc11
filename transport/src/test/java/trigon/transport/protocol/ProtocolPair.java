package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import trigon.qpstate.QueuePairParameters;
import trigon.routing.LocalLink;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.TcpSockets;
import trigon.transport.metrics.Metrics;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.AccessFlag;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** Both ends of a session of one path, on software links, without what brings connections up. Used by one thread. */
final class ProtocolPair implements AutoCloseable {

    private static final MoverSettings MOVERS = new MoverSettings(1, 5000);

    private static final QueuePairParameters PARAMETERS =
            new QueuePairParameters(18, 2, 7, 12, 1, 1); // 8 s without an answer

    private final SoftwareVerbs verbs = new SoftwareVerbs(List.of(device("soft_a", 1), device("soft_b", 2)), MOVERS);
    private final Metrics metrics = Metrics.unshared();
    private final Links links =
            Links.open(List.of(link("soft_a", 1), link("soft_b", 2)), Map.of(LinkKind.SOFTWARE, verbs), 4096, metrics);
    /** Registrations by their handles. */
    private final Map<Long, RegisteredMemory> memories = new HashMap<>();

    private final RequestTable table = RequestTable.unseen(LaneVerbs.FUNCTIONS);
    private final WorkCompletions completions = new WorkCompletions(16);
    private final Random random = new Random(1);

    final Requests sends = table.open(1L << 32);
    final Requests receives = table.open(2L << 32);

    private PathChannel sending;
    private PathChannel receiving;
    private boolean sendingFailed;
    private boolean receivingFailed;
    private int left;
    private SendProtocol sender;
    private ReceiveProtocol receiver;
    private @Nullable RegisteredMemory source;
    private @Nullable RegisteredMemory target;

    /**
     * Over one path.
     *
     * @param first how messages go at first
     * @param resumable whether it may {@link #move}
     */
    ProtocolPair(MessageProtocol first, boolean resumable) {
        sending = open(0, PathRole.SENDER, first);
        receiving = open(1, PathRole.RECEIVER, first);
        connect();
        sender = SendProtocol.over(first, List.of(sending), sends, resumable);
        receiver = ReceiveProtocol.over(first, List.of(receiving), receives);
    }

    private static SoftwareDevice device(String name, int host) {
        return new SoftwareDevice(name, address(host), 24, 10_000, 0);
    }

    private static LocalLink link(String name, int host) {
        InetAddress address = address(host);
        return new LocalLink(
                name,
                LinkKind.SOFTWARE,
                name,
                1,
                new InterfaceAddress(address, 24),
                0,
                Gid.of(address),
                10_000,
                "lo",
                1,
                host);
    }

    private static InetAddress address(int host) {
        try {
            return InetAddress.getByName("127.1.77." + host);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private PathChannel open(int link, PathRole role, MessageProtocol protocol) {
        return PathChannel.open(
                links.all().get(link), role, protocol.capacity(role, 1 << 30), PARAMETERS, random, false);
    }

    private void connect() {
        byte[] secret = new byte[ConnectionKey.BYTES];
        random.nextBytes(secret);
        ConnectionKey key = ConnectionKey.of(secret);
        receiving.limit(1 << 30, 10_000);
        sending.limit(1 << 30, 10_000);
        receiving.connect(sending.endpoint(), key, sending.forPeer(), 0, 0);
        sending.connect(receiving.endpoint(), key, receiving.forPeer(), 0, 0);
        assertThat(sending.queuePair().awaitOpen(Duration.ofSeconds(20))).isTrue();
    }

    void register(long from, long to, int bytes) {
        source = RegisteredMemory.with(new Link[] {links.all().get(0)}, from, bytes, EnumSet.noneOf(AccessFlag.class));
        target = RegisteredMemory.with(
                new Link[] {links.all().get(1)},
                to,
                bytes,
                EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        show(source, sends);
        show(target, receives);
    }

    private void show(RegisteredMemory memory, Requests of) {
        memory.showIn(table.memories(), of.session() + 1, of.session());
        memories.put(memory.handle(), memory);
    }

    long send(long address, int size, int tag) {
        long request = left > 0 ? Protocol.NO_ROOM : sender.isend(address, size, tag, source);
        assertThat(request).isNotEqualTo(Protocol.FAILED);
        return request;
    }

    long receive(long address, int size, int tag) {
        long request = receiver.irecv(address, size, tag, target);
        assertThat(request).isNotEqualTo(Protocol.FAILED);
        return request;
    }

    /** Takes what has come, up to the first error. */
    void progress() {
        if (left > 0) {
            left = sends().repeat();
            assertThat(left).isNotNegative();
        }
        sendingFailed = take(sending, sender, sendingFailed);
        if (!sendingFailed) {
            sends().settle();
        }
        receivingFailed = take(receiving, receiver, receivingFailed);
    }

    private boolean take(PathChannel path, Protocol protocol, boolean failed) {
        int count = path.completionQueue().poll(completions);
        boolean ordered = sends().kind() == MessageProtocol.EAGER; // else there are requests in both queues
        boolean fails = failed;
        for (int i = 0; i < count; i++) {
            boolean success = completions.statusCode(i) == WorkCompletionStatus.SUCCESS_CODE;
            assertThat(success && fails && ordered)
                    .as("a success behind an error")
                    .isFalse();
            fails |= !success;
            if (success) {
                assertThat(protocol.succeeded(0, completions, i)).isTrue();
            }
        }
        return fails;
    }

    private Protocol sends() {
        return sender;
    }

    private Protocol receives() {
        return receiver;
    }

    /** Descriptors of the TCP connections that there are between the two. */
    List<Integer> connections() {
        return links.all().stream()
                .flatMap(link ->
                        TcpSockets.connectedTo(link.device().queryPort(1).lid()).stream())
                .toList();
    }

    /** Fences both ends, and goes on over new queue pairs by that protocol; whether what is known fits together. */
    boolean move(MessageProtocol by) {
        for (PathChannel path : random.nextBoolean() ? List.of(sending, receiving) : List.of(receiving, sending)) {
            path.queuePair()
                    .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
        }
        for (int i = 0; i < 2 * sending.sendQueueDepth(); i++) {
            sendingFailed = take(sending, sender, sendingFailed);
            receivingFailed = take(receiving, receiver, receivingFailed);
        }
        long confirmed = sends().confirmed();
        long received = receives().confirmed();
        long begun = sends().begun();
        if (confirmed > received || received > begun) {
            return false;
        }
        PathChannel formerlySending = sending;
        PathChannel formerlyReceiving = receiving;
        sending = open(0, PathRole.SENDER, by);
        receiving = open(1, PathRole.RECEIVER, by);
        connect();
        receiver = (ReceiveProtocol) receives().as(by, List.of(receiving), memories::get);
        receives().moveTo(List.of(receiving), received);
        sendingFailed = false;
        receivingFailed = false;
        assertThat(receives().repeat()).isZero();
        sender = (SendProtocol) sends().as(by, List.of(sending), memories::get);
        sends().moveTo(List.of(sending), received);
        left = sends().repeat();
        formerlySending.close();
        formerlyReceiving.close();
        return true;
    }

    @Override
    public void close() {
        sending.close();
        receiving.close();
        sender.close();
        receiver.close();
        if (source != null && target != null) {
            source.close();
            target.close();
        }
        links.close();
        LedgerAssert.assertNothingOpen(verbs);
        verbs.close();
        table.close();
        metrics.close();
        completions.close();
    }
}
