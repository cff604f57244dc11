package trigon.software.call;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.Channel;

/**
 * File descriptors of channels, which C reads and writes. The JDK tells them by {@code sun.nio.ch.SelChImpl}, which the
 * entry library exports to Trigon, or {@code --add-exports}.
 */
public final class Descriptors {

    private static final MethodHandle VALUE = find();

    private Descriptors() {}

    private static MethodHandle find() {
        try {
            Class<?> channel = Class.forName("sun.nio.ch.SelChImpl");
            return MethodHandles.lookup()
                    .findVirtual(channel, "getFDVal", MethodType.methodType(int.class))
                    .asType(MethodType.methodType(int.class, Channel.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this JVM does not say which socket a channel has: start it with"
                            + " --add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                    e);
        }
    }

    /** The file descriptor of an open channel that a selector takes. */
    public static int of(Channel channel) {
        try {
            return (int) VALUE.invokeExact(channel);
        } catch (Throwable e) {
            throw new AssertionError("a channel knows its descriptor", e);
        }
    }
}
