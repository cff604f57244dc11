package trigon.tools.machine;

import java.io.IOException;
import trigon.system.file.ProcessUsers;

/** Rights of this command, for advice that the user can follow. */
public final class OwnRights {

    private OwnRights() {}

    /** True if this command runs as root already. */
    public static boolean isRoot() {
        try {
            return ProcessUsers.own() == ProcessUsers.ROOT;
        } catch (IOException _) { // no /proc
            return "root".equals(System.getProperty("user.name"));
        }
    }

    /** Advice for a process that this command may not look into. */
    public static String toInspect() {
        return toInspect(isRoot());
    }

    static String toInspect(boolean root) {
        return root
                ? "root may not look into it here: give this container or service the capability CAP_SYS_PTRACE"
                : "run this as its user, or as root";
    }
}
