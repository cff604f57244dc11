package trigon.system.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import trigon.system.NativeFunction;

/** Asks the kernel one question by a routing socket (rtnetlink(7)). Any thread; does not block. */
final class RoutingSocket {

    // x86-64 and arm64 alike: bits/socket.h
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int NETLINK_ROUTE = 0;

    /** The kernel fills datagrams of a dump up to 32 KiB. */
    private static final int ANSWER_BYTES = 32 << 10;

    private static final int MAX_ANSWERS = 16;

    private static final NativeFunction SOCKET = NativeFunction.of("socket");
    private static final NativeFunction WRITE = NativeFunction.of("write");
    private static final NativeFunction READ = NativeFunction.of("read");
    private static final NativeFunction CLOSE = NativeFunction.of("close");

    private RoutingSocket() {}

    /**
     * The datagrams of the kernel's answer, in the byte order of this machine; none if it answers nobody here.
     *
     * @param several whether the question asks for a list, whose datagrams are read until there is no more
     */
    static List<ByteBuffer> ask(byte[] request, boolean several) {
        List<ByteBuffer> answers = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            int socket = (int) SOCKET.call(AF_NETLINK, SOCK_RAW | NONBLOCK_CLOEXEC, NETLINK_ROUTE);
            if (socket < 0) {
                return answers;
            }
            try {
                MemorySegment asked = arena.allocateFrom(JAVA_BYTE, request);
                MemorySegment answer = arena.allocate(ANSWER_BYTES, Long.BYTES);
                long bytes = WRITE.call(socket, asked.address(), request.length);
                while (bytes > 0 && answers.size() < (several ? MAX_ANSWERS : 1)) {
                    bytes = READ.call(socket, answer.address(), ANSWER_BYTES);
                    if (bytes > 0) {
                        byte[] read = answer.asSlice(0, bytes).toArray(JAVA_BYTE);
                        answers.add(ByteBuffer.wrap(read).order(ByteOrder.nativeOrder()));
                    }
                }
                return answers;
            } finally {
                long _ = CLOSE.call(socket);
            }
        }
    }
}
