package trigon.entry.loopback;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Predicate;
import trigon.nccl.NetPlugin;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;

/** A plugin in front of another: some of NCCL's calls it answers in its own way, by what it puts in the table. */
abstract class PluginWithRequests implements InvocationHandler {

    /** Where a comm's slot number begins in its handle. */
    static final int SLOT_SHIFT = 32;

    private static final int SEQUENCE_SHIFT = 2;
    private static final long IS_REQUEST = 1;

    private final NetPlugin behind;
    private final RequestTable table;

    PluginWithRequests(NetPlugin behind, RequestTable table) {
        this.behind = behind;
        this.table = table;
    }

    final NetPlugin plugin() {
        return (NetPlugin)
                Proxy.newProxyInstance(NetPlugin.class.getClassLoader(), new Class<?>[] {NetPlugin.class}, this);
    }

    final NetPlugin behind() {
        return behind;
    }

    final RequestTable table() {
        return table;
    }

    @Override
    public final synchronized Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        return invoke(method, arguments);
    }

    abstract Object invoke(Method method, Object[] arguments) throws Throwable;

    /** Calls the plugin behind. */
    final Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(behind, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The handle of a comm's request. */
    static long request(long comm, long sequence) {
        return comm | sequence << SEQUENCE_SHIFT | IS_REQUEST;
    }

    /** A request's slot in its comm's row. */
    static int slot(long comm, long request) {
        return (int) ((request - comm) >> SEQUENCE_SHIFT) % RequestRow.REQUESTS;
    }

    /** The one comm of these that a handle, or whatever else, belongs to. */
    static <T> T only(Map<Long, T> comms, Predicate<T> owns, String complaint) {
        return comms.values().stream().filter(owns).findAny().orElseThrow(() -> new IllegalStateException(complaint));
    }
}
