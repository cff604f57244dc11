package trigon.cluster.probe;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.BitSet;

/** Many small datagrams, each of which is answered, to see how many are lost on the way there or back. */
final class Burst {

    static final int DATAGRAMS = 100;

    /** So that no buffer on the way is full: a cable takes more in a microsecond. */
    private static final int AT_ONCE = 10;

    private static final int SILENCE_MILLIS = 700;
    private static final int BYTES = 64;

    private Burst() {}

    /** Number of answers that did not come. A node that is busy answers late, and is waited for. */
    static int lost(InetAddress from, InetAddress to, int port) {
        BitSet answered = new BitSet(DATAGRAMS);
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(from, 0))) {
            socket.connect(new InetSocketAddress(to, port));
            for (int first = 0; first < DATAGRAMS; first += AT_ONCE) {
                for (int i = first; i < first + AT_ONCE; i++) {
                    byte[] data = ByteBuffer.allocate(BYTES).putInt(i).array();
                    socket.send(new DatagramPacket(data, data.length));
                }
                socket.setSoTimeout(1);
                receive(socket, answered, first + AT_ONCE);
            }
            socket.setSoTimeout(SILENCE_MILLIS);
            receive(socket, answered, DATAGRAMS);
        } catch (IOException _) {
            return DATAGRAMS - answered.cardinality();
        }
        return DATAGRAMS - answered.cardinality();
    }

    /** Until so many have been answered, or nothing comes any more. */
    private static void receive(DatagramSocket socket, BitSet answered, int wanted) throws IOException {
        byte[] answer = new byte[8];
        DatagramPacket packet = new DatagramPacket(answer, answer.length);
        try {
            while (answered.cardinality() < wanted) {
                socket.receive(packet);
                int number = ByteBuffer.wrap(answer).getInt();
                if (number >= 0 && number < DATAGRAMS) {
                    answered.set(number);
                }
            }
        } catch (SocketTimeoutException _) {
            return; // lost, or still on the way
        }
    }
}
