package trigon.policy.compile;

import static java.lang.constant.ConstantDescs.CD_List;
import static java.lang.constant.ConstantDescs.CD_MethodHandles;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import trigon.policy.map.PolicyMap;
import trigon.policy.map.RingBuffer;
import trigon.policy.program.Helper;

/** Emits calls of helpers. A map that is the same on all paths is a constant, so that the JVM inlines the look-up. */
record HelperEmitter(FunctionEmitter function, CodeBuilder out, List<PolicyMap> maps, Set<Integer> used) {

    private static final ClassDesc MAP = describe(PolicyMap.class);
    private static final ClassDesc RING_BUFFER = describe(RingBuffer.class);

    void emit(int number) {
        Helper helper = Helper.ofNumber(number).orElseThrow();
        switch (helper) {
            case MAP_LOOKUP -> onMap("lookup", 1);
            case MAP_UPDATE -> onMap("update", 3);
            case MAP_DELETE -> onMap("delete", 1);
            case RINGBUF_OUTPUT -> onMap("output", 3);
            case KTIME_GET_NS -> support("time");
            case GET_PRANDOM_U32 -> support("random");
        }
        function.set(0);
    }

    private void support(String name) {
        out.invokestatic(FunctionEmitter.SUPPORT, name, MethodTypeDesc.of(CD_long));
    }

    private void onMap(String method, int arguments) {
        boolean one = used.size() == 1;
        boolean ring = method.equals("output");
        ClassDesc type = ring ? RING_BUFFER : MAP;
        if (one) {
            int index = used.iterator().next();
            type = describe(maps.get(index).getClass());
            out.loadConstant(DynamicConstantDesc.ofNamed(
                    ConstantDescs.ofConstantBootstrap(CD_MethodHandles, "classDataAt", CD_Object, CD_int),
                    ConstantDescs.DEFAULT_NAME,
                    type,
                    index));
        } else {
            out.loadConstant(DynamicConstantDesc.ofNamed(
                    ConstantDescs.ofConstantBootstrap(CD_MethodHandles, "classData", CD_Object),
                    ConstantDescs.DEFAULT_NAME,
                    CD_List));
            function.get(1);
            out.invokestatic(FunctionEmitter.SUPPORT, "map", MethodTypeDesc.of(MAP, CD_List, CD_long));
            if (ring) {
                out.checkcast(RING_BUFFER);
            }
        }
        for (int i = 0; i < arguments; i++) {
            function.get(2 + i);
        }
        function.shadow();
        if (!ring) {
            function.scratch();
        }
        ClassDesc[] parameters =
                Collections.nCopies(arguments + (ring ? 1 : 2), CD_long).toArray(ClassDesc[]::new);
        MethodTypeDesc descriptor = MethodTypeDesc.of(CD_long, parameters);
        if (one || ring) {
            out.invokevirtual(type, method, descriptor);
        } else {
            out.invokeinterface(type, method, descriptor);
        }
    }

    private static ClassDesc describe(Class<?> type) {
        return type.describeConstable().orElseThrow();
    }
}
