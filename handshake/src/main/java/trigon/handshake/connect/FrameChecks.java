package trigon.handshake.connect;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.stream.dial.NarrowPaths;
import trigon.system.InterfaceAddress;

/**
 * Checks whether frames of the full size are lost on the way to a listener: where a handshake has a TCP connection, and
 * no answer behind frames of that size, the same is asked again, in that size and in smaller ones. If only smaller ones
 * are answered, handshakes that wait for an answer there fail. One that a busy listener answers late, or that has lost
 * packets in a burst, is no reason: a new one in the full size is answered then, {@value #TIMES} times as late as the
 * smaller ones at most. Event loop only.
 */
final class FrameChecks {

    /** Time without an answer until smaller segments are tried: TCP has sent everything twice again by then. */
    static final Duration AFTER = Duration.ofMillis(500);

    private static final Logger LOGGER = LoggerFactory.getLogger(FrameChecks.class);

    /** Time that all sizes have in the first check: TCP sends again after 0.2 and 0.6 s. */
    private static final Duration FIRST = Duration.ofSeconds(1);

    /** Segments of the full size have so many times as long as the smaller ones have taken. */
    private static final int TIMES = 4;

    /** Segments that pass where RDMA's path MTU of 4096 does, and where Ethernet's usual MTU of 1500 does. */
    private static final int[] SEGMENT_BYTES = {4000, 1400};

    /** Bytes of the longest packet of IPv4. */
    private static final int MAX_PACKET = 65_535;

    /** Bytes of IPv4's and TCP's headers: what people know is the packet's size. */
    private static final int HEADER_BYTES = 40;

    /** Time for which frames that have passed are taken to pass. */
    private static final Duration KNOWN = Duration.ofSeconds(5);

    /** Paths that are known to pass, of more peers than a job has. */
    private static final int MAX_KNOWN = 1024;

    private record Ends(InetAddress local, InetAddress remote) {}

    private record SizedPath(Ends ends, int segmentBytes) {

        static SizedPath of(Target target) {
            Ends ends = new Ends(target.local(), target.firstHop().address().getAddress());
            return new SizedPath(ends, target.firstHop().segmentBytes());
        }
    }

    /** Answers to one round of questions, for all handshakes that wait there. Times are its age, in nanoseconds. */
    static final class Check {
        private final List<ClientConnection> waiting = new ArrayList<>();
        private final long start;
        private final long nanos;
        private boolean fullPassed;
        private int passed;
        private long passedAfter;

        /**
         * One that begins.
         *
         * @param nanos time that all sizes have, after which it is over if none was answered
         */
        Check(long start, long nanos) {
            this.start = start;
            this.nanos = nanos;
        }

        void passFull() {
            fullPassed = true;
        }

        /** Takes note that a smaller segment was answered, and when the first was. */
        void pass(int bytes, long now) {
            passedAfter = passed == 0 ? now - start : passedAfter;
            passed = Math.max(passed, bytes);
        }

        /** Returns the time until it says whether the full size is lost, as far as it is known. */
        long nanosLeft(long now) {
            long needed = fullPassed ? 0 : Math.max(nanos, TIMES * passedAfter);
            return Math.max(0, start + needed - now);
        }
    }

    private final ClientServices services;
    private final Map<Ends, Check> underWay = new HashMap<>();

    /** When segments of that size have last passed. */
    private final Map<SizedPath, Long> passedAt = new HashMap<>();

    FrameChecks(ClientServices services) {
        this.services = services;
    }

    /** Has a handshake that waits for its first answer fail once it is known that frames of its size are lost. */
    void add(ClientConnection waiting) {
        Target target = waiting.target();
        Ends ends = new Ends(target.local(), target.firstHop().address().getAddress());
        Check known = underWay.get(ends);
        if (known != null) {
            known.waiting.add(waiting);
            return;
        }
        begin(target, ends, List.of(waiting), FIRST.toNanos());
    }

    private void begin(Target target, Ends ends, List<ClientConnection> waiting, long nanos) {
        Check check = new Check(now(), nanos);
        check.waiting.addAll(waiting);
        underWay.put(ends, check);
        Duration longest = Duration.ofNanos(nanos).multipliedBy(TIMES + 1);
        ask(target, longest, check::passFull);
        int mtu = mtu(target.local());
        for (int bytes : SEGMENT_BYTES) {
            if (bytes + HEADER_BYTES < mtu) {
                ask(target.inSegmentsOf(bytes), longest, () -> check.pass(bytes, now()));
            }
        }
        judgeLater(ends, check);
    }

    private void ask(Target target, Duration timeout, Runnable answered) {
        ProbeConnection asking = new ProbeConnection(services, timeout, target);
        var _ = asking.answered().thenRun(answered);
        asking.start();
    }

    private void judgeLater(Ends ends, Check check) {
        services.loop().later(check.nanosLeft(now()), () -> services.loop().afterReading(() -> judge(ends, check)));
    }

    private void judge(Ends ends, Check check) {
        List<ClientConnection> lost = check.waiting.stream()
                .filter(waiting -> !waiting.isOver() && !waiting.isGreeted())
                .toList();
        if (!check.fullPassed && !lost.isEmpty() && check.nanosLeft(now()) > 0) {
            judgeLater(ends, check);
            return;
        }
        underWay.remove(ends, check);
        if (check.fullPassed || lost.isEmpty()) {
            return;
        }
        if (check.passed == 0) { // a node that starves is late: they wait on, until their time is over
            begin(lost.getFirst().target(), ends, lost, 2 * check.nanos);
            return;
        }
        passedAt.remove(new SizedPath(ends, 0));
        String words = words(ends, check.passed);
        if (narrowPaths().add(ends.local, ends.remote, check.passed)) {
            LOGGER.warn("{}", words);
        }
        lost.forEach(waiting -> waiting.fail(Kind.UNREACHABLE, words));
    }

    private long now() {
        return services.loop().clock().nanoTime();
    }

    /** Returns whether frames of the size that a connection to there has now have got through a short while ago. */
    boolean hasPassed(Target target) {
        Long at = passedAt.get(SizedPath.of(target));
        return at != null && now() - at < KNOWN.toNanos();
    }

    /** Takes note that frames of a connection's size have got through. */
    void pass(Target target) {
        InetAddress remote = target.firstHop().address().getAddress();
        SizedPath path = SizedPath.of(target);
        if (passedAt.size() < MAX_KNOWN || passedAt.containsKey(path)) {
            passedAt.put(path, now());
        }
        if (target.firstHop().segmentBytes() == 0 && narrowPaths().remove(target.local(), remote)) {
            LOGGER.info(
                    "packets of the full size pass again between {} and {}",
                    InterfaceAddress.text(target.local()),
                    InterfaceAddress.text(remote));
        }
    }

    private NarrowPaths narrowPaths() {
        return services.dialer().narrowPaths();
    }

    private static String words(Ends ends, int passed) {
        return ("packets of %d bytes are lost between %s and %s, and packets of %d bytes pass: set one MTU on both"
                        + " ports and on the switches between them")
                .formatted(
                        mtu(ends.local),
                        InterfaceAddress.text(ends.local),
                        InterfaceAddress.text(ends.remote),
                        passed + HEADER_BYTES);
    }

    /** The interface's; that of IPv4 at most where it is not known. */
    private static int mtu(InetAddress local) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(local);
            return found == null ? MAX_PACKET : found.getMTU();
        } catch (SocketException _) {
            return MAX_PACKET;
        }
    }
}
