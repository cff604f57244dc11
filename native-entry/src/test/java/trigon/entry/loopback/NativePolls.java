package trigon.entry.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import trigon.verbs.NativePoll;

/** Java code in the place of a provider's {@code poll_cq}, for as long as the process lives. */
final class NativePolls {

    /**
     * Polls for a number of completions at most, which it puts at an address, and returns how many, or minus an errno.
     */
    @FunctionalInterface
    interface Poll {
        int poll(long queue, int entries, long completions);
    }

    private final long function;

    NativePolls(Poll poll) {
        MethodType type = MethodType.methodType(int.class, long.class, int.class, long.class);
        try {
            function = Linker.nativeLinker()
                    .upcallStub(
                            MethodHandles.lookup()
                                    .findVirtual(Poll.class, "poll", type)
                                    .bindTo(poll),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG),
                            Arena.global())
                    .address();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How the queue of that number is polled. */
    NativePoll of(long queue) {
        return new NativePoll(function, queue);
    }
}
