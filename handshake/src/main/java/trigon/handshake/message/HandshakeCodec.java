package trigon.handshake.message;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Closed;
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

/**
 * Messages as bytes. Everything is in network order; a frame is magic (4 bytes), version (1), type (1), length of the
 * body (2), number of the stream (4), body. Magic, version and their places never change, so that any two versions can
 * tell each other apart.
 *
 * <ul>
 *   <li>5 Hello: connection (8), nonce (32), mark of the cluster (32, zero without a cluster key), fillers (1, 0 or 1),
 *       a repetition (1, 0 or 1)
 *   <li>6 Challenge: nonce (32), proof
 *   <li>1 Offer: connection (8), node name (1 + n bytes of UTF-8), node index (2), fingerprint of the settings (4),
 *       version of the built-in tuner (1), fingerprint of the policy (4), devices that NCCL sees (1),
 *       flags (1; 1: failover, 2: a policy in the settings), kind (1), attempt (8), queue pair's index (1) of how many
 *       (1), endpoint,
 *       clear-to-send address (8) and key (4), longest message (8), attempt to resume (4, 0: none), messages begun (8),
 *       confirmed (8), number of listeners (1), the listeners as in {@link LinkAddress#write}, proof
 *   <li>2 Answer: node name (1 + n bytes of UTF-8), kind (1), endpoint, memory address (8) and key (4), longest message
 *       (8), speed in Mbit/s (4), failover (1, 0 or 1), messages received (8), proof
 *   <li>3 Ready: number of queue pairs (1), proof
 *   <li>4 Reject: reason (UTF-8, to the end)
 *   <li>7 Alive: count (8), proof
 *   <li>8 Farewell: what has failed (1; 0: nothing), why (UTF-8), proof
 *   <li>9 NotNow: reason (UTF-8, to the end)
 *   <li>10 Filler: bytes without a meaning
 *   <li>11 Closed: nothing
 *   <li>12 JobKey: count (8), hidden key (32), proof
 *   <li>endpoint: queue pair number (4), PSN (4), GID (16), LID (2), MTU (1, as in {@code enum ibv_mtu})
 *   <li>proof: 32 bytes; see {@code HandshakeProofs}. Here it is carried, and neither made nor checked
 * </ul>
 */
public final class HandshakeCodec {

    /** "TrgM" */
    static final int MAGIC = 0x5472674D;

    static final int VERSION = 18;

    /** Bytes of a frame before its body. */
    public static final int HEADER_BYTES = 12;

    /** Bytes of magic and version, which all versions have alike. */
    static final int START_BYTES = 5;

    /** The longest frame; the longest reason fits, with a proof. */
    static final int MAX_FRAME_BYTES = 4096 + HEADER_BYTES;

    private static final int OFFER = 1;
    private static final int ANSWER = 2;
    private static final int READY = 3;
    private static final int REJECT = 4;
    private static final int HELLO = 5;
    private static final int CHALLENGE = 6;
    private static final int ALIVE = 7;
    private static final int FAREWELL = 8;
    private static final int NOT_NOW = 9;
    private static final int FILLER = 10;
    private static final int CLOSED = 11;
    private static final int JOB_KEY = 12;

    /** In a Farewell, where nothing has failed. */
    private static final byte IN_GOOD_ORDER = 0;

    /** The longest body of a message that gives no reason: an Offer with the longest name. */
    private static final int MAX_BODY_BYTES = 512;

    private HandshakeCodec() {}

    /**
     * A frame's header, checked.
     *
     * @param stream as it came; negative ones are nobody's
     */
    public record Header(int type, int bodyBytes, int stream) {}

