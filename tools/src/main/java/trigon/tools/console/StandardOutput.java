package trigon.tools.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/** The standard output of the process. It keeps its first failure, which a print stream on it would hide. */
public final class StandardOutput extends OutputStream {

    private static final String NO_READER = "Broken pipe";

    private final FileOutputStream file;
    private Optional<IOException> failure = Optional.empty();

    public StandardOutput() {
        this(new FileOutputStream(FileDescriptor.out));
    }

    StandardOutput(FileOutputStream file) {
        this.file = file;
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        try {
            file.write(bytes, offset, count);
        } catch (IOException e) {
            failure = failure.or(() -> Optional.of(e));
            throw e;
        }
    }

    /** The reason why a part of the result is lost, unless its reader has gone, as {@code head} does. */
    public Optional<String> loss() {
        return failure.map(UserFiles::reason).filter(reason -> !reason.equalsIgnoreCase(NO_READER));
    }
}
