package trigon.system.file;

import trigon.system.NativeFunction;

/**
 * File descriptors of this process by number, for what Java has no type for. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/fcntl.2.html">fcntl(2)</a>
 */
public final class Descriptors {

    /** F_DUPFD_CLOEXEC: asm-generic/fcntl.h and linux/fcntl.h. */
    private static final int DUPLICATE_CLOSED_ON_EXEC = 1024 + 6;

    private static final NativeFunction FCNTL = NativeFunction.of("fcntl");
    private static final NativeFunction CLOSE = NativeFunction.of("close");

    private Descriptors() {}

    /** Another descriptor of the same, which no program has that the process starts; or the negative errno. */
    public static int duplicate(int descriptor) {
        return FCNTL.intOrErrno(descriptor, DUPLICATE_CLOSED_ON_EXEC, 0);
    }

    /** {@code close(2)}, whose errors say nothing that could be done about. */
    public static void close(int descriptor) {
        var _ = CLOSE.call(descriptor);
    }
}
