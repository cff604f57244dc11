package trigon.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class NativeFunctionTest {

    private static final NativeFunction ABS = NativeFunction.of("abs");

    @Test
    void intsComeAndGoInLongs() {
        assertThat((int) ABS.call(-5)).isEqualTo(5);
        assertThat((int) ABS.call(0xdead_beef_0000_0007L))
                .as("of an int the lower half counts")
                .isEqualTo(7);
    }

    @Test
    void argumentsThatAFunctionLacksDoNotMatter() {
        assertThat((int) ABS.call(-5, 1, 2, 3, 4, 5, 6)).isEqualTo(5);
        assertThat(NativeFunction.of("getpid").call())
                .isEqualTo(ProcessHandle.current().pid());
    }

    @Test
    void allArgumentsArriveInTheirOrder() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(100);
            long format = arena.allocateFrom("%ld %ld %ld %ld").address();

            long length = NativeFunction.of("snprintf").call(text.address(), text.byteSize(), format, 1, -2, 3, 4);

            assertThat(text.getString(0)).isEqualTo("1 -2 3 4");
            assertThat((int) length).isEqualTo(8);
        }
    }

    @Test
    void anIntBelowZeroIsTheErrno() {
        try (Arena arena = Arena.ofConfined()) {
            long missing = arena.allocateFrom("/proc/no-such-file").address();

            assertThat(NativeFunction.of("open").intOrErrno(missing, 0)).isEqualTo(-Errno.ENOENT);
            assertThat(NativeFunction.of("access")
                            .intOrErrno(arena.allocateFrom("/").address(), 0))
                    .isZero();
        }
    }

    @Test
    void aLongBelowZeroIsTheErrno() {
        assertThat(NativeFunction.of("read").longOrErrno(-1, 0, 0)).isEqualTo(-Errno.EBADF);
    }

    @Test
    void aNullPointerIsTheErrno() {
        try (Arena arena = Arena.ofConfined()) {
            long room = arena.allocate(4096).address();

            assertThat(NativeFunction.of("getcwd").addressOrErrno(room, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(NativeFunction.of("getcwd").addressOrErrno(room, 4096)).isEqualTo(room);
        }
    }

    @Test
    void aLibraryMayLackAFunction() {
        assertThat(NativeFunction.find(Linker.nativeLinker().defaultLookup(), "no_such_function"))
                .isEmpty();
    }
}
