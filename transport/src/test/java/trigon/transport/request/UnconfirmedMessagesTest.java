package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.DeviceContext;
import trigon.verbs.ProtectionDomain;

/** Rings of copies; {@code lane-test} has what comes and goes in them. */
class UnconfirmedMessagesTest {

    private static final int TAG = 1;
    private static final long SMALL_RING = -3;

    private final SoftwareVerbs verbs =
            new SoftwareVerbs(List.of(new SoftwareDevice("soft", InetAddress.ofLiteral("127.1.78.1"), 24, 10_000, 0)));
    private final DeviceContext device = verbs.open("soft");
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final RequestTable table = RequestTable.unseen(LaneVerbs.FUNCTIONS);
    private final Requests requests = table.open(1L << 32);
    private final Arena arena = Arena.ofConfined();
    private final long from = arena.allocate(64 << 10).address();

    @AfterEach
    void close() {
        table.close();
        domain.close();
        device.close();
        LedgerAssert.assertNothingOpen(verbs);
        verbs.close();
        arena.close();
    }

    /** A lane whose device takes nothing: a message that has a place in the ring is refused there. */
    private long send(UnconfirmedMessages messages, int size) {
        Memory.putInt(requests.row() + RequestRow.EAGER, 1);
        Memory.putLong(requests.row() + RequestRow.UNCONFIRMED, messages.address());
        return LaneVerbs.FUNCTIONS.isend(requests.row(), from, size, 0, TAG, 0);
    }

    @Test
    void growsUntilAMessageOfTheGreatestLengthFits() {
        try (UnconfirmedMessages messages = new UnconfirmedMessages(domain)) {
            assertThat(send(messages, (4 << 10) + 1)).isEqualTo(SMALL_RING);
            messages.grow((4 << 10) + 1);
            assertThat(send(messages, (4 << 10) + 1)).isZero();
            assertThat(send(messages, UnconfirmedMessages.LONGEST_COPY)).isEqualTo(SMALL_RING);
            messages.grow(UnconfirmedMessages.LONGEST_COPY);
            assertThat(send(messages, UnconfirmedMessages.LONGEST_COPY)).isZero();
        }
    }

    /** NCCL's memory has to do, and what was short enough before still is. */
    @Test
    void withoutMemoryForALargerRingLongMessagesAreNotCopied() {
        Iterator<MemorySegment> rings = List.of(arena.allocate(16 << 10, 64)).iterator();
        try (UnconfirmedMessages messages = new UnconfirmedMessages(domain, _ -> {
            if (!rings.hasNext()) {
                throw new OutOfMemoryError("planted");
            }
            return rings.next();
        })) {
            assertThat(send(messages, 32 << 10)).isEqualTo(SMALL_RING);
            messages.grow(32 << 10);
            assertThat(send(messages, 32 << 10)).isZero();
            assertThat(send(messages, 4 << 10)).isZero();
        }
    }
}
