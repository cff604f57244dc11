package trigon.system.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.NativeFunction;

/**
 * Waits, on one thread, until the kernel says something of this machine's network interfaces, one of some descriptors
 * is readable, or somebody wakes it up: poll(2) on a routing socket and an eventfd. Any thread may wake it up.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 * @see <a href="https://man7.org/linux/man-pages/man2/poll.2.html">poll(2)</a>
 */
public final class KernelEvents implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KernelEvents.class);

    // x86-64 and arm64 alike: bits/socket.h, bits/eventfd.h, bits/poll.h, asm-generic/errno.h
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int NETLINK_ROUTE = 0;
    private static final short POLLIN = 1;
    private static final int ENOBUFS = 105;
    private static final int EAGAIN = 11;
    private static final int EINTR = 4;

    /** RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h. */
    private static final int GROUPS = 0x1 | 0x10 | 0x100;

    private static final int ADDRESS_BYTES = 12;
    private static final int POLLED_BYTES = 8;

    /** More than the kernel puts into one datagram. */
    private static final int DATAGRAM_BYTES = 32 << 10;

    private static final NativeFunction SOCKET = NativeFunction.of("socket");
    private static final NativeFunction BIND = NativeFunction.of("bind");
    private static final NativeFunction READ = NativeFunction.of("read");
    private static final NativeFunction WRITE = NativeFunction.of("write");
    private static final NativeFunction EVENTFD = NativeFunction.of("eventfd");
    private static final NativeFunction POLL = NativeFunction.of("poll");
    private static final NativeFunction CLOSE = NativeFunction.of("close");

    private final Arena arena = Arena.ofShared();
    private final MemorySegment datagram = arena.allocate(DATAGRAM_BYTES, Long.BYTES);
    private final MemorySegment one = arena.allocateFrom(JAVA_LONG, 1);
    private final int wake;
    private final int socket;
    private boolean closed;

    /**
     * Listens from now on. Where the kernel, or a container's rules, allow no routing socket, only the rest is waited
     * for.
     *
     * @throws IOException if there is no descriptor to be woken up by
     */
    public KernelEvents() throws IOException {
        wake = EVENTFD.intOrErrno(0, NONBLOCK_CLOEXEC);
        if (wake < 0) {
            arena.close();
            throw new IOException("eventfd failed with errno " + -wake);
        }
        socket = openSocket();
    }

    private int openSocket() {
        int opened = SOCKET.intOrErrno(AF_NETLINK, SOCK_RAW | NONBLOCK_CLOEXEC, NETLINK_ROUTE);
        int result = opened;
        if (opened >= 0) {
            MemorySegment address = arena.allocate(ADDRESS_BYTES, Integer.BYTES);
            address.set(JAVA_SHORT, 0, (short) AF_NETLINK);
            address.set(JAVA_INT, 8, GROUPS);
            result = BIND.intOrErrno(opened, address.address(), ADDRESS_BYTES);
        }
        if (result < 0) {
            log.info(
                    "the kernel does not report changes of network interfaces to this process (errno {}); Trigon"
                            + " notices them later",
                    -result);
            if (opened >= 0) {
                close(opened);
            }
            return -1;
        }
        return opened;
    }

    /**
     * Waits. By one thread at a time, and not after {@link #close}.
     *
     * @param descriptors that end the wait when they are readable, or have failed
     * @param longest time to wait
     * @return what has happened to interfaces since the last call; often nothing
     */
    public List<InterfaceEvent> await(int[] descriptors, Duration longest) {
        try (Arena call = Arena.ofConfined()) {
            int count = descriptors.length + 2;
            MemorySegment polled = call.allocate((long) count * POLLED_BYTES, Integer.BYTES);
            put(polled, 0, wake);
            put(polled, 1, socket); // poll(2) skips a negative one
            for (int i = 0; i < descriptors.length; i++) {
                put(polled, i + 2, descriptors[i]);
            }
            int millis = (int) Math.min(Integer.MAX_VALUE, longest.toMillis());
            int ready = POLL.intOrErrno(polled.address(), count, millis);
            if (ready < 0 && ready != -EINTR) {
                throw new IllegalStateException("poll failed with errno " + -ready);
            }
        }
        var _ = READ.longOrErrno(wake, datagram.address(), Long.BYTES);
        return socket < 0 ? List.of() : readAll();
    }

    private static void put(MemorySegment polled, int place, int descriptor) {
        polled.set(JAVA_INT, (long) place * POLLED_BYTES, descriptor);
        polled.set(JAVA_SHORT, (long) place * POLLED_BYTES + Integer.BYTES, POLLIN);
    }

    private List<InterfaceEvent> readAll() {
        List<InterfaceEvent> events = new ArrayList<>();
        while (true) {
            long bytes = READ.longOrErrno(socket, datagram.address(), DATAGRAM_BYTES);
            if (bytes > 0) {
                events.addAll(NetlinkMessages.read(
                        datagram.asSlice(0, bytes).asByteBuffer().order(ByteOrder.nativeOrder())));
            } else if (bytes == -ENOBUFS) {
                events.add(new InterfaceEvent.Missed());
            } else if (bytes != -EINTR) {
                if (bytes != -EAGAIN) {
                    log.debug("the routing socket cannot be read: errno {}", -bytes);
                }
                return events;
            }
        }
    }

    /** Ends a wait, or the next one. Any thread; nothing after {@link #close}. */
    public synchronized void wakeUp() {
        if (!closed) {
            var _ = WRITE.call(wake, one.address(), Long.BYTES);
        }
    }

    /** After the last {@link #await}. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            close(wake);
            if (socket >= 0) {
                close(socket);
            }
            arena.close();
        }
    }

    private static void close(int descriptor) {
        var _ = CLOSE.call(descriptor);
    }
}
