package trigon.tools.up;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * What a node needs to be as before, in a folder of its own there: old files, what to run, and {@code undo.sh}, which a
 * timer starts unless this command puts it off. Scripts for the node's shell, as root. Pure.
 *
 * @param id of the command's run: the same on all nodes, later ones are greater
 * @param seconds until the node undoes everything by itself
 */
record Journal(String id, int seconds) {

    static final String FOLDER = "/var/lib/trigon/up";

    private static final String UNDO = resource("undo.sh");
    private static final String STEPS = resource("steps.sh");

    private static String resource(String name) {
        try (var in = Objects.requireNonNull(Journal.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String folder() {
        return FOLDER + "/" + id;
    }

    /** Begins it, and arms the timer. */
    String begin() {
        return """
                set -eu
                umask 077
                J=%1$s
                mkdir -p %2$s
                mkdir "$J"
                cat >"$J/undo.sh" <<'END_OF_UNDO'
                %3$sEND_OF_UNDO
                : >"$J/journal"
                read -r up rest </proc/uptime
                echo $((${up%%%%.*} + %4$d)) >"$J/until"
                if [ -d /run/systemd/system ] && systemd-run --quiet --collect --unit=trigon-undo-%5$s \\
                  sh "$J/undo.sh" wait 2>/dev/null; then
                  :
                else
                  setsid sh "$J/undo.sh" wait </dev/null >/dev/null 2>&1 &
                fi
                """.formatted(folder(), FOLDER, UNDO, seconds, id);
    }

    /** A step, which puts the timer off first. It has the functions of {@code steps.sh}. */
    String step(String script) {
        return STEPS.replace("@FOLDER@", folder()).replace("@SECONDS@", Integer.toString(seconds)) + script;
    }

    /** Ends the timer: the changes stay until {@code trigon down}. */
    String keep() {
        return step(": >\"$J/kept\"\nrm -rf " + Installation.HOME + ".trigon-old\n");
    }

    /** Makes the node as before, now; again does nothing. */
    String undo() {
        return "if [ -e %1$s/undo.sh ]; then sh %1$s/undo.sh; fi\n".formatted(folder());
    }

    /** Takes back what all runs have changed, the last one first. Files that were changed since stay, and are shown. */
    static String undoAll() {
        return """
                for undo in $(ls -r %1$s/*/undo.sh 2>/dev/null); do
                  echo "journal ${undo%%/undo.sh}"
                  sh "$undo" down || exit
                done
                """.formatted(FOLDER);
    }

    /** Ends what runs that were killed have left, so that this one begins with nodes as they were. */
    static String undoPending() {
        return """
                for undo in $(ls -r %1$s/*/undo.sh 2>/dev/null); do
                  [ -e "${undo%%/undo.sh}/kept" ] || { echo "undone ${undo%%/undo.sh}"; sh "$undo" || exit; }
                done
                """.formatted(FOLDER);
    }
}
