package trigon.handshake.message;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.random.RandomGenerator;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeMessage.NotNow;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

/** Values of all kinds, from a seed. */
public final class RandomMessages {

    private final RandomGenerator random;

    public RandomMessages(RandomGenerator random) {
        this.random = random;
    }

    public HandshakeMessage message() {
        return switch (random.nextInt(12)) {
            case 0 -> random.nextBoolean() ? offer(connection(), kind()) : resumingOffer();
            case 3 -> hello();
            case 4 -> new Challenge(opaque(HandshakeProofs.BYTES));
            case 1 -> answer(kind());
            case 2 -> new Ready(random.nextInt(1, Stripe.MAX + 1));
            case 5 -> new Alive(random.nextLong());
            case 6 -> new Farewell(Optional.empty());
            case 7 ->
                new Farewell(Optional.of(new EndFailure(
                        random.nextBoolean() ? EndFailure.Scope.CONNECTION : EndFailure.Scope.COMMUNICATOR,
                        text(random.nextInt(2 * Reject.MAX_REASON_CHARS)))));
            case 9 -> new Filler();
            case 10 -> new JobKey(random.nextLong(), opaque(HandshakeProofs.BYTES));
            case 8 -> new NotNow(text(random.nextInt(2 * Reject.MAX_REASON_CHARS)));
            default -> new Reject(text(random.nextInt(2 * Reject.MAX_REASON_CHARS)));
        };
    }

    public Hello hello() {
        return new Hello(
                connection(),
                opaque(HandshakeProofs.BYTES),
                opaque(HandshakeProofs.BYTES),
                random.nextBoolean(),
                random.nextBoolean());
    }

    public Offer offer(ConnectionId connection, LinkKind kind) {
        return new Offer(connection, node(), kind, stripe(), endpoint(), memory(), random.nextLong(1, Long.MAX_VALUE));
    }

    private Offer resumingOffer() {
        Offer offer = offer(connection(), kind());
        long begun = random.nextLong(Long.MAX_VALUE);
        return new Offer(
                offer.connection(),
                offer.node(),
                offer.kind(),
                offer.stripe(),
                offer.endpoint(),
                offer.clearToSend(),
                offer.maxMessageBytes(),
                Optional.of(new ResumeCounts(
                        random.nextInt(1, Integer.MAX_VALUE), begun, random.nextLong(begun + 1), random.nextBoolean())),
                List.of(new LinkAddress(InetAddress.getLoopbackAddress(), 24, 7, EnumSet.of(kind()))));
    }

    public Answer answer(LinkKind kind) {
        return new Answer(
                node().name(),
                kind,
                endpoint(),
                memory(),
                random.nextLong(1, Long.MAX_VALUE),
                random.nextInt(1, Integer.MAX_VALUE),
                random.nextBoolean(),
                random.nextLong(Long.MAX_VALUE));
    }

    public Stripe stripe() {
        int offered = random.nextInt(1, Stripe.MAX + 1);
        return new Stripe(random.nextLong(), random.nextInt(offered), offered);
    }

    public ConnectionId connection() {
        return new ConnectionId(random.nextLong());
    }

    public ConnectionSecret secret() {
        return new ConnectionSecret(opaque(ConnectionSecret.BYTES));
    }

    /** What such bytes show to nobody else. */
    public static byte[] bytesOf(OpaqueBytes opaque) {
        return opaque.toArray();
    }

    public OpaqueBytes opaque(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return OpaqueBytes.of(bytes);
    }

    public NodeIdentity node() {
        String name = "n" + text(random.nextInt(40)).replace('\n', ' ');
        return new NodeIdentity(
                name, index(), random.nextInt(), decider(), random.nextInt(1, 256), random.nextBoolean());
    }

    private Decider decider() {
        boolean hasPolicy = random.nextBoolean();
        return new Decider(random.nextInt(256), hasPolicy, hasPolicy ? random.nextInt() : 0);
    }

    public OptionalInt index() {
        return random.nextBoolean() ? OptionalInt.of(random.nextInt(0xFFFF)) : OptionalInt.empty();
    }

    public LinkKind kind() {
        return random.nextBoolean() ? LinkKind.RDMA : LinkKind.SOFTWARE;
    }

    public QueuePairEndpoint endpoint() {
        return new QueuePairEndpoint(
                random.nextInt(1 << 24),
                random.nextInt(1 << 24),
                new Gid(random.nextLong(), random.nextLong()),
                random.nextInt(1 << 16),
                Mtu.ofCode(random.nextInt(1, 6)));
    }

    public RemoteMemory memory() {
        return new RemoteMemory(random.nextLong(), random.nextInt());
    }

    /** Links that fit a handle. */
    public List<LinkAddress> links() throws UnknownHostException {
        List<LinkAddress> links = new ArrayList<>();
        int room = ListenHandle.PRIVATE_OFFSET - ListenHandle.LINKS_OFFSET;
        for (LinkAddress next = link(); next.encodedBytes() <= room; next = link()) {
            links.add(next);
            room -= next.encodedBytes();
        }
        return links.subList(0, random.nextInt(links.size() + 1));
    }

    public LinkAddress link() throws UnknownHostException {
        byte[] address = new byte[random.nextBoolean() ? 4 : 16];
        random.nextBytes(address);
        Set<LinkKind> kinds = random.nextBoolean() ? EnumSet.allOf(LinkKind.class) : EnumSet.of(kind());
        return new LinkAddress(
                InetAddress.getByAddress(address),
                random.nextInt(address.length * 8 + 1),
                random.nextInt(1, 0x10000),
                kinds,
                random.nextInt(LinkAddress.NOT_TOLD + 1));
    }

    private String text(int characters) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < characters; i++) {
            switch (random.nextInt(9)) {
                case 0 -> text.append('\u00e4');
                case 1 -> text.append('\u6f22');
                case 2 -> text.appendCodePoint(0x1F680);
                default -> text.append((char) random.nextInt(' ', '~'));
            }
        }
        return text.toString();
    }
}
