package trigon.tools.console;

import java.nio.file.Path;

/** Words of commands that a user copies into a shell. */
public final class ShellWord {

    private ShellWord() {}

    /** A word, in quotes if a shell would take it for more than its letters. */
    public static String of(String word) {
        return word.matches("[\\w./:,@%+=-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    /** A path, which no program takes for an option or for a file of another machine. */
    public static String path(Path path) {
        String text = path.toString();
        return of(text.startsWith("-") || (text.contains(":") && !text.startsWith("/")) ? "./" + text : text);
    }
}
