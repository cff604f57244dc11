package trigon.tools.bench;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.InterfaceAddress;

/**
 * Where ranks of several nodes meet, by TCP.
 *
 * @param host an address of rank 0
 * @param port the first of those that are used
 */
record Meeting(String host, int port) {

    /** Port where nobody has named another. */
    static final int USUAL_PORT = 27_600;

    private static final int LAST_PORT = 65_535;

    private static final Pattern TEXT = Pattern.compile("(.+):(\\d{1,5})");

    /** {@code HOST:PORT}; empty if it is not, or does not leave that many ports from the first one on. */
    static Optional<Meeting> parse(String text, int ports) {
        Matcher matcher = TEXT.matcher(text);
        return matcher.matches() && Integer.parseInt(matcher.group(2)) + ports <= LAST_PORT
                ? Optional.of(new Meeting(matcher.group(1), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /**
     * This machine, by the address from which it would reach a node.
     *
     * @throws IOException if the node's name has no address, or there is no route
     */
    static Meeting withNode(String node) throws IOException {
        InetAddress address = InetAddress.getByName(node);
        if (flaw(node, address).isPresent()) {
            throw new IOException("%s is %s here, which is this machine itself; see /etc/hosts"
                    .formatted(node, InterfaceAddress.text(address)));
        }
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(address, USUAL_PORT)); // sends nothing
            return new Meeting(InterfaceAddress.text(socket.getLocalAddress()), USUAL_PORT);
        }
    }

    /**
     * Why ranks of other machines cannot meet there: the name has an address of the loopback on this one, as Debian's
     * /etc/hosts gives the host's own. An address, or localhost, is meant.
     */
    Optional<String> flaw() {
        try {
            return flaw(host, InetAddress.getByName(host));
        } catch (UnknownHostException e) {
            return Optional.of("%s has no address on this machine".formatted(host));
        }
    }

    static Optional<String> flaw(String host, InetAddress address) {
        boolean isName = !address.getHostAddress().equals(host) && !host.equals("localhost");
        return isName && address.isLoopbackAddress()
                ? Optional.of("%s is %s on this machine, where no other machine's rank can meet it; give an address of"
                                .formatted(host, InterfaceAddress.text(address))
                        + " rank 0's machine, or correct /etc/hosts")
                : Optional.empty();
    }

    /** The same host, so many ports later. */
    Meeting after(int ports) {
        return new Meeting(host, port + ports);
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
