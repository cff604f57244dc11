package trigon.transport.request;

import trigon.system.Memory;
import trigon.system.NativeFunction;

/**
 * The functions of {@code lane/functions.h}, by which Java moves a lane's messages as the entry library does. They may
 * post, poll and count, and return at once; a post may enter the kernel. For whoever has the lane. Allocates nothing.
 */
public final class LaneFunctions {

    private final NativeFunction isend;
    private final NativeFunction irecv;
    private final NativeFunction repeat;
    private final NativeFunction confirmed;
    private final NativeFunction take;
    private final NativeFunction settle;
    private final NativeFunction thread;
    private final NativeFunction flushPost;
    private final NativeFunction flushOwe;
    private final NativeFunction flushFinish;
    private final NativeFunction flushPoll;

    private LaneFunctions(long table) {
        isend = function(table, 0);
        irecv = function(table, 1);
        repeat = function(table, 2);
        confirmed = function(table, 3);
        take = function(table, 4);
        settle = function(table, 5);
        thread = function(table, 6);
        flushPost = function(table, 7);
        flushOwe = function(table, 8);
        flushFinish = function(table, 9);
        flushPoll = function(table, 10);
    }

    /** The functions of a {@code struct lane_functions}, which lives as long as the process. */
    public static LaneFunctions at(long table) {
        return new LaneFunctions(table);
    }

    private static NativeFunction function(long table, int number) {
        return NativeFunction.at(Memory.getLong(table + (long) number * Long.BYTES));
    }

    public long isend(long lane, long address, int size, int key, int tag, long memory) {
        return isend.call(lane, address, size, key, tag, memory, 0);
    }

    public long irecv(long lane, long address, int size, int key, int tag, long memory) {
        return irecv.call(lane, address, size, key, tag, memory, 0);
    }

    public long repeat(long lane, long sequence, int key) {
        return repeat.call(lane, sequence, key);
    }

    public long confirmed(long lane) {
        return confirmed.call(lane);
    }

    public boolean take(long lane, long completion) {
        return take.call(lane, completion) != 0;
    }

    /** Copies messages whose copies are due, so that they are done; for NCCL's thread alone. */
    public void settle(long lane) {
        long _ = settle.call(lane);
    }

    public long thread() {
        return thread.call();
    }

    // ---- of the READs of a device, see FlushReads

    /** Posts a READ; 0 or an errno. */
    public int flushPost(long device, long address, int key) {
        return (int) flushPost.call(device, address, key);
    }

    /** The device owes a flush its next READ. */
    public void flushOwe(long device, long flush) {
        long _ = flushOwe.call(device, flush);
    }

    /** The oldest READ that it owes is done. */
    public void flushFinish(long device) {
        long _ = flushFinish.call(device);
    }

    /** Polls, and takes account of READs that are done; false if there is trouble. */
    public boolean flushPoll(long device) {
        return flushPoll.call(device) != 0;
    }
}
