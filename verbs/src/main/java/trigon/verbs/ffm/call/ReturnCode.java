package trigon.verbs.ffm.call;

import trigon.system.Errno;

/** The return codes of the functions of libibverbs that do not return a pointer. */
public final class ReturnCode {

    private ReturnCode() {}

    /**
     * The errno that a return code stands for: 0 for success, else positive. The manual pages say that functions return
     * the errno; some providers return it negated, and some -1 where they know no reason. Allocates nothing.
     */
    public static int toErrno(int returned) {
        return returned == -1 ? Errno.EIO : Math.abs(returned);
    }
}