    /** The whole frame of a stream; where the message has a proof, its place is zero. */
    public static byte[] encode(int stream, HandshakeMessage message) {
        ByteBuffer buffer = ByteBuffer.allocate(MAX_FRAME_BYTES).position(HEADER_BYTES);
        int type = switch (message) {
            case Offer offer -> {
                putOffer(buffer, offer);
                yield OFFER;
            }
            case Answer answer -> {
                putAnswer(buffer, answer);
                yield ANSWER;
            }
            case Ready ready -> {
                buffer.put((byte) ready.stripes());
                yield READY;
            }
            case Hello hello -> {
                buffer.putLong(hello.connection().value())
                        .put(hello.nonce().toArray())
                        .put(hello.clusterMark().toArray());
                putFlag(buffer, hello.fills());
                putFlag(buffer, hello.repeats());
                yield HELLO;
            }
            case Challenge challenge -> {
                buffer.put(challenge.nonce().toArray());
                yield CHALLENGE;
            }
            case Reject reject -> {
                buffer.put(reject.reason().getBytes(StandardCharsets.UTF_8));
                yield REJECT;
            }
            case NotNow notNow -> {
                buffer.put(notNow.reason().getBytes(StandardCharsets.UTF_8));
                yield NOT_NOW;
            }
            case Alive alive -> {
                buffer.putLong(alive.count());
                yield ALIVE;
            }
            case Filler _ -> {
                buffer.position(MAX_FRAME_BYTES);
                yield FILLER;
            }
            case Closed _ -> CLOSED;
            case JobKey key -> {
                buffer.putLong(key.count()).put(key.hidden().toArray());
                yield JOB_KEY;
            }
            case Farewell farewell -> {
                buffer.put(farewell.failure()
                        .map(failure -> (byte) failure.scope().code())
                        .orElse(IN_GOOD_ORDER));
                farewell.failure()
                        .ifPresent(failure -> buffer.put(failure.words().getBytes(StandardCharsets.UTF_8)));
                yield FAREWELL;
            }
        };
        if (hasProof(type)) {
            buffer.put(new byte[HandshakeProofs.BYTES]);
        }
        buffer.putInt(0, MAGIC)
                .put(4, (byte) VERSION)
                .put(5, (byte) type)
                .putShort(6, (short) (buffer.position() - HEADER_BYTES))
                .putInt(8, stream);
        byte[] frame = new byte[buffer.position()];
        buffer.get(0, frame);
        return frame;
    }

    /**
     * Refuses what is no Trigon peer as soon as its first 4 bytes are there, and one of another version with the fifth:
     * its headers may be of another length.
     *
     * @param first the bytes that are there, of which it takes up to 5
     * @throws HandshakeException of kind PROTOCOL
     */
    static void requireStart(ByteBuffer first) {
        if (first.remaining() < Integer.BYTES) {
            return;
        }
        int magic = first.getInt();
        if (magic != MAGIC) {
            throw malformed("it does not speak Trigon's handshake (first bytes %08x)".formatted(magic));
        }
        int version = first.hasRemaining() ? Byte.toUnsignedInt(first.get()) : VERSION;
        if (version != VERSION) {
            throw malformed(
                    "it speaks version %d of the handshake and this Trigon version %d; install the same Trigon on"
                                    .formatted(version, VERSION)
                            + " all nodes");
        }
    }

    /**
     * Reads the {@value #HEADER_BYTES} bytes of a header.
     *
     * @throws HandshakeException of kind PROTOCOL
     */
    public static Header decodeHeader(ByteBuffer header) {
        requireStart(header);
        int type = Byte.toUnsignedInt(header.get());
        int bodyBytes = Short.toUnsignedInt(header.getShort());
        int stream = header.getInt();
        boolean isLong = type == REJECT || type == FAREWELL || type == NOT_NOW || type == FILLER;
        if (bodyBytes > (isLong ? MAX_FRAME_BYTES - HEADER_BYTES : MAX_BODY_BYTES)) {
            throw malformed("its message is too long: " + bodyBytes + " bytes");
        }
        return new Header(type, bodyBytes, stream);
    }

    private static boolean hasProof(int type) {
        return switch (type) {
            case CHALLENGE, OFFER, ANSWER, READY, ALIVE, FAREWELL, JOB_KEY -> true;
            default -> false; // a Hello comes before there is anything to prove; anybody may say no
        };
    }

