package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import trigon.net.NetPlugin;

/**
 * A connection from one node to another, made as NCCL makes it: connect and accept polled in turn. Every wait has a
 * deadline.
 */
final class Connected {

    private static final long DEADLINE_NANOS = 60_000_000_000L;

    final TestNode sender;
    final TestNode receiver;
    final long sendComm;
    final long receiveComm;

    Connected(TestNode sender, TestNode receiver) {
        this(sender, sender.context, 0, receiver, receiver.context);
    }

    /** From that device of NCCL's. */
    Connected(TestNode sender, int device, TestNode receiver) {
        this(sender, sender.context, device, receiver, receiver.context);
    }

    /** In contexts of the nodes other than their first ones. */
    Connected(TestNode sender, long senderContext, TestNode receiver, long receiverContext) {
        this(sender, senderContext, 0, receiver, receiverContext);
    }

    /** In a communicator that is made anew: the nodes' first ones may have failed. */
    static Connected anew(TestNode sender, TestNode receiver) {
        return new Connected(sender, sender.newContext(), receiver, receiver.newContext());
    }

    /** With a listen handle that the network between them has changed. */
    Connected(TestNode sender, TestNode receiver, LongConsumer changed) {
        this(sender, sender.context, 0, receiver, receiver.context, changed);
    }

    private Connected(TestNode sender, long senderContext, int device, TestNode receiver, long receiverContext) {
        this(sender, senderContext, device, receiver, receiverContext, _ -> {});
    }

    private Connected(
            TestNode sender,
            long senderContext,
            int device,
            TestNode receiver,
            long receiverContext,
            LongConsumer changed) {
        this.sender = sender;
        this.receiver = receiver;
        long connected = 0;
        long accepted = 0;
        try (Arena arena = Arena.ofConfined()) {
            long handle = arena.allocate(NetPlugin.HANDLE_BYTES).address();
            long listenComm = receiver.plugin.listen(receiverContext, 0, handle);
            changed.accept(handle);
            long deadline = System.nanoTime() + DEADLINE_NANOS;
            while (connected == 0 || accepted == 0) {
                if (connected == 0) {
                    connected = sender.plugin.connect(senderContext, device, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
                }
                if (accepted == 0) {
                    accepted = receiver.plugin.accept(listenComm);
                }
                pause(deadline, "the connection");
            }
            receiver.plugin.closeListen(listenComm);
        }
        sendComm = connected;
        receiveComm = accepted;
    }

    /** Calls until the result is not {@link NetPlugin#TRY_AGAIN}. */
    static long retry(LongSupplier call) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        long result = call.getAsLong();
        while (result == NetPlugin.TRY_AGAIN) {
            pause(deadline, "room for a request");
            result = call.getAsLong();
        }
        assertThat(result).as("request").isPositive();
        return result;
    }

    /** What becomes of a request, or of the call that would have begun it. */
    static long outcome(TestNode node, LongSupplier call) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        long result = call.getAsLong();
        while (result == NetPlugin.TRY_AGAIN) {
            pause(deadline, "room for a request");
            result = call.getAsLong();
        }
        return result < 0 ? result : finish(node, result);
    }

    /** Tests a request until it is done or failed; returns what test returned. */
    static long finish(TestNode node, long request) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        long result = node.plugin.test(request);
        while (result == NetPlugin.NOT_DONE) {
            pause(deadline, "a request");
            result = node.plugin.test(request);
        }
        return result;
    }

    /** Sends one message after the other until one of them fails, whoever notices first; returns with what. */
    long sendUntilItFails(long address, long size, int tag, long memoryHandle) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        long result = NetPlugin.TRY_AGAIN;
        while (result >= 0) {
            pause(deadline, "a failure");
            result = sender.plugin.isend(sendComm, address, size, tag, memoryHandle);
            if (result != NetPlugin.TRY_AGAIN && result > 0) {
                result = finish(sender, result);
            }
        }
        return result;
    }

    static void pause(long deadline, String what) {
        if (System.nanoTime() > deadline) {
            throw new AssertionError("waited too long for " + what);
        }
        Thread.onSpinWait();
    }
}
