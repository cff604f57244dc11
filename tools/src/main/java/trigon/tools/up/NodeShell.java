package trigon.tools.up;

import java.io.IOException;

/** Runs scripts of a plain shell on nodes, each over a connection of its own. Any thread. */
interface NodeShell {

    /**
     * The end of a script.
     *
     * @param status its exit status
     * @param out what it has printed, at most {@value RemoteShell#MAX_OUT} bytes
     * @param complaint the end of what it has said on standard error, in one line that may be shown
     */
    record Answer(int status, String out, String complaint) {

        boolean isGood() {
            return status == 0;
        }
    }

    /** Bytes that a script reads from its standard input, such as a secret. */
    interface Input {

        /** Nothing to read. */
        Input NONE = _ -> {};

        void writeTo(java.io.OutputStream to) throws IOException;
    }

    /**
     * Runs it.
     *
     * @param root true to run it as root, else as the user who logs in
     * @throws IOException if it cannot be started, or does not end in time
     */
    Answer run(String node, boolean root, String script, Input input) throws IOException;
}
