package trigon.entry.net;

import org.jspecify.annotations.Nullable;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;

/** Answers every call with {@link #answer}, or throws {@link #failure}, and keeps the data path's arguments. */
public final class CannedPlugin implements NetPlugin {

    public long answer;

    public @Nullable RuntimeException failure;

    public long comm;
    public long address;
    public long size;
    public int tag;
    public long memoryHandle;
    public long context;
    public int trafficClass;
    public int contextsOpened;

    private long answer() {
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    @Override
    public long openContext(long commId, int traffic) {
        contextsOpened++;
        trafficClass = traffic;
        return answer();
    }

    @Override
    public void closeContext(long closed) {
        context = closed;
        answer();
    }

    @Override
    public int devices() {
        return 2;
    }

    @Override
    public DeviceProperties properties(int device) {
        throw new IllegalStateException("no device %d".formatted(device));
    }

    @Override
    public long listen(long given, int device, long handleAddress) {
        context = given;
        return answer();
    }

    @Override
    public long connect(long given, int device, long handleAddress, int traffic) {
        context = given;
        trafficClass = traffic;
        return answer();
    }

    @Override
    public long accept(long listenComm) {
        return answer();
    }

    @Override
    public long registerMemory(long given, long start, long bytes, int type) {
        return answer();
    }

    @Override
    public long registerDmaBuf(long given, long start, long bytes, long offset, int descriptor) {
        keep(given, start, bytes, descriptor, offset);
        return answer();
    }

    @Override
    public void deregisterMemory(long given, long handle) {
        answer();
    }

    @Override
    public void closeSend(long sendComm) {
        answer();
    }

    @Override
    public void closeReceive(long receiveComm) {
        answer();
    }

    @Override
    public void closeListen(long listenComm) {
        answer();
    }

    @Override
    public long isend(long sendComm, long start, long bytes, int label, long handle) {
        keep(sendComm, start, bytes, label, handle);
        return answer();
    }

    @Override
    public long irecv(long receiveComm, long start, long bytes, int label, long handle) {
        keep(receiveComm, start, bytes, label, handle);
        return answer();
    }

    @Override
    public long iflush(long receiveComm, long start, long bytes, long handle) {
        keep(receiveComm, start, bytes, 0, handle);
        return answer();
    }

    @Override
    public long test(long request) {
        return answer();
    }

    private void keep(long given, long start, long bytes, int label, long handle) {
        comm = given;
        address = start;
        size = bytes;
        tag = label;
        memoryHandle = handle;
    }
}
