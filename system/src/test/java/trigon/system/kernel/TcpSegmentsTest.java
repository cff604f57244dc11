package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpSegmentsTest {

    private static final int BYTES = 1400;

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void aConnectionIsMadeWithSegmentsOfThatSize(String address) throws Exception {
        InetAddress here = InetAddress.ofLiteral(address);
        try (ServerSocketChannel listener = ServerSocketChannel.open();
                SocketChannel other = SocketChannel.open();
                SocketChannel limited = SocketChannel.open()) {
            listener.bind(new InetSocketAddress(here, 0));
            other.bind(new InetSocketAddress(here, 0));
            limited.bind(new InetSocketAddress(here, 0));
            TcpSegments.limit((InetSocketAddress) limited.getLocalAddress(), BYTES);
            other.connect(listener.getLocalAddress());
            limited.connect(listener.getLocalAddress());
            assertThat(segmentBytes(limited)).isLessThanOrEqualTo(BYTES).isGreaterThan(BYTES / 2);
            assertThat(segmentBytes(other)).isGreaterThan(BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void anAddressThatNoSocketHasIsRefused(String address) throws Exception {
        InetSocketAddress nobody;
        try (SocketChannel closed = SocketChannel.open()) {
            closed.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
            nobody = (InetSocketAddress) closed.getLocalAddress();
        }
        assertThatThrownBy(() -> TcpSegments.limit(nobody, BYTES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no socket of this process is bound to");
    }

    /** The kernel's word, by ss(8): the most bytes that it sends in a segment. */
    private static int segmentBytes(SocketChannel channel) throws IOException {
        String port = String.valueOf(((InetSocketAddress) channel.getLocalAddress()).getPort());
        Process ss = new ProcessBuilder("ss", "-tinH", "sport", "=", ":" + port).start();
        String said = new String(ss.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher mss = Pattern.compile("\\bmss:(\\d+)").matcher(said);
        assertThat(mss.find()).as("mss in %s", said).isTrue();
        return Integer.parseInt(mss.group(1));
    }
}
