package trigon.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What sockets are told; what follows from the kernel's questions takes a minute, see the transport's tests. */
@Timeout(180)
class SocketOptionsTest {

    @Test
    void thePeersMachineIsAskedSeldomAndOftenOnceItsProcessIsGone() throws IOException {
        try (ServerSocketChannel listener =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel channel = SocketChannel.open(listener.getLocalAddress())) {
            SocketOptions.apply(channel);
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE))
                    .as("the kernel's own, more than the longest peerTimeout of an hour unless it was changed")
                    .isGreaterThan(SocketOptions.NOTICED_SECONDS);

            SocketOptions.askOften(channel);

            int idle = channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE);
            int interval = channel.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL);
            int count = channel.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT);
            assertThat(idle + interval * count).isEqualTo(SocketOptions.NOTICED_SECONDS);
        }
    }

    @Test
    void aSocketThatIsClosedAlreadyIsNoError() throws IOException {
        SocketChannel closed = SocketChannel.open();
        closed.close();

        SocketOptions.askOften(closed);

        assertThat(closed.isOpen()).isFalse();
    }
}
