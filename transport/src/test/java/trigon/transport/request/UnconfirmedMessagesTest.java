package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.verbs.DeviceContext;
import trigon.verbs.ProtectionDomain;

/** Rings of copies; {@code lane-test} has what comes and goes in them. */
class UnconfirmedMessagesTest {

    private final SoftwareVerbs verbs =
            new SoftwareVerbs(List.of(new SoftwareDevice("soft", InetAddress.ofLiteral("127.1.78.1"), 24, 10_000, 0)));
    private final DeviceContext device = verbs.open("soft");
    private final ProtectionDomain domain = device.allocateProtectionDomain();

    @AfterEach
    void close() {
        domain.close();
        device.close();
        LedgerAssert.assertNothingOpen(verbs);
        verbs.close();
    }

    /** The number at a place of the struct that has this name in the library, too. */
    private static long at(UnconfirmedMessages messages, String name) {
        return messages.address()
                + Objects.requireNonNull(UnconfirmedMessages.facts().get(name));
    }

    private static long ring(UnconfirmedMessages messages, int number) {
        return messages.address()
                + number * Objects.requireNonNull(UnconfirmedMessages.facts().get("copy_ring"));
    }

    @Test
    void theLastOfTheRingsTakesFourMessagesOfTheGreatestLength() {
        try (UnconfirmedMessages messages = new UnconfirmedMessages(domain)) {
            assertThat(Memory.getInt(at(messages, "unconfirmed.longest_copy")))
                    .isEqualTo(UnconfirmedMessages.LONGEST_COPY);
            for (int number = 0; number < 3; number++) {
                long ring = ring(messages, number);
                assertThat(Memory.getLong(ring)).isNotZero();
                assertThat(Memory.getInt(ring + 8)).isEqualTo((16 << 10) << (3 * number));
            }
        }
    }

    /** NCCL's memory has to do, and what is short enough still is copied. */
    @Test
    void withoutMemoryForLargerRingsLongMessagesAreNotCopied() {
        try (UnconfirmedMessages messages = new UnconfirmedMessages(domain, _ -> Optional.empty())) {
            assertThat(Memory.getInt(at(messages, "unconfirmed.longest_copy"))).isEqualTo(4 << 10);
            assertThat(Memory.getInt(ring(messages, 0) + 8)).isEqualTo(16 << 10);
            assertThat(Memory.getLong(ring(messages, 1))).isZero();
        }
    }
}
