package trigon.software.call;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import trigon.software.call.SoftwareFunctions.Function;
import trigon.stream.ByteStream;

/**
 * A connection in C: a {@code struct outbound} or {@code struct inbound}. Freed when it is collected, so who connects a
 * queue pair keeps it for as long. Once no queue pair has it any more, it is its connection's.
 */
public final class NativeConnection {

    private static final int NO_SOCKET = -1;

    private final MemorySegment memory;
    private final @Nullable CarrierCalls calls;

    private NativeConnection(Function bytes, ByteStream carrier) {
        memory = Buffers.allocateSegment(SoftwareFunctions.get().call(bytes, 0));
        calls = carrier.isSelectable() ? null : new CarrierCalls(carrier);
    }

    /**
     * A connection on which requests go out.
     *
     * @param checks one in so many long payloads is checked; 0: there is no relay, or nothing is
     * @throws OutOfMemoryError if there is no memory
     */
    public static NativeConnection outbound(SocketChannel channel, ByteStream carrier, int checks) {
        NativeConnection made = new NativeConnection(Function.OUTBOUND_BYTES, carrier);
        made.make(Function.MAKE_OUTBOUND, channel, checks);
        return made;
    }

    /**
     * A connection on which requests come in.
     *
     * @throws OutOfMemoryError if there is no memory
     */
    public static NativeConnection inbound(SocketChannel channel, ByteStream carrier) {
        NativeConnection made = new NativeConnection(Function.INBOUND_BYTES, carrier);
        made.make(Function.MAKE_INBOUND, channel, 0);
        return made;
    }

    private void make(Function maker, SocketChannel channel, int checks) {
        CarrierCalls mine = calls;
        int socket = mine == null ? Descriptors.of(channel) : NO_SOCKET;
        long read = mine == null ? 0 : mine.read.address();
        long write = mine == null ? 0 : mine.write.address();
        SoftwareFunctions.get().call(maker, memory.address(), socket, read, write, checks, 0, 0);
    }

    long address() {
        return memory.address();
    }

    /** Sends what is still to be answered, if the socket takes it; true once that is over. */
    public boolean finishResponses() {
        return SoftwareFunctions.get().call(Function.FINISH_RESPONSES, memory.address()) != 0;
    }

    /** Reads the one byte that may be left on a socket that is about to be closed. */
    public void readTail() {
        SoftwareFunctions.get().call(Function.READ_TAIL, memory.address());
    }
}
