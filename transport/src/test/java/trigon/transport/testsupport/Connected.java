package trigon.transport.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import trigon.nccl.NetPlugin;
import trigon.testsupport.Await;

/**
 * A connection from one node to another, made as NCCL makes it: connect and accept polled in turn. Every wait has a
 * deadline.
 */
public final class Connected {

    /** A call may move data, so the next follows at once; so many calls in vain, and it is somebody else's turn. */
    private static final int CALLS = 64;

    public final TestNode sender;
    public final TestNode receiver;
    public final long sendComm;
    public final long receiveComm;

    public Connected(TestNode sender, TestNode receiver) {
        this(sender, sender.context, receiver, receiver.context);
    }

    /** In contexts of the nodes other than their first ones. */
    public Connected(TestNode sender, long senderContext, TestNode receiver, long receiverContext) {
        this(sender, senderContext, receiver, receiverContext, _ -> {}, 0, 0);
    }

    /** Between other devices than their first ones. */
    public Connected(TestNode sender, int senderDevice, TestNode receiver, int receiverDevice) {
        this(sender, sender.context, receiver, receiver.context, _ -> {}, senderDevice, receiverDevice);
    }

    /** In a communicator that is made anew: the nodes' first ones may have failed. */
    public static Connected anew(TestNode sender, TestNode receiver) {
        return new Connected(sender, sender.newContext(), receiver, receiver.newContext());
    }

    /** With a listen handle that the network between them has changed. */
    public Connected(TestNode sender, TestNode receiver, LongConsumer changed) {
        this(sender, sender.context, receiver, receiver.context, changed, 0, 0);
    }

    private Connected(
            TestNode sender,
            long senderContext,
            TestNode receiver,
            long receiverContext,
            LongConsumer changed,
            int senderDevice,
            int receiverDevice) {
        this.sender = sender;
        this.receiver = receiver;
        try (Arena arena = Arena.ofConfined()) {
            long handle = arena.allocate(NetPlugin.HANDLE_BYTES).address();
            long listenComm = receiver.plugin.listen(receiverContext, receiverDevice, handle);
            changed.accept(handle);
            long[] comms = new long[2];
            Await.until("the connection", () -> {
                if (comms[0] == 0) {
                    comms[0] = sender.plugin.connect(
                            senderContext, senderDevice, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
                }
                if (comms[1] == 0) {
                    comms[1] = receiver.plugin.accept(listenComm);
                }
                return comms[0] != 0 && comms[1] != 0;
            });
            sendComm = comms[0];
            receiveComm = comms[1];
            receiver.plugin.closeListen(listenComm);
        }
    }

    /** A message of so many bytes, received as it is sent. */
    public void sendOne(int bytes) {
        long from = sender.allocate(bytes);
        long to = receiver.allocate(bytes);
        long fromHandle = sender.register(sendComm, from, bytes);
        long toHandle = receiver.register(receiveComm, to, bytes);
        long receive = retry(() -> receiver.plugin.irecv(receiveComm, to, bytes, 0, toHandle));
        long send = retry(() -> sender.plugin.isend(sendComm, from, bytes, 0, fromHandle));
        assertThat(finish(sender, send)).isEqualTo(bytes);
        assertThat(finish(receiver, receive)).isEqualTo(bytes);
    }

    /** Calls until the result is not {@link NetPlugin#TRY_AGAIN}. */
    public static long retry(LongSupplier call) {
        long result = ask("room for a request", call, answer -> answer != NetPlugin.TRY_AGAIN, () -> {});
        assertThat(result).as("request").isPositive();
        return result;
    }

    /** What becomes of a request, or of the call that would have begun it. */
    public static long outcome(TestNode node, LongSupplier call) {
        long result = ask("room for a request", call, answer -> answer != NetPlugin.TRY_AGAIN, node::letTimePass);
        return result < 0 ? result : finish(node, result);
    }

    /** Tests a request until it is done or failed; returns what test returned. */
    public static long finish(TestNode node, long request) {
        return ask(
                "a request",
                () -> node.plugin.test(request),
                answer -> answer != NetPlugin.NOT_DONE,
                node::letTimePass);
    }

    /** Sends one message after the other until one of them fails, whoever notices first; returns with what. */
    public long sendUntilItFails(long address, long size, int tag, long memoryHandle) {
        return failure(sender, () -> sender.plugin.isend(sendComm, address, size, tag, memoryHandle));
    }

    /** Begins one request after the other until one of them fails; returns with what. */
    public static long failure(TestNode node, LongSupplier call) {
        return ask(
                "a failure",
                () -> {
                    long result = call.getAsLong();
                    return result > 0 ? finish(node, result) : result;
                },
                answer -> answer < 0,
                node::letTimePass);
    }

    /** Connects to where nothing can come of it until the call says so by an exception. */
    public static void connectUntilItFails(TestNode node, long handle) {
        ask(
                "the failure",
                () -> node.plugin.connect(node.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED),
                comm -> comm != 0,
                () -> {});
    }

    /** Calls again and again, as NCCL does. */
    private static long ask(String what, LongSupplier call, LongPredicate isAnswer, Runnable meanwhile) {
        long[] answer = {call.getAsLong()};
        Await.until(what, () -> {
            for (int i = 0; i < CALLS && !isAnswer.test(answer[0]); i++) {
                answer[0] = call.getAsLong();
            }
            if (isAnswer.test(answer[0])) {
                return true;
            }
            meanwhile.run();
            return false;
        });
        return answer[0];
    }
}
