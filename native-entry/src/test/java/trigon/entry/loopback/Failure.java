package trigon.entry.loopback;

import java.io.IOException;
import java.lang.reflect.Proxy;
import trigon.nccl.NetPlugin;

/** What a plugin may throw although it must not. */
public enum Failure {
    /** What is thrown by mistake. */
    RUNTIME {
        @Override
        Throwable make() {
            return new IllegalStateException("told to fail");
        }
    },
    ASSERTION {
        @Override
        Throwable make() {
            return new AssertionError("told to fail");
        }
    },
    /** A class that is not there. */
    LINKAGE {
        @Override
        Throwable make() {
            return new NoClassDefFoundError("told/to/Fail");
        }
    },
    OUT_OF_MEMORY {
        @Override
        Throwable make() {
            return new OutOfMemoryError("told to fail");
        }
    },
    /** Not made up: the stack is used up, and so is what a handler would need. */
    OUT_OF_STACK {
        @Override
        Throwable make() {
            return recurse(0) == 0 ? new AssertionError("has an end") : new AssertionError("has no end");
        }
    },
    /** One that no caller expects. */
    CHECKED {
        @Override
        Throwable make() {
            return new IOException("told to fail");
        }
    },
    /** Who looks at it fails as well. */
    UNSPEAKABLE {
        @Override
        Throwable make() {
            return new Unspeakable();
        }
    };

    abstract Throwable make();

    /** A plugin that fails so in every call. */
    public NetPlugin plugin() {
        return (NetPlugin) Proxy.newProxyInstance(
                Failure.class.getClassLoader(), new Class<?>[] {NetPlugin.class}, (proxy, method, arguments) -> {
                    throw make();
                });
    }

    @SuppressWarnings("InfiniteRecursion")
    private static long recurse(long depth) {
        return recurse(depth + 1) + 1;
    }

    private static final class Unspeakable extends RuntimeException {

        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("no text");
        }
    }
}
