package trigon.testsupport;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import trigon.system.Memory;

class NativeBufferTest {

    @Test
    void staysUntilAllGaveItBack() {
        NativeBuffer buffer = new NativeBuffer(64);
        buffer.lend();
        buffer.lend();
        buffer.close();
        buffer.close();
        Memory.fill(buffer.address(), 64, (byte) 1);
        buffer.giveBack();
        buffer.lend();
        buffer.giveBack();

        buffer.giveBack();

        assertThatIllegalStateException().isThrownBy(buffer::lend).withMessageContaining("freed");
    }
}
