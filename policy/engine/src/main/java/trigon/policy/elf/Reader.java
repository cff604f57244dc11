package trigon.policy.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The bytes of a section (or of the whole file), little endian. Reading beyond the end is a defect of the file. */
final class Reader {

    static final String REBUILD = "build it anew with clang -O2 -g -target bpf -c";

    private static final int LONGEST_STRING = 4096;

    private final String file;
    private final String section;
    private final ByteBuffer bytes;

    Reader(String file, String section, ByteBuffer bytes) {
        this.file = file;
        this.section = section;
        this.bytes = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    int size() {
        return bytes.limit();
    }

    int u8(long offset) throws ObjectException {
        return bytes.get(checked(offset, 1)) & 0xff;
    }

    int u16(long offset) throws ObjectException {
        return bytes.getShort(checked(offset, 2)) & 0xffff;
    }

    int i32(long offset) throws ObjectException {
        return bytes.getInt(checked(offset, 4));
    }

    long u32(long offset) throws ObjectException {
        return bytes.getInt(checked(offset, 4)) & 0xffff_ffffL;
    }

    long i64(long offset) throws ObjectException {
        return bytes.getLong(checked(offset, 8));
    }

    byte[] bytes(long offset, long count) throws ObjectException {
        byte[] copy = new byte[(int) Math.min(count, size())];
        bytes.get(checked(offset, count), copy);
        return copy;
    }

    /** Up to the zero. */
    String string(long offset) throws ObjectException {
        int start = checked(offset, 1);
        int end = start;
        while (u8(end) != 0) {
            end++;
            if (end - start > LONGEST_STRING) {
                throw defect(offset, "a name of more than %d bytes".formatted(LONGEST_STRING));
            }
        }
        return new String(bytes(start, end - start), StandardCharsets.UTF_8);
    }

    Reader part(String name, long offset, long count) throws ObjectException {
        int start = checked(offset, count);
        return new Reader(file, name, bytes.slice(start, (int) count));
    }

    private int checked(long offset, long count) throws ObjectException {
        if (offset < 0 || count < 0 || count > size() || offset > size() - count) {
            throw defect(offset, "%d bytes are needed, but there are %d in all".formatted(count, size()));
        }
        return (int) offset;
    }

    ObjectException defect(long offset, String what) {
        return defect(offset, what, REBUILD);
    }

    ObjectException defect(long offset, String what, String remedy) {
        return new ObjectException(file, section, offset, what, remedy);
    }
}