    /**
     * Reads a body, which must be used up; a proof is left out.
     *
     * @throws HandshakeException of kind PROTOCOL, and nothing else whatever the bytes are
     */
    public static HandshakeMessage decodeBody(int type, ByteBuffer body) {
        try {
            if (hasProof(type)) {
                if (body.remaining() < HandshakeProofs.BYTES) {
                    throw new BufferUnderflowException();
                }
                body = body.slice(body.position(), body.remaining() - HandshakeProofs.BYTES);
            }
            HandshakeMessage message = switch (type) {
                case OFFER -> getOffer(body);
                case ANSWER -> getAnswer(body);
                case READY -> new Ready(Byte.toUnsignedInt(body.get()));
                case HELLO ->
                    new Hello(
                            new ConnectionId(body.getLong()),
                            getOpaque(body),
                            getOpaque(body),
                            getFlag(body),
                            getFlag(body));
                case CHALLENGE -> new Challenge(getOpaque(body));
                case REJECT -> new Reject(getText(body, body.remaining()));
                case NOT_NOW -> new NotNow(getText(body, body.remaining()));
                case ALIVE -> new Alive(body.getLong());
                case FAREWELL -> new Farewell(getEndFailure(body));
                case FILLER -> {
                    body.position(body.limit());
                    yield new Filler();
                }
                case CLOSED -> new Closed();
                case JOB_KEY -> new JobKey(body.getLong(), getOpaque(body));
                default -> throw malformed("its message has the unknown type " + type);
            };
            if (body.hasRemaining()) {
                throw malformed(body.remaining() + " bytes follow its message");
            }
            return message;
        } catch (BufferUnderflowException e) {
            throw malformed("its message is cut short");
        } catch (IllegalArgumentException | CharacterCodingException e) {
            throw malformed(String.valueOf(e.getMessage()));
        }
    }

    private static Optional<EndFailure> getEndFailure(ByteBuffer from) throws CharacterCodingException {
        byte scope = from.get();
        String words = getText(from, from.remaining());
        if (scope != IN_GOOD_ORDER) {
            return Optional.of(new EndFailure(EndFailure.Scope.ofCode(scope), words));
        }
        if (!words.isEmpty()) {
            throw malformed("it closes in good order: " + words);
        }
        return Optional.empty();
    }

    private static void putOffer(ByteBuffer to, Offer offer) {
        to.putLong(offer.connection().value());
        putName(to, offer.node().name());
        offer.node().writeAfterName(to);
        to.put((byte) code(offer.kind()));
        to.putLong(offer.stripe().attempt()).put((byte) offer.stripe().index()).put((byte)
                offer.stripe().offered());
        putEndpoint(to, offer.endpoint());
        putMemory(to, offer.clearToSend());
        to.putLong(offer.maxMessageBytes());
        to.putInt(offer.resumeCounts().map(ResumeCounts::attempt).orElse(0))
                .putLong(offer.resumeCounts().map(ResumeCounts::begun).orElse(0L))
                .putLong(offer.resumeCounts().map(ResumeCounts::confirmed).orElse(0L));
        putFlag(to, offer.resumeCounts().map(ResumeCounts::sends).orElse(false));
        to.put((byte) offer.listeners().size());
        offer.listeners().forEach(listener -> listener.write(to));
    }

    private static Offer getOffer(ByteBuffer from) throws CharacterCodingException {
        ConnectionId connection = new ConnectionId(from.getLong());
        NodeIdentity node = NodeIdentity.readAfterName(getName(from), from);
        LinkKind kind = kindOfCode(from.get());
        Stripe stripe = new Stripe(from.getLong(), Byte.toUnsignedInt(from.get()), Byte.toUnsignedInt(from.get()));
        return new Offer(
                connection,
                node,
                kind,
                stripe,
                getEndpoint(from),
                getMemory(from),
                from.getLong(),
                getResumeCounts(from),
                LinkAddress.read(from, Byte.toUnsignedInt(from.get())));
    }

