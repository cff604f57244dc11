package trigon.tools.machine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OwnRightsTest {

    @Test
    void rootIsNotToldToBecomeRoot() {
        assertThat(OwnRights.toInspect(true)).contains("CAP_SYS_PTRACE").doesNotContain("as root");
        assertThat(OwnRights.toInspect(false)).endsWith("or as root");
        assertThat(OwnRights.toInspect()).isEqualTo(OwnRights.toInspect(OwnRights.isRoot()));
    }
}
