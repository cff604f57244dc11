package trigon.tools.demo;

import java.util.List;
import trigon.tools.console.Console;
import trigon.tools.console.Table;

/** What a demo says, in lines that a terminal of 80 columns shows whole. One thread. */
record Report(Console console) {

    /** Of the narrowest usual terminal. */
    static final int COLUMNS = 80;

    private static final int INDENT = 3;

    /** Says a line at once. What has no room goes on in further lines, indented; words stay whole. */
    void say(String line) {
        int columns = Math.min(COLUMNS, console.width());
        if (line.length() <= columns) {
            console.say(line);
            return;
        }
        String words = line.stripLeading();
        String margin = " ".repeat(line.length() - words.length());
        List<String> parts = Table.wrap(words, columns - margin.length() - INDENT);
        console.say(margin + parts.getFirst());
        parts.stream().skip(1).forEach(part -> console.say(margin + " ".repeat(INDENT) + part));
    }
}