    private static Optional<ResumeCounts> getResumeCounts(ByteBuffer from) {
        int attempt = from.getInt();
        long begun = from.getLong();
        long confirmed = from.getLong();
        boolean sends = getFlag(from);
        if (attempt != 0) {
            return Optional.of(new ResumeCounts(attempt, begun, confirmed, sends));
        }
        if (begun != 0 || confirmed != 0 || sends) {
            throw malformed("it goes on with messages of a connection that begins");
        }
        return Optional.empty();
    }

    private static void putName(ByteBuffer to, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        to.put((byte) bytes.length).put(bytes);
    }

    private static String getName(ByteBuffer from) throws CharacterCodingException {
        return getText(from, Byte.toUnsignedInt(from.get()));
    }

    private static void putAnswer(ByteBuffer to, Answer answer) {
        putName(to, answer.node());
        to.put((byte) code(answer.kind()));
        putEndpoint(to, answer.endpoint());
        putMemory(to, answer.memory());
        to.putLong(answer.maxMessageBytes()).putInt(answer.speedMbps());
        putFlag(to, answer.failover());
        to.putLong(answer.received());
    }

    private static Answer getAnswer(ByteBuffer from) throws CharacterCodingException {
        return new Answer(
                getName(from),
                kindOfCode(from.get()),
                getEndpoint(from),
                getMemory(from),
                from.getLong(),
                from.getInt(),
                getFlag(from),
                from.getLong());
    }

    private static void putFlag(ByteBuffer to, boolean flag) {
        to.put((byte) (flag ? 1 : 0));
    }

    private static boolean getFlag(ByteBuffer from) {
        byte flag = from.get();
        if (flag != 0 && flag != 1) {
            throw malformed("a flag is " + Byte.toUnsignedInt(flag));
        }
        return flag == 1;
    }

    private static void putEndpoint(ByteBuffer to, QueuePairEndpoint endpoint) {
        to.putInt(endpoint.number())
                .putInt(endpoint.psn())
                .putLong(endpoint.gid().high())
                .putLong(endpoint.gid().low())
                .putShort((short) endpoint.lid())
                .put((byte) endpoint.mtu().code());
    }

    private static QueuePairEndpoint getEndpoint(ByteBuffer from) {
        int number = from.getInt();
        int psn = from.getInt();
        Gid gid = new Gid(from.getLong(), from.getLong());
        int lid = Short.toUnsignedInt(from.getShort());
        return new QueuePairEndpoint(number, psn, gid, lid, Mtu.ofCode(from.get()));
    }

    private static void putMemory(ByteBuffer to, RemoteMemory memory) {
        to.putLong(memory.address()).putInt(memory.key());
    }

    private static RemoteMemory getMemory(ByteBuffer from) {
        return new RemoteMemory(from.getLong(), from.getInt());
    }

    private static OpaqueBytes getOpaque(ByteBuffer from) {
        byte[] bytes = new byte[HandshakeProofs.BYTES];
        from.get(bytes);
        return OpaqueBytes.of(bytes);
    }

    private static String getText(ByteBuffer from, int bytes) throws CharacterCodingException {
        if (bytes > from.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer text = from.slice(from.position(), bytes);
        from.position(from.position() + bytes);
        return StandardCharsets.UTF_8.newDecoder().decode(text).toString(); // REPORTs what is not UTF-8
    }

    private static int code(LinkKind kind) {
        return switch (kind) {
            case RDMA -> 1;
            case SOFTWARE -> 2;
        };
    }

    private static LinkKind kindOfCode(int code) {
        return switch (code) {
            case 1 -> LinkKind.RDMA;
            case 2 -> LinkKind.SOFTWARE;
            default -> throw malformed("its link has the unknown kind " + code);
        };
    }

    private static HandshakeException malformed(String what) {
        return new HandshakeException(Kind.PROTOCOL, "cannot read the peer's message: " + what);
    }
}
