package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.slf4j.LoggerFactory;
import trigon.software.wire.Messages;
import trigon.software.wire.WireFormat;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.ConnectionKey;
import trigon.verbs.MemoryRegion;

/**
 * A peer that has proven itself says anything. It ends its connection by that at most, and writes to no memory but what
 * it was let into.
 */
@Tag("fuzz")
class StreamFuzzTest {

    private static final ConnectionKey KEY = ConnectionKey.of(new byte[ConnectionKey.BYTES]);
    private static final QueuePairSettings SETTINGS = Loopback.PATIENT.withKey(KEY);
    private static final SoftwareVerbs PROVIDER = Loopback.provider();
    private static final VerbsFabric FABRIC = new VerbsFabric(
            new VerbsFabric.End(PROVIDER, "soft_a", 1, 0),
            new VerbsFabric.End(PROVIDER, "soft_b", 1, 0),
            Optional.empty());

    private static final int BYTES = 256;
    private static final int RECEIVES = 4;
    private static final int LOOKS = 20;
    private static final byte UNTOUCHED = 7;

    private static final Queue<String> DEFECTS = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void listen() {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
                    DEFECTS.add(event.getFormattedMessage());
                }
            }
        };
        appender.start();
        ((Logger) LoggerFactory.getLogger("trigon.software")).addAppender(appender);
    }

    /** Headers get the right PSN, address, key and check where they have zeros. The first byte is not said. */
    @FuzzTest
    void aPeerWritesToNothingElse(byte[] data) throws IOException {
        if (data.length > 0) {
            try (SilentCloseable _ = BugDetectors.allowNetworkConnections((_, _) -> true)) {
                hear(Arrays.copyOfRange(data, 1, data.length));
            }
        }
        assertThat(DEFECTS).isEmpty();
    }

    private static void hear(byte[] said) throws IOException {
        try (NativeBuffer open = new NativeBuffer(BYTES);
                NativeBuffer kept = new NativeBuffer(BYTES).fill(UNTOUCHED);
                ConnectedPair pair = ConnectedPair.create(FABRIC, SETTINGS)) {
            pair.second().becomeReadyToReceive(pair.first().endpoint());
            MemoryRegion granted = pair.second().register(open);
            MemoryRegion closed = pair.second().register(kept, Set.of());
            for (int i = 0; i < RECEIVES; i++) {
                Pairs.receive(pair, i, open, granted, 0, BYTES);
            }
            try (RawClient requests = connect(pair)) {
                say(requests, completed(said, pair, open.address(), granted.remoteKey()));
                look(pair);
            }
            look(pair);
            assertThat(kept.holdsOnly(UNTOUCHED)).isTrue();
            closed.close();
            granted.close();
        }
    }

    private static RawClient connect(ConnectedPair pair) throws IOException {
        RawClient client = RawClient.to(pair);
        client.say(client.preamble(RawClient.hello(pair, 0, 0), KEY));
        assertThat(client.isAccepted(KEY)).isTrue();
        return client;
    }

    /** The device may have ended the connection by then. */
    private static void say(RawClient client, byte[] bytes) {
        try {
            client.say(bytes);
        } catch (IOException _) {
            // which is what it should do with most
        }
    }

    private static void look(ConnectedPair pair) {
        for (int i = 0; i < LOOKS; i++) {
            pair.second().hasReceive();
            Thread.onSpinWait();
        }
    }

    private static byte[] completed(byte[] said, ConnectedPair pair, long address, int key) {
        ByteBuffer buffer = ByteBuffer.wrap(said).order(ByteOrder.LITTLE_ENDIAN);
        int psn = pair.first().endpoint().psn();
        for (int at = 0; at + Messages.REQUEST_BYTES <= said.length; at += Messages.REQUEST_BYTES) {
            if (buffer.getInt(at + 4) == 0) {
                buffer.putInt(at + 4, psn++ & WireFormat.PSN_MASK);
            }
            if (buffer.getLong(at + 8) == 0 && buffer.getInt(at + 16) == 0) {
                buffer.putLong(at + 8, address).putInt(at + 16, key);
            }
            int checkAt = at + Messages.CHECKED_HEADER_BYTES;
            if ((buffer.getInt(at) & Messages.CHECKED) != 0 && buffer.getInt(checkAt) == 0) {
                CRC32C check = new CRC32C();
                check.update(said, at, Messages.CHECKED_HEADER_BYTES);
                buffer.putInt(checkAt, (int) check.getValue());
            }
        }
        return said;
    }
}
