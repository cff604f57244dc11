package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Seeds of {@link FrameFuzzTest}: a message of each kind as this version writes it, or the fuzzer would have to find
 * the version first. With {@code -Dtrigon.seeds.write=true} it writes them instead of complaining.
 */
class FrameFuzzSeedsTest {

    private static final Path SEEDS =
            Path.of("src/test/resources/trigon/handshake/message/FrameFuzzTestInputs/bytesAreReadOrRefused");

    private static final byte ONE_CHUNK = -1;
    private static final byte BYTE_BY_BYTE = 0;

    /** Messages drawn, among which there is one of each kind. */
    private static final int MESSAGES = 1000;

    @Test
    void areOfThisVersion() throws IOException {
        Map<String, byte[]> seeds = seeds();
        for (Map.Entry<String, byte[]> seed : seeds.entrySet()) {
            Path file = SEEDS.resolve(seed.getKey());
            if (Boolean.getBoolean("trigon.seeds.write")) {
                Files.write(file, seed.getValue());
            }
            assertThat(file).as("written by -Dtrigon.seeds.write=true").hasBinaryContent(seed.getValue());
        }
        int kinds = HandshakeMessage.class.getPermittedSubclasses().length - 1; // a filler says nothing
        assertThat(seeds).as("a message of each kind, and all of them").hasSize(kinds + 1);
    }

    private static Map<String, byte[]> seeds() {
        RandomMessages messages = new RandomMessages(new Random(17));
        Map<String, byte[]> seeds = new LinkedHashMap<>();
        ByteArrayOutputStream conversation = new ByteArrayOutputStream();
        conversation.write(BYTE_BY_BYTE);
        for (int i = 0; i < MESSAGES; i++) {
            HandshakeMessage message = i == 0 ? new HandshakeMessage.Closed() : messages.message();
            byte[] frame = HandshakeCodec.encode(i, message);
            ByteArrayOutputStream alone = new ByteArrayOutputStream();
            alone.write(ONE_CHUNK);
            alone.writeBytes(frame);
            String kind = message.getClass().getSimpleName().toLowerCase(Locale.ROOT);
            if (!(message instanceof HandshakeMessage.Filler) && seeds.putIfAbsent(kind, alone.toByteArray()) == null) {
                conversation.writeBytes(frame);
            }
        }
        seeds.put("conversation-byte-by-byte", conversation.toByteArray());
        return seeds;
    }
}
