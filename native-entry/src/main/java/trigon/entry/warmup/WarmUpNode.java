package trigon.entry.warmup;

import java.util.List;
import trigon.nccl.NetPlugin;

/** A node that a {@link WarmUp} moves messages on: a plugin that reaches itself, and what was opened for it. */
public interface WarmUpNode extends AutoCloseable {

    /** Bytes of the longest message. */
    int MAX_MESSAGE_BYTES = 64 << 10;

    /** A plugin whose device 0 reaches itself. */
    NetPlugin plugin();

    /** Lengths, in bytes, of messages that take different ways; none is longer than {@link #MAX_MESSAGE_BYTES}. */
    List<Integer> lengths();

    @Override
    void close();
}
