package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import trigon.system.Errno;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ResourceLedger;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.DataPathCalls;
import trigon.verbs.ffm.call.ResourceCalls;
import trigon.verbs.ffm.generated.Verbs;
import trigon.verbs.ffm.generated.ibv_qp;
import trigon.verbs.ffm.generated.ibv_qp_attr;
import trigon.verbs.ffm.generated.ibv_qp_cap;
import trigon.verbs.ffm.generated.ibv_qp_init_attr;
import trigon.verbs.ffm.struct.EmptyReceives;
import trigon.verbs.ffm.struct.QueuePairAttributeStruct;
import trigon.verbs.ffm.struct.ReceiveWorkRequest;
import trigon.verbs.ffm.struct.SendWorkRequests;
import trigon.verbs.ffm.struct.WorkRequestMemory;

/** A reliable connected queue pair of libibverbs; threads as in {@link QueuePair}. */
final class NativeQueuePair implements QueuePair {

    private final NativeHandle handle;
    private final DataPathCalls calls;
    private final AsyncEvents asyncEvents;
    private final int number;
    private final int maxInlineBytes;

    private final WorkRequestMemory workRequestMemory;

    /** Holds the prepared work requests, and where the device names one that it refused. */
    private final MemorySegment piece;

    private final long sendRequests;
    private final ReceiveWorkRequest receiveRequest;
    private final long failedSend;
    private final long failedReceive;

    /** As in the handle, but 0 when closed; plain, for the posting threads. */
    private long queuePair;

    private NativeQueuePair(NativeDeviceContext context, long address, int maxInlineBytes, DataPathCalls calls) {
        this.calls = calls;
        this.maxInlineBytes = maxInlineBytes;
        workRequestMemory = context.workRequestMemory();
        piece = workRequestMemory.take();
        SegmentAllocator memory = SegmentAllocator.slicingAllocator(piece);
        sendRequests = SendWorkRequests.allocate(memory);
        receiveRequest = new ReceiveWorkRequest(memory);
        failedSend = memory.allocate(ValueLayout.ADDRESS).address();
        failedReceive = memory.allocate(ValueLayout.ADDRESS).address();
        number = ibv_qp.qp_num(MemorySegment.ofAddress(address).reinterpret(ibv_qp.sizeof()));
        queuePair = address;
        handle = context.own(ResourceLedger.Kind.QUEUE_PAIR, "queue pair 0x%06x".formatted(number), address);
        asyncEvents = context.asyncEvents();
        asyncEvents.add(address, this);
    }

