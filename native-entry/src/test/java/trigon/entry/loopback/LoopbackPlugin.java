package trigon.entry.loopback;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;

/**
 * NCCL's calls within one process: a message is copied when its receive is there, and until then the sender is told to
 * try again. Strict where the real transport is: stale handles, memory that is not registered, receives too small.
 */
final class LoopbackPlugin implements NetPlugin {

    private static final Logger LOG = LoggerFactory.getLogger(LoopbackPlugin.class);

    private static final long MAGIC = 0x6c6f6f706261636bL;
    private static final long PROCESS = ProcessHandle.current().pid();
    private static final int DEVICES = 2;
    private static final int STATE = HANDLE_BYTES - 8;

    private final String fault;
    private final Map<Long, Object> objects = new HashMap<>();
    private long lastId = 0x1000;

    private record Context(int trafficClass) {}

    private record Region(long address, long size) {}

    /** A listener, and when connected, both comms of the link. */
    private static final class Link {
        final long context;
        final Deque<Receive> receives = new ArrayDeque<>();
        boolean connected;
        boolean accepted;

        Link(long context) {
            this.context = context;
        }
    }

    private record ListenComm(Link link) {}

    private record SendComm(Link link) {}

    private record ReceiveComm(Link link) {}

    private record Send(Link link, long result) {}

    private static final class Receive {
        final Link link;
        final long address;
        final long capacity;
        long result = NOT_DONE;

        Receive(Link link, long address, long capacity) {
            this.link = link;
            this.address = address;
            this.capacity = capacity;
        }
    }

    LoopbackPlugin(String fault) {
        this.fault = fault;
    }

    @Override
    public synchronized long openContext(long commId, int trafficClass) {
        LOG.info("context for communicator 0x{}", Long.toHexString(commId));
        return add(new Context(trafficClass));
    }

    @Override
    public synchronized void closeContext(long context) {
        objects.remove(context);
        objects.values().removeIf(object -> object instanceof ListenComm(Link link) && link.context == context);
    }

    @Override
    public int devices() {
        if (fault.equals("null-checks")) {
            NullChecks.run();
        }
        if (fault.equals("crash")) {
            LOG.info("read {}", Memory.getLong(Long.BYTES));
        }
        return DEVICES;
    }

    @Override
    public DeviceProperties properties(int device) {
        return new DeviceProperties(
                "loopback" + device,
                "",
                0xb0b0 + device,
                DeviceProperties.POINTER_HOST,
                100_000,
                1,
                1.5f,
                65536,
                1,
                1 << 30);
    }

    @Override
    public synchronized long listen(long context, int device, long handleAddress) {
        get(context, Context.class, "context");
        long id = add(new ListenComm(new Link(context)));
        Memory.putLong(handleAddress, MAGIC);
        Memory.putLong(handleAddress + 8, id);
        Memory.putLong(handleAddress + 16, PROCESS);
        Memory.putLong(handleAddress + STATE, 0);
        return id;
    }

    @Override
    public synchronized long connect(long context, int device, long handleAddress, int trafficClass) {
        get(context, Context.class, "context");
        if (fault.equals("connect")) {
            // what must not become a printf format on its way to NCCL's logger
            char percent = '%';
            throw new IllegalStateException("told to fail in connect: " + percent + "s" + percent + "n");
        }
        if (Memory.getLong(handleAddress) != MAGIC || Memory.getLong(handleAddress + 16) != PROCESS) {
            throw new IllegalArgumentException("not a handle of this plugin in this process");
        }
        Link link = get(Memory.getLong(handleAddress + 8), ListenComm.class, "listener")
                .link();
        long calls = Memory.getLong(handleAddress + STATE);
        Memory.putLong(handleAddress + STATE, calls + 1);
        if (calls < 2) {
            return 0;
        }
        link.connected = true;
        return add(new SendComm(link));
    }

    @Override
    public synchronized long accept(long listenComm) {
        Link link = get(listenComm, ListenComm.class, "listen comm").link();
        if (!link.connected || link.accepted) {
            return 0;
        }
        link.accepted = true;
        return add(new ReceiveComm(link));
    }

    @Override
    public synchronized long registerMemory(long comm, long address, long size, int type) {
        get(comm, Object.class, "comm");
        return add(new Region(address, size));
    }

    @Override
    public long registerDmaBuf(long comm, long address, long size, long offset, int descriptor) {
        throw new UnsupportedOperationException("host memory only");
    }

    @Override
    public synchronized void deregisterMemory(long comm, long memoryHandle) {
        objects.remove(memoryHandle);
    }

    @Override
    public synchronized void closeSend(long sendComm) {
        remove(sendComm, SendComm.class);
    }

    @Override
    public synchronized void closeReceive(long receiveComm) {
        if (remove(receiveComm, ReceiveComm.class) instanceof ReceiveComm(Link link)) {
            objects.values().removeIf(object -> object instanceof Receive receive && receive.link == link);
            link.receives.clear();
        }
    }

    @Override
    public synchronized void closeListen(long listenComm) {
        remove(listenComm, ListenComm.class);
    }

    @Override
    public synchronized long isend(long sendComm, long address, long size, int tag, long memoryHandle) {
        if (fault.equals("isend-stack")) {
            return recurse(size);
        }
        if (!(objects.get(sendComm) instanceof SendComm(Link link)) || !isRegistered(memoryHandle, address, size)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        Receive receive = link.receives.pollFirst();
        if (receive == null) {
            return TRY_AGAIN;
        }
        if (size > receive.capacity) {
            receive.result = -NcclResult.REMOTE_ERROR.code();
            return add(new Send(link, -NcclResult.REMOTE_ERROR.code()));
        }
        Memory.copy(address, receive.address, size);
        receive.result = size;
        return add(new Send(link, size));
    }

    @Override
    public synchronized long irecv(long receiveComm, long address, long size, int tag, long memoryHandle) {
        if (!(objects.get(receiveComm) instanceof ReceiveComm(Link link))
                || !isRegistered(memoryHandle, address, size)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        Receive receive = new Receive(link, address, size);
        link.receives.addLast(receive);
        return add(receive);
    }

    @Override
    public long iflush(long receiveComm, long address, long size, long memoryHandle) {
        return NOTHING_TO_FLUSH;
    }

    @Override
    public synchronized long test(long request) {
        if (fault.equals("test-memory")) {
            throw new OutOfMemoryError("told to run out of memory");
        }
        Object object = objects.get(request);
        long result = -NcclResult.INVALID_ARGUMENT.code();
        if (object instanceof Send send) {
            result = send.result();
        } else if (object instanceof Receive receive) {
            result = receive.result;
        }
        if (result != NOT_DONE && (object instanceof Send || object instanceof Receive)) {
            objects.remove(request);
        }
        return result;
    }

    @SuppressWarnings("InfiniteRecursion")
    private static long recurse(long depth) {
        return recurse(depth + 1) + 1;
    }

    private boolean isRegistered(long memoryHandle, long address, long size) {
        return objects.get(memoryHandle) instanceof Region(long start, long length)
                && address >= start
                && address + size <= start + length;
    }

    private long add(Object object) {
        lastId += 16;
        objects.put(lastId, object);
        return lastId;
    }

    private <T> T get(long id, Class<T> type, String name) {
        Object object = objects.get(id);
        if (!type.isInstance(object)) {
            throw new IllegalArgumentException("0x%x is no open %s".formatted(id, name));
        }
        return Objects.requireNonNull(type.cast(object));
    }

    private @Nullable Object remove(long id, Class<?> type) {
        return type.isInstance(objects.get(id)) ? objects.remove(id) : null;
    }
}
