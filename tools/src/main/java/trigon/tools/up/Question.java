package trigon.tools.up;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import trigon.tools.console.Console;

/** Questions with the answers yes and no. An input that ends says no. One thread. */
final class Question {

    private static final int MAX_LETTERS = 100;

    private final Console console;
    private final InputStream input;

    Question(Console console, InputStream input) {
        this.console = console;
        this.input = input;
    }

    boolean isAnsweredYes(String text) throws IOException {
        console.out().flush();
        console.err().print(text + " [y/N] ");
        console.err().flush();
        String answer = line().strip().toLowerCase(Locale.ROOT);
        return answer.equals("y") || answer.equals("yes");
    }

    /** Reads no further than the line's end, so that the next question has its own. */
    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = input.read(); c >= 0 && c != '\n' && line.length() < MAX_LETTERS; c = input.read()) {
            line.append((char) c);
        }
        return line.toString();
    }
}
