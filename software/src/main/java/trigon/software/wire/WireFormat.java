package trigon.software.wire;

import java.util.concurrent.TimeUnit;
import trigon.stream.circuit.Prologue;

/**
 * The wire format of two software devices on a TCP connection: first their {@link PreambleExchange}; then requests
 * with their payload one way, and responses the other way. Little-endian, as all hosts are that NCCL runs on.
 *
 * <p>Each message has a packet sequence number (PSN) of 24 bits, counted per message and not per packet. A response
 * acknowledges all requests before its own PSN; an ACK also that one. There are no READs and no atomics. Requests and
 * responses are C's: {@code lane/software/wire.h}.
 */
public final class WireFormat {

    static final long MAGIC = 0x5653_4E4F_4749_5254L; // "TRIGONSV" in memory order
    static final int VERSION = 9;
    static final int PSN_BITS = 24;
    public static final int PSN_MASK = (1 << PSN_BITS) - 1;

    static final int GREETING_BYTES = 48;
    public static final int PREAMBLE_BYTES = 112;
    public static final int ACCEPTANCE_BYTES = ConnectionProofs.BYTES;

    /** Bytes that the two sides say before the first request and the first response. */
    public static final Prologue SAID_FIRST = new Prologue(PREAMBLE_BYTES, GREETING_BYTES + ACCEPTANCE_BYTES);

    /**
     * The interval at which a responder repeats that it has no receive, so that the requester knows that it is alive.
     */
    public static final long NOT_READY_REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private WireFormat() {}
}
