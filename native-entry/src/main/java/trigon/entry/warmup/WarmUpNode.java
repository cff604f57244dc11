package trigon.entry.warmup;

import trigon.nccl.NetPlugin;

/** A node that a {@link WarmUp} moves messages on: a plugin that reaches itself, and what was opened for it. */
public interface WarmUpNode extends AutoCloseable {

    /** A plugin whose device 0 reaches itself. */
    NetPlugin plugin();

    @Override
    void close();
}
