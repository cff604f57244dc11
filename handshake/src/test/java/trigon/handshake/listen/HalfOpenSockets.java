package trigon.handshake.listen;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * An attacker in a process of its own: opens many connections, says nothing, and holds them until its input ends.
 * Arguments: own address, the listener's address, its port, how many. Prints how many it has open.
 */
public final class HalfOpenSockets {

    private HalfOpenSockets() {}

    public static void main(String[] arguments) throws IOException {
        InetAddress own = InetAddress.getByName(arguments[0]);
        InetSocketAddress listener =
                new InetSocketAddress(InetAddress.getByName(arguments[1]), Integer.parseInt(arguments[2]));
        int count = Integer.parseInt(arguments[3]);
        List<SocketChannel> open = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            SocketChannel channel = SocketChannel.open();
            channel.bind(new InetSocketAddress(own, 0));
            channel.connect(listener);
            open.add(channel);
        }
        System.out.println(open.size());
        System.out.flush();
        while (System.in.read() >= 0) {
            // holds on
        }
    }
}