    /** {@code ibv_create_qp(3)}. */
    static NativeQueuePair create(
            NativeDeviceContext context,
            NativeProtectionDomain protectionDomain,
            NativeCompletionQueue sendCompletions,
            NativeCompletionQueue receiveCompletions,
            QueuePairCapacity capacity,
            DataPathCalls calls) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment initial = ibv_qp_init_attr.allocate(scratch);
            ibv_qp_init_attr.send_cq(initial, MemorySegment.ofAddress(sendCompletions.address()));
            ibv_qp_init_attr.recv_cq(initial, MemorySegment.ofAddress(receiveCompletions.address()));
            ibv_qp_init_attr.qp_type(initial, Verbs.IBV_QPT_RC());
            MemorySegment cap = ibv_qp_init_attr.cap(initial);
            ibv_qp_cap.max_send_wr(cap, capacity.sendWorkRequests());
            ibv_qp_cap.max_recv_wr(cap, capacity.receiveWorkRequests());
            ibv_qp_cap.max_send_sge(cap, 1);
            ibv_qp_cap.max_recv_sge(cap, 1);
            ibv_qp_cap.max_inline_data(cap, capacity.inlineBytes());
            long address = ResourceCalls.createQueuePair(protectionDomain.address(), initial);
            if (address < 0) {
                int errno = (int) -address;
                throw new VerbsException(
                        "ibv_create_qp",
                        "%s (%d send and %d receive work requests, %d bytes inline)"
                                .formatted(
                                        context.deviceName(),
                                        capacity.sendWorkRequests(),
                                        capacity.receiveWorkRequests(),
                                        capacity.inlineBytes()),
                        errno,
                        Advice.onCreatingQueuePair(errno));
            }
            return new NativeQueuePair(context, address, ibv_qp_cap.max_inline_data(cap), calls);
        }
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int maxInlineBytes() {
        return maxInlineBytes;
    }

    @Override
    public void modify(QueuePairAttributes attributes) {
        try (Arena scratch = Arena.ofConfined()) {
            int errno = ResourceCalls.modifyQueuePair(
                    handle.address(),
                    QueuePairAttributeStruct.of(attributes, scratch),
                    QueuePairAttribute.bits(attributes.mask()));
            if (errno != 0) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s (%s)".formatted(handle.object(), attributes),
                        errno,
                        Advice.onModifying(errno, attributes));
            }
        }
    }

    @Override
    public QueuePairStateCode queryState() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment attributes = ibv_qp_attr.allocate(scratch);
            int errno = ResourceCalls.queryQueuePair(
                    handle.address(), attributes, QueuePairAttribute.STATE.bit(), ibv_qp_init_attr.allocate(scratch));
            if (errno != 0) {
                throw new VerbsException("ibv_query_qp", handle.object(), errno, "");
            }
            return QueuePairStateCode.ofCode(ibv_qp_attr.qp_state(attributes));
        }
    }

    @Override
    public int postSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        if (isUnacceptable(length, sendFlags)) {
            return Errno.EINVAL;
        }
        return post(
                SendWorkRequests.prepareSend(sendRequests, workRequestId, localAddress, length, localKey, sendFlags));
    }

    @Override
    public int postSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        if (isUnacceptable(length, sendFlags)) {
            return Errno.EINVAL;
        }
        return post(SendWorkRequests.prepareSendWithImmediate(
                sendRequests, workRequestId, localAddress, length, localKey, immediate, sendFlags));
    }

    @Override
    public int postWrite(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        if (isUnacceptable(length, sendFlags)) {
            return Errno.EINVAL;
        }
        return post(SendWorkRequests.prepareWrite(
                sendRequests, workRequestId, localAddress, length, localKey, remoteAddress, remoteKey, sendFlags));
    }

    @Override
    public int postWriteWithImmediate(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        if (isUnacceptable(length, sendFlags)) {
            return Errno.EINVAL;
        }
        return post(SendWorkRequests.prepareWriteWithImmediate(
                sendRequests,
                workRequestId,
                localAddress,
                length,
                localKey,
                remoteAddress,
                remoteKey,
                immediate,
                sendFlags));
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        if (isUnacceptable(length, SendFlag.NONE)) {
            return Errno.EINVAL;
        }
        return calls.postReceive(
                queuePair, receiveRequest.prepare(workRequestId, localAddress, length, localKey), failedReceive);
    }

    @Override
    public int postEmptyReceives(int count) {
        if (isUnacceptable(0, SendFlag.NONE)) {
            return Errno.EINVAL;
        }
        int errno = 0;
        for (int left = count; left > 0 && errno == 0; left -= EmptyReceives.MAX) {
            errno = calls.postReceive(queuePair, EmptyReceives.list(Math.min(left, EmptyReceives.MAX)), failedReceive);
        }
        return errno;
    }

    @Override
    public Optional<NativePost> nativePost() {
        return queuePair == 0
                ? Optional.empty()
                : Optional.of(new NativePost(queuePair, calls.postSendFunction(), calls.postReceiveFunction(), 0));
    }

    private int post(long workRequest) {
        return calls.postSend(queuePair, workRequest, failedSend);
    }

    /** Checks what not every provider does, and what would reach memory that is freed. */
    private boolean isUnacceptable(int length, int sendFlags) {
        return queuePair == 0 || length < 0 || ((sendFlags & SendFlag.INLINE) != 0 && length > maxInlineBytes);
    }

    @Override
    public void close() {
        if (handle.destroy("ibv_destroy_qp", ResourceCalls::destroyQueuePair)) {
            asyncEvents.remove(queuePair, this);
            queuePair = 0;
            workRequestMemory.giveBack(piece);
        }
    }

    @Override
    public String toString() {
        return handle.object();
    }
}
