package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;

/** Whatever a handle's bytes are, they are read or refused, and what was read is written as it was. */
@Tag("fuzz")
public class HandleFuzzTest {

    @FuzzTest
    public void handlesAreReadOrRefused(byte[] data) {
        read(data);
        read(Arrays.copyOf(data, ListenHandle.BYTES));
    }

    private static void read(byte[] bytes) {
        ListenHandle handle;
        try {
            handle = ListenHandle.ofBytes(bytes);
        } catch (HandshakeException e) {
            assertThat(e.kind()).isEqualTo(HandshakeException.Kind.PROTOCOL);
            return;
        }
        assertThat(ListenHandle.ofBytes(handle.toBytes())).isEqualTo(handle);
        assertThat(handle.toString()).contains("not shown");
    }
}
