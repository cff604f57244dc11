package trigon.onesided;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.peer.PutRecordLayout;
import trigon.system.Memory;

/**
 * A transport without a network: messages of a connection arrive in their order, each when chance says so, whatever
 * other connections do. A receive is written to when its message arrives, not before. Wires can be cut.
 */
final class SimulatedNet {

    /** In a rank's place. */
    static final int ALL = -1;

    private static final long CONTEXT = 5;

    private final Random random;
    private final int percentThatMove;
    private final Map<Long, Wire> wires = new HashMap<>();
    private final List<Integer> cutRanks = new ArrayList<>();
    private final Set<Wire> ended = new HashSet<>();
    private boolean endsByLeaving;
    private int failuresTold;
    private long next = 1;
    private int refusingRank;
    private long refusedBytes = Long.MAX_VALUE;

    /** Of each wire as many messages are under way at most. */
    private static final int DEPTH = 32;

    private static final class Wire {
        final int listener;
        int connector = -1;
        final Deque<byte[]> messages = new ArrayDeque<>();
        final Deque<Request> receives = new ArrayDeque<>();
        int sending;

        Wire(int listener) {
            this.listener = listener;
        }
    }

    private static final class Request {
        final Wire wire;
        final long address;
        final long size;
        boolean isSend;
        boolean isDone;
        long bytes;

        Request(Wire wire, long address, long size) {
            this.wire = wire;
            this.address = address;
            this.size = size;
        }
    }

    private final Map<Long, Request> requests = new HashMap<>();

    /** What chance is seeded with, and how often a look finds that a message has moved on. */
    SimulatedNet(long seed, int percentThatMove) {
        random = new Random(seed);
        this.percentThatMove = percentThatMove;
    }

    /** All connections of a rank fail from now on. */
    synchronized void cut(int rank) {
        cutRanks.add(rank);
    }

    /** A connection fails from now on as soon as it has carried the record by which a rank leaves. */
    synchronized void endByLeaving() {
        endsByLeaving = true;
    }

    /** How often a call said that a connection has failed. */
    synchronized int failuresTold() {
        return failuresTold;
    }

    private long failed() {
        failuresTold++;
        return -NcclResult.REMOTE_ERROR.code();
    }

    /** A rank's memory of so many bytes or more cannot be registered any more, as with a low limit of locked memory. */
    synchronized void refuseMemory(int rank, long leastBytes) {
        refusingRank = rank;
        refusedBytes = leastBytes;
    }

    private boolean moves() {
        return random.nextInt(100) < percentThatMove;
    }

    /** The transport of a rank. */
    NetPlugin of(int rank) {
        return new Node(rank);
    }

    private final class Node implements NetPlugin {
        private final int rank;

        Node(int rank) {
            this.rank = rank;
        }

        @Override
        public long openContext(long commId, int trafficClass) {
            return CONTEXT;
        }

        @Override
        public void closeContext(long context) {}

        @Override
        public int devices() {
            return 1;
        }

        @Override
        public DeviceProperties properties(int device) {
            throw new UnsupportedOperationException("nobody asks");
        }

        @Override
        public long listen(long context, int device, long handleAddress) {
            synchronized (SimulatedNet.this) {
                long comm = next++;
                wires.put(comm, new Wire(rank));
                Memory.putLong(handleAddress, comm);
                return comm;
            }
        }

        @Override
        public long connect(long context, int device, long handleAddress, int trafficClass) {
            synchronized (SimulatedNet.this) {
                Wire wire = wires.get(Memory.getLong(handleAddress));
                if (wire == null || !moves()) {
                    return 0;
                }
                wire.connector = rank;
                wires.put(next, wire);
                return next++;
            }
        }

        @Override
        public long accept(long listenComm) {
            synchronized (SimulatedNet.this) {
                Wire wire = wires.get(listenComm);
                if (wire == null || wire.connector < 0) {
                    return 0;
                }
                wires.put(next, wire);
                return next++;
            }
        }

        @Override
        public long registerMemory(long comm, long address, long size, int type) {
            synchronized (SimulatedNet.this) {
                if ((refusingRank == ALL || rank == refusingRank) && size >= refusedBytes) {
                    throw new IllegalArgumentException("no memory may be locked");
                }
            }
            return 7;
        }

        @Override
        public long registerDmaBuf(long comm, long address, long size, long offset, int descriptor) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void deregisterMemory(long comm, long memoryHandle) {}

        @Override
        public void closeSend(long sendComm) {}

        @Override
        public void closeReceive(long receiveComm) {}

        @Override
        public void closeListen(long listenComm) {}

        @Override
        public long isend(long sendComm, long address, long size, int tag, long memoryHandle) {
            synchronized (SimulatedNet.this) {
                Wire wire = wires.get(sendComm);
                if (wire == null || memoryHandle != 7) {
                    return -NcclResult.INVALID_ARGUMENT.code();
                }
                if (isCut(wire)) {
                    return failed();
                }
                if (wire.sending >= DEPTH || !moves()) {
                    return TRY_AGAIN;
                }
                byte[] message = new byte[(int) size];
                Memory.copy(address, MemorySegment.ofArray(message), size);
                wire.messages.add(message);
                wire.sending++;
                Request request = new Request(wire, address, size);
                request.isSend = true;
                return begin(request);
            }
        }

        @Override
        public long irecv(long receiveComm, long address, long size, int tag, long memoryHandle) {
            synchronized (SimulatedNet.this) {
                Wire wire = wires.get(receiveComm);
                if (wire == null || memoryHandle != 7) {
                    return -NcclResult.INVALID_ARGUMENT.code();
                }
                if (isCut(wire)) {
                    return failed();
                }
                if (wire.receives.size() >= DEPTH || !moves()) {
                    return TRY_AGAIN;
                }
                Request request = new Request(wire, address, size);
                wire.receives.add(request);
                return begin(request);
            }
        }

        private long begin(Request request) {
            requests.put(next, request);
            return next++;
        }

        @Override
        public long iflush(long receiveComm, long address, long size, long memoryHandle) {
            return NOTHING_TO_FLUSH;
        }

        @Override
        public long test(long handle) {
            synchronized (SimulatedNet.this) {
                Request request = requests.get(handle);
                if (request == null) {
                    return -NcclResult.INVALID_ARGUMENT.code();
                }
                if (!request.isDone && request.isSend) {
                    request.isDone = moves();
                    request.bytes = request.size;
                    request.wire.sending -= request.isDone ? 1 : 0;
                } else if (!request.isDone) {
                    deliver(request.wire);
                }
                if (request.isDone) {
                    requests.remove(handle);
                    return request.bytes;
                }
                return isCut(request.wire) ? failed() : NOT_DONE;
            }
        }
    }

    private boolean isCut(Wire wire) {
        return ended.contains(wire) || cutRanks.contains(wire.listener) || cutRanks.contains(wire.connector);
    }

    private void deliver(Wire wire) {
        @Nullable Request receive = wire.receives.peek();
        if (receive == null || wire.messages.isEmpty() || isCut(wire) || !moves()) {
            return;
        }
        byte[] message = wire.messages.remove();
        wire.receives.remove();
        if (message.length > receive.size) {
            throw new AssertionError("a message of %d bytes for %d".formatted(message.length, receive.size));
        }
        Memory.copy(MemorySegment.ofArray(message), receive.address, message.length);
        if (endsByLeaving && PutRecordLayout.kind(receive.address) == PutRecordLayout.LEAVING) {
            ended.add(wire);
        }
        receive.bytes = message.length;
        receive.isDone = true;
    }
}
