package trigon.entry.net;

import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;

/** Has one device and does nothing: what upcall targets call before there is a plugin behind them. */
final class WarmUpPlugin implements NetPlugin {

    private static final DeviceProperties PROPERTIES =
            new DeviceProperties("", "", 0, DeviceProperties.POINTER_HOST, 0, 0, 0, 0, 0, 0);

    @Override
    public long openContext(long commId, int trafficClass) {
        return 0;
    }

    @Override
    public void closeContext(long context) {
        // none is open
    }

    @Override
    public int devices() {
        return 1;
    }

    @Override
    public DeviceProperties properties(int device) {
        return PROPERTIES;
    }

    @Override
    public long listen(long context, int device, long handleAddress) {
        return 0;
    }

    @Override
    public long connect(long context, int device, long handleAddress, int trafficClass) {
        return 0;
    }

    @Override
    public long accept(long listenComm) {
        return 0;
    }

    @Override
    public long registerMemory(long comm, long address, long size, int type) {
        return 0;
    }

    @Override
    public long registerDmaBuf(long comm, long address, long size, long offset, int descriptor) {
        return 0;
    }

    @Override
    public void deregisterMemory(long comm, long memoryHandle) {
        // none is registered
    }

    @Override
    public void closeSend(long sendComm) {
        // none is open
    }

    @Override
    public void closeReceive(long receiveComm) {
        // none is open
    }

    @Override
    public void closeListen(long listenComm) {
        // none is open
    }

    @Override
    public long isend(long sendComm, long address, long size, int tag, long memoryHandle) {
        return TRY_AGAIN;
    }

    @Override
    public long irecv(long receiveComm, long address, long size, int tag, long memoryHandle) {
        return TRY_AGAIN;
    }

    @Override
    public long iflush(long receiveComm, long address, long size, long memoryHandle) {
        return NOTHING_TO_FLUSH;
    }

    @Override
    public long test(long request) {
        return NOT_DONE;
    }
}
