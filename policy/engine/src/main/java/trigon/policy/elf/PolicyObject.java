package trigon.policy.elf;

import java.util.List;
import trigon.policy.map.MapSpec;

/**
 * The content of an object file.
 *
 * @param name of the file, for messages
 * @param functions all of them; calls name them by their index
 * @param programs the indexes of those that the host calls: global functions outside of {@code .text}
 * @param maps declared ones, then one for each section of data
 */
public record PolicyObject(String name, List<PolicyFunction> functions, List<Integer> programs, List<MapSpec> maps) {

    public PolicyObject {
        functions = List.copyOf(functions);
        programs = List.copyOf(programs);
        maps = List.copyOf(maps);
    }
}
